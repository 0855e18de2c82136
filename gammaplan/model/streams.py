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


class Segments(NamedTuple):
    """Tokens from one refusal to the next; every policy starts a round at each start.

    `tokens` counts the last one, which the target has to write itself, `stream`
    says whose they are, `cut` that the stream ended first.
    """

    tokens: Ints
    stream: Ints
    cut: Booleans


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
        return distance(self.stops)

    @cached_property
    def segments(self) -> Segments:
        """The stretches between refusals, those without any token left out."""
        gaps = np.diff(self.stops, prepend=-1)
        cut = np.zeros(len(self.stops), dtype=np.bool_)
        last = np.searchsorted(self.stops, self.ends)
        cut[last] = True
        count = np.diff(last, prepend=-1)
        stream = np.repeat(np.arange(len(self)), count)
        tokens = gaps - cut
        kept = tokens > 0
        return Segments(tokens[kept], stream[kept], cut[kept])


def distance(stops: Ints) -> Small:
    """Positions from each one to the next of `stops`, at most 255; the last of them ends all."""
    gaps = np.diff(stops, prepend=-1)
    left = np.repeat(stops.astype(np.int32), gaps)
    left -= np.arange(len(left), dtype=np.int32)
    return np.minimum(left, LONGEST, out=left).astype(np.uint8)
