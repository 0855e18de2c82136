"""The marks of a picture in characters: told apart by shape, each datum in its own cell."""

import math
from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from itertools import pairwise
from typing import NamedTuple

from gammaplan.report.canvas import DOTS, OVER, TOP, UNDER, Canvas
from gammaplan.report.picture import (
    QUIET,
    Area,
    Axis,
    Bars,
    Cells,
    Edges,
    Line,
    Mark,
    Nodes,
    Points,
    Rule,
    Span,
    Steps,
    Value,
    Values,
)
from gammaplan.report.words import EIGHTHS

SHAPES, HOLLOW = "●▲■◆★✚▼◉", "○△□◇☆✛▽◎"
COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta")
SHADES = " ░▒▓█"
RISING = " ▁▂▃▄▅▆▇█"


class Said(NamedTuple):
    """What a mark is called, the sign it goes by, and the height where its label belongs."""

    sign: str
    text: str
    style: str
    y: float | None


def sign(series: int, *, hollow: bool = False) -> str:
    """The shape that stands for a series."""
    return (HOLLOW if hollow else SHAPES)[series % len(SHAPES)] if series != QUIET else "×"


def style(series: int) -> str:
    """The colour of a series, where there are colours."""
    return "dim" if series == QUIET else COLOURS[series % len(COLOURS)]


def place(axis: Axis, value: Value, size: int) -> float | None:
    """Where a value lies on an axis of so many cells; None where there is no value."""
    if value is None:
        return None
    low, high = axis.low, axis.high
    if axis.scale == "log":
        if value <= 0:
            return None
        low, high, value = math.log(low), math.log(high), math.log(value)
    return (value - low) / (high - low) * size


