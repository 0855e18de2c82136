"""What a round costs over the draft length, and how the time of a pass grows with its tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.cost import headline as of_cost
from gammaplan.report.curves import headline as of_curves
from gammaplan.report.estimate import headline as of_estimate
from gammaplan.report.picture import Area, Axis, Line, Mark, Panel, Picture, Points, Rule
from gammaplan.report.pictures.parts import few, left_out, lengths_axis, upwards, wide
from gammaplan.report.words import named, parts
from gammaplan.shapes.batches import CurveShape
from gammaplan.shapes.parts import CostShape
from gammaplan.shapes.planning import CostResult

COST, PASSES = "cost of a round", "plain target passes"


def cost(result: CostResult, inputs: Mapping[str, Any]) -> Picture | None:
    """The cost of each case over the draft length; timed passes first, where there are any."""
    cases = parts(result)
    curves = [curve for part in cases for curve in part["curves"]]
    panels: list[Panel] = []
    notes: tuple[str, ...] = ()
    if curves:
        shown = few(curves)
        panels.append(_passes(shown))
        notes = left_out(len(shown), len(curves), "curves")
    rounds = _measured(cases[0]) if len(cases) == 1 and cases[0]["rows"] else None
    if rounds is None or "estimate" in cases[0]:
        stated = [(c, part) for part in cases for c in part["costs"] if c["table"]]
        rounds = _rounds([c for c, _ in stated], [_label(c, part) for c, part in stated])
    panels += [rounds] if rounds else []
    return Picture(_title(result, cases), tuple(panels), notes) if panels else None


def _title(result: CostResult, cases: Sequence[CostResult]) -> str:
    if len(cases) > 1:
        return f"What a round costs in {len(cases)} cases."
    if "estimate" in result:
        return of_estimate(result)
    return of_curves(result) if result["curves"] else of_cost(result)


def _label(cost: CostShape, part: CostResult) -> str:
    said = {"batch": cost["batch"], "context": cost["context"]}
    labels = part.get("labels") or {key: v for key, v in said.items() if v is not None}
    return named(labels)


def _measured(part: CostResult) -> Panel:
    """The runs over the line that fits them, beside the textbook's."""
    rows = part["rows"]
    at = [row["gamma"] for row in rows]
    table = part["costs"][0]["table"]
    line = [row["gamma"] for row in table]
    marks: list[Mark] = [
        Line(at, [row["textbook"] for row in rows], "textbook 1 + cγ", 1),
        Line(line, [row["round_cost"] for row in table], "fitted", 0, points=False),
        Points(at, [row["round_cost"] for row in rows], "measured", 4),
    ]
    values = [*(r["round_cost"] for r in rows), *(r["round_cost"] for r in table)]
    values += [row["textbook"] for row in rows if row["textbook"] is not None]
    return Panel(lengths_axis([0, *at, *line]), upwards(COST, PASSES, values, 1.0), tuple(marks))


def _rounds(costs: Sequence[CostShape], labels: Sequence[str]) -> Panel | None:
    if not costs:
        return None
    pairs = few(list(zip(costs, labels, strict=True)))
    marks: list[Mark] = []
    values: list[float | None] = [1.0]
    for i, (shape, label) in enumerate(pairs):
        table = shape["table"]
        at = [row["gamma"] for row in table]
        low: list[float | None] = [row.get("low") for row in table]
        high: list[float | None] = [row.get("high") for row in table]
        if i == 0 and any(v is not None for v in low):
            whose = f" of {label}" if label and len(pairs) > 1 else ""
            marks.append(Area(at, low, high, f"range{whose}"))
            values += [*low, *high]
        values += [row["round_cost"] for row in table]
        marks.append(Line(at, [row["round_cost"] for row in table], label or "a round", i))
    x = lengths_axis([0, *(row["gamma"] for shape, _ in pairs for row in shape["table"])])
    return Panel(x, upwards(COST, PASSES, values), tuple(marks))


def _passes(curves: Sequence[CurveShape]) -> Panel:
    """The time of a pass over its tokens; a step is a rule where one curve is drawn."""
    related = all(p["relative"] is not None for c in curves for p in c["points"])
    key = "relative" if related else "ms"
    marks: list[Mark] = []
    if len(curves) == 1:
        marks += [Rule("x", s["tokens"], f"step at {s['tokens']}") for s in curves[0]["steps"][:6]]
    for i, curve in enumerate(curves):
        at = [point["tokens"] for point in curve["points"]]
        said = {"curve": curve["curve"], "batch": curve["batch"], "context": curve["context"]}
        label = named({k: v for k, v in said.items() if v is not None}) or "V(n)"
        marks.append(Line(at, [point[key] for point in curve["points"]], label, i))  # type: ignore[literal-required] # one of two keys
    points = [point for curve in curves for point in curve["points"]]
    tokens = [float(point["tokens"]) for point in points]
    low, high = min(tokens), max(tokens)
    room = max(0.5, 0.02 * (high - low))
    x = wide(Axis("tokens in a pass", low - room, high + room, whole=True), tokens)
    values = [point["relative"] if related else point["ms"] for point in points]
    y = upwards("time of a target pass", "× of one token" if related else "ms", values)
    return Panel(x, y, tuple(marks))
