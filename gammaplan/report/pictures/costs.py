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
from gammaplan.shapes.parts import CostRow, Labels
from gammaplan.shapes.planning import CostResult


class Tabled(CostResult):
    """The result with a table of lengths for each of its costs."""

    tables: list[list[CostRow]]


COST, PASSES = "cost of a round", "plain target passes"


def cost(result: Tabled, inputs: Mapping[str, Any]) -> Picture | None:
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
        rounds = _rounds(_tables(cases))
    panels += [rounds] if rounds else []
    return Picture(_title(result, cases), tuple(panels), notes) if panels else None


def _title(result: CostResult, cases: Sequence[CostResult]) -> str:
    if len(cases) > 1:
        return f"What a round costs in {len(cases)} cases."
    if "estimate" in result:
        return of_estimate(result)
    return of_curves(result) if result["curves"] else of_cost(result)


def _tables(cases: Sequence[Tabled]) -> list[tuple[str, list[CostRow]]]:
    """The costs by what tells them apart."""
    pairs = [p for part in cases for p in zip(part["costs"], part["tables"], strict=True) if p[1]]
    said: list[Labels] = [{"batch": c["batch"], "context": c["context"]} for c, _ in pairs]
    if all("labels" in part and len(part["costs"]) == 1 for part in cases):
        said = [part["labels"] for part in cases]
    return [(label, table) for label, (_, table) in zip(_apart(said), pairs, strict=True)]


def _apart(said: Sequence[Labels]) -> list[str]:
    """Each set of labels in words, without what all have in common."""
    keys = [k for k in said[0] if len({str(labels.get(k)) for labels in said}) > 1] if said else []
    return [named({key: labels[key] for key in keys if key in labels}) for labels in said]


def _measured(part: Tabled) -> Panel:
    """The runs over the line that fits them, or joined where none does, beside the textbook's."""
    rows = part["rows"]
    at = [row["gamma"] for row in rows]
    table = part["tables"][0]
    line = [row["gamma"] for row in table]
    fitted = "" if part["costs"][0]["table"] else "fitted"
    marks: list[Mark] = [
        Line(at, [row["textbook"] for row in rows], "textbook 1 + cγ", 1),
        Line(line, [row["round_cost"] for row in table], fitted, 0, points=False),
        Points(at, [row["round_cost"] for row in rows], "measured", 4),
    ]
    values = [*(r["round_cost"] for r in rows), *(r["round_cost"] for r in table)]
    values += [row["textbook"] for row in rows if row["textbook"] is not None]
    return Panel(lengths_axis([0, *at, *line]), upwards(COST, PASSES, values, 1.0), tuple(marks))


def _rounds(tables: Sequence[tuple[str, list[CostRow]]]) -> Panel | None:
    if not tables:
        return None
    shown = few(tables)
    marks: list[Mark] = []
    values: list[float | None] = [1.0]
    for i, (label, table) in enumerate(shown):
        at = [row["gamma"] for row in table]
        low: list[float | None] = [row.get("low") for row in table]
        high: list[float | None] = [row.get("high") for row in table]
        if i == 0 and any(v is not None for v in low):
            marks.append(Area(at, low, high, f"range, {label}" if label else "range"))
            values += [*low, *high]
        values += [row["round_cost"] for row in table]
        marks.append(Line(at, [row["round_cost"] for row in table], label or "a round", i))
    x = lengths_axis([0, *(row["gamma"] for _, table in shown for row in table)])
    return Panel(x, upwards(COST, PASSES, values), tuple(marks))


def _passes(curves: Sequence[CurveShape]) -> Panel:
    """The time of a pass over its tokens; a step is a rule where one curve is drawn."""
    related = all(p["relative"] is not None for c in curves for p in c["points"])
    key = "relative" if related else "ms"
    marks: list[Mark] = []
    if len(curves) == 1:
        marks += [Rule("x", s["tokens"], f"step at {s['tokens']}") for s in curves[0]["steps"][:6]]
    labels = _apart(
        [{"curve": c["curve"], "batch": c["batch"], "context": c["context"]} for c in curves]
    )
    for i, curve in enumerate(curves):
        at = [point["tokens"] for point in curve["points"]]
        marks.append(Line(at, [point[key] for point in curve["points"]], labels[i] or "V(n)", i))  # type: ignore[literal-required] # one of two keys
    points = [point for curve in curves for point in curve["points"]]
    tokens = [float(point["tokens"]) for point in points]
    low, high = min(tokens), max(tokens)
    room = max(0.5, 0.02 * (high - low))
    x = wide(Axis("tokens in a pass", low - room, high + room, whole=True), tokens)
    values = [point["relative"] if related else point["ms"] for point in points]
    y = upwards("time of a target pass", "× of one token" if related else "ms", values)
    return Panel(x, y, tuple(marks))
