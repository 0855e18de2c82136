"""Parts of a JSON value, found without recursion and within limits."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST_NODES = 100_000  # parts of one value that are looked at

Around = tuple[Mapping[str, Any], ...]  # the dicts that a part lies in, the nearest first
MOST_AROUND = 4


def parts(
    value: Any, wanted: Callable[[Mapping[str, Any]], bool]
) -> Iterator[tuple[Mapping[str, Any], Around]]:
    """The dicts that are wanted, in order, and what they lie in; none inside another."""
    stack: list[tuple[Any, Around]] = [(value, ())]
    for _ in range(MOST_NODES):
        if not stack:
            return
        node, around = stack.pop()
        inner: list[Any] = []
        if isinstance(node, list):
            inner = node[:MOST_NODES]
        elif isinstance(node, dict):
            if wanted(node):
                yield node, around
                continue
            inner = list(node.values())
            around = (node, *around[: MOST_AROUND - 1])
        stack.extend((x, around) for x in reversed(inner) if isinstance(x, dict | list))
