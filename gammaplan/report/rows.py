"""The rows of a result as CSV and as Markdown."""

import csv
import io
from collections.abc import Mapping

from gammaplan.flat import rows_of
from gammaplan.report.plain import printable


def csv_text(result: Mapping[str, object]) -> str:
    """Comma-separated values with a header; no cell can start a formula."""
    out = io.StringIO()
    header, *lines = _lines(result)
    write = csv.writer(out, lineterminator="\n").writerow
    write(header)
    for line in lines:
        write(map(_inert, line))
    return out.getvalue()


def markdown_text(result: Mapping[str, object]) -> str:
    """A Markdown table."""
    header, *lines = _lines(result)
    lines = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(map(_markdown_cell, line))} |\n" for line in lines)


def _lines(result: Mapping[str, object]) -> list[list[str]]:
    """The header, then the cells of each row."""
    rows = rows_of(result)
    return [list(rows[0]), *([_text(value) for value in row.values()] for row in rows)]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else printable(str(value))


def _inert(cell: str) -> str:
    """`cell`, quoted where a spreadsheet would run it; numbers stay numbers."""
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(cell):
        return "'" + cell
    return cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _markdown_cell(cell: str) -> str:
    for mark in ("\\", "|", "`", "*", "_", "<", "[") if not _is_number(cell) else ():
        cell = cell.replace(mark, "\\" + mark) if mark != "_" else cell
    return " ".join(cell.split())
