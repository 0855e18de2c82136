"""The best draft length of i.i.d. acceptance and linear cost, in closed form."""

import numpy as np

from gammaplan.model.arrays import (
    ArrayLike,
    Floats,
    Number,
    as_given,
    fraction,
    non_negative,
    whole_as_given,
)
from gammaplan.model.curve import linear_speedup

BLOCK = 16_384  # pairs at a time: the scratch arrays of one block stay in the cache
_LARGEST = 1e300


def excess(s: Floats) -> Floats:
    """``s - log1p(s)``, by its series where the difference would cancel."""
    small = np.clip(s, -0.01, 0.01)
    series = np.zeros_like(small)
    for k in range(11, 1, -1):
        series = (-1) ** k / k + small * series
    return np.where(small == s, small * small * series, s - np.log1p(s))


def _excess_root(u: Floats) -> Floats:
    """The s >= 0 with ``s - log1p(s) = u``: Newton, falling from an upper bound.

    Three cheap steps settle all but the last digits; two on the series form
    settle those where s is small.
    """
    s = np.sqrt(2 * u) + u
    for _ in range(3):
        s = (np.log1p(s) + u) * (1 + 1 / s) - 1
    for _ in range(2):
        s = s - (excess(s) - u) * (1 + 1 / s)
    return s


def stationary_gamma(
    alpha: ArrayLike, c: ArrayLike, *, overhead: ArrayLike = 0, verify_slope: ArrayLike = 0
) -> Number:
    """The real draft length at which the speedup stops rising.

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
        Root of the stationarity equation; 0 where the speedup falls from the
        start, infinity where it rises for ever. [tokens]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    With ``L = -log(alpha)`` and ``c_eff = (c + verify_slope) / (1 + overhead)``
    the derivative vanishes where ``alpha**(gamma + 1) * (L * (c_eff * gamma +
    1) + c_eff) = c_eff``. Its root is ``log(t) / L - 1`` with ``t - log(t) = 1
    + L * (1 - c_eff) / c_eff``, the -1 branch of Lambert's W; the overhead
    shifts no stationary point, only the comparison with gamma = 0, which
    `optimal_gamma` makes. Derived in docs/model.md.

    Examples
    --------
    >>> round(stationary_gamma(0.8, 0.1), 3)
    5.756
    """
    a = fraction("alpha", alpha)
    slope = non_negative("c", c) + non_negative("verify_slope", verify_slope)
    cost = slope / (1 + non_negative("overhead", overhead))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = -np.log(a)
        inside = (a < 1) & (cost > 0) & (a * rate > cost * (1 - a))
        u = np.minimum(rate * (1 - cost) / cost, _LARGEST)
        root = np.log1p(_excess_root(u)) / rate - 1
    endless = (a > 0) & (cost == 0) | (a == 1) & (cost < 1)
    return as_given(np.where(endless, np.inf, np.where(inside, np.maximum(root, 0.0), 0.0)))


def optimal_gamma(
    alpha: ArrayLike, c: ArrayLike, *, overhead: ArrayLike = 0, verify_slope: ArrayLike = 0
) -> int | Number:
    """The draft length with the largest speedup, exactly; 0 means do not speculate.

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
    int, inf or ndarray of float64, broadcast shape
        The smallest maximiser over gamma = 0, 1, ...; infinity where the
        speedup only grows. [tokens]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    The speedup is unimodal over gamma >= 1, so the best integer is the floor
    or the ceiling of `stationary_gamma`; the exact sign of ``S(k + 1) -
    S(k)`` decides. Nothing is scanned and no real optimum is rounded: rounding
    is wrong in 4 % of cases. Computed in blocks of 16,384 pairs.

    Examples
    --------
    >>> optimal_gamma(0.8, 0.1), optimal_gamma(0.3, 0.5), optimal_gamma(0.8, 0)
    (6, 0, inf)
    """
    a = fraction("alpha", alpha)
    slope = non_negative("c", c)
    if np.any(extra := non_negative("verify_slope", verify_slope)):
        slope = slope + extra
    fixed = non_negative("overhead", overhead)
    blocks = np.nditer(
        [a, slope, fixed, None],
        flags=["external_loop", "buffered", "zerosize_ok", "delay_bufalloc"],
        op_flags=[["readonly"], ["readonly"], ["readonly"], ["writeonly", "allocate"]],
        op_dtypes=[np.float64] * 4,
        buffersize=BLOCK,
    )
    with blocks, np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        blocks.reset()
        for a_block, slope_block, fixed_block, best in blocks:
            _best_of_block(a_block, slope_block, fixed_block, best)
        return whole_as_given(blocks.operands[3])


def _best_of_block(a: Floats, slope: Floats, fixed: Floats, best: Floats) -> None:
    """Write the best draft length of each pair into `best`; scratch arrays are reused."""
    paid = fixed.max() > 0
    cost = slope / (1 + fixed) if paid else slope
    log = np.log(a)
    u = np.divide(cost - 1, cost)
    u *= log
    np.minimum(u, _LARGEST, out=u)
    s = np.sqrt(2 * u)
    s += u
    step = np.empty_like(s)
    for _ in range(3):  # Newton for s - log1p(s) = u
        np.log1p(s, out=step)
        step += u
        np.divide(1, s, out=s)
        s += 1
        s *= step
        s -= 1
    np.log1p(s, out=step)
    step /= log
    np.ceil(step, out=step)  # -(gamma_c + 1), rounded towards 0
    np.negative(step, out=step)
    step -= 1
    k = np.maximum(step, 0, out=best)
    # One more token is worth it if x * (1 - alpha) * (cost * k + 1) > cost * (1 - x),
    # x = alpha**(k + 1).
    np.add(k, 1, out=s)
    s *= log
    np.expm1(s, out=s)
    np.multiply(cost, k, out=u)
    u += 1
    u *= np.subtract(1, a, out=step)
    u *= np.add(s, 1, out=step)
    s *= cost
    u += s
    k += u > 0
    np.maximum(k, 1, out=k)  # whenever alpha > cost
    np.copyto(k, 0, where=a <= cost)
    if cost.min() == 0 or a.max() == 1:
        np.copyto(k, np.inf, where=(a > 0) & (cost == 0) | (a == 1) & (cost < 1))
    if paid:
        np.copyto(k, 0, where=linear_speedup(a, k, slope, fixed) <= 1)


def cost_threshold(alpha: ArrayLike, gamma: ArrayLike) -> Floats:
    """The largest cost ratio at which gamma + 1 is still not worse than gamma.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    gamma : array_like of float, >= 0
        Draft length. [tokens]

    Returns
    -------
    ndarray of float64, broadcast shape
        ``c_gamma = alpha**(gamma + 1) / (E(gamma) - gamma * alpha**(gamma +
        1))``: gamma is the best exactly for ``c_gamma <= c < c_(gamma - 1)``.
        [target passes]

    Notes
    -----
    Written as ``1 / (1 + (expm1(y) - y + (gamma + 1) * (L - delta)) / delta)``
    with ``y = (gamma + 1) * L``, since the plain form loses six digits as
    alpha nears 1.
    """
    a, n = fraction("alpha", alpha), non_negative("gamma", gamma) + 1
    delta = 1 - a
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        grown = np.expm1(-n * np.log(a))
        waste = (excess(grown) + n * excess(-delta)) / delta
        ratio = np.where(np.isinf(grown), 0.0, 1 / (1 + waste))  # below the smallest double
        return np.where(a == 0, 0.0, np.where(a == 1, 1.0, ratio))
