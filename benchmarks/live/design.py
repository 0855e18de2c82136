"""What is run: drafts, lengths, texts, temperatures, repeats, and where its data goes."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TEXTS = ("code", "prose", "list")
CONTEXT = 512  # tokens that a server has room for
USUAL = 4.4  # seconds of the mean request of 128 tokens, for the estimate alone
PREDICTION, SAMPLING = 7, 11  # seeds: the calibration's own text, and the measurement's


def cache() -> Path:
    """Where the engine, the models and the runs are kept: $GAMMAPLAN_LIVE, or .live here."""
    return Path(os.environ.get("GAMMAPLAN_LIVE") or ROOT / ".live").absolute()


class Draft(NamedTuple):
    """What drafts: its name here, gammaplan's name of the method, and its model file."""

    name: str
    method: str
    model: str | None = None
    more: tuple[tuple[str, str], ...] = ()  # options other than gammaplan writes them


DRAFTS = (
    Draft("q4_1", "draft-model", "draft-q4_1.gguf"),
    Draft("q2_k", "draft-model", "draft-q2_k.gguf"),
    Draft("ngram", "ngram", None, (("--spec-ngram-simple-size-n", "1"),)),  # one key for all
)


class Cell(NamedTuple):
    """One workload: a kind of text at a temperature."""

    text: str
    temperature: float

    @property
    def name(self) -> str:
        """As files and tables call it."""
        return f"{self.text}-t{self.temperature:g}"

    @property
    def prompt(self) -> str:
        """What the model continues."""
        return (HERE / "prompts" / f"{self.text}.txt").read_text(encoding="utf-8")


class Way(NamedTuple):
    """One way to serve: a draft at a length; plain where there is no draft."""

    draft: str
    gamma: int

    @property
    def name(self) -> str:
        """As files and tables call it."""
        return f"{self.draft}-{self.gamma}" if self.gamma else "plain"


PLAIN = Way("plain", 0)


@dataclass(frozen=True)
class Setup:
    """The size of a run."""

    name: str
    lengths: tuple[int, ...] = tuple(range(1, 9))
    revealed: tuple[int, int] = (3, 6)  # of the first calibration, and of the second
    temperatures: tuple[float, ...] = (0.0, 0.8)
    texts: tuple[str, ...] = TEXTS
    drafts: tuple[str, ...] = tuple(d.name for d in DRAFTS)
    tokens: int = 64
    threads: int = 2
    calibrations: int = 2  # requests of each cell at each revealed length
    rounds: int = 3  # requests of each cell at each length, interleaved
    bench_repeats: int = 8

    def cells(self) -> list[Cell]:
        """Every workload."""
        return [Cell(text, t) for text in self.texts for t in self.temperatures]

    def used(self) -> list[Draft]:
        """Every draft."""
        return [d for d in DRAFTS if d.name in self.drafts]

    def ways(self) -> list[Way]:
        """Every way to serve, the plain one first."""
        return [PLAIN, *(Way(d.name, g) for d in self.used() for g in self.lengths)]

    def calibrated(self) -> list[Way]:
        """The ways that the calibration may see."""
        return [PLAIN, *(Way(d.name, g) for d in self.used() for g in self.revealed)]

    def turns(self) -> Iterator[tuple[int, Cell, Way]]:
        """Every measured request in its order, the ways rotated from round to round.

        The plain way comes twice in a round of a workload, since every speedup is over it. All
        requests of a text follow each other, so that servers read its prompt once.
        """
        ways = self.ways()
        middle = len(ways) // 2
        order = [*ways[:middle], PLAIN, *ways[middle:]]
        for text in self.texts:
            for turn in range(self.rounds):
                for place, temperature in enumerate(self.temperatures):
                    shift = turn * len(order) // self.rounds + 5 * place
                    for i in range(len(order)):
                        yield turn, Cell(text, temperature), order[(i + shift) % len(order)]

    def requests(self) -> dict[str, int]:
        """How many requests each step makes."""
        cells = len(self.cells())
        return {
            "calibrate": self.calibrations * cells * len(self.calibrated()),
            "measure": self.rounds * cells * (len(self.ways()) + 1),
        }

    def minutes(self) -> dict[str, float]:
        """How long each step takes, about, once the engine is built."""
        each = USUAL * self.tokens / 128 + 0.1
        told = {step: n * each / 60 for step, n in self.requests().items()}
        return {"llama-bench": 0.3 + 0.05 * self.bench_repeats, **told, "predict and compare": 2.0}

    def as_json(self) -> dict[str, object]:
        """All of it, for the record."""
        return asdict(self)


FULL = Setup("full")
SMALL = Setup(
    "small",
    lengths=(1, 3),
    revealed=(1, 3),
    temperatures=(0.0, 0.8),
    texts=("list",),
    drafts=("q4_1", "ngram"),
    tokens=24,
    threads=1,  # two wait for each other where others work
    calibrations=1,
    rounds=1,
    bench_repeats=1,
)
