"""A draft length for each batch size: few ranges that lose little, and where speculation stops."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Floats
from gammaplan.model.cost import Cost
from gammaplan.model.cost_tables import TableCost

Bools: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]

LONGEST = 128  # draft lengths that a schedule chooses among


class Range(NamedTuple):
    """A run of batch sizes that draft alike; `high` is None where it has no end."""

    low: int
    high: int | None
    gamma: int


class Part(NamedTuple):
    """A range of a schedule and what is known of it.

    `batches` are those planned in it; `speedup` is the smallest of them and
    `loss` the largest share of its own best that one of them gives up.
    `gain` is what the range's length gives on average (geometric) over that of
    the range before; None for the first.
    """

    range: Range
    batches: tuple[int, ...]
    speedup: float
    loss: float
    gain: float | None


@dataclass(frozen=True)
class Schedule:
    """Draft lengths over batch sizes.

    Attributes
    ----------
    parts : tuple of Part
        They cover every batch size from 1 on exactly once.
    batches : tuple of int
        What was planned.
    best : tuple of int
        The best draft length of each, by itself.
    speedups : tuple of float
        The speedup there.
    """

    parts: tuple[Part, ...]
    batches: tuple[int, ...]
    best: tuple[int, ...]
    speedups: tuple[float, ...]

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges alone."""
        return tuple(part.range for part in self.parts)

    @property
    def crossover(self) -> tuple[int | None, int | None]:
        """The largest batch that pays and the smallest from which on none does."""
        pays = [b for b, gamma in zip(self.batches, self.best, strict=True) if gamma > 0]
        last = pays[-1] if pays else None
        rest = [b for b in self.batches if last is None or b > last]
        return last, rest[0] if rest else None


def schedule(batches: Sequence[int], speedups: Floats, *, tolerance: float = 0.03) -> Schedule:
    """The fewest ranges in which no batch loses more than the tolerance.

    Parameters
    ----------
    batches : sequence of int, increasing, >= 1
        Batch sizes. [sequences]
    speedups : ndarray, shape (batches, draft lengths from 0 on)
        Speedup of each length at each batch; 1 at length 0, NaN where unknown.
    tolerance : float, in [0, 1)
        The share of its own best speedup that a batch may lose.

    Returns
    -------
    Schedule

    Raises
    ------
    DomainError
        If the batches do not increase from at least 1, or the shapes differ.

    Notes
    -----
    Among the schedules with the fewest ranges the one of the smallest total
    log loss, by dynamic programming over the batches. A range may only draft a
    length that is within the tolerance at each of its batches, so a wider
    tolerance never gives more ranges. Between two planned batches of different
    ranges the boundary is at their geometric mean.

    Examples
    --------
    >>> fast = np.array([[1, 1.5, 1.8], [1, 1.4, 1.5], [1, 0.9, 0.7]])
    >>> schedule([1, 8, 64], fast).ranges
    (Range(low=1, high=22, gamma=2), Range(low=23, high=None, gamma=0))
    """
    sizes = list(batches)
    if not sizes or sizes[0] < 1 or any(b <= a for a, b in pairwise(sizes)):
        raise DomainError(f"batches must increase from at least 1, got {sizes}")
    if speedups.ndim != 2 or len(speedups) != len(sizes):
        raise DomainError("a schedule needs a row of speedups for each batch")
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(np.isnan(speedups), -np.inf, np.log(speedups))
    lost = logs.max(axis=1, keepdims=True) - logs
    bound = -math.log1p(-tolerance)
    good = lost <= bound * (1 + 1e-12)
    pieces = _fewest(lost, good)
    parts: list[Part] = []
    for i, (first, last, gamma) in enumerate(pieces):
        low = 1 if i == 0 else math.isqrt(sizes[first - 1] * sizes[first]) + 1
        high = None if last == len(sizes) - 1 else math.isqrt(sizes[last] * sizes[last + 1])
        here = slice(first, last + 1)
        gain = None
        if i:
            before = pieces[i - 1][2]
            gain = float(np.expm1(np.mean(logs[here, gamma] - logs[here, before])))
        parts.append(
            Part(
                Range(low, high, gamma),
                tuple(sizes[here]),
                float(np.exp(logs[here, gamma].min())),
                float(-np.expm1(-lost[here, gamma].max())),
                gain,
            )
        )
    best = np.argmax(np.where(np.isnan(speedups), -np.inf, speedups), axis=1)
    return Schedule(
        tuple(parts),
        tuple(sizes),
        tuple(int(g) for g in best),
        tuple(float(row[g]) for row, g in zip(speedups, best, strict=True)),
    )


