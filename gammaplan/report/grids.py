"""Tables that never cut a figure: what is too wide for the terminal goes below, not away."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 2  # cells between columns
PROSE = 16  # cells that a column of prose needs


def print_grid(
    out: Console,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    keys: int = 1,
    left: Sequence[int] = (),
    prose: bool = False,
) -> None:
    """A table, in parts where the terminal is narrow.

    Every part starts with the first `keys` columns. Columns stand on the right
    but for those of `left`; with `prose` the last one holds text that may wrap.
    """
    widths = [max(map(cell_len, cells)) for cells in zip(heads, *rows, strict=True)]
    if prose:
        widths[-1] = min(widths[-1], PROSE)
    for i, columns in enumerate(_parts(widths, keys, out.width)):
        if i:
            out.print()
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for column in columns:
            wraps = prose and column == len(heads) - 1
            side: Literal["left", "right"] = "left" if column in left or wraps else "right"
            table.add_column(heads[column], justify=side, no_wrap=not wraps)
        for row in rows:
            table.add_row(*(Text(row[column]) for column in columns))
        out.print(table)


def _parts(widths: Sequence[int], keys: int, room: int) -> Iterator[list[int]]:
    """The columns of each part: as many as there is room for, at least one beside the keys."""
    first = list(range(keys))
    taken = sum(widths[:keys]) + GAP * (keys - 1)
    part, used = first, taken
    for column in range(keys, len(widths)):
        if len(part) > keys and used + GAP + widths[column] > room:
            yield part
            part, used = first, taken
        part, used = [*part, column], used + GAP + widths[column]
    yield part
