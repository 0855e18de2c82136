"""Where a round's time goes, the run on its calibrated curve, and what would make it faster."""

from collections.abc import Mapping
from typing import Any

from gammaplan.report.explain import headline
from gammaplan.report.picture import Bars, Line, Mark, Panel, Picture, Points, Rule
from gammaplan.report.pictures.parts import (
    PLAIN,
    few,
    left_out,
    lengths_axis,
    named_panel,
    speed_axis,
    upwards,
)
from gammaplan.report.words import named, parts, percent, times
from gammaplan.shapes.answers import TableRow
from gammaplan.shapes.planning import ExplainResult

NAMES = {
    "target": "one target pass",
    "draft": "drafting",
    "verify": "verifying the draft",
    "overhead": "overhead",
    "unexplained": "unexplained",
}


class Calibrated(ExplainResult):
    """The result with the curve that its picture shows besides."""

    rows: list[TableRow]


def explain(result: Calibrated, inputs: Mapping[str, Any]) -> Picture:
    """The parts, the curve and the levers of one run; of several, their curves."""
    cases = parts(result)
    if len(cases) > 1:
        return _several(cases)
    part = cases[0]
    known = all(row["speedup"] is not None for row in part["rows"])
    notes = () if known else ("The curve ends where the costs that are stated end.",)
    return Picture(headline(part), (_round(part), _curve(part), _levers(part)), notes)


def _round(part: Calibrated) -> Panel:
    """What a round spends its time on, in plain target passes."""
    pieces = part["parts"]
    names = [f"{NAMES[p['name']]}, {percent(p['share'], 0)}" for p in pieces]
    spent = [p["target_passes"] for p in pieces]
    bars = Bars(spent, list(range(len(pieces))), "", 0, 0.62, "x")
    x = upwards("time of a round", "plain target passes", spent, 0.0)
    x = x._replace(low=min(0.0, *spent))
    return named_panel(names, x, [bars], heading="Where the time of a round goes")


def _curve(part: Calibrated) -> Panel:
    rows = part["rows"]
    at = [row["gamma"] for row in rows]
    speeds = [row["speedup"] for row in rows]
    best = _best(part, at)
    marks: list[Mark] = [PLAIN, *best, Line(at, speeds, "calibrated", 0)]
    values = [*speeds, *_points(part, marks), *([part["best"]["speedup"]] if best else [])]
    return Panel(lengths_axis(at), speed_axis(values), tuple(marks))


def _points(part: Calibrated, marks: list[Mark]) -> list[float | None]:
    """The run, and what the textbook promises it."""
    book = part["textbook"]
    low: list[float | None] = [] if book["low"] is None else [book["low"]]
    high = [] if book["high"] is None else [book["high"]]
    marks.append(Points([part["gamma"]], [book["speedup"]], "textbook", 2, low, high, hollow=True))
    values: list[float | None] = [book["speedup"], *low, *high]
    if part["measured_speedup"] is not None:
        marks.append(Points([part["gamma"]], [part["measured_speedup"]], "measured", 1))
        values.append(part["measured_speedup"])
    return values


def _best(part: Calibrated, gammas: list[int]) -> list[Mark]:
    """The best length, and its point, which may lie beyond the lengths whose cost is stated."""
    best = part["best"]
    if best["gamma"] is None or not min(gammas) <= best["gamma"] <= max(gammas):
        return []
    return [
        Rule("x", best["gamma"], f"best γ {best['gamma']}: {times(best['speedup'])}", 0),
        Points([best["gamma"]], [best["speedup"]], "", 0),
    ]


def _levers(part: Calibrated) -> Panel:
    """The speedup of the run if one thing about it were perfect."""
    levers = part["levers"]
    now = part["measured_speedup"] or part["mean_length"] / part["round_cost"]
    x = speed_axis([now, *(lever["speedup"] for lever in levers)])
    marks: list[Mark] = [
        Rule("x", 1.0, "plain decoding"),
        Rule("x", now, "now", 1),
        Points([lever["speedup"] for lever in levers], list(range(len(levers))), "", 0),
    ]
    names = [lever["change"] for lever in levers]
    return named_panel(names, x, marks, heading="If one thing were perfect")


def _several(cases: list[Calibrated]) -> Picture:
    shown = few(cases)
    marks: list[Mark] = [PLAIN]
    every: list[tuple[int, float | None]] = []
    for i, part in enumerate(shown):
        rows = part["rows"]
        at, speeds = [row["gamma"] for row in rows], [row["speedup"] for row in rows]
        marks.append(Line(at, speeds, named(part.get("labels", {})), i))
        marks.append(Points([part["gamma"]], [part["measured_speedup"]], "", i))
        every += [*zip(at, speeds, strict=True), (part["gamma"], part["measured_speedup"])]
    panel = Panel(lengths_axis(g for g, _ in every), speed_axis(s for _, s in every), tuple(marks))
    title = f"{len(cases)} runs on their calibrated curves."
    return Picture(title, (panel,), left_out(len(shown), len(cases), "runs"))