def _fewest(lost: Floats, good: Bools) -> list[tuple[int, int, int]]:
    """(first, last, length) of each range: the fewest, then the least total loss."""
    n = len(lost)
    best: list[tuple[int, float]] = [(0, 0.0)]
    back: list[tuple[int, int]] = []
    for last in range(n):
        total, allowed = np.zeros(lost.shape[1]), np.ones(lost.shape[1], dtype=bool)
        found, way = (n + 1, math.inf), (last, 0)
        for first in range(last, -1, -1):
            total, allowed = total + lost[first], allowed & good[first]
            if not allowed.any():
                break
            gamma = int(np.argmin(np.where(allowed, total, np.inf)))
            count, loss = best[first]
            if (count + 1, loss + float(total[gamma])) < found:
                found, way = (count + 1, loss + float(total[gamma])), (first, gamma)
        best.append(found)
        back.append(way)
    pieces, last = [], n - 1
    while last >= 0:
        first, gamma = back[last]
        pieces.append((first, last, gamma))
        last = first - 1
    return _joined(pieces[::-1])


def _joined(pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Neighbours of one length are one range: ties in the loss may have split them."""
    joined: list[tuple[int, int, int]] = []
    for first, last, gamma in pieces:
        if joined and joined[-1][2] == gamma:
            joined[-1] = (joined[-1][0], last, gamma)
        else:
            joined.append((first, last, gamma))
    return joined


def cost_at(costs: Mapping[int, Cost], batch: int, longest: int = LONGEST) -> Cost:
    """What a round costs at a batch size, between those that were measured.

    Parameters
    ----------
    costs : mapping of int to Cost
        By batch size. [sequences]
    batch : int
        From the smallest to the largest of them.
    longest : int
        The last draft length of the answer. [tokens]

    Returns
    -------
    Cost
        That of `batch` itself where it is there; else a table between the two
        neighbours, at every length that both know.

    Raises
    ------
    DomainError
        If `batch` lies outside the measured ones, or its neighbours share no length.

    Notes
    -----
    Linear in the square root of the batch. The ratio of a verifying to a plain
    pass rises while both leave the bandwidth behind and then levels off towards
    gamma + 1, so a straight line in the batch is too low (docs/validation.md).

    Examples
    --------
    >>> from gammaplan import LinearCost
    >>> cost_at({1: LinearCost(0.1), 9: LinearCost(0.3)}, 4).round_cost([0, 1, 5])
    array([1. , 1.2, 2. ])
    """
    if batch in costs:
        return costs[batch]
    below, above = [b for b in costs if b < batch], [b for b in costs if b > batch]
    if not below or not above:
        raise DomainError(
            f"no cost was measured at batch {batch}; they are from {min(costs)} to {max(costs)}"
        )
    low, high = max(below), min(above)
    share = (math.sqrt(batch) - math.sqrt(low)) / (math.sqrt(high) - math.sqrt(low))
    lengths = np.arange(1, longest + 1)
    mixed = (1 - share) * costs[low].round_cost(lengths) + share * costs[high].round_cost(lengths)
    known = np.isfinite(mixed)
    if not known.any():
        raise DomainError(f"the costs at batch {low} and {high} share no draft length")
    return TableCost(lengths[known].tolist(), mixed[known].tolist())
