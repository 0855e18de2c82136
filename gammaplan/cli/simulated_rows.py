"""What simulate plays: the rules of verification over rows of target and draft."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import typer

from gammaplan.arrays.files import open_rows
from gammaplan.arrays.pairs import Pair, pair
from gammaplan.arrays.windows import window_starts, windows
from gammaplan.cli.evidence import Cases
from gammaplan.cli.progress import bar_of_rounds
from gammaplan.cli.samplers import OFF
from gammaplan.cli.simulated import DEFAULT_GAMMA, Asked, too_many
from gammaplan.data.findings import finding
from gammaplan.documents.writing import acceptance_shape
from gammaplan.model.acceptance import PerPosition
from gammaplan.model.overlap import Drawn, Kind
from gammaplan.model.playing import LENIENCE, Play, Played, plays, shared_out, simulate_rules

if TYPE_CHECKING:
    from gammaplan.shapes.parts import AcceptanceShape, Labels
    from gammaplan.shapes.simulate import RuleShape, SimulateResult

MOST_DRAWN = 10**9  # tokens drawn by one rule: some minutes
MOST_IN_WINDOW = 2**25  # probabilities of a window: it is held in memory
LEVEL = 1e-4  # p-values below it call a rule lossy


class Sides(NamedTuple):
    """Where the rows come from and what they are."""

    target: str
    draft: str
    vocab: int | None
    kind: Kind

    @classmethod
    def of(cls, files: Sequence[str], *, vocab: int | None, probs: bool, logprobs: bool) -> "Sides":
        """From the options."""
        if len(files) != 2:
            raise typer.BadParameter(
                f"two arrays are needed, the target's and the draft's, got {', '.join(files)}"
            )
        if probs and logprobs:
            raise typer.BadParameter("--probs and --logprobs contradict; give one")
        kind: Kind = "probs" if probs else "logprobs" if logprobs else "logits"
        return cls(files[0], files[1], vocab, kind)


def rows_results(
    cases: Cases,
    sides: Sides,
    settings: Sequence[Drawn],
    asked: Asked,
    names: Sequence[str] | None,
    lenience: float | None,
) -> "list[SimulateResult]":
    """The rules that are wanted, over the rows as each pair of samplers leaves them."""
    both = pair(open_rows(sides.target), open_rows(sides.draft), vocab=sides.vocab)
    every = plays(LENIENCE if lenience is None else lenience)
    chosen = {name: every[name] for name in every if not names or name in names}
    cases.note("target", sides.target, "flag")
    cases.note("draft", sides.draft, "flag")
    cases.note_option("vocab", sides.vocab)
    cases.note_option("kind", None if sides.kind == "logits" else sides.kind, "logits")
    cases.note_option("rule", list(names) if names else None, list(every))
    cases.note_option("lenience", lenience, LENIENCE)
    cases.note_option("gamma", asked.gamma, DEFAULT_GAMMA)
    rounds, seed = asked.note(cases)
    gamma = DEFAULT_GAMMA if asked.gamma is None else asked.gamma
    _within_limits(gamma, rounds, both)
    if gamma >= both.positions > 1:
        cases.findings.append(finding("rows_repeated", rows=both.positions, gamma=gamma))
    results = [_played(both, sides.kind, drawn, chosen, gamma, rounds, seed) for drawn in settings]
    if len(settings) > 1:
        for drawn, result in zip(settings, results, strict=True):
            result["labels"] = _labels(settings, drawn)
    if results[0]["rules"][0]["p_value"] is None:
        cases.findings.append(finding("too_few_rounds_to_test", rounds=f"{rounds:,}"))
    return results


def _within_limits(gamma: int, rounds: int, both: Pair) -> None:
    """Refuse what would not fit in memory, or nobody would wait for."""
    if (gamma + 1) * both.vocab > MOST_IN_WINDOW:
        raise typer.BadParameter(
            f"--gamma must be at most {MOST_IN_WINDOW // both.vocab - 1:,} for rows of "
            f"{both.vocab:,} tokens, which are held in memory, got {gamma:,}"
        )
    if rounds * (gamma + 1) > MOST_DRAWN:
        raise too_many(rounds, MOST_DRAWN // (gamma + 1), MOST_DRAWN)


def _labels(settings: Sequence[Drawn], drawn: Drawn) -> "Labels":
    """The settings in which the groups differ."""
    found: Labels = {}
    for name in OFF:
        pairs = [(getattr(d.target, name), getattr(d.draft, name)) for d in settings]
        if len({target for target, _ in pairs}) > 1:
            found[name] = getattr(drawn.target, name)
        if len({draft for _, draft in pairs}) > 1 and any(a != b for a, b in pairs):
            found[f"draft_{name}"] = getattr(drawn.draft, name)
    return found


def _played(
    both: Pair,
    kind: Kind,
    drawn: Drawn,
    chosen: Mapping[str, Play],
    gamma: int,
    rounds: int,
    seed: int,
) -> "SimulateResult":
    starts = window_starts(both.positions, gamma + 1, both.vocab)
    shares = shared_out(rounds, len(starts))
    seen = windows(both, starts[: len(shares)], gamma + 1, drawn, kind)
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
    goodness, survival = found.goodness, found.survival
    return {
        "name": name,
        "exact": play.exact,
        "lossless": None if goodness is None else goodness.p_value >= LEVEL,
        "alpha": found.alpha,
        "expected_tokens": None if survival is None else 1 + float(survival.sum()),
        "measured_tokens": found.tally.mean_tokens,
        "standard_error": found.tally.standard_error,
        "statistic": goodness and goodness.statistic,
        "df": goodness and goodness.df,
        "p_value": goodness and goodness.p_value,
    }


def _acceptance(found: "Played") -> "AcceptanceShape | None":
    """What the first rule accepts by its formula, position by position, as evidence."""
    if found.survival is None or not found.survival.size:
        return None
    return acceptance_shape(PerPosition.from_survival(np.minimum(found.survival, 1)))
