"""Every figure that an engine reports about acceptance, to alpha and back."""

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import geometric_sum
from gammaplan.model.arrays import (
    ArrayLike,
    Floats,
    Number,
    as_given,
    fraction,
    non_negative,
    numbers,
)


def pooled_rate(alpha: ArrayLike, gamma: ArrayLike) -> Number:
    """Accepted over drafted tokens: what engines print as acceptance rate.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    gamma : array_like of float, >= 0
        Draft length, every draft full. [tokens]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        ``(E - 1) / gamma``, never above alpha; NaN at gamma = 0. [0 to 1]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    For any acceptance process with full drafts ``E = 1 + gamma * pooled_rate``,
    so drafting pays exactly if ``pooled_rate >= c + verify_slope + overhead /
    gamma``: the printed rate is not alpha but the break-even cost.

    Examples
    --------
    >>> round(pooled_rate(0.8, 4), 4)
    0.5904
    """
    a, n = fraction("alpha", alpha), non_negative("gamma", gamma)
    with np.errstate(invalid="ignore"):
        return as_given(np.asarray(a * geometric_sum(a, n) / np.where(n == 0, np.nan, n)))


def alpha_from_mean_length(mean_length: ArrayLike, gamma: ArrayLike) -> Number:
    """The alpha whose rounds have this mean length, if acceptances are i.i.d.

    Parameters
    ----------
    mean_length : array_like of float
        Tokens per round, the bonus token counted. [1 to gamma + 1]
    gamma : array_like of float, > 0
        Draft length, every draft full. [tokens]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        The root of ``1 + a + ... + a**gamma = mean_length``. [0 to 1]

    Raises
    ------
    DomainError
        If `gamma` is not positive or `mean_length` leaves [1, gamma + 1].

    Examples
    --------
    >>> round(alpha_from_mean_length(4.739, 6), 4)
    0.8662
    """
    m, n = numbers("mean_length", mean_length), _positive_gamma(gamma)
    m, n = np.broadcast_arrays(m, n)
    if (bad := np.flatnonzero(~((m >= 1) & (m <= n + 1)))).size:
        raise DomainError(
            f"mean_length must be in [1, gamma + 1] = [1, {n.flat[bad[0]] + 1:g}], "
            f"got {m.flat[bad[0]]:g}"
        )
    return as_given(_alpha_from_accepted(m - 1, n))


def alpha_from_pooled_rate(pooled_rate: ArrayLike, gamma: ArrayLike) -> Number:
    """The alpha behind accepted / drafted, if acceptances are i.i.d. and drafts full.

    Parameters
    ----------
    pooled_rate : array_like of float
        Accepted over drafted tokens. [0 to 1]
    gamma : array_like of float, > 0
        Draft length, every draft full. [tokens]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        The root of ``a + ... + a**gamma = gamma * pooled_rate``; never below
        `pooled_rate`. [0 to 1]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Examples
    --------
    >>> round(alpha_from_pooled_rate(0.8, 5), 4)
    0.9265
    """
    rate, n = fraction("pooled_rate", pooled_rate), _positive_gamma(gamma)
    rate, n = np.broadcast_arrays(rate, n)
    return as_given(_alpha_from_accepted(rate * n, n))


def break_even_alpha(
    c: ArrayLike, gamma: ArrayLike, *, overhead: ArrayLike = 0, verify_slope: ArrayLike = 0
) -> Number:
    """The alpha at which drafting `gamma` tokens neither gains nor loses.

    Parameters
    ----------
    c : array_like of float, >= 0
        One draft pass. [target passes]
    gamma : array_like of float, > 0
        Draft length. [tokens]
    overhead, verify_slope : array_like of float, >= 0
        See `speedup`. [target passes]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        Above it drafting pays; NaN where even alpha = 1 does not. [0 to 1]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    The root of ``E(gamma) = 1 + overhead + (c + verify_slope) * gamma``.

    Examples
    --------
    >>> round(break_even_alpha(39.28 / 65.90, 5), 5)
    0.83224
    """
    n, fixed = _positive_gamma(gamma), non_negative("overhead", overhead)
    slope = non_negative("c", c) + non_negative("verify_slope", verify_slope)
    with np.errstate(over="ignore"):
        needed, n = np.broadcast_arrays(fixed + slope * n, n)
    root = _alpha_from_accepted(np.minimum(needed, n), n)
    return as_given(np.where(needed <= n, root, np.nan))


