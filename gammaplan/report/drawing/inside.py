"""Texts inside a panel, in the cells of a map and at the nodes of a tree, where there is room."""

from itertools import pairwise

from matplotlib.axes import Axes

from gammaplan.report.drawing.marks import INK, SHADES, legible, shade
from gammaplan.report.drawing.pen import TEXT, Box, Ruler
from gammaplan.report.picture import Cells, Nodes, Panel
from gammaplan.report.plain import printable

SMALLEST = 5.0  # points of a text that can be read


def cell_texts(axes: Axes, ruler: Ruler, cells: Cells, box: Box) -> None:
    """The texts of a map, as large as its cells let them be."""
    texts = [text for row in cells.texts for text in row]
    wide, high = box.width / len(cells.values[0]), box.height / len(cells.values)
    size = _size(ruler, texts, wide - 0.06, high)
    if size is None:
        return
    scale = shade(cells)
    for i, row in enumerate(cells.texts):
        for j, text in enumerate(row):
            value = cells.values[i][j]
            axes.text(
                j,
                i,
                printable(text),
                fontsize=size,
                color=legible(SHADES(scale(value))) if value is not None else INK,
                ha="center",
                va="center",
                parse_math=False,
                zorder=20,
            )


def _size(ruler: Ruler, texts: list[str], wide: float, high: float) -> float | None:
    """The size at which the widest text fits; None where it could not be read."""
    widest = ruler.widest(texts)
    size = min(TEXT, TEXT * wide / widest if widest else TEXT, 72 * high * 0.7)
    return size if size >= SMALLEST else None


def node_texts(axes: Axes, ruler: Ruler, panel: Panel, nodes: Nodes, box: Box) -> None:
    """The texts of nodes, right of each, where the nearest neighbour leaves room."""
    levels: dict[float, list[float]] = {}
    for x, y in zip(nodes.x, nodes.y, strict=True):
        levels.setdefault(y, []).append(x)
    gaps = [b - a for xs in map(sorted, levels.values()) for a, b in pairwise(xs)]
    span = panel.x.high - panel.x.low if panel.x else 1.0
    room = min(gaps, default=span) / span * box.width
    size = _size(ruler, list(nodes.texts), room - 0.04, box.height / max(len(levels), 1) / 2)
    if size is None:
        return
    for x, y, text in zip(nodes.x, nodes.y, nodes.texts, strict=True):
        axes.annotate(
            printable(text),
            (x, y),
            (0, -6),
            textcoords="offset points",
            fontsize=size,
            color=INK,
            ha="center",
            va="top",
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
            parse_math=False,
            zorder=20,
        )
