"""The page: panels one below the other, their axes, and every word around them."""

from itertools import pairwise
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gammaplan.report.drawing.flags import Flag, flags, share
from gammaplan.report.drawing.inside import cell_texts, node_texts
from gammaplan.report.drawing.labels import flag_rows, shortened, spread
from gammaplan.report.drawing.marks import GREY, PALE, SHADES, draw_marks, extremes
from gammaplan.report.drawing.pen import SMALL, TITLE, Box, Pen, Ruler
from gammaplan.report.picture import Axis, Cells, Nodes, Panel, Picture, Tick, number, ticks
from gammaplan.report.plain import printable

WIDTH = 7.6  # of a page, in inches; more where labels and names leave no room for a panel
HEIGHT = 3.1  # of a panel whose height is 1
EDGE, GAP = 0.14, 0.08  # around the page, between words and what they stand by
LINE, HEAD = 0.17, 0.21  # from one line of text to the next, and of the title
ROW = 0.26  # of a name on the y axis
TALLEST = 8.0  # of names on the y axis, all together
MOST_NAME = 36  # characters of a name on an axis
NARROWEST = 3.2  # of a panel


class Frame(NamedTuple):
    """A panel with what its place on the page depends on."""

    panel: Panel
    beside: list[Flag]
    above: list[Flag]
    height: float
    y_ticks: list[Tick]
    key: Cells | None


class Raised(NamedTuple):
    """A label above a panel: where it begins, its row, and where its line comes down."""

    flag: Flag
    left: float
    row: int
    stem: float


def figure(picture: Picture) -> Figure:
    """The whole page; its axes are the panels, in their order."""
    page = Figure(figsize=(WIDTH, HEIGHT))
    ruler = Ruler(FigureCanvasAgg(page))
    frames = [_frame(panel) for panel in picture.panels]
    left = EDGE + max(ruler.widest([t.text for t in f.y_ticks]) for f in frames) + 2 * GAP
    right = EDGE + max(_right(f, ruler) for f in frames)
    wide = max(WIDTH, left + NARROWEST + right)
    across = wide - left - right
    raised = [_raised(f, ruler, left, across, wide) for f in frames]
    title = ruler.wrapped(picture.title, wide - 2 * EDGE, TITLE)
    notes = [n for note in picture.notes for n in ruler.wrapped(note, wide - 2 * EDGE, SMALL)]
    heads = [_head(f, r) for f, r in zip(frames, raised, strict=True)]
    feet = [_foot(f) for f in frames]
    down = EDGE + HEAD * len(title)
    tall = down + sum(f.height for f in frames) + sum(heads) + sum(feet)
    tall += LINE * len(notes) + EDGE
    page.set_size_inches(wide, tall)
    pen = Pen(page, wide, tall)
    for i, line in enumerate(title, 1):
        pen.write(EDGE, EDGE + HEAD * (i - 0.2), line, TITLE, weight="bold")
    rows = zip(frames, raised, heads, feet, strict=True)
    for i, (frame, flying, head, foot) in enumerate(rows):
        box = Box(left, down + head, across, frame.height)
        _draw(pen, ruler, frame, flying, box, f"panel-{i}")
        down += head + frame.height + foot
    for i, line in enumerate(notes, 1):
        pen.write(EDGE, down + LINE * (i - 0.2), line, SMALL, colour=GREY)
    return page


def _frame(panel: Panel) -> Frame:
    """The panel with names that are short enough, its labels, its height and its ticks."""
    panel = panel._replace(x=_short(panel.x), y=_short(panel.y))
    beside, above = flags(panel)
    named = panel.y is not None and bool(panel.y.names)
    height = HEIGHT * panel.height
    if panel.y and named:
        height = max(height, min(ROW * len(panel.y.names), TALLEST))
    height = max(height, LINE * len(beside))
    room = int(height / (ROW * 0.99 if named else 0.42))
    marks = [m for m in panel.marks if isinstance(m, Cells) and m.label]
    y_ticks = ticks(panel.y, max(2, room)) if panel.y else []
    return Frame(panel, beside, above, height, y_ticks, marks[0] if marks else None)


