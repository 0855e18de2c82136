"""α over the sampling settings, or its distribution over the positions of one setting."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.alpha import SETTINGS, course, settings, varying
from gammaplan.report.picture import Area, Axis, Bars, Line, Mark, Panel, Picture, Points, Rule
from gammaplan.report.pictures.parts import few, left_out, lengths_axis, named_panel, upwards
from gammaplan.shapes.alpha import AlphaResult, AlphaRow

ALPHA = "acceptance probability α"
MOST_NAMES = 24


def alpha(result: AlphaResult, inputs: Mapping[str, Any]) -> Picture | None:
    """One answer's distribution, or the course of a sweep."""
    rows = result["rows"]
    if not rows:
        return None
    if len(rows) == 1:
        row = rows[0]
        panels = [_spread(row)] if row["positions"] > 1 else []
        title = f"α {row['alpha']:.4f} at {settings(row)}."
        return Picture(title, (*panels, _tokens(row)))
    return _sweep(rows)


def _spread(row: AlphaRow) -> Panel:
    bins = len(row["histogram"])
    middles = [(i + 0.5) / bins for i in range(bins)]
    marks: list[Mark] = [
        Bars(middles, list(row["histogram"]), "", 0, 0.9 / bins),
        Rule("x", row["alpha"], f"mean α {row['alpha']:.3f}"),
    ]
    top = max(row["histogram"])
    y = Axis("positions", 0.0, 1.08 * top, whole=True)
    return Panel(Axis("α of a position", 0.0, 1.0), y, tuple(marks))


def _tokens(row: AlphaRow) -> Panel:
    """Tokens per round by the mean α, and along the positions, where those are runs of text."""
    rows = row["expected_tokens"]
    at = [r["gamma"] for r in rows]
    marks: list[Mark] = [Line(at, [r["by_mean"] for r in rows], "by the mean α", 0)]
    values: list[float | None] = [r["by_mean"] for r in rows]
    along = [r["by_sequence"] for r in rows]
    if row["positions"] > 1 and any(v is not None for v in along):
        marks.append(Line(at, along, "along the positions", 1))
        values += along
    y = upwards("tokens per round", "bonus token counted", values, 1.0)
    return Panel(lengths_axis(at), y, tuple(marks))


def _sweep(rows: Sequence[AlphaRow]) -> Picture:
    names = varying(rows)
    title = course(rows, names)
    first = names[0]
    at = [row["labels"].get(first) for row in rows]
    if any(not isinstance(value, int | float) for value in at) or len(set(at)) < 2:
        return Picture(title, (_named(rows, names),), left_out(MOST_NAMES, len(rows), "rows"))
    lines: dict[str, list[AlphaRow]] = {}
    for row in rows:
        lines.setdefault(settings(row, names[1:]) if names[1:] else "", []).append(row)
    shown = few(list(lines))
    marks: list[Mark] = []
    values: list[float | None] = []
    for i, label in enumerate(shown):
        line = sorted(lines[label], key=lambda row: float(row["labels"][first] or 0))
        x = [float(row["labels"][first] or 0) for row in line]
        alphas = [row["alpha"] for row in line]
        spans = [row["interval"] for row in line]
        low, high = ([s and s[end] for s in spans] for end in ("low", "high"))
        if any(spans):
            marks.append(Area(x, low, high, "", i))
            values += [*low, *high]
        marks.append(Line(x, alphas, label or "α", i))
        values += alphas
    if len(shown) == 1:
        line = lines[shown[0]]
        agree = [row["argmax_agreement"] for row in line]
        marks.append(Line([float(r["labels"][first] or 0) for r in line], agree, "same argmax", 1))
        values += agree
    y = upwards(ALPHA, "", values)
    y = y._replace(low=max(y.low, -0.02), high=min(y.high, 1.02))
    places = [float(value) for value in at if isinstance(value, int | float)]
    room = 0.03 * (max(places) - min(places))
    axis = Axis(SETTINGS[first], min(places) - room, max(places) + room)
    if first == "temperature":
        axis = axis._replace(label="temperature")
    panel = Panel(axis, y, tuple(marks))
    return Picture(title, (panel,), left_out(len(shown), len(lines), "curves"))


def _named(rows: Sequence[AlphaRow], names: Sequence[str]) -> Panel:
    shown = few(rows, MOST_NAMES)
    spans = [row["interval"] for row in shown]
    low, high = ([s and s[end] for s in spans] for end in ("low", "high"))
    values = [row["alpha"] for row in shown]
    points = Points(values, list(range(len(shown))), "", 0, low, high, "x")
    x = upwards(ALPHA, "", [*values, *low, *high])
    return named_panel([settings(row, names) for row in shown], x, [points])