class Drawing:
    """Marks on a canvas between two axes; `extent` is what the shades of a map go from and to."""

    def __init__(self, x: Axis, y: Axis, canvas: Canvas, extent: tuple[float, float]) -> None:
        self.x, self.y, self.canvas, self.extent = x, y, canvas, extent

    def across(self, value: Value) -> float | None:
        """Cells from the left."""
        return place(self.x, value, self.canvas.width)

    def down(self, value: Value) -> float | None:
        """Cells from the top."""
        up = place(self.y, value, self.canvas.height)
        return None if up is None else self.canvas.height - up

    def places(self, x: Values, y: Values) -> list[tuple[float, float] | None]:
        """The places of points; None for one that is not there."""
        both = ((self.across(a), self.down(b)) for a, b in zip(x, y, strict=True))
        return [None if a is None or b is None else (a, b) for a, b in both]

    @singledispatchmethod
    def draw(self, mark: Mark) -> Said:
        """Draw a mark, and tell what to write beside it."""
        raise NotImplementedError(type(mark).__name__)

    @draw.register
    def _(self, mark: Line) -> Said:
        places = self.places(mark.x, mark.y)
        self._joined(places, style(mark.series))
        if mark.points:
            apart = -(-len(places) // self.canvas.width)  # more than cells are not all marked
            self._dotted(places[:: max(apart, 1)], sign(mark.series), style(mark.series))
        return self._said(sign(mark.series), mark, places)

    @draw.register
    def _(self, mark: Steps) -> Said:
        corners = [
            (at, value)
            for ends, value in zip(pairwise(mark.edges), mark.y, strict=True)
            for at in ends
        ]
        places = self.places([x for x, _ in corners], [y for _, y in corners])
        self._joined(places, style(mark.series))
        return self._said("─", mark, places)

    @draw.register
    def _(self, mark: Points) -> Said:
        shape, colour = sign(mark.series, hollow=mark.hollow), style(mark.series)
        places = self.places(mark.x, mark.y)
        for at, low, high in zip(places, mark.low, mark.high, strict=False):
            if at is None or low is None or high is None:
                continue
            if mark.along == "y" and (ends := (self.down(low), self.down(high))):
                self._upright(at[0], *ends, "│", colour, OVER)
            elif (left := self.across(low)) is not None:
                right = self.across(high)
                self.canvas.across(
                    left, at[0] if right is None else right, at[1], "─", colour, OVER
                )
        self._dotted(places, shape, colour)
        return self._said(shape, mark, places)

    @draw.register
    def _(self, mark: Area) -> Said:
        tops = self.places(mark.x, mark.high)
        for at, low in zip(tops, mark.low, strict=True):
            if at is not None:
                self._upright(at[0], at[1], self.down(low), "┊", style(mark.series), UNDER)
        return self._said("┊", mark, tops)

    @draw.register
    def _(self, mark: Rule) -> Said:
        colour = style(mark.series)
        if mark.axis == "x":
            if (x := self.across(mark.at)) is not None:
                self.canvas.down(x, 0, self.canvas.height, "┆", colour, UNDER)
            return Said("┆", mark.label, colour, None)
        y = self.down(mark.at)
        if y is not None:
            self.canvas.across(0, self.canvas.width, y, "╌", colour, UNDER)
        return Said("╌", mark.label, colour, y)

    @draw.register
    def _(self, mark: Span) -> Said:
        ends = [self.down(mark.low), self.down(mark.high)] if mark.axis == "y" else []
        for y in ends:
            if y is not None:
                self.canvas.across(0, self.canvas.width, y, "╌", "dim", UNDER)
        return Said("╌" if ends else "━", mark.label, "dim", ends[1] if ends else None)

    @draw.register
    def _(self, mark: Bars) -> Said:
        half, colour = mark.width / 2, style(mark.series)
        for x, y in zip(mark.x, mark.y, strict=True):
            if x is None or y is None:
                continue
            if mark.along == "x":
                self._lying(x, y, colour)
                continue
            left, right = self.across(x - half), self.across(x + half)
            if left is not None and right is not None:
                self._standing(math.ceil(left - 0.5), max(right - 0.5, left), y, colour)
        return Said("█", mark.label, colour, None)

    @draw.register
    def _(self, mark: Edges) -> Said:
        for x0, y0, x1, y1 in mark.ends:
            self._joined(self.places((x0, x1), (y0, y1)), style(mark.series))
        return Said("", "", "", None)

    @draw.register
    def _(self, mark: Nodes) -> Said:
        places = self.places(mark.x, mark.y)
        self._dotted(places, sign(mark.series), style(mark.series))
        self._written(places, mark.texts)
        return Said(sign(mark.series), mark.label, style(mark.series), None)

    @draw.register
    def _(self, mark: Cells) -> Said:
        low, high = self.extent
        wide = self.canvas.width // max(len(row) for row in mark.values)
        longest = max((len(text) for row in mark.texts for text in row), default=wide)
        for i, row in enumerate(mark.values):
            y = int(self.down(i) or 0.0)
            for j, value in enumerate(row):
                shade = "" if value is None else SHADES[_shade(value, low, high, mark.scale)]
                if longest + 3 <= wide:
                    self.canvas.write(j * wide, y, f"{shade * 2:2}{mark.texts[i][j]:>{longest}}")
                else:
                    self.canvas.write(j * wide, y, shade * wide)
        ends = f"{mark.label} {SHADES[1]} {low:.4g} to {SHADES[-1]} {high:.4g}"
        if mark.texts and longest + 3 > wide:
            ends += "; no room for the numbers"
        return Said("", ends, "", None)

    def _joined(self, places: Sequence[tuple[float, float] | None], colour: str) -> None:
        for start, end in pairwise(places):
            if start is not None and end is not None:
                self.canvas.line(*start, *end, colour)

    def _dotted(
        self, places: Sequence[tuple[float, float] | None], shape: str, colour: str
    ) -> None:
        for at in places:
            if at is not None:
                self.canvas.put(*at, shape, colour, TOP)

    def _upright(
        self, x: float, y0: float | None, y1: float | None, mark: str, colour: str, layer: int
    ) -> None:
        if y0 is not None and y1 is not None:
            self.canvas.down(x, y0, y1, mark, colour, layer)

    def _standing(self, left: float, right: float, value: float, colour: str) -> None:
        """A bar from zero upwards, in eighths of a cell."""
        top, foot = self.down(value), self.down(max(0.0, self.y.low))
        if top is None or foot is None:
            return
        top = max(top, 0.0)
        rest = RISING[round((math.ceil(top) - top) * 8)]
        for x in range(int(left), int(right) + 1):
            if foot >= 1 and top < foot:
                self.canvas.down(x, math.ceil(top), math.ceil(foot) - 1, "█", colour, DOTS)
                self.canvas.put(x, top, rest if top % 1 else "█", colour, DOTS)

    def _lying(self, value: float, at: float, colour: str) -> None:
        """A bar from zero to the right, in eighths of a cell."""
        foot, end, y = self.across(max(0.0, self.x.low)), self.across(value), self.down(at)
        if foot is None or end is None or y is None or end <= foot:
            return
        end = min(end, float(self.canvas.width))
        self.canvas.across(foot, math.floor(end) - 1, y, "█", colour, DOTS)
        if eighths := int(end % 1 * 8):
            self.canvas.put(math.floor(end), y, EIGHTHS[eighths], colour, DOTS)

    def _written(self, places: Sequence[tuple[float, float] | None], texts: Sequence[str]) -> None:
        """A text below each place, if all of them have room."""
        taken: set[tuple[int, int]] = set()
        cells = [self.canvas.cell(*at) if at else None for at in places]
        wanted = []
        for cell, text in zip(cells, texts, strict=False):
            if cell is None:
                return
            left = min(max(0, cell[0] - len(text) // 2), self.canvas.width - len(text))
            own = {(left + i, cell[1] + 1) for i in range(-1, len(text))}
            if own & (taken | {c for c in cells if c}) or cell[1] + 1 >= self.canvas.height:
                return
            taken |= own
            wanted.append((left, cell[1] + 1, text))
        for x, y, text in wanted:
            self.canvas.write(x, y, text)

    @staticmethod
    def _said(
        shape: str, mark: Line | Steps | Points | Area, places: Sequence[tuple[float, float] | None]
    ) -> Said:
        last = next((at for at in reversed(places) if at is not None), None)
        return Said(shape, mark.label, style(mark.series), last[1] if last else None)


def extent(marks: Iterable[Mark]) -> tuple[float, float]:
    """The smallest and the largest value of the maps among marks."""
    maps = [mark for mark in marks if isinstance(mark, Cells)]
    known = [v for mark in maps for row in mark.values for v in row if v is not None]
    return (min(known), max(known)) if known else (0.0, 0.0)


def _shade(value: float, low: float, high: float, scale: str) -> int:
    """Which shade a value of a map has; the smallest has the lightest, not none."""
    if scale == "log" and low > 0:
        low, high, value = math.log(low), math.log(high), math.log(value)
    share = (value - low) / (high - low) if high > low else 1.0
    return 1 + min(int(share * 4), 3)
