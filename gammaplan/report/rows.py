"""The rows of a result, or its scalar figures as one row, as CSV and as Markdown."""

import csv
import io
from collections.abc import Iterator, Mapping

from gammaplan.report.plain import printable

Row = dict[str, str]


def rows_of(result: Mapping[str, object]) -> list[Row]:
    """`result.rows[]` or `rules[]`, else its groups, else its scalar figures as one row."""
    parts = result.get("groups")
    if isinstance(parts, list) and parts:
        return [
            {**_cells(part.get("labels") or {}), **row} for part in parts for row in rows_of(part)
        ]
    rows = result.get("rows") or result.get("rules") or result.get("policies")
    if isinstance(rows, list) and rows:
        return [_cells({k: v for k, v in row.items() if k != "labels"}) for row in rows]
    return [_cells({k: v for k, v in result.items() if k not in ("labels", "acceptance")})]


def csv_text(result: Mapping[str, object]) -> str:
    """Comma-separated values with a header; no cell can start a formula."""
    out = io.StringIO()
    rows = rows_of(result)
    writer = csv.DictWriter(out, _header(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _inert(v) for k, v in row.items()} for row in rows)
    return out.getvalue()


def markdown_text(result: Mapping[str, object]) -> str:
    """A Markdown table."""
    rows = rows_of(result)
    header = _header(rows)
    lines = [header, ["---"] * len(header), *([row.get(k, "") for k in header] for row in rows)]
    return "".join(f"| {' | '.join(map(_markdown_cell, line))} |\n" for line in lines)


def _header(rows: list[Row]) -> list[str]:
    """Every column that some row has: groups may differ in their labels."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _cells(figures: Mapping[str, object]) -> Row:
    return dict(_flat(figures, ""))


def _flat(figures: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    """Scalars as they are, one level of objects as key_subkey, lists joined by spaces."""
    for key, value in figures.items():
        if isinstance(value, dict):
            if not prefix:
                yield from _flat(value, f"{key}_")
        elif isinstance(value, list):
            if not any(isinstance(item, dict | list) for item in value):
                yield prefix + key, " ".join(map(_text, value))
        else:
            yield prefix + key, _text(value)


def _text(value: object) -> str:
    if value is None:
        return ""
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
