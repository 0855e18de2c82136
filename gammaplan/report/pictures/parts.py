"""What several pictures share: the axis of lengths, the axis of speedups, and a choice of few."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from gammaplan.report.picture import Axis, Mark, Panel, Rule, Value, fitted

MOST_LINES = 8  # curves that can be told apart on one axis
WIDE = 6.0  # values that differ so much are shown in proportion
FAR = 2.5  # a ceiling so many times above the data is not drawn, but said

Part = TypeVar("Part")


def lengths_axis(gammas: Iterable[int], label: str = "draft length γ") -> Axis:
    """The axis of whole numbers, a little wider than they are."""
    known = list(gammas)
    low, high = min(known), max(known)
    room = max(0.5, 0.02 * (high - low))
    return Axis(label, low - room, high + room, "tokens", whole=True)


def upwards(label: str, unit: str, values: Iterable[Value], *include: float) -> Axis:
    """An axis that holds the values."""
    low, high = fitted(values, include=include)
    return Axis(label, low, high, unit)


def speed_axis(values: Iterable[Value], *include: float) -> Axis:
    """The axis of speedups, plain decoding being 1."""
    return upwards("speedup", "× plain decoding", values, 1.0, *include)


def wide(axis: Axis, values: Iterable[Value]) -> Axis:
    """The axis in proportions, where the values are positive and span so much."""
    known = [v for v in values if v is not None]
    if not known or min(known) <= 0 or max(known) < WIDE * min(known):
        return axis
    low, high = fitted(known, scale="log")
    return axis._replace(low=low, high=high, scale="log")


def few(parts: Sequence[Part], most: int = MOST_LINES) -> list[Part]:
    """As many of the parts as can be told apart: the first, the last, and some between."""
    if len(parts) <= most:
        return list(parts)
    return [parts[round(i * (len(parts) - 1) / (most - 1))] for i in range(most)]


def left_out(shown: int, every: int, what: str) -> tuple[str, ...]:
    """A note of what is not drawn."""
    return (f"{shown} of {every} {what} are drawn.",) if shown < every else ()


def named_panel(
    names: Sequence[str], x: Axis, marks: Sequence[Mark], *, heading: str = ""
) -> Panel:
    """A panel with names down its side, the first on top."""
    y = Axis("", len(names) - 0.5, -0.5, names=tuple(names))
    return Panel(x, y, tuple(marks), heading, 0.2)


PLAIN = Rule("y", 1.0, "plain decoding")