def break_even_c(
    alpha: ArrayLike, gamma: ArrayLike, *, overhead: ArrayLike = 0, verify_slope: ArrayLike = 0
) -> Number:
    """The cost ratio at which drafting `gamma` tokens neither gains nor loses.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    gamma : array_like of float, > 0
        Draft length. [tokens]
    overhead, verify_slope : array_like of float, >= 0
        See `speedup`. [target passes]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        Below it drafting pays; NaN where even a free draft does not. [target passes]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    ``pooled_rate(alpha, gamma) - overhead / gamma - verify_slope``.

    Examples
    --------
    >>> round(break_even_c(0.8, 4), 4)
    0.5904
    """
    n, fixed = _positive_gamma(gamma), non_negative("overhead", overhead)
    rate = np.asarray(pooled_rate(alpha, n))
    ratio = rate - fixed / n - non_negative("verify_slope", verify_slope)
    return as_given(np.where(ratio >= 0, ratio, np.nan))


def break_even_gamma(
    alpha: ArrayLike, c: ArrayLike, *, overhead: ArrayLike = 0, verify_slope: ArrayLike = 0
) -> Number:
    """The real draft length beyond which drafting loses.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    c : array_like of float, >= 0
        One draft pass. [target passes]
    overhead, verify_slope : array_like of float, >= 0
        See `speedup`. [target passes]

    Returns
    -------
    float or ndarray of float64, broadcast shape
        The largest root of ``S(gamma) = 1``; 0 where no length pays, infinity
        where every longer one does. [tokens]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    Tokens minus cost are concave in gamma: Newton from ``(ceiling - 1 -
    overhead) / slope``, an upper bound, falls to the largest root.

    Examples
    --------
    >>> round(break_even_gamma(0.8, 0.1), 2)
    39.99
    """
    a = fraction("alpha", alpha)
    slope = non_negative("c", c) + non_negative("verify_slope", verify_slope)
    a, slope, fixed = np.broadcast_arrays(a, slope, non_negative("overhead", overhead))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log, delta = np.log(a), 1 - a
        top = np.maximum(np.log(slope * delta / -log) / log - 1, 0)  # where tokens - cost peaks
        pays = geometric_sum(a, top + 1) - 1 - fixed - slope * top > 0
        gamma = (a / delta - fixed) / slope
        for _ in range(60):
            left = a * geometric_sum(a, gamma) - fixed - slope * gamma
            fall = slope + log / delta * np.exp(log * (gamma + 1))
            step = left / fall
            gamma = np.maximum(gamma + step, top)
            if not (np.abs(step) > 1e-15 * gamma).any():
                break
        endless = np.where(slope == 0, a / delta >= fixed, False)
        one = np.where((slope < 1) | ((slope == 1) & (fixed == 0)), np.inf, 0.0)
        gamma = np.where(endless, np.inf, np.where(pays, gamma, 0.0))
    return as_given(np.where(a == 1, one, np.where(a == 0, np.where(endless, np.inf, 0), gamma)))


def _positive_gamma(gamma: ArrayLike) -> Floats:
    n = non_negative("gamma", gamma)
    if n.size and not n.min() > 0:
        raise DomainError(f"gamma must be greater than 0, got {n.min():g}")
    return n


def _alpha_from_accepted(accepted: Floats, gamma: Floats) -> Floats:
    """The root of ``a + ... + a**gamma = accepted`` in [0, 1], by bisection.

    ``accepted / (1 + accepted) <= a <= accepted``: an endless draft, one token.
    """
    low, high = accepted / (1 + accepted), np.minimum(accepted, 1.0)
    low, high = np.minimum(low, high), np.where(gamma <= 1, low + 1, high)
    high = np.minimum(high, 1.0)
    while True:
        middle = (low + high) / 2
        if not ((middle > low) & (middle < high)).any():
            break
        short = middle * geometric_sum(middle, gamma) < accepted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.where(accepted == gamma, 1.0, np.where(gamma == 1, accepted, high))
