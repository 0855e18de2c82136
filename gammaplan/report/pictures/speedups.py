"""The speedup over the draft length: of one case with its band and ceiling, or of several."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gammaplan.report.optimum import headline
from gammaplan.report.picture import Axis, Line, Mark, Panel, Picture, Points, Rule, Span
from gammaplan.report.pictures.parts import (
    FAR,
    PLAIN,
    few,
    left_out,
    lengths_axis,
    speed_axis,
    wide,
)
from gammaplan.report.words import lengths, named, parts, percent, times
from gammaplan.shapes.answers import OptimumResult, TableResult

UNEVEN = 20  # of the gaps between lengths, the widest to the narrowest


def table(result: TableResult, inputs: Mapping[str, Any]) -> Picture | None:
    """The curve of each case."""
    cases = [part for part in parts(result) if part["rows"]]
    if not cases:
        return None
    if len(cases) > 1:
        return _several(cases)
    part = cases[0]
    optimum = part["optimum"]
    points = _points(part)
    gammas, speeds = list(points), list(points.values())
    top = max((s for s in speeds if s is not None), default=1.0)
    x = _axis(gammas)
    marks: list[Mark] = [*band(optimum, x), PLAIN]
    notes = outside(optimum, gammas)
    ceiling = optimum["ceiling"]
    if ceiling is not None and ceiling <= FAR * top:
        marks.append(Rule("y", ceiling, f"ceiling {times(ceiling)}"))
        speeds.append(ceiling)
    elif ceiling is not None:
        notes += (f"The ceiling, {times(ceiling)}, lies above what is drawn.",)
    marks += best(optimum, gammas)
    marks.append(Line(gammas, list(points.values()), "speedup"))
    return Picture(headline(optimum), (Panel(x, speed_axis(speeds), tuple(marks)),), notes)


def _axis(gammas: Sequence[int]) -> Axis:
    """The axis of lengths; in proportion where some lie much farther apart than others."""
    ordered = sorted(set(gammas))
    gaps = [after - before for before, after in pairwise(ordered)]
    axis = lengths_axis(gammas)
    return wide(axis, gammas) if gaps and max(gaps) >= UNEVEN * min(gaps) else axis


def _points(part: TableResult) -> dict[int, float | None]:
    """The speedup of each length of the rows, and of the best where it lies between them."""
    points = {row["gamma"]: row["speedup"] for row in part["rows"]}
    best = part["optimum"]["gamma"]
    if best is not None and min(points) < best < max(points):
        points[best] = part["optimum"]["speedup"]
    return dict(sorted(points.items()))


def band(optimum: OptimumResult, axis: Axis) -> list[Mark]:
    """The lengths within the tolerance of the best, as far as they are on the axis."""
    found = optimum["band"]
    if found["low"] is None:
        return []
    end = axis.high if found["high"] is None else min(found["high"] + 0.5, axis.high)
    start = max(found["low"] - 0.5, axis.low)
    text = f"within {percent(found['tolerance'], 0)}: γ {lengths(found['low'], found['high'])}"
    return [Span("x", start, end, text)] if end > start else []


def best(optimum: OptimumResult, gammas: list[int]) -> list[Mark]:
    """The best length, where it is on the axis, and the one in use."""
    marks: list[Mark] = []
    gamma, use = optimum["gamma"], optimum.get("in_use")
    if gamma is not None and min(gammas) <= gamma <= max(gammas):
        marks.append(Rule("x", gamma, f"best γ {gamma}: {times(optimum['speedup'])}", 0))
    if use and use["gamma"] != gamma and min(gammas) <= use["gamma"] <= max(gammas):
        marks.append(Rule("x", use["gamma"], f"in use γ {use['gamma']}: {times(use['speedup'])}"))
    return marks


def outside(optimum: OptimumResult, gammas: Sequence[int]) -> tuple[str, ...]:
    """A note of the length in use, where it is not on the axis."""
    use = optimum.get("in_use")
    if not use or min(gammas) <= use["gamma"] <= max(gammas):
        return ()
    side = "left" if use["gamma"] < min(gammas) else "right"
    said = f"The length in use, γ {use['gamma']}: {times(use['speedup'])}"
    return (f"{said}, lies {side} of what is drawn.",)


def _several(cases: list[TableResult]) -> Picture:
    shown = few(cases)
    marks: list[Mark] = [PLAIN]
    for i, part in enumerate(shown):
        optimum, points = part["optimum"], _points(part)
        said = "longer is faster" if optimum["gamma"] is None else f"best γ {optimum['gamma']}"
        label = f"{named(part['labels'])}: {said}"
        marks.append(Line(list(points), list(points.values()), label, i))
        if (top := optimum["gamma"]) in points:
            marks.append(Points([top], [optimum["speedup"]], "", i))
    every = [row for part in shown for row in part["rows"]]
    gammas = [row["gamma"] for row in every]
    x = _axis(gammas)
    y = speed_axis(row["speedup"] for row in every)
    title = f"The speedup of {len(cases)} cases over the draft length."
    return Picture(title, (Panel(x, y, tuple(marks)),), left_out(len(shown), len(cases), "cases"))
