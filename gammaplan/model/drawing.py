"""Tokens drawn from rows of weights, many rounds at a time."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gammaplan.model.arrays import Floats

Integers: TypeAlias = NDArray[np.int64]


def draw(weights: Floats, u: Floats) -> Integers:
    """The token at quantile `u` of each row of weights.

    `weights` has the shape ``(1, vocabulary)`` where every round has the same
    row, else ``(rounds, vocabulary)``; they need not sum to 1. `u` has one
    number in [0, 1) for each round. No token of weight 0 is ever drawn.
    """
    below = weights.cumsum(axis=-1)
    total = below[:, -1]
    target = np.minimum(u * total, np.nextafter(total, 0))
    if len(below) == 1:
        return np.asarray(below[0].searchsorted(target, side="right"))
    return np.asarray(np.count_nonzero(below <= target[:, None], axis=-1))


def excess(p: Floats, q: Floats, scale: Floats) -> Floats:
    """``sum_x (scale * p(x) - q(x))+`` of each round; rows as in `draw`."""
    if len(p) == len(q) == 1:
        return _Sorted(p[0], q[0]).excess(scale)
    return np.asarray(np.maximum(scale[:, None] * p - q, 0).sum(axis=-1))


def draw_excess(p: Floats, q: Floats, scale: Floats, u: Floats) -> Integers:
    """The token at quantile `u` of ``(scale * p - q)+``, for each round; rows as in `draw`."""
    if len(p) == len(q) == 1:
        return _Sorted(p[0], q[0]).draw(scale, u)
    return draw(residual_weights(p, q, scale[:, None]), u)


def residual_weights(p: Floats, q: Floats, scale: Floats | float = 1.0) -> Floats:
    """``(scale * p - q)+``; `p` itself where rounding leaves nothing of it."""
    weights = np.maximum(scale * p - q, 0)
    return np.where(weights.any(axis=-1, keepdims=True), weights, p)


class _Sorted:
    """One pair of rows, its tokens in the order of q / p: ``scale * p > q`` is a prefix.

    So the excess is a difference of two cumulated masses, and a draw is a
    bisection: each round costs the logarithm of the vocabulary.
    """

    def __init__(self, p: Floats, q: Floats) -> None:
        ratio = np.divide(q, p, out=np.full_like(p, np.inf), where=p > 0)
        self._tokens = ratio.argsort(kind="stable")
        self._ratio = ratio[self._tokens]
        self._p = np.concatenate([[0.0], p[self._tokens].cumsum()])
        self._q = np.concatenate([[0.0], q[self._tokens].cumsum()])

    def excess(self, scale: Floats) -> Floats:
        ahead = self._ratio.searchsorted(scale)
        return np.maximum(self._up_to(ahead, scale), 0)

    def _up_to(self, tokens: Integers, scale: Floats) -> Floats:
        return np.asarray(scale * self._p[tokens] - self._q[tokens])

    def draw(self, scale: Floats, u: Floats) -> Integers:
        last = np.maximum(self._ratio.searchsorted(scale) - 1, 0)
        target = u * self._up_to(last + 1, scale)
        first = np.zeros_like(last)
        for _ in range(len(self._tokens).bit_length()):
            middle = (first + last) // 2
            past = self._up_to(middle + 1, scale) > target
            last = np.where(past, middle, last)
            first = np.where(past, first, np.minimum(middle + 1, last))
        return self._tokens[first]
