"""One run from the figures of its row: its speedup, by whichever way it was given."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gammaplan.cli.runfiles import Row
from gammaplan.cli.runrows import SPEEDS
from gammaplan.errors import DomainError, InputError
from gammaplan.model.repeats import ALONE, Repeats, repeats
from gammaplan.model.runs import Run

TOO_FAST, TOO_SLOW = 1.5, 0.02  # × (γ + 1), and ×: no round is so cheap, no loss so large
FAR_APART = 50  # ×: repeats of one way to serve do not differ so much
OWN = ("baseline_tps", "baseline_ms", "speedup")  # with one of these the baseline is the row's own
WAYS_TO_A_RUN = (
    "--gamma with --speedup, or with --baseline-tps and --spec-tps (or both in ms); "
    "--run gamma=5,speedup=1.4,…; or --runs FILE"
)


class Baseline(NamedTuple):
    """The plain speed of rows without their own, by name, and how far its repeats differ."""

    speeds: dict[str, float]
    repeats: dict[str, Repeats]


def baseline_of(rows: Sequence[Row], given: Mapping[str, float]) -> Baseline:
    """The plain speed for rows without their own: the one given, else that of the γ = 0 rows.

    Where there are neither and every row has the same baseline, that one: it is known then.
    """
    found = Baseline(dict(given), {})
    if given:
        return found
    for unit in ("tps", "ms"):
        if values := _plain(rows, unit):
            name = f"baseline_{unit}"
            found.speeds[name] = math.exp(math.fsum(map(math.log, values)) / len(values))
            found.repeats[name] = repeats([values])
    if not found.speeds:
        stated = ((n, _float(r.figures[n])) for r in rows for n in SPEEDS[::2] if n in r.figures)
        first = next(stated, ("", 0.0))
        if first[0].startswith("baseline") and all(one == first for one in stated):
            found.speeds.update([first])
    return found


def _plain(rows: Sequence[Row], unit: str) -> list[float]:
    """The speeds of the γ = 0 rows, in tps or ms."""
    names = (f"baseline_{unit}", f"spec_{unit}")
    found: dict[int, float] = {}
    for i, row in enumerate(rows):
        name = next((n for n in names if n in row.figures), None)
        if name is None or row.figures.get("gamma") != 0:
            continue
        found[i] = _float(row.figures[name])
        if not found[i] > 0:
            raise InputError(f"{row.where}: the speed without speculation must be above 0")
    if found:
        low, high = min(found.values()), max(found, key=found.__getitem__)
        if found[high] > FAR_APART * low:
            raise InputError(
                f"{rows[high].where}: the speeds without speculation (γ 0) are {low:.4g} to "
                f"{found[high]:.4g}, more than {FAR_APART} times apart; are all of one unit and "
                "set-up?"
            )
    return list(found.values())


def run_of(row: Mapping[str, object], baseline: Baseline) -> Run:
    """The run of one row; `baseline` is the plain speed of rows without their own."""
    gamma = row.get("gamma")
    if not isinstance(gamma, int | float):
        raise DomainError("the draft length (gamma) is missing")
    if gamma != int(gamma):
        raise DomainError(f"gamma must be a whole number, got {gamma:g}")
    speed = _speedup(row, baseline.speeds)
    if speed > TOO_FAST * (gamma + 1) or speed < TOO_SLOW:
        raise DomainError(
            f"a speedup of {speed:.4g} at gamma {gamma:g} cannot be (a round emits at most "
            f"{gamma + 1:g} tokens); are both speeds of one unit and one set-up?"
        )
    length, survival = _given(row, "mean_length"), row.get("survival")
    if length is None and "accepted_per_round" in row:
        length = 1 + _float(row["accepted_per_round"])
    return Run(
        int(gamma),
        speed,
        mean_length=length,
        pooled_rate=_given(row, "pooled_rate"),
        survival=survival if isinstance(survival, tuple) else None,
        drafted_per_round=_given(row, "drafted_per_round"),
        baseline_repeats=_shared(row, baseline),
    )


def _shared(row: Mapping[str, object], baseline: Baseline) -> Repeats | None:
    """How far the plain runs differ that this row is compared with; None: one of its own."""
    if not row.keys().isdisjoint(OWN):
        return None
    return baseline.repeats.get("baseline_tps" if "spec_tps" in row else "baseline_ms", ALONE)


def _given(figures: Mapping[str, object], name: str) -> float | None:
    return _float(figures[name]) if name in figures else None


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _speedup(figures: Mapping[str, object], baseline: Mapping[str, float]) -> float:
    """Speed with over without speculation, by the one way in which it was given."""
    own = {n: _float(figures[n]) for n in SPEEDS if n in figures}
    if zero := [n for n, v in own.items() if not v > 0]:
        raise DomainError(f"{zero[0]} must be above 0, got {own[zero[0]]:g}")
    if not any(n.startswith("baseline") for n in own):
        own |= {} if "speedup" in own else baseline
    ways = []
    if {"baseline_tps", "spec_tps"} <= own.keys():
        ways.append(own["spec_tps"] / own["baseline_tps"])
    if {"baseline_ms", "spec_ms"} <= own.keys():
        ways.append(own["baseline_ms"] / own["spec_ms"])
    if "speedup" in own:
        ways.append(own["speedup"])
    if not ways:
        units = sorted(n for n in own if "_" in n)
        if len(units) > 1:
            raise DomainError(f"{' and '.join(units)} have different units; give both in one")
        missing = "baseline" if any(n.startswith("spec") for n in own) else "speed with speculation"
        raise DomainError(f"the {missing} is missing; give {WAYS_TO_A_RUN}")
    if max(ways) > 1.02 * min(ways):
        shown = " and ".join(f"{way:.4g}" for way in ways)
        raise DomainError(f"the speeds contradict each other: a speedup of {shown}")
    return ways[0]
