"""A picture in the terminal: axes, marks in characters, and labels beside what they name."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from gammaplan.report.canvas import OVER, UNDER, Canvas
from gammaplan.report.picture import (
    Axis,
    Cells,
    Edges,
    Mark,
    Panel,
    Picture,
    Rule,
    Span,
    Tick,
    ticks,
)
from gammaplan.report.plain import printable
from gammaplan.report.terminal_marks import Drawing, Said, extent, place

WIDEST, USUAL, FEWEST = 160, 16, 6  # cells of a row; rows of a panel
FOR_NAMES, FOR_LABELS = 0.4, 0.36  # shares of the width
NO_AXIS = Axis("", 0.0, 1.0)


def draw(picture: Picture, console: Console) -> None:
    """Draw a picture as wide as the console: nothing is cut, and nothing in it is obeyed.

    A label that has no room beside its mark stands below, after the sign of the mark.
    """
    console.print()
    _say(console, picture.title, "bold")
    for panel in picture.panels:
        console.print()
        if panel.heading:
            _say(console, panel.heading)
        for part in _parts(panel, min(console.width, WIDEST)):
            _Plot(part, console).show(extent(panel.marks))
    for note in picture.notes:
        _say(console, note, "dim")


class _Plot:
    """One panel, laid out for a console."""

    def __init__(self, panel: Panel, out: Console) -> None:
        self.panel, self.out = panel, out
        self.x, self.y = panel.x or NO_AXIS, panel.y or NO_AXIS
        width = min(out.width, WIDEST)
        self.side, rows = _side(panel, out, width)
        self.left = max(map(cell_len, self.side.values()), default=0)
        self.room = max(width - self.left - 1, 1)
        cells = next((mark for mark in panel.marks if isinstance(mark, Cells)), None)
        labels = [cell_len(text) + 3 for m in panel.marks if (text := _beside(m, self.y))]
        margin = max((n for n in labels if n <= self.room * FOR_LABELS), default=0)
        wide = len(cells.values[0]) * _cell_width(cells, self.room) if cells else 0
        self.canvas = Canvas(wide or self.room - margin, rows)

    def show(self, shades: tuple[float, float]) -> None:
        """Print it."""
        drawing = Drawing(self.x, self.y, self.canvas, shades)
        said = [(mark, drawing.draw(mark)) for mark in self.panel.marks]
        upright = [(m, s) for m, s in said if isinstance(m, Rule | Span) and m.axis == "x"]
        level = [s for m, s in said if s.text and (m, s) not in upright]
        head, homeless = self._head([(m, s) for m, s in upright if s.text])
        beside = self._beside([s for s in level if s.y is not None])
        if self.panel.y and (name := _named(self.y)):
            _say(self.out, name)
        for line in head:
            self._print("", " ", line)
        for i, row in enumerate(self.canvas.rows()):
            edge = "┤" if i in self.side and not self.y.names else "│"
            if label := beside.get(i):
                row.append_text(_labelled(label, before=" "))
            self._print(self.side.get(i, ""), edge if self.panel.y else " ", row)
        if self.panel.x:
            self._foot([m for m, _ in upright if isinstance(m, Span)])
        for label in [*homeless, *(s for s in level if s not in beside.values())]:
            self.out.print(_labelled(label))

    def _print(self, side: str, edge: str, row: Text) -> None:
        before = " " * (self.left - cell_len(side)) + side + edge
        line = Text(before, no_wrap=True, overflow="ignore") + row
        line.rstrip()
        self.out.print(line)

    def _head(self, marks: Sequence[tuple[Rule | Span, Said]]) -> tuple[list[Text], list[Said]]:
        """Labels above the panel, a row each: those of rules from the left, then of stretches."""
        rules = sorted((m.at, printable(s.text), s) for m, s in marks if isinstance(m, Rule))
        spans = [(m, printable(s.text), s) for m, s in marks if isinstance(m, Span)]
        canvas = Canvas(self.room, len(marks))
        homeless, row = [], 0
        for at, text, said in rules:
            x = _column(place(self.x, at, self.canvas.width), self.canvas.width)
            start = _start(x, x, cell_len(text), self.room)
            if start is None:
                homeless.append(said)
                continue
            canvas.down(x, row, len(marks), "┆", said.style, UNDER)
            canvas.write(start, row, text, said.style)
            row += 1
        for span, text, said in spans:
            low, high = (
                _column(place(self.x, end, self.canvas.width), self.canvas.width)
                for end in (span.low, span.high)
            )
            length, inside = cell_len(text), high - low - 1
            start = low + 1 + (inside - length) // 2 if inside >= length + 2 else None
            if start is None and (start := _start(low, high, length, self.room)) is None:
                homeless.append(said)
                continue
            canvas.across(low, high, row, "─", said.style, UNDER)
            canvas.put(low, row, "├" if high > low else "┆", said.style, OVER)
            canvas.put(high, row, "┤" if high > low else "┆", said.style, OVER)
            canvas.write(start - 1, row, f" {text} ", said.style)
            row += 1
        return list(canvas.rows())[:row], homeless

    def _beside(self, labels: Sequence[Said]) -> dict[int, Said]:
        """Labels right of the panel by their rows, in their order, moved where rows are taken."""
        room, last = self.room - self.canvas.width, self.canvas.height - 1
        fitting = [said for said in labels if cell_len(printable(said.text)) + 3 <= room]
        fitting = sorted(fitting[: last + 1], key=lambda said: said.y or 0.0)
        rows: list[int] = []
        for said in fitting:
            rows.append(max(_column(said.y, last + 1), rows[-1] + 1 if rows else 0))
        for i in range(len(rows) - 1, -1, -1):
            rows[i] = min(rows[i], last if i + 1 == len(rows) else rows[i + 1] - 1)
        return dict(zip(rows, fitting, strict=True))

    def _foot(self, spans: Sequence[Span]) -> None:
        """The x axis: ticks, their texts, and what it measures."""
        width = self.canvas.width
        line, texts = Canvas(width, 1), Canvas(self.left + 1 + self.room, 1)
        line.across(0, width, 0, "─", "", UNDER)
        for span in spans:
            low, high = (_column(place(self.x, e, width), width) for e in (span.low, span.high))
            line.across(low, high, 0, "━", "", UNDER)
        for start, tick in self._ticks():
            line.put(_column(place(self.x, tick.at, width), width), 0, "┬", "", OVER)
            texts.write(start, 0, printable(tick.text))
        self._print("", "╰" if self.panel.y else " ", next(line.rows()))
        row = next(texts.rows())
        row.rstrip()
        self.out.print(row, no_wrap=True, overflow="ignore")
        if name := _named(self.x):
            indent = min(self.left + 1, max(0, self.out.width - cell_len(name)))
            _say(self.out, " " * indent + name)

    def _ticks(self) -> list[tuple[int, Tick]]:
        """As many ticks as stand apart, each with where its text starts."""
        for most in range(max(self.canvas.width // 4, 1), 0, -1):
            found: list[tuple[int, Tick]] = []
            end = -2
            for tick in ticks(self.x, most):
                length = cell_len(printable(tick.text))
                at = _column(place(self.x, tick.at, self.canvas.width), self.canvas.width)
                start = self.left + 1 + at - length // 2
                start = max(0, min(start, self.left + 1 + self.room - length))
                if start <= end + 1 and found:
                    break
                found.append((start, tick))
                end = start + length - 1
            else:
                return found
        return []


def _side(panel: Panel, out: Console, width: int) -> tuple[dict[int, str], int]:
    """The texts left of a panel by their rows, and how many rows there are."""
    axis = panel.y
    if axis and axis.names:
        room = max(int(width * FOR_NAMES), 1)
        names = [
            [line.plain for line in Text(printable(name)).wrap(out, room)] for name in axis.names
        ]
        each = max(map(len, names))
        texts = {
            i * each + j + (each - len(lines) + 1) // 2: line.rstrip()
            for i, lines in enumerate(names)
            for j, line in enumerate(lines)
        }
        return texts, each * len(names)
    usual = USUAL if width > 60 else 12
    rows = max(FEWEST, round(panel.height * usual))
    if axis is None:
        return {}, rows
    found = {}
    for tick in ticks(axis, max(rows // 2, 1)):
        at = place(axis, tick.at, rows)
        found[_column(None if at is None else rows - at, rows)] = printable(tick.text)
    return found, rows


def _parts(panel: Panel, width: int) -> Iterator[Panel]:
    """The panel; a map that is wider than the terminal in parts."""
    cells = next((mark for mark in panel.marks if isinstance(mark, Cells)), None)
    many = len(cells.values[0]) if cells else 0
    names = max((cell_len(printable(n)) for n in panel.y.names), default=0) if panel.y else 0
    most = width - min(names, int(width * FOR_NAMES)) - 1
    if cells is None or panel.x is None or many <= most:
        yield panel
        return
    for first in range(0, many, most):
        last = min(first + most, many)
        axis = panel.x._replace(
            low=first - 0.5 if not panel.x.names else -0.5,
            high=last - 0.5 if not panel.x.names else last - first - 0.5,
            names=panel.x.names[first:last],
        )
        part = cells._replace(
            values=[row[first:last] for row in cells.values],
            texts=[row[first:last] for row in cells.texts],
        )
        yield panel._replace(x=axis, marks=(part,))


def _cell_width(cells: Cells, room: int) -> int:
    """Cells of a terminal for each of a map: two of shade, the text and a gap, or as fits."""
    many = len(cells.values[0])
    longest = max((cell_len(text) for row in cells.texts for text in row), default=-1)
    wanted = longest + 3 if longest >= 0 else 4
    return wanted if wanted * many <= room else max(1, min(room // many, 3))


def _beside(mark: Mark, y: Axis) -> str:
    """The label of a mark that has a height of its own."""
    if y.names or isinstance(mark, Cells | Edges) or getattr(mark, "axis", "y") == "x":
        return ""
    return printable(mark.label)


def _column(at: float | None, size: int) -> int:
    """The cell of a place, the nearest where it lies outside."""
    return max(0, min(int(at or 0.0), size - 1))


def _start(low: int, high: int, length: int, room: int) -> int | None:
    """Where a text starts that stands right of a mark, else left of it; None without room."""
    if high + 2 + length <= room:
        return high + 2
    return low - 1 - length if low - 1 - length >= 0 else None


def _labelled(said: Said, before: str = "") -> Text:
    signed = f"{said.sign} " if said.sign else ""
    return Text(before + signed + printable(said.text), said.style)


def _say(out: Console, text: str, style: str = "") -> None:
    """A line from outside, in which nothing is read as markup."""
    out.print(Text(printable(text), style))


def _named(axis: Axis) -> str:
    return printable(f"{axis.label} [{axis.unit}]" if axis.unit else axis.label)
