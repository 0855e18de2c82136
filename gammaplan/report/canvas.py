"""A grid of characters to draw on: points lie on intervals, those on lines, and those on rules."""

import math
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

UNDER, DOTS, OVER, TOP = range(4)
_BRAILLE = 0x2800
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # by column, then row of a dot


class Canvas:
    """Places are in cells, from 0 at the left and at the top, and need not be whole."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._cells: dict[tuple[int, int], tuple[int, str, str]] = {}

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """The cell of a place; the last one holds its far edge; None outside."""
        if not (0 <= x <= self.width and 0 <= y <= self.height):
            return None
        return min(int(x), self.width - 1), min(int(y), self.height - 1)

    def put(self, x: float, y: float, mark: str, style: str = "", layer: int = UNDER) -> None:
        """One character, unless a higher layer has the cell."""
        where = self.cell(x, y)
        if where and self._cells.get(where, (UNDER,))[0] <= layer:
            self._cells[where] = layer, mark, style

    def write(self, x: int, y: int, text: str, style: str = "") -> None:
        """A line of text on top of everything."""
        for character in text:
            if x < self.width:
                self.put(x, y, character, style, TOP)
            x += cell_len(character)

    def across(self, x0: float, x1: float, y: float, mark: str, style: str, layer: int) -> None:
        """Every cell of a row from one place to another, as far as they lie on the canvas."""
        for x in _between(x0, x1, self.width):
            self.put(x, y, mark, style, layer)

    def down(self, x: float, y0: float, y1: float, mark: str, style: str, layer: int) -> None:
        """Every cell of a column from one place to another, as far as they lie on the canvas."""
        for y in _between(y0, y1, self.height):
            self.put(x, y, mark, style, layer)

    def line(self, x0: float, y0: float, x1: float, y1: float, style: str = "") -> None:
        """A straight line in dots, two by four a cell; what lies outside is cut."""
        (x0, y0), (x1, y1) = sorted([(2 * x0, 4 * y0), (2 * x1, 4 * y1)])
        slope = (y1 - y0) / (x1 - x0) if x1 > x0 else 0.0
        for x in _between(x0, x1, 2 * self.width):
            start, end = (
                y0 + slope * (min(max(at, x0), x1) - x0) if x1 > x0 else y
                for at, y in ((x, y0), (x + 1, y1))
            )
            for y in _between(start, end, 4 * self.height):
                self._dot(x, y, style)

    def _dot(self, x: int, y: int, style: str) -> None:
        where = x // 2, y // 4
        layer, mark, _ = self._cells.get(where, (UNDER, "", ""))
        if layer <= DOTS:
            before = ord(mark) if layer == DOTS and ord(mark) >= _BRAILLE else _BRAILLE
            self._cells[where] = DOTS, chr(before | _BITS[x % 2][y % 4]), style

    def rows(self) -> Iterator[Text]:
        """The lines of text, all as wide as the canvas."""
        for y in range(self.height):
            row, x = Text(), 0
            while x < self.width:
                _, mark, style = self._cells.get((x, y), (UNDER, " ", ""))
                row.append(mark, style)
                x += max(1, cell_len(mark))
            yield row


def _between(start: float, end: float, size: int) -> range:
    """The whole cells from one place to another, either way round, of those there are."""
    low, high = min(start, end), max(start, end)
    if math.isnan(low + high) or high < 0 or low > size:
        return range(0)
    return range(int(max(low, 0)), int(min(high, size - 1)) + 1)