def _short(axis: Axis | None) -> Axis | None:
    """The axis with names that leave room for the rest."""
    if axis is None:
        return None
    return axis._replace(names=tuple(shortened(printable(n), MOST_NAME) for n in axis.names))


def _right(frame: Frame, ruler: Ruler) -> float:
    """The room that a panel needs on its right."""
    labels = ruler.widest([f.text for f in frame.beside]) + 3 * GAP if frame.beside else 0.0
    key = 0.0
    if frame.key:
        numbers = 3 * GAP + 0.14 + ruler.widest(_key_texts(frame.key))
        key = max(numbers, 2 * GAP + ruler.width(printable(frame.key.label)))
    return max(labels, key, 2 * GAP)


def _key_texts(cells: Cells) -> list[str]:
    ends = reversed(extremes(cells))
    return [number(end, 0 if end.is_integer() else 2) for end in ends]


def _raised(frame: Frame, ruler: Ruler, left: float, across: float, wide: float) -> list[Raised]:
    """The labels above a panel, each in a row where none lies on its neighbour."""
    stems = [left + min(max(f.at, 0.0), 1.0) * across for f in frame.above]
    widths = [ruler.width(f.text) for f in frame.above]
    begins = [max(EDGE, min(s, wide - EDGE - w)) for s, w in zip(stems, widths, strict=True)]
    found = flag_rows(begins, widths, 2 * GAP, wide - EDGE)
    return [Raised(*r) for r in zip(frame.above, begins, found, stems, strict=True)]


def _head(frame: Frame, raised: list[Raised]) -> float:
    lines = bool(frame.panel.heading) + bool(frame.panel.y and frame.panel.y.label) + 0.4
    flying = 1 + max(r.row for r in raised) if raised else 0
    return LINE * (lines + flying) + GAP * (1.5 if raised else 1)


def _foot(frame: Frame) -> float:
    lines = 0 if frame.panel.x is None else 1 + bool(frame.panel.x.label)
    return LINE * 1.1 * lines + GAP


def _draw(pen: Pen, ruler: Ruler, frame: Frame, raised: list[Raised], box: Box, name: str) -> None:
    panel = frame.panel
    axes = pen.axes(box)
    axes.set_gid(name)
    _dress(axes, panel)
    draw_marks(axes, panel, name)
    _limits(axes, panel)
    above = box.top - GAP / 2
    for r in sorted(raised, key=lambda r: -r.row):
        base = above - LINE * r.row
        if r.row or r.left < r.stem:
            pen.stroke((r.stem, box.top), (r.stem, base))
        pen.write(r.left, base - 0.04, r.flag.text, colour=r.flag.colour, background=True)
    over = box.top - GAP - LINE * (1 + max((r.row for r in raised), default=-1))
    if panel.y and panel.y.label:
        pen.write(EDGE, over, _measure(panel.y))
        over -= LINE
    if panel.heading:
        pen.write(EDGE, over, panel.heading, weight="bold")
    _x_axis(pen, ruler, axes, panel.x, box)
    _y_axis(pen, axes, frame, box)
    _beside(pen, frame, box)
    for mark in panel.marks:
        if isinstance(mark, Cells) and mark.texts:
            cell_texts(axes, ruler, mark, box)
        elif isinstance(mark, Nodes) and mark.texts:
            node_texts(axes, ruler, panel, mark, box)
    if frame.key:
        _key(pen, frame.key, box)


def _measure(axis: Axis) -> str:
    return f"{axis.label} ({axis.unit})" if axis.unit else axis.label


