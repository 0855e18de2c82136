"""The speedup over the draft length: tokens per round divided by cost per round."""

from typing import NamedTuple

import numpy as np

from gammaplan.model.acceptance import Acceptance, geometric_sum
from gammaplan.model.arrays import ArrayLike, Floats, Number, as_given, fraction, non_negative
from gammaplan.model.cost import Cost, linear_cost
from gammaplan.results import Plain, Result, plain


def speedup(
    alpha: ArrayLike,
    c: ArrayLike,
    gamma: ArrayLike,
    *,
    overhead: ArrayLike = 0,
    verify_slope: ArrayLike = 0,
) -> Number:
    """Tokens per plain target pass, relative to plain decoding.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    c : array_like of float, >= 0
        One draft pass. [target passes]
    gamma : array_like of float, >= 0
        Draft length, real or infinite. [tokens]
    overhead : array_like of float, >= 0
        Fixed extra cost of a round that drafts anything. [target passes]
    verify_slope : array_like of float, >= 0
        Extra cost of one more verified token. [target passes]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        1 at gamma = 0. [dimensionless]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    ``expected_tokens(alpha, gamma) / (1 + overhead + (c + verify_slope) * gamma)``
    for gamma > 0, [1]_ Theorem 3.8 where `overhead` and `verify_slope` are 0.

    References
    ----------
    .. [1] Y. Leviathan, M. Kalman and Y. Matias, "Fast inference from
       transformers via speculative decoding," ICML, 2023. arXiv:2211.17192.

    Examples
    --------
    >>> round(speedup(0.8, 0.1, 6), 4)
    2.4696
    """
    a, n = fraction("alpha", alpha), non_negative("gamma", gamma, finite=False)
    slope = non_negative("c", c) + non_negative("verify_slope", verify_slope)
    return as_given(linear_speedup(a, n, slope, non_negative("overhead", overhead)))


def linear_speedup(
    alpha: Floats, gamma: Floats, slope: Floats | float, overhead: Floats | float
) -> Floats:
    """`speedup` on checked arrays; the limit where both tokens and cost are infinite."""
    tokens = geometric_sum(alpha, gamma + 1)
    cost = linear_cost(gamma, slope, overhead)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = tokens / cost
        return np.where(np.isinf(tokens) & np.isinf(cost), 1 / np.asarray(slope), ratio)


class _CurveFields(NamedTuple):
    gammas: Floats
    expected_tokens: Floats
    round_cost: Floats
    speedup: Floats


class Curve(Result, _CurveFields):
    """Tokens, cost and speedup over some draft lengths; arrays of one shape.

    `gammas` [tokens], `expected_tokens` [tokens/round, bonus counted],
    `round_cost` [target passes], `speedup` [dimensionless; NaN where the cost
    is not known]. `rows` has one for each draft length.
    """

    __slots__ = ()

    def to_dict(self) -> Plain:
        """`rows` alone: gamma, expected_tokens, round_cost and speedup of each draft length."""
        gammas, *others = (plain(column.ravel()) for column in self)
        lengths = [int(n) if n is not None and n == int(n) else n for n in gammas]
        names = ("gamma", *self._fields[1:])
        rows = zip(lengths, *others, strict=True)
        return {"rows": [dict(zip(names, row, strict=True)) for row in rows]}


def curve(acceptance: Acceptance, cost: Cost, gammas: ArrayLike) -> Curve:
    """The curve of any acceptance and any cost.

    Parameters
    ----------
    acceptance : Geometric, PerPosition or BetaGeometric
        How drafts are accepted.
    cost : LinearCost, BlockCost or TableCost
        What a round costs.
    gammas : array_like of int, >= 0
        Draft lengths. [tokens]

    Returns
    -------
    Curve
        Arrays of the shape of `gammas`.

    Raises
    ------
    DomainError
        If a draft length is negative.

    Examples
    --------
    >>> from gammaplan import Geometric, LinearCost
    >>> curve(Geometric(0.8), LinearCost(0.1), [0, 6]).speedup.round(4)
    array([1.    , 2.4696])
    """
    n = non_negative("gammas", gammas)
    tokens, passes = acceptance.expected_tokens(n), cost.round_cost(n)
    return Curve(n, tokens, passes, tokens / passes)
