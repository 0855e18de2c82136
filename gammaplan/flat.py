"""Plain figures as flat rows: what CSV and data frames can hold."""

from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]  # Any: numbers, text, truth, None, and lists of them
TABLES = ("rows", "rules", "policies")


def rows_of(figures: Mapping[str, Any]) -> list[Row]:
    """A row each of `rows`, `rules` or `policies`, else of the groups, else one of the scalars.

    Every row has every key; None where it has nothing there.
    """
    rows = list(_rows(figures))
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _rows(figures: Mapping[str, Any]) -> Iterator[Row]:
    if parts := figures.get("groups"):
        for part in parts:
            labels = flat(part.get("labels") or {})
            yield from ({**labels, **row} for row in _rows(part))
        return
    table = next((figures[name] for name in TABLES if figures.get(name)), None)
    for row in table or [figures]:
        apart = ("labels",) if table else ("labels", "acceptance")
        yield flat({name: value for name, value in row.items() if name not in apart})


def flat(figures: Mapping[str, Any]) -> Row:
    """Scalars and lists of them as they are; an object's under key_subkey, none deeper."""
    found = {}
    for key, value in figures.items():
        inner = {f"{key}_{k}": v for k, v in value.items()} if isinstance(value, dict) else None
        for name, part in (inner or {key: value}).items():
            nested = isinstance(part, list) and any(isinstance(p, dict | list) for p in part)
            if not nested and not isinstance(part, dict):
                found[name] = part
    return found
