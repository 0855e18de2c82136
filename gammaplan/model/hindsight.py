"""What a stream allowed: every fixed length, and the bounds that no policy can pass."""

from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import ArrayLike, Floats, Number, as_given, fraction, non_negative
from gammaplan.model.streams import Ints, Streams

SEARCHED = 4_096  # longer segments are cut: a draft is never as long


def clairvoyant(alpha: ArrayLike, c: ArrayLike) -> Number:
    """The speedup of a draft that knows where the next refusal is.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    c : array_like of float, >= 0
        One draft pass. [target passes]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        ``1 / (1 - alpha + c * alpha)``: each refusal costs a target pass, each
        accepted token a draft pass. Less than e / (e - 1) times what the best
        fixed length reaches.

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Examples
    --------
    >>> round(clairvoyant(0.8, 0.1), 3)
    3.571
    """
    a, cost = fraction("alpha", alpha), non_negative("c", c)
    with np.errstate(divide="ignore"):
        return as_given(np.maximum(1 / ((1 - a) + cost * a), 1.0))


def perfect_confidence(alpha: ArrayLike, c: ArrayLike) -> Number:
    """The speedup of a draft that learns whether a token it drafted will be accepted.

    Parameters
    ----------
    alpha, c : array_like of float
        As for `clairvoyant`.

    Returns
    -------
    float or ndarray of float64, broadcast shape
        ``1 / (1 - alpha + c)``, the doomed token being paid for; 1 where plain
        decoding is faster.

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Examples
    --------
    >>> round(perfect_confidence(0.8, 0.1), 3)
    3.333
    """
    a, cost = fraction("alpha", alpha), non_negative("c", c)
    with np.errstate(divide="ignore"):
        return as_given(np.maximum(1 / ((1 - a) + cost), 1.0))


def fixed_times(streams: Streams, gamma: ArrayLike, round_cost: Floats) -> Floats:
    """The time of each stream under a fixed length, or under one of its own.

    A segment of n tokens takes ``ceil(n / (gamma + 1))`` rounds, whatever the
    stream did before, so no round is stepped through.
    """
    segments, length = streams.segments, np.asarray(gamma)
    if length.ndim:
        each = np.repeat(length + 1, segments.last - segments.first + 1)
        rounds = -(-segments.tokens // each)
    else:
        rounds = -(-np.arange(_longest(streams) + 1) // (length + 1))[segments.tokens]
    times: Floats = segments.by_stream(rounds) * round_cost[length]
    return times


def segment_counts(streams: Streams) -> Ints:
    """How many segments there are of each length; shape ``(longest + 1,)``."""
    return np.bincount(streams.segments.tokens)


def fixed_speedups(counts: Ints, round_cost: Floats) -> Floats:
    """The speedup of every fixed length, from the segments' lengths."""
    tokens = np.arange(len(counts))
    total = float((counts * tokens).sum())
    rounds = [(counts * -(-tokens // (g + 1))).sum() for g in range(len(round_cost))]
    return total / (np.asarray(rounds) * round_cost)


class Bounds(NamedTuple):
    """The time of each stream for those who know more than a policy may."""

    clairvoyant: Floats
    perfect_confidence: Floats


def bound_times(streams: Streams, round_cost: Floats) -> Bounds:
    """What a clairvoyant and a perfect confidence would have taken for each stream.

    Notes
    -----
    A segment of n tokens has n - 1 that are accepted in a row. Whoever knows n
    chooses the rounds at will: ``f(n) = min over g < n of T(g) + f(n - 1 -
    g)``, which for ``T = 1 + c g`` is ``1 + c (n - 1)``, that is
    ``1 / (1 - alpha + c alpha)`` over all. Who learns of a refusal only by
    drafting the refused token pays ``T(n)``; or decodes plainly throughout.
    """
    segments = streams.segments
    longest = len(round_cost) - 1
    tokens = np.arange(_longest(streams) + 1)
    whole = min(SEARCHED, _longest(streams))
    best = np.zeros(whole + 1)
    for n in range(1, whole + 1):
        most = min(n, longest + 1)
        best[n] = (round_cost[:most] + best[n - most : n][::-1]).min()
    knowing = _in_parts(tokens, best, whole)
    learning = _in_parts(tokens, round_cost, longest)
    learning[0] = 0.0  # no token, no round
    learned = segments.by_stream(learning[segments.tokens])
    end = segments.tokens[segments.last]  # no refusal to learn of
    saved = learning[end] - np.where(end > 1, learning[end - 1], np.where(end, round_cost[0], 0))
    return Bounds(segments.by_stream(knowing[segments.tokens]), learned - saved)


def _in_parts(tokens: Ints, cost: Floats, most: int) -> Floats:
    """What each number of tokens costs, at most so many at a time."""
    if int(tokens.max(initial=0)) <= most:
        whole: Floats = cost[tokens]
        return whole
    parts, rest = np.divmod(tokens, max(most, 1))
    last: Floats = np.where((rest > 0) | (parts == 0), cost[rest], 0.0)
    total: Floats = parts * cost[most] + last
    return total


def _longest(streams: Streams) -> int:
    return int(streams.segments.tokens.max(initial=0))
