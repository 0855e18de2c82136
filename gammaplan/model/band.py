"""How flat the peak is: the draft lengths around the best that are nearly as good."""

from collections.abc import Callable

import numpy as np

from gammaplan.model.acceptance import ceiling
from gammaplan.model.arrays import (
    ArrayLike,
    Booleans,
    Floats,
    Number,
    fraction,
    non_negative,
    share,
    whole_as_given,
)
from gammaplan.model.curve import linear_speedup
from gammaplan.model.optimum import optimal_gamma


def bisect(good: Callable[[Floats], Booleans], inside: Floats, outside: Floats) -> Floats:
    """The whole number nearest to `outside` that is still good, element by element.

    `good` holds at `inside` and from there up to somewhere before `outside`.
    """
    inside, outside = (np.array(x, dtype=float) for x in np.broadcast_arrays(inside, outside))
    while True:
        middle = np.floor((inside + outside) / 2)
        open_ = (middle != inside) & (middle != outside) & np.isfinite(middle)
        if not open_.any():
            return inside
        fits = good(np.where(open_, middle, inside))
        inside = np.where(open_ & fits, middle, inside)
        outside = np.where(open_ & ~fits, middle, outside)


def flat_band(
    alpha: ArrayLike,
    c: ArrayLike,
    *,
    tolerance: ArrayLike = 0.03,
    overhead: ArrayLike = 0,
    verify_slope: ArrayLike = 0,
) -> tuple[int | Number, int | Number]:
    """The draft lengths around the best that are nearly as good.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    c : array_like of float, >= 0
        One draft pass. [target passes]
    tolerance : array_like of float, in [0, 1)
        The share of the best speedup that may be lost.
    overhead, verify_slope : array_like of float, >= 0
        See `speedup`. [target passes]

    Returns
    -------
    low, high : int, inf, nan or ndarray of float64, broadcast shape
        Ends of the run of consecutive lengths with ``S >= (1 - tolerance) *
        S_best`` that holds the best (of the run that reaches infinity where
        there is no best): `low` is 0 where gamma = 0 belongs to it, `high` is
        infinite where it never ends; both NaN where the supremum is infinite
        (alpha = 1, c = 0). [tokens]

    Raises
    ------
    DomainError
        If a value leaves its domain.

    Notes
    -----
    Tokens per round are concave and the cost is linear over gamma >= 1, so the
    lengths above any level form one run, and its ends are bisected. With an
    overhead gamma = 0 may lie within the tolerance and yet apart from the run.

    Examples
    --------
    >>> flat_band(0.8, 0.1)
    (4, 8)
    """
    slope = non_negative("c", c) + non_negative("verify_slope", verify_slope)
    low, high = linear_band(
        fraction("alpha", alpha),
        slope,
        non_negative("overhead", overhead),
        share("tolerance", tolerance),
        np.asarray(np.inf),
    )
    return whole_as_given(low), whole_as_given(high)


def limited_gamma(alpha: Floats, slope: Floats, overhead: Floats, limit: Floats) -> Floats:
    """`optimal_gamma` among the lengths up to `limit`, as an array."""
    peak = _peak(alpha, slope, overhead, limit)
    wins = linear_speedup(alpha, peak, slope, overhead) > 1
    pays = np.where(overhead == 0, alpha > slope, wins)  # without overhead gamma = 1 decides
    return np.where(pays & (limit >= 1), peak, 0.0)


def _peak(alpha: Floats, slope: Floats, overhead: Floats, limit: Floats) -> Floats:
    """The best of the lengths 1..limit, whether or not it beats plain decoding."""
    best = np.asarray(optimal_gamma(alpha, slope / (1 + overhead)), dtype=float)
    return np.asarray(np.minimum(np.maximum(best, 1), np.maximum(limit, 1)))


def linear_band(
    alpha: Floats, slope: Floats, overhead: Floats, tolerance: Floats, limit: Floats
) -> tuple[Floats, Floats]:
    """`flat_band` on checked arrays, among the lengths up to `limit`."""
    a, slope, fixed, tol, limit = np.broadcast_arrays(alpha, slope, overhead, tolerance, limit)
    best = limited_gamma(a, slope, fixed, limit)
    level = (1 - tol) * linear_speedup(a, best, slope, fixed)

    def above(gamma: Floats) -> Booleans:
        return linear_speedup(a, gamma, slope, fixed) >= level

    # The peak of the lengths that draft at all: from it the run falls to both sides.
    peak = _peak(a, slope, fixed, limit)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # S < level beyond `last`; where the run is endless, S >= level from `first` on.
        last = (np.asarray(ceiling(a)) / level - 1 - fixed) / slope
        endless = np.where(slope == 0, True, (a == 1) & (1 / slope >= level))
        first = np.where(a == 1, ((1 - tol) * (1 + fixed) - slope) / (tol * slope), 0)
        first = np.where(slope == 0, np.log(tol) / np.log(a), first)
    start = np.where(np.isinf(peak), np.maximum(np.ceil(first), 0) + 2, peak)
    joined = (best > 0) | above(np.ones_like(level)) & (limit >= 1)
    upper = bisect(above, start, np.where(endless, start, np.maximum(last, start) + 2))
    high = np.where(joined, np.minimum(np.where(endless, np.inf, upper), limit), 0)
    low = np.where(best > 0, bisect(above, start, np.zeros_like(start)), 0)
    low = np.where((low == 1) & (level <= 1), 0, low)
    infinite = np.isinf(level)
    return np.where(infinite, np.nan, low), np.where(infinite, np.nan, high)
