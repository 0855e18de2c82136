"""Streams of outcomes: for every token position, whether a draft there would be accepted.

Outcomes belong to positions, so every policy that is tried meets the same stream.
"""

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gammaplan.model.arrays import Booleans, Floats

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Singles: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Small: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
LONGEST = 255  # the longest draft that a stream is asked about
CHUNK = 2**16  # positions at a time, so that they stay in the cache


class Segments(NamedTuple):
    """Tokens from one refusal to the next; every policy starts a round at each start.

    `tokens` counts the last one, which the target has to write itself. Those of
    a stream begin at `first` and end with the one at `last`, which the end of
    the stream cut and which may be empty.
    """

    tokens: Ints
    first: Ints
    last: Ints

    def by_stream(self, each: Floats) -> Floats:
        """Sums of what each segment has over those of every stream."""
        total: Floats = np.add.reduceat(each, self.first)
        return total


class Streams:
    """Some streams side by side, one behind the other in memory.

    Parameters
    ----------
    accepted : ndarray of bool, shape ``(positions,)``
        Whether the token drafted for a position would be accepted, given that
        all before it in its round were. Each stream ends with one position
        more than it has tokens, which is False.
    tokens : ndarray of int, shape ``(streams,)``
        How long each stream is. [tokens]
    request : ndarray of int, optional, shape ``(streams,)``
        The request that each is of; default each of its own.
    alpha : ndarray of float, optional, shape ``(streams,)``
        The acceptance of each, where one number rules it.
    score : ndarray of float32, optional, shape ``(positions,)``
        The confidence that the draft would show there. [0 to 1]
    modelled : ndarray of bool, optional, shape ``(positions,)``
        Whether the outcome was not recorded but drawn from a model.

    Notes
    -----
    `ahead` holds how many tokens from each position on are accepted in a row:
    a round of γ drafted tokens that starts at t accepts ``min(ahead[t], γ)`` and
    the next starts one token behind them.
    """

    def __init__(
        self,
        accepted: Booleans,
        tokens: Ints,
        *,
        request: Ints | None = None,
        alpha: Floats | None = None,
        score: Singles | None = None,
        modelled: Booleans | None = None,
    ) -> None:
        self.tokens = tokens
        self.ends = np.cumsum(tokens + 1) - 1
        self.starts = self.ends - tokens
        self.request = np.arange(len(tokens)) if request is None else request
        self.alpha, self.score, self.modelled = alpha, score, modelled
        self.accepted = accepted
        self.stops = np.flatnonzero(~accepted)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def ahead(self) -> Small:
        """Tokens accepted in a row from each position on, at most 255; shape ``(positions,)``."""
        return runs(self.accepted)

    @cached_property
    def segments(self) -> Segments:
        """The stretches between refusals."""
        last = np.searchsorted(self.stops, self.ends)
        tokens = np.diff(self.stops, prepend=-1)
        tokens[last] -= 1
        return Segments(tokens, np.append(0, last[:-1] + 1), last)


def runs(true: Booleans, most: int = LONGEST) -> Small:
    """How many are true in a row from each position on, at most so many; shape of `true`.

    Runs of 1, 2, 4, ... in turn: where one as long as can be is followed by
    another, both are one.
    """
    found = np.zeros(len(true), dtype=np.uint8)
    for first in range(0, len(true) if most else 0, CHUNK):
        run = true[first : first + CHUNK + most].astype(np.uint8)
        size = 1
        while size < most and np.count_nonzero(whole := run[:-size] == size):
            more = run[size:] * whole.view(np.uint8)
            if 2 * size > most:
                np.minimum(more, most - size, out=more)
            run[:-size] += more
            size *= 2
        found[first : first + CHUNK] = run[:CHUNK]
    return found
