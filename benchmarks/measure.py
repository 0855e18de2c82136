"""Ratios of two things that are measured in turn, so that a drifting machine slows both alike."""

import subprocess
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

PAIRS = 21
Timer = Callable[[], float]  # does the work once, gives seconds


class Ratio(NamedTuple):
    """The quartiles of the ratios of the pairs."""

    low: float
    median: float
    high: float


def process(command: Sequence[str], env: Mapping[str, str]) -> Timer:
    """A whole process, from its start to its end; its output goes to a pipe and is dropped."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, env=env, check=True, capture_output=True)
        return time.perf_counter() - start

    return once


def call(function: Callable[[], object], *, each: int = 1) -> Timer:
    """One call of a function, divided by the number of items that it works on."""

    def once() -> float:
        start = time.perf_counter()
        function()
        return (time.perf_counter() - start) / each

    return once


def ratio(over: Timer, under: Timer, *, pairs: int = PAIRS) -> Ratio:
    """`over` divided by `under`, pair by pair; each goes first in every other pair."""
    over(), under()  # warms caches and byte code
    ratios = []
    for i in range(pairs):
        if i % 2:
            above, below = over(), under()
        else:
            below, above = under(), over()
        ratios.append(above / below)
    return Ratio(*np.percentile(ratios, [25, 50, 75]).tolist())


def extra_memory(function: Callable[[], object]) -> int:
    """Peak of what one call allocates, its result included. [bytes]"""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def report(
    what: str, found: Ratio, *, at_most: float | None = None, at_least: float | None = None
) -> None:
    """One line: the median, the quartiles, and the target with its verdict."""
    line = f"{what:<58} {found.median:8.3g}  [{found.low:.3g}, {found.high:.3g}]"
    if at_most is not None:
        line += f"  target <= {at_most:g}: {'met' if found.median <= at_most else 'missed'}"
    if at_least is not None:
        line += f"  target >= {at_least:g}: {'met' if found.median >= at_least else 'missed'}"
    print(line, flush=True)
