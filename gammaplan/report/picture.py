"""What a picture shows, whatever draws it: panels of axes with marks, in numbers and words.

`report/pictures` makes a `Picture` from the result of a command, `report/drawing.py`
draws it into a file, and `report/terminal_plot.py` in a terminal, by
`draw(picture, console)`. What every back end keeps to:

- Panels stand one below the other, each with axes of its own.
- Limits are given: a back end draws from `Axis.low` to `Axis.high` and cuts what
  lies outside. It asks `ticks(axis, most)` for as many ticks as it has room for.
- `series` tells marks apart by colour, dashes and shape of point together:
  0, 1, 2, … in the order of a legend; `QUIET` is what the data are seen
  against (a ceiling, a band). Marks are drawn in their order, the last on top.
- A mark has its `label` beside it, and there is no legend.
- Texts come from outside: a back end passes each through `printable` and
  interprets nothing in it.
- A value is a finite number or None, where there is none: a line is broken there.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

QUIET = -1
Value: TypeAlias = float | None
Values: TypeAlias = Sequence[Value]
Direction: TypeAlias = Literal["x", "y"]
Scale: TypeAlias = Literal["linear", "log"]


class Axis(NamedTuple):
    """One axis: what it measures, in what, from where to where.

    `whole` allows ticks at whole numbers only. `names`, where given, stand at
    0, 1, 2, … instead of numbers; a y axis of names has the first on top, its
    `low` being the larger number.
    """

    label: str
    low: float
    high: float
    unit: str = ""
    scale: Scale = "linear"
    whole: bool = False
    names: tuple[str, ...] = ()


class Line(NamedTuple):
    """Points joined by lines; `points` marks each one, as whole lengths need."""

    x: Values
    y: Values
    label: str = ""
    series: int = 0
    points: bool = True


class Points(NamedTuple):
    """Points apart, each with an interval where `low` and `high` have one.

    The intervals lie along the axis `along`. `hollow` points are predicted,
    filled ones measured.
    """

    x: Values
    y: Values
    label: str = ""
    series: int = 0
    low: Values = ()
    high: Values = ()
    along: Direction = "y"
    hollow: bool = False


class Area(NamedTuple):
    """What lies between two curves over the same x: an interval at each."""

    x: Values
    low: Values
    high: Values
    label: str = ""
    series: int = QUIET


class Span(NamedTuple):
    """Everything from `low` to `high` on one axis."""

    axis: Direction
    low: float
    high: float
    label: str = ""


class Rule(NamedTuple):
    """A straight line at one value of one axis, through the whole panel."""

    axis: Direction
    at: float
    label: str = ""
    series: int = QUIET


class Steps(NamedTuple):
    """Values that hold from one edge to the next: `edges` has one more than `y`."""

    edges: Sequence[float]
    y: Values
    label: str = ""
    series: int = 0


class Bars(NamedTuple):
    """Bars from zero, `width` wide: to `y` at each x, or along x to `x` at each y."""

    x: Values
    y: Values
    label: str = ""
    series: int = 0
    width: float = 0.8
    along: Direction = "y"


class Cells(NamedTuple):
    """A map: a value a cell, darker where it is larger, `texts` in the cells.

    On the scale `log` shades go by proportion, not by difference.

    `values[i][j]` stands at y = i and x = j. `label`
    says what the shade means, whose ends are then shown beside the map.
    """

    values: Sequence[Values]
    texts: Sequence[Sequence[str]] = ()
    label: str = ""
    scale: Scale = "linear"


class Edges(NamedTuple):
    """The edges of a tree, each from a parent's place to its child's."""

    ends: Sequence[tuple[float, float, float, float]]
    series: int = QUIET


class Nodes(NamedTuple):
    """The nodes of a tree, each with its text below it where there is room for all."""

    x: Sequence[float]
    y: Sequence[float]
    texts: Sequence[str] = ()
    label: str = ""
    series: int = 0


Mark: TypeAlias = Line | Points | Area | Span | Rule | Steps | Bars | Cells | Edges | Nodes


class Panel(NamedTuple):
    """Two axes and the marks between them; `height` is a share of the picture's usual one.

    A panel is higher than that where its names or its labels need it.

    An axis that is None is not drawn: what lies along it has no measure.
    """

    x: Axis | None
    y: Axis | None
    marks: tuple[Mark, ...]
    heading: str = ""
    height: float = 1.0


class Picture(NamedTuple):
    """The whole: what it says in a line, its panels, and notes below them."""

    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


class Tick(NamedTuple):
    """A place on an axis and what stands there."""

    at: float
    text: str


def ticks(axis: Axis, most: int) -> list[Tick]:
    """At most `most` ticks of an axis, within its limits, at round numbers.

    Examples
    --------
    >>> [t.text for t in ticks(Axis("γ", 0, 12, whole=True), 8)]
    ['0', '2', '4', '6', '8', '10', '12']
    >>> [t.text for t in ticks(Axis("c", 0.01, 1, scale="log"), 8)]
    ['0.01', '0.02', '0.05', '0.1', '0.2', '0.5', '1']
    """
    if axis.names:
        step = math.ceil(len(axis.names) / max(most, 1))
        return [Tick(i, axis.names[i]) for i in range(0, len(axis.names), step)]
    low, high = sorted((axis.low, axis.high))
    if axis.scale == "log":
        return _log_ticks(low, high, most)
    return _linear_ticks(low, high, most, axis.whole)


def _linear_ticks(low: float, high: float, most: int, whole: bool) -> list[Tick]:
    power = math.floor(math.log10(max((high - low) / max(most, 1), 1e-300)))
    for digit in (1, 2, 5, 10, 20, 50, 100):
        step = digit * 10.0**power
        if whole and (step < 1 or step != round(step)):
            continue
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            digits = max(0, -math.floor(math.log10(step) + 1e-9))
            return [Tick(k * step, number(k * step, digits)) for k in range(first, last + 1)]
    return [Tick(math.ceil(low), number(math.ceil(low), 0))] if whole else []


def _log_ticks(low: float, high: float, most: int) -> list[Tick]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1, 2, 5), (1, 3), (1,)):
        places = [d * 10.0**p for p in range(first, last + 1) for d in digits]
        inside = [at for at in places if low * (1 - 1e-9) <= at <= high * (1 + 1e-9)]
        if len(inside) <= most:
            break
    if not inside:
        return _linear_ticks(low, high, most, whole=False)
    step = math.ceil(len(inside) / max(most, 1))
    return [Tick(at, f"{at:.6g}") for at in inside[::step]]


def number(value: float, digits: int) -> str:
    """A tick's number: as many decimals as its step has, a power of ten where it is long."""
    if abs(value) >= 1e6 or digits > 5:
        return f"{value:.6g}"
    return f"{value + 0.0:,.{digits}f}"


def fitted(
    values: Iterable[Value],
    *,
    include: Iterable[float] = (),
    margin: float = 0.05,
    scale: Scale = "linear",
) -> tuple[float, float]:
    """Limits that hold all values and those to include, with a margin; never of no extent."""
    known = [v for v in (*values, *include) if v is not None and math.isfinite(v)]
    if scale == "log":
        known = [math.log10(v) for v in known if v > 0]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * margin or abs(high) * margin or 0.5
    low, high = low - room, high + room
    return (10**low, 10**high) if scale == "log" else (low, high)
