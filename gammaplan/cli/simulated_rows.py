"""What simulate plays: the rules of verification over rows of target and draft."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import typer

from gammaplan.arrays.pairs import Pair, open_pair
from gammaplan.arrays.windows import window_starts, windows
from gammaplan.cli.evidence import Cases
from gammaplan.cli.progress import bar_of_rounds
from gammaplan.cli.rowoptions import LogitFlags
from gammaplan.cli.samplers import labels
from gammaplan.cli.simulated import DEFAULT_GAMMA, Asked, too_many
from gammaplan.cli.values import Numbers
from gammaplan.data.findings import finding
from gammaplan.documents.writing import acceptance_shape, finite
from gammaplan.model.arrays import Floats
from gammaplan.model.distributions import transform
from gammaplan.model.overlap import Drawn, Kind
from gammaplan.model.playing import LENIENCE, Play, Played, plays, shared_out, simulate_rules
from gammaplan.model.positions import PerPosition

if TYPE_CHECKING:
    from gammaplan.shapes.parts import AcceptanceShape
    from gammaplan.shapes.simulate import RuleShape, SimulateResult

MOST_DRAWN = 3 * 10**8  # tokens drawn by one rule: some minutes
MOST_IN_WINDOW = 2**23  # probabilities of a window: it is held in memory
LEVEL = 1e-4  # p-values below it call a rule lossy


class Source(NamedTuple):
    """Rows of target and draft: of files, or of one position whose logits were given."""

    pair: Pair | None
    logits: tuple[Numbers, Numbers] | None
    kind: Kind

    @classmethod
    def of(cls, files: Sequence[str], logits: LogitFlags) -> "Source":
        """From the options."""
        target, draft = logits.target_logits, logits.draft_logits
        if target is not None or draft is not None:
            if files or logits.of_files:
                raise typer.BadParameter(
                    "--target-logits and --draft-logits stand for files and their options; give "
                    "the ones or the others"
                )
            if target is None or draft is None or len(target) != len(draft):
                raise typer.BadParameter(
                    "--target-logits and --draft-logits must have as many logits, got "
                    f"{len(target or ())} and {len(draft or ())}"
                )
            return cls(None, (target, draft), "logits")
        if len(files) > 2:
            raise typer.BadParameter(
                f"two arrays are needed, the target's and the draft's, got {', '.join(files)}"
            )
        kind = logits.kind
        draft_file = files[1] if len(files) == 2 else None
        return cls(open_pair(files[0], draft_file, vocab=logits.vocab), None, kind)

    @property
    def vocab(self) -> int:
        """Tokens of a row."""
        return self.pair.vocab if self.pair else len(self.logits[0]) if self.logits else 0

    @property
    def positions(self) -> int:
        """Rows of each side."""
        return self.pair.positions if self.pair else 1

    def windows(
        self, starts: Sequence[int], rows: int, drawn: Drawn
    ) -> Iterator[tuple[Floats, Floats]]:
        """The rows of each window, as tokens are drawn from them."""
        if self.pair is not None:
            yield from windows(self.pair, starts, rows, drawn, self.kind)
        elif self.logits is not None:
            p, q = (
                transform([row], **asdict(sampler))
                for row, sampler in zip(self.logits, drawn, strict=True)
            )
            yield p.repeat(rows, axis=0), q.repeat(rows - 1, axis=0)

    def note(self, cases: Cases) -> None:
        """Account for where the rows came from."""
        names = (self.pair.target.name, self.pair.draft.name) if self.pair else (None, None)
        for side, name, row in zip(
            ("target", "draft"), names, self.logits or (None, None), strict=True
        ):
            cases.note_option(side, name)
            listed = row and [x if x > -math.inf else "-inf" for x in row]
            cases.note_option(f"{side}_logits", listed)
        cases.note_option("kind", None if self.kind == "logits" else self.kind, "logits")
        for name in self.pair.guessed if self.pair else ():
            cases.findings.append(finding("bfloat16_assumed", name=name))


def rows_results(
    cases: Cases,
    source: Source,
    settings: Sequence[Drawn],
    asked: Asked,
    names: Sequence[str] | None,
    lenience: float | None,
) -> "list[SimulateResult]":
    """The rules that are wanted, over the rows as each pair of samplers leaves them."""
    every = plays(LENIENCE if lenience is None else lenience)
    chosen = {name: every[name] for name in every if not names or name in names}
    source.note(cases)
    cases.note_option("rule", list(names) if names else None, list(every))
    cases.note_option("lenience", lenience, LENIENCE)
    cases.note_option("gamma", asked.gamma, DEFAULT_GAMMA)
    rounds, seed = asked.note(cases)
    gamma = DEFAULT_GAMMA if asked.gamma is None else asked.gamma
    _within_limits(gamma, rounds, source)
    if gamma >= source.positions > 1:
        few = source.positions
        cases.findings.append(finding("rows_repeated", rows=few, gamma=gamma, needed=gamma + 1))
    results = [_played(source, drawn, chosen, gamma, rounds, seed) for drawn in settings]
    if len(settings) > 1:
        for drawn, result in zip(settings, results, strict=True):
            result["labels"] = labels(drawn, settings)
    if results[0]["rules"][0]["p_value"] is None:
        cases.findings.append(finding("too_few_rounds_to_test", rounds=f"{rounds:,}"))
    return results


def _within_limits(gamma: int, rounds: int, source: Source) -> None:
    """Refuse what would not fit in memory, or nobody would wait for."""
    if (gamma + 1) * source.vocab > MOST_IN_WINDOW:
        raise typer.BadParameter(
            f"--gamma must be at most {MOST_IN_WINDOW // source.vocab - 1:,} for rows of "
            f"{source.vocab:,} tokens, which are held in memory, got {gamma:,}"
        )
    if rounds * (gamma + 1) > MOST_DRAWN:
        raise too_many(rounds, MOST_DRAWN // (gamma + 1), MOST_DRAWN)


def _played(
    source: Source,
    drawn: Drawn,
    chosen: Mapping[str, Play],
    gamma: int,
    rounds: int,
    seed: int,
) -> "SimulateResult":
    starts = window_starts(source.positions, gamma + 1, source.vocab)
    shares = shared_out(rounds, len(starts))
    seen = source.windows(starts[: len(shares)], gamma + 1, drawn)
    rng = np.random.default_rng(seed)
    with bar_of_rounds(rounds * len(chosen), worth=True) as told:
        played = simulate_rules(chosen, seen, shares, rng=rng, told=told)
    rules = [_rule(name, chosen[name], found) for name, found in played.items()]
    return {
        "rounds": rounds,
        "seed": seed,
        "gamma": gamma,
        "expected_tokens": rules[0]["expected_tokens"],
        "measured_tokens": rules[0]["measured_tokens"],
        "standard_error": rules[0]["standard_error"],
        "rows": [],
        "rules": rules,
        "windows": len(shares),
        "acceptance": _acceptance(next(iter(played.values()))),
    }


def _rule(name: str, play: "Play", found: "Played") -> "RuleShape":
    goodness = found.goodness
    return {
        "name": name,
        "exact": play.exact,
        "lossless": None if goodness is None else goodness.p_value >= LEVEL,
        "alpha": found.alpha,
        "expected_tokens": found.expected_tokens,
        "measured_tokens": found.tally.mean_tokens,
        "standard_error": found.tally.standard_error,
        "statistic": finite(goodness and goodness.statistic),
        "df": goodness and goodness.df,
        "p_value": goodness and goodness.p_value,
    }


def _acceptance(found: "Played") -> "AcceptanceShape | None":
    """What the first rule accepts by its formula, position by position, as evidence."""
    if found.survival is None or not found.survival.size:
        return None
    falling = np.minimum.accumulate(np.minimum(found.survival, 1))
    return acceptance_shape(PerPosition.from_survival(falling))
