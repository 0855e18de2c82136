"""Words and thin lines on a page, measured in inches from its top left corner."""

from typing import NamedTuple
from unicodedata import east_asian_width

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from gammaplan.report.drawing.marks import GREY, INK
from gammaplan.report.plain import printable

TEXT, TITLE, SMALL = 9.0, 11.0, 8.0  # points
SLACK = 1.06  # fonts that a viewer has instead are a little wider


class Box(NamedTuple):
    """Where a panel is, in inches from the page's top left corner."""

    left: float
    top: float
    width: float
    height: float

    def x(self, share: float) -> float:
        """The place of a share of the width."""
        return self.left + share * self.width

    def y(self, share: float) -> float:
        """The place of a share of the height, counted upwards."""
        return self.top + (1 - share) * self.height


class Pen:
    """Writes and draws on a page by inches from its top left corner."""

    def __init__(self, page: Figure, wide: float, tall: float) -> None:
        self.page, self.wide, self.tall = page, wide, tall

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float = TEXT,
        *,
        colour: str = INK,
        side: str = "left",
        weight: str = "normal",
        background: bool = False,
    ) -> None:
        """Write a line of text whose base is at y; nothing in it is interpreted."""
        box = {"facecolor": "white", "linewidth": 0, "pad": 0.6} if background else None
        self.page.text(
            x / self.wide,
            1 - y / self.tall,
            printable(text),
            fontsize=size,
            color=colour,
            ha=side,
            va="baseline",
            weight=weight,
            parse_math=False,
            bbox=box,
        )

    def stroke(self, *points: tuple[float, float], colour: str = GREY) -> None:
        """A thin line through points."""
        xs, ys = [x / self.wide for x, _ in points], [1 - y / self.tall for _, y in points]
        self.page.add_artist(Line2D(xs, ys, color=colour, linewidth=0.6, zorder=0.5))

    def axes(self, box: Box) -> Axes:
        """Axes in a box."""
        return self.page.add_axes(
            (
                box.left / self.wide,
                1 - (box.top + box.height) / self.tall,
                box.width / self.wide,
                box.height / self.tall,
            )
        )


class Ruler:
    """How wide texts are, in inches."""

    def __init__(self, canvas: FigureCanvasAgg) -> None:
        self.dpi = canvas.figure.dpi
        self.renderer = canvas.get_renderer()  # type: ignore[no-untyped-call] # matplotlib's stubs

    def width(self, text: str, size: float = TEXT, weight: str = "normal") -> float:
        """The width of one line, in which a wide character (of Chinese, say) is a square."""
        font = FontProperties(size=size, weight=weight)
        squares = "".join("m" if east_asian_width(c) in "WF" else c for c in printable(text))
        wide, _, _ = self.renderer.get_text_width_height_descent(squares, font, False)
        return float(wide) / self.dpi * SLACK

    def widest(self, texts: list[str], size: float = TEXT) -> float:
        """The width of the widest of several lines."""
        return max((self.width(text, size) for text in texts), default=0.0)

    def wrapped(self, text: str, room: float, size: float) -> list[str]:
        """A text in lines that fit the room, broken between words, or within one that is longer."""
        weight = "bold" if size == TITLE else "normal"
        lines, rest = [""], printable(text).split(" ")
        while rest:
            word = rest.pop(0)
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if self.width(longer, size, weight) <= room:
                lines[-1] = longer
            elif lines[-1]:
                lines.append("")
                rest.insert(0, word)
            else:
                fits = next(
                    n for n in range(len(word), 0, -1) if self.width(word[:n], size, weight) <= room
                )
                lines[-1] = word[:fits]
                rest.insert(0, word[fits:])
        return [line for line in lines if line]
