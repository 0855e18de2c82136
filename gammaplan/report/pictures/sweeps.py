"""The map of the best draft length over α and c, and the speedups along it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.picture import Axis, Cells, Line, Mark, Panel, Picture, Rule, fitted
from gammaplan.report.pictures.parts import PLAIN, few, left_out, speed_axis, wide
from gammaplan.report.words import plain
from gammaplan.shapes.answers import SweepResult, SweepRow

ALPHA, C = "acceptance probability α", "cost of a draft pass c"
UNIT = "target passes"


def sweep(result: SweepResult, inputs: Mapping[str, Any]) -> Picture | None:
    """A map where both vary, then the speedup over one of them, a line for each of the other."""
    rows = result["rows"]
    if all(row["speedup"] is None for row in rows):
        return None
    alphas = sorted({row["alpha"] for row in rows})
    costs = sorted({row["c"] for row in rows})
    cells = {(row["alpha"], row["c"]): row for row in rows}
    over_c = len(costs) > 1
    shown = few(alphas if over_c else costs)
    if over_c:
        lines = {f"α {plain(a)}": [cells[a, c] for c in costs] for a in shown}
        axis = _axis(C, UNIT, costs)
        at = costs
    else:
        lines = {f"c {plain(c)}": [cells[a, c] for a in alphas] for c in shown}
        axis = _axis(ALPHA, "", alphas)
        at = alphas
    panels = []
    if len(alphas) > 1 and over_c:
        panels.append(_map(cells, alphas, costs))
    elif any(row["gamma"] is not None for row in rows):
        panels.append(_lengths(lines, axis, at))
    panels.append(_speedups(lines, axis, at))
    every, what = (len(alphas), "values of α") if over_c else (len(costs), "values of c")
    title = "The best draft length γ over α and c, and its speedup."
    return Picture(title, tuple(panels), left_out(len(shown), every, what))


def _axis(label: str, unit: str, values: Sequence[float]) -> Axis:
    low, high = fitted(values, margin=0.03)
    return wide(Axis(label, low, high, unit), values)


def _map(
    cells: Mapping[tuple[float, float], SweepRow], alphas: Sequence[float], costs: Sequence[float]
) -> Panel:
    down = list(reversed(alphas))
    rows = [[cells[alpha, c] for c in costs] for alpha in down]
    texts = [["∞" if r["gamma"] is None else str(r["gamma"]) for r in row] for row in rows]
    speeds = [[r["speedup"] for r in row] for row in rows]
    shades = Cells(speeds, texts, "speedup", "log")
    x = Axis(C, -0.5, len(costs) - 0.5, UNIT, names=tuple(map(plain, costs)))
    y = Axis(ALPHA, len(down) - 0.5, -0.5, names=tuple(map(plain, down)))
    return Panel(x, y, (shades,), "Best γ (number) and its speedup (shade)", 0.2)


def _lengths(lines: Mapping[str, list[SweepRow]], axis: Axis, at: Sequence[float]) -> Panel:
    values = [row["gamma"] for line in lines.values() for row in line]
    low, high = fitted(values, include=[0])
    y = Axis("best draft length γ", low, high, "tokens", whole=True)
    marks = [
        Line(at, [row["gamma"] for row in line], label, i)
        for i, (label, line) in enumerate(lines.items())
    ]
    return Panel(axis, y, tuple(marks))


def _speedups(lines: Mapping[str, list[SweepRow]], axis: Axis, at: Sequence[float]) -> Panel:
    values = [row["speedup"] for line in lines.values() for row in line]
    marks: list[Mark] = [PLAIN]
    if len(lines) == 1:
        only = next(iter(lines.values()))
        tops = {row["ceiling"] for row in only}
        top = next(iter(tops))
        if len(tops) == 1 and top is not None and top <= 2 * max(v or 0 for v in values):
            marks.append(Rule("y", top, f"ceiling {plain(top)}"))
            values.append(top)
    marks += [
        Line(at, [row["speedup"] for row in line], label, i)
        for i, (label, line) in enumerate(lines.items())
    ]
    return Panel(axis, wide(speed_axis(values), [*values, 1.0]), tuple(marks))
