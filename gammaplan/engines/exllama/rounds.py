"""What exllamav3's evaluation script writes of every round: position, window, accepted, mean."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Round
from gammaplan.engines.values import whole_number

FIELDS = ("position", "window", "accepted")
MOST_NODES = 1_000_000  # lists and objects of one value that are looked at


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A row by itself, or lists of nothing but rows whose positions rise."""
    if _is_row(value):
        return isinstance(value, dict) or len(value) > len(FIELDS)
    return next(_traces(value), None) is not None


def _is_row(value: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() >= set(FIELDS)
    if not isinstance(value, list) or not 3 <= len(value) <= 4:
        return False
    figures = [whole_number(x) for x in value[:3]]
    return None not in figures and all(isinstance(x, int | float | None) for x in value[3:])


def _traces(value: Any) -> Iterator[list[Any]]:
    """The lists of rows in a value, in order; rows without a mean only under a name with stats."""
    stack = [(value, False)] if isinstance(value, list | dict) else []
    for _ in range(MOST_NODES):
        if not stack:
            return
        node, named = stack.pop()
        if isinstance(node, dict):
            inner = [(x, "stats" in str(k)) for k, x in node.items() if isinstance(x, list | dict)]
            stack.extend(reversed(inner))
        elif node and all(map(_is_row, node)) and _told_in_order(node, named=named):
            yield node
        else:
            stack.extend((x, named) for x in reversed(node) if isinstance(x, list | dict))


def _told_in_order(rows: list[Any], *, named: bool) -> bool:
    sure = named or all(isinstance(row, dict) or len(row) > len(FIELDS) for row in rows)
    positions = [_figures(row)[0] for row in rows]
    return sure and all(a < b for a, b in pairwise(positions))


def _figures(row: Any) -> list[Any]:
    return [row[k] for k in FIELDS] if isinstance(row, dict) else row[: len(FIELDS)]


def read(values: Iterator[Any]) -> Iterator[Item]:
    """Every round by itself; the rounds of one list are one request."""
    empty = number = 0
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for trace in [[value]] if _is_row(value) else _traces(value):
            number += not _is_row(value)
            for row in trace:
                _, drafted, accepted = map(whole_number, _figures(row))
                if drafted is None or accepted is None or accepted > drafted:
                    shown = "{1!r:.40} drafted, {2!r:.40} accepted".format(*_figures(row))
                    yield Dropped(f"a round of {shown} tokens")
                elif not drafted:
                    empty += 1
                else:
                    yield Round(drafted, accepted, {}, f"{number}" if number else None)
    if empty:
        yield finding("zero_drafts", records=f"{empty} round{'s' * (empty > 1)}")
