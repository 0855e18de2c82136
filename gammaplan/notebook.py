"""Plain figures as HTML tables for a notebook: everything escaped, no colours of their own."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

MOST_ROWS, MOST_ITEMS = 60, 12
LEFT, RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def html_of(title: str, figures: Mapping[str, Any]) -> str:
    """The single figures in one table, by their paths, then a table for each list of rows."""
    singles: list[tuple[str, Any]] = []
    lists: list[tuple[str, Any]] = []
    for path, value in _paths(figures):
        (lists if _is_table(value) else singles).append((path, value))
    body = [f"<tr>{_head(path, 'row')}{_cell(value)}</tr>" for path, value in singles]
    tables = [_table(title, body)] if body else []
    for path, rows in lists:
        tables.append(_rows(path if body or len(lists) > 1 else title, rows))
    return f"<div>{''.join(tables)}</div>"


def _paths(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every figure with the keys that lead to it: band.low."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{name}.")
        else:
            yield before + name, value


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    shown = [dict(_paths(row)) for row in rows[:MOST_ROWS]]
    names = dict.fromkeys(name for row in shown for name in row)
    head = f"<tr>{''.join(_head(name, 'col') for name in names)}</tr>"
    body = [f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in shown]
    if len(rows) > MOST_ROWS:
        more = f"{len(rows) - MOST_ROWS:,} more rows"
        body.append(f'<tr><td colspan="{len(names)}"{LEFT}>{more}</td></tr>')
    return _table(title, body, head)


def _table(title: str, body: Sequence[str], head: str = "") -> str:
    caption = f"<caption{LEFT}>{escape(title)}</caption>"
    head = head and f"<thead>{head}</thead>"
    return f"<table>{caption}{head}<tbody>{''.join(body)}</tbody></table>"


def _head(name: str, scope: str) -> str:
    return f'<th scope="{scope}"{LEFT if scope == "row" else RIGHT}>{escape(name)}</th>'


def _cell(value: object) -> str:
    number = isinstance(value, int | float) or value is None
    return f"<td{RIGHT if number else LEFT}>{escape(_text(value))}</td>"


def _text(value: object) -> str:
    """Six digits of a number; the first of many."""
    if isinstance(value, list) and value:
        more = f", … {len(value) - MOST_ITEMS:,} more" if len(value) > MOST_ITEMS else ""
        return ", ".join(map(_text, value[:MOST_ITEMS])) + more
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if value not in (None, []) else "–"
