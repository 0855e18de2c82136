"""What is run: drafts, lengths, texts, temperatures, repeats, and where its data goes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TEXTS = ("code", "prose", "list")
CONTEXT = 512  # tokens that a server has room for
USUAL = 3.0  # seconds of the mean request of 128 tokens on two cores, for the estimate alone
PREDICTION, SAMPLING = 7, 11  # seeds: the calibration's own text, and the measurement's


def cache() -> Path:
    """Where the engine, the models and the runs are kept: $GAMMAPLAN_LIVE, or .live here."""
    return Path(os.environ.get("GAMMAPLAN_LIVE") or ROOT / ".live").absolute()


class Way(NamedTuple):
    """One way to serve: a draft at a length, or a target without a draft at length 0."""

    draft: str
    gamma: int

    @property
    def name(self) -> str:
        """As files call it."""
        return f"{self.draft}-{self.gamma}" if self.gamma else self.draft


class Draft(NamedTuple):
    """What drafts for what: names here and in gammaplan, and the files of both models."""

    name: str
    method: str
    target: str
    model: str | None = None
    greedy: bool = False  # at temperature 0 alone, for time
    more: tuple[tuple[str, str], ...] = ()  # options other than gammaplan writes them

    @property
    def plain(self) -> Way:
        """Its target without a draft."""
        return Way(f"plain-{Path(self.target).stem.removeprefix('target-')}", 0)


F16, F32 = "target-f16.gguf", "target-f32.gguf"
Q4_1, Q2_K = "draft-q4_1.gguf", "draft-q2_k.gguf"
KEY = (("--spec-ngram-simple-size-n", "1"),)  # the same key at every length
DRAFTS = (
    Draft("q4_1", "draft-model", F16, Q4_1),
    Draft("q2_k", "draft-model", F16, Q2_K),
    Draft("ngram", "ngram", F16, more=KEY),
    Draft("q2_k-f32", "draft-model", F32, Q2_K, greedy=True),
    Draft("ngram-f32", "ngram", F32, greedy=True, more=KEY),
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
    calibrations: int = 3  # requests of each cell at each revealed length
    rounds: int = 3  # requests of each cell at each length, interleaved
    bench_repeats: int = 8
    batched_repeats: int = 3  # llama-batched-bench times each size once

    def used(self) -> list[Draft]:
        """Every draft."""
        return [d for d in DRAFTS if d.name in self.drafts]

    def cells(self, draft: Draft | None = None) -> list[Cell]:
        """Every workload, or those that a draft serves."""
        some = self.temperatures[:1] if draft and draft.greedy else self.temperatures
        return [Cell(text, t) for text in self.texts for t in some]

    def ways(self, lengths: Iterable[int] = (), cell: Cell | None = None) -> list[Way]:
        """Every way to serve, or those at some lengths or of a workload; a target first."""
        found: list[Way] = []
        for draft in self.used():
            if cell is None or cell in self.cells(draft):
                if draft.plain not in found:
                    found.append(draft.plain)
                found += (Way(draft.name, g) for g in lengths or self.lengths)
        return found

    def known(self) -> list[tuple[int, Cell, Way]]:
        """Every request of the calibration in its order: minutes between two of one kind.

        So that repeats differ by all that changes meanwhile, as those of the measurement do.
        """
        return [
            (turn, cell, way)
            for turn in range(self.calibrations)
            for cell in self.cells()
            for way in _rotated(self._paired(cell, self.revealed), turn, self.calibrations)
        ]

    def turns(self) -> Iterator[tuple[int, Cell, Way]]:
        """Every measured request in its order, the ways rotated from round to round.

        All requests of a text follow each other, so that servers read its prompt once.
        """
        for text in self.texts:
            for turn in range(self.rounds):
                for temperature in self.temperatures:
                    cell = Cell(text, temperature)
                    for way in _rotated(self._paired(cell, self.lengths), turn, self.rounds):
                        yield turn, cell, way

    def _paired(self, cell: Cell, lengths: Iterable[int]) -> list[Way]:
        """A target alone before the lengths of each of its drafts: both drift with the machine."""
        return [
            way
            for draft in self.used()
            if cell in self.cells(draft)
            for way in (draft.plain, *(Way(draft.name, g) for g in lengths))
        ]

    def requests(self) -> dict[str, int]:
        """How many requests each step makes."""
        return {"calibrate": len(self.known()), "measure": sum(1 for _ in self.turns())}

    def minutes(self) -> dict[str, float]:
        """How long each step takes, about, once the engine is built."""
        each = USUAL * self.tokens / 128 + 0.1
        told = {step: n * each / 60 for step, n in self.requests().items()}
        return {
            "llama-bench": 0.5 + 0.05 * self.bench_repeats + 0.3 * self.batched_repeats,
            **told,
            "servers, predict, compare": 4.0,
        }

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
    drafts=("q2_k", "ngram-f32"),
    tokens=24,
    threads=1,  # two wait for each other where others work
    calibrations=1,
    rounds=1,
    bench_repeats=1,
    batched_repeats=1,
)


def _rotated(ways: list[Way], turn: int, turns: int) -> list[Way]:
    """The ways from another one on in each of the turns."""
    start = turn * len(ways) // turns
    return ways[start:] + ways[:start]