def _dress(axes: Axes, panel: Panel) -> None:
    """The frame of a panel: two sides, and quiet lines at the ticks of y."""
    for side, spine in axes.spines.items():
        bare = side in ("top", "right") or (panel.x if side == "bottom" else panel.y) is None
        spine.set_visible(not bare)
        spine.set_color(GREY)
        spine.set_linewidth(0.8)
    axes.tick_params(length=3, width=0.8, color=GREY, labelsize=0, labelbottom=False)
    axes.tick_params(labelleft=False)
    axes.set_axisbelow(True)
    for axis, scale in ((panel.x, axes.set_xscale), (panel.y, axes.set_yscale)):
        if axis and axis.scale == "log":
            scale("log")
    axes.patch.set_alpha(0)


def _limits(axes: Axes, panel: Panel) -> None:
    axes.set_xlim((panel.x.low, panel.x.high) if panel.x else (0, 1))
    axes.set_ylim((panel.y.low, panel.y.high) if panel.y else (0, 1))


def _x_axis(pen: Pen, ruler: Ruler, axes: Axes, axis: Axis | None, box: Box) -> None:
    """As many ticks as their numbers have room for, and what they measure."""
    axes.set_xticks([], minor=True)
    if axis is None:
        axes.set_xticks([])
        return
    found = next(
        (t for t in (ticks(axis, n) for n in range(13, 1, -1)) if _fit(t, axis, ruler, box)),
        ticks(axis, 1),
    )
    if axis.names:  # every name, where all of them fit
        every = ticks(axis, len(axis.names))
        found = every if _fit(every, axis, ruler, box) else found
    axes.set_xticks([t.at for t in found])
    for tick in found:
        at = box.x(share(axis, tick.at))
        pen.write(at, box.top + box.height + LINE, tick.text, side="center")
    if axis.label:
        base = box.top + box.height + 2.1 * LINE
        pen.write(box.x(0.5), base, _measure(axis), side="center")


def _fit(found: list[Tick], axis: Axis, ruler: Ruler, box: Box) -> bool:
    places = sorted((box.x(share(axis, t.at)), ruler.width(t.text)) for t in found)
    return all(x1 - x0 > (w0 + w1) / 2 + GAP for (x0, w0), (x1, w1) in pairwise(places))


def _y_axis(pen: Pen, axes: Axes, frame: Frame, box: Box) -> None:
    axes.set_yticks([], minor=True)
    axes.set_yticks([t.at for t in frame.y_ticks])
    axis = frame.panel.y
    if axis is None:
        return
    if not axis.names and frame.panel.x:
        axes.grid(axis="y", color=PALE, linewidth=0.6)
    for tick in frame.y_ticks:
        at = box.y(share(axis, tick.at))
        pen.write(box.left - GAP, at + 0.045, tick.text, side="right")


def _beside(pen: Pen, frame: Frame, box: Box) -> None:
    """The labels on the right, spread, with a thin line to each mark that ends elsewhere."""
    wanted = [box.y(f.at) for f in frame.beside]
    places = spread(wanted, LINE, box.top + LINE / 4, box.top + box.height)
    begin = box.left + box.width + 2.5 * GAP
    for flag, at, place in zip(frame.beside, wanted, places, strict=True):
        if abs(at - place) > 0.02 or flag.end < 0.985:
            end = box.x(flag.end) + GAP * 0.7
            turn = max(end, box.left + box.width + GAP * 0.3)
            pen.stroke((end, at), (turn, at), (begin - 0.03, place))
        pen.write(begin, place + 0.045, flag.text, colour=flag.colour)


def _key(pen: Pen, cells: Cells, box: Box) -> None:
    """What the shades mean: a strip of them, with its ends."""
    height = min(box.height - 1.5 * LINE, 1.6)
    down = box.top + (box.height - height) / 2 + LINE
    strip = Box(box.left + box.width + 2 * GAP, down, 0.14, height)
    pen.write(strip.left, down - GAP, printable(cells.label))
    axes = pen.axes(strip)
    axes.imshow([[i / 63] for i in range(64)], cmap=SHADES, aspect="auto", origin="lower")
    axes.set_axis_off()
    for text, base in zip(_key_texts(cells), (strip.top + 0.11, strip.top + height), strict=True):
        pen.write(strip.left + 0.14 + GAP, base, text)
