"""The label of each mark: its words, and where its mark ends."""

import math
from typing import NamedTuple

from gammaplan.report.drawing.labels import shortened
from gammaplan.report.drawing.marks import style
from gammaplan.report.picture import (
    QUIET,
    Area,
    Axis,
    Bars,
    Cells,
    Edges,
    Line,
    Nodes,
    Panel,
    Points,
    Rule,
    Span,
    Steps,
)
from gammaplan.report.plain import printable

MOST_LABEL = 34  # characters


class Flag(NamedTuple):
    """A label to be placed: its words, where on its edge it belongs, and its colour.

    `end` is where on x the mark ends; both are shares of the panel.
    """

    text: str
    at: float
    colour: str
    end: float = 1.0


def flags(panel: Panel) -> tuple[list[Flag], list[Flag]]:
    """The labels beside a panel, each at the height of its mark, and those above it."""
    beside: list[Flag] = []
    above: list[Flag] = []
    for mark in panel.marks:
        if isinstance(mark, Cells | Edges) or not mark.label:
            continue
        text = shortened(printable(mark.label), MOST_LABEL)
        colour = style(QUIET if isinstance(mark, Span) else mark.series).colour
        if isinstance(mark, Rule | Span):
            at = mark.at if isinstance(mark, Rule) else _middle(mark)
            along = panel.x if mark.axis == "x" else panel.y
            (above if mark.axis == "x" else beside).append(Flag(text, share(along, at), colour))
        else:
            end, at = _end(panel, mark)
            beside.append(Flag(text, at, colour, end))
    return beside, above


def _middle(span: Span) -> float:
    """Where the label of a span stands: at its left, or halfway up."""
    return span.low if span.axis == "x" else (span.low + span.high) / 2


def _end(panel: Panel, mark: Line | Points | Area | Steps | Bars | Nodes) -> tuple[float, float]:
    """Where a mark ends on the right, within the panel as far as it is there at all."""
    known = [(x, y) for x, y in _places(mark) if x is not None and y is not None]
    shares = [(share(panel.x, x), share(panel.y, y)) for x, y in known]
    inside = [(x, y) for x, y in shares if 0 <= x <= 1 and 0 <= y <= 1]
    x, y = max(inside or shares, key=lambda pair: pair[0], default=(1.0, 0.5))
    return min(x, 1.0), min(max(y, 0.0), 1.0)


def _places(
    mark: Line | Points | Area | Steps | Bars | Nodes,
) -> list[tuple[float | None, float | None]]:
    if isinstance(mark, Steps):
        return list(zip(mark.edges[1:], mark.y, strict=True))
    if isinstance(mark, Area):
        return list(zip(mark.x, mark.high, strict=True))
    return list(zip(mark.x, mark.y, strict=True))


def share(axis: Axis | None, value: float) -> float:
    """Where a value is on an axis, 0 at its low end and 1 at its high end."""
    if axis is None:
        return value
    if axis.scale == "log":
        if value <= 0:
            return 0.0
        return math.log(value / axis.low) / math.log(axis.high / axis.low)
    return (value - axis.low) / (axis.high - axis.low)
