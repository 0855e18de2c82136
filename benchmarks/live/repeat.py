"""How far the machine itself moved: the calibration against its repetition in the measurement.

A plan can be no better than a repetition of the run that it was made from. The revealed lengths are
measured again, so they tell how far that is; what is left of an error without it is the plan's own.
"""

from math import prod
from statistics import geometric_mean, mean, median
from typing import Any

Record = dict[str, Any]
STEADY = 0.05  # a repetition that is off by less than this


def repeats(runs: list[Record], true: dict[int, float]) -> list[Record]:
    """The speedup of each calibrated length, and what it was when measured again."""
    found: dict[int, list[float]] = {}
    for run in runs:
        found.setdefault(run["gamma"], []).append(run["spec_tps"] / run["baseline_tps"])
    return [
        {
            "gamma": gamma,
            "calibrated": (told := geometric_mean(ratios)),
            "off": told / true[gamma] - 1,
        }
        for gamma, ratios in found.items()
        if gamma in true
    ]


def without_drift(plan: Record, found: list[Record]) -> Record:
    """The plan's rows times measured ÷ calibrated, the geometric mean of the lengths it was shown.

    No prediction any more, since it takes a measured speedup: it shows what the plan had wrong of
    the shape over γ. Where a plan was shown nothing, it is as it was.
    """
    if not found:
        return plan
    scale: float = prod(1 + r["off"] for r in found) ** (-1 / len(found))
    scaled = [
        row | {k: row[k] * scale for k in ("speedup", "low", "high") if row[k] is not None}
        if row["gamma"]
        else row
        for row in plan["rows"]
    ]
    return plan | {"rows": scaled}


def parts(plan: Record, points: list[Record], hidden: list[int]) -> dict[str, dict[int, float]]:
    """What an error is made of: tokens of a pass, and its cost, both predicted ÷ measured − 1."""
    rows = {row["gamma"]: row for row in plan["rows"]}
    found: dict[str, dict[int, float]] = {"tokens": {}, "cost": {}}
    for point in points:
        gamma, tokens = point["gamma"], point["tokens_per_pass"]
        if gamma in hidden:
            found["tokens"][gamma] = rows[gamma]["expected_tokens"] / tokens - 1
            cost = tokens / point["speedup"]
            found["cost"][gamma] = rows[gamma]["round_cost"] / cost - 1
    return found


def spread(errors: list[float]) -> str:
    """Median and mean of errors without their sign, in percent."""
    if not errors:
        return "–"
    off = [100 * abs(e) for e in errors]
    return f"{median(off):.1f} / {mean(off):.1f}"


def held(scores: list[Record]) -> str:
    """Of how many points the interval held the measured speedup."""
    ranged = sum(s["ranged"] for s in scores)
    return f"{sum(s['held'] for s in scores)} of {ranged}" if ranged else "–"


def floor(rows: list[Record]) -> list[str]:
    """The Markdown table of what the machine's own drift explains."""
    every = [r["off"] for row in rows for r in row["repeats"]]
    told = [
        "| | error median / mean | intervals held |",
        "|---|---|---|",
        f"| the calibration, repeated | {spread(every)} | – |",
    ]
    names = {name for row in rows for name, p in row["plans"].items() if p["shown"]}
    for name in sorted(names):
        plans = [(row, row["plans"][name]) for row in rows]
        drifted = [p["undrifted"] for _, p in plans]
        errors = [e for p in drifted for e in p["errors"].values()]
        told.append(f"| {name}, drift taken out | {spread(errors)} | {held(drifted)} |")
        steady = [p for row, p in plans if _steady(row, p)]
        errors = [e for p in steady for e in p["errors"].values()]
        told.append(
            f"| {name}, where the repetition was off by less than {100 * STEADY:.0f} % "
            f"({len(steady)} of {len(plans)}) | {spread(errors)} | {held(steady)} |"
        )
    return told


def _steady(row: Record, plan: Record) -> bool:
    return all(abs(r["off"]) < STEADY for r in row["repeats"] if r["gamma"] in plan["shown"])
