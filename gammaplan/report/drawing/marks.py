"""The marks of a picture as matplotlib draws them, in one style."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

from gammaplan.report.picture import (
    QUIET,
    Area,
    Bars,
    Cells,
    Edges,
    Line,
    Mark,
    Nodes,
    Panel,
    Points,
    Rule,
    Span,
    Steps,
    Values,
)

INK, GREY, PALE = "#1f1f1f", "#6b6b6b", "#dcdcdc"
# After Okabe and Ito, darker where a word is written in the colour; each with dashes and a shape.
COLOURS = ("#0067a8", "#b84a00", "#00704f", "#96407c", "#1f1f1f", "#756000", "#3d55c4", "#a3242f")
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.5)), (0, (6, 2, 1.2, 2)), (0, (9, 2)),
    (0, (3, 1.2)), (0, (6, 2, 1.2, 2, 1.2, 2)), (0, (2, 4)),
)  # fmt: skip
SHAPES = "osD^vPX*"
MOST_POINTS = 60  # a line of more points is drawn without its points
SHADES = LinearSegmentedColormap.from_list("gammaplan", ["#f3f7fb", "#7fb0d3", "#08457e"])


class Style(NamedTuple):
    """What tells one series from another, in colour and without."""

    colour: str
    dashes: Any  # Any: a name, or a pattern as matplotlib takes it
    shape: str


def style(series: int) -> Style:
    """The look of a series; of what is quiet too."""
    if series == QUIET:
        return Style(GREY, (0, (4, 3)), "o")
    return Style(COLOURS[series % 8], DASHES[series % 8], SHAPES[series % 8])


def numbers(values: Values) -> list[float]:
    """The values, with NaN, where a line breaks, for None."""
    return [math.nan if v is None else float(v) for v in values]


def draw_marks(axes: Axes, panel: Panel, name: str) -> None:
    """Draw every mark of a panel, the last on top; in a file each has a name to find it by."""
    for order, mark in enumerate(panel.marks):
        DRAWN[type(mark)](axes, mark, order + 3).set_gid(f"{name}-mark-{order}")


def extremes(cells: Cells) -> tuple[float, float]:
    """The smallest and the largest value of a map: its lightest and darkest shade."""
    known = [float(v) for row in cells.values for v in row if v is not None]
    return (min(known), max(known)) if known else (0.0, 0.0)


def shade(cells: Cells) -> Normalize:
    """How values become shades, from 0 to 1; where all are one value it is light."""
    low, high = extremes(cells)
    if cells.scale == "log" and low > 0:
        return LogNorm(low, high if high > low else 2 * low)
    return Normalize(low, high if high > low else low + 1)


def legible(ground: tuple[float, ...]) -> str:
    """White or ink, whichever stands out more on this ground (relative luminance, WCAG 2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in ground[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.2 else INK


def _line(axes: Axes, mark: Line, order: int) -> Artist:
    look = style(mark.series)
    shown = mark.points and len(mark.x) <= MOST_POINTS
    (line,) = axes.plot(
        numbers(mark.x),
        numbers(mark.y),
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.6,
        marker=look.shape if shown else "",
        markersize=4.2,
        zorder=order,
    )
    return line


def _points(axes: Axes, mark: Points, order: int) -> Artist:
    look = style(mark.series)
    if mark.low and mark.high:
        upright = mark.along == "y"
        at = numbers(mark.x if upright else mark.y)
        draw, cap = (axes.vlines, "_") if upright else (axes.hlines, "|")
        draw(
            at,
            numbers(mark.low),
            numbers(mark.high),
            color=look.colour,
            linewidth=1.6,
            zorder=order,
        )
        for ends in (numbers(mark.low), numbers(mark.high)):
            x, y = (at, ends) if upright else (ends, at)
            axes.plot(x, y, cap, color=look.colour, markersize=6, zorder=order)
    (points,) = axes.plot(
        numbers(mark.x),
        numbers(mark.y),
        linestyle="",
        marker=look.shape,
        markersize=5.5,
        markerfacecolor="white" if mark.hollow else look.colour,
        markeredgecolor=look.colour,
        markeredgewidth=1.3,
        zorder=order + 0.5,
    )
    return points


def _area(axes: Axes, mark: Area, order: int) -> Artist:
    look = style(mark.series)
    return axes.fill_between(
        numbers(mark.x),
        numbers(mark.low),
        numbers(mark.high),
        color=PALE if mark.series == QUIET else look.colour,
        alpha=0.7 if mark.series == QUIET else 0.16,
        linewidth=0,
        zorder=order,
    )


def _span(axes: Axes, mark: Span, order: int) -> Artist:
    band = axes.axvspan if mark.axis == "x" else axes.axhspan
    return band(mark.low, mark.high, color="#e9eef3", linewidth=0, zorder=1)


def _rule(axes: Axes, mark: Rule, order: int) -> Artist:
    look = style(mark.series)
    rule = axes.axvline if mark.axis == "x" else axes.axhline
    return rule(mark.at, color=look.colour, linestyle=(0, (4, 3)), linewidth=1.0, zorder=2)


def _steps(axes: Axes, mark: Steps, order: int) -> Artist:
    look = style(mark.series)
    return axes.stairs(
        numbers(mark.y),
        list(mark.edges),
        baseline=None,
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.8,
        zorder=order,
    )


def _bars(axes: Axes, mark: Bars, order: int) -> Artist:
    look = style(mark.series)
    upright = mark.along == "y"
    at, to = (mark.x, mark.y) if upright else (mark.y, mark.x)
    drawn = (axes.bar if upright else axes.barh)(
        numbers(at),
        numbers(to),
        mark.width,
        color=look.colour if mark.series != QUIET else PALE,
        linewidth=0,
        zorder=order,
    )
    first: Artist = drawn[0]
    return first


def _cells(axes: Axes, mark: Cells, order: int) -> Artist:
    columns, lines = len(mark.values[0]), len(mark.values)
    return axes.pcolormesh(
        [j - 0.5 for j in range(columns + 1)],
        [i - 0.5 for i in range(lines + 1)],
        [numbers(row) for row in mark.values],
        cmap=SHADES,
        norm=shade(mark),
        edgecolors="white",
        linewidth=1.0 if columns <= 40 else 0.0,
        zorder=order,
    )


def _edges(axes: Axes, mark: Edges, order: int) -> Artist:
    lines = [[(x0, y0), (x1, y1)] for x0, y0, x1, y1 in mark.ends]
    colour = GREY if mark.series == QUIET else style(mark.series).colour
    drawn = LineCollection(lines, colors=colour, linewidths=0.8, zorder=order)
    axes.add_collection(drawn, autolim=False)
    return drawn


def _nodes(axes: Axes, mark: Nodes, order: int) -> Artist:
    (nodes,) = axes.plot(
        list(mark.x),
        list(mark.y),
        linestyle="",
        marker=style(mark.series).shape,
        markersize=5 if len(mark.x) <= 60 else 2.5,
        color=style(mark.series).colour,
        zorder=order,
    )
    return nodes


DRAWN: dict[type[Mark], Callable[[Axes, Any, int], Artist]] = {  # Any: each takes its own mark
    Line: _line,
    Points: _points,
    Area: _area,
    Span: _span,
    Rule: _rule,
    Steps: _steps,
    Bars: _bars,
    Cells: _cells,
    Edges: _edges,
    Nodes: _nodes,
}
