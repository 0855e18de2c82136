"""The best draft length of any acceptance and any cost, and how much room it leaves."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.arrays import ArrayLike, Booleans, share
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.curve import curve
from gammaplan.model.optimum import cost_threshold, optimal_gamma, stationary_gamma
from gammaplan.results import Ends, Result

SHORT = 32  # lengths below this are looked at together
SCAN_LIMIT = 1_024  # lengths searched where a cost is not convex and has no last point
ENDLESS = 2.0**53  # a speedup still rising here rises for ever


class _BandFields(NamedTuple):
    tolerance: float
    low: float
    high: float
    plain: bool
    gaps: tuple[Ends, ...] = ()


class Band(Result, _BandFields):
    """The run of draft lengths around the best that loses at most `tolerance`.

    `low` and `high` are its ends (`high` infinite where it never ends, both NaN
    where the supremum is infinite); `plain` says whether gamma = 0 is within
    the tolerance, in the run or apart from it; `gaps` are the stretches
    ``(low, high)`` between lengths within the tolerance that are not.
    """

    __slots__ = ()

    def __contains__(self, gamma: object) -> bool:
        return isinstance(gamma, int | float) and self.low <= gamma <= self.high


class _DecisionFields(NamedTuple):
    gamma: float
    speedup: float
    expected_tokens: float
    round_cost: float
    gamma_continuous: float | None
    speedup_continuous: float | None
    band: Band
    ceiling: float
    c_range: Ends | None
    at_limit: bool
    extrapolated: bool


class Decision(Result, _DecisionFields):
    """The best draft length and what surrounds it.

    Attributes
    ----------
    gamma : int or inf
        Best draft length; 0: do not speculate, infinite: longer is always better.
    speedup, expected_tokens, round_cost : float
        At `gamma`, or their limits where it is infinite.
    gamma_continuous, speedup_continuous : float or None
        The optimum over real lengths, where the model has one.
    band : Band
        The lengths that are nearly as good.
    ceiling : float
        Tokens per round of an endless draft.
    c_range : Ends or None
        `gamma` is the best for ``c_range.low <= c < c_range.high``, all else
        equal. [target passes]
    at_limit : bool
        The best length is the last one that was searched.
    extrapolated : bool
        The best length lies beyond the measured positions.
    """

    __slots__ = ()

    @property
    def unbounded(self) -> bool:
        """No finite length is the best."""
        return math.isinf(self.gamma)


def decide(
    acceptance: Acceptance,
    cost: Cost,
    *,
    max_gamma: int | None = None,
    tolerance: float = 0.03,
) -> Decision:
    """The best draft length, its band, and the costs for which it stays the best.

    Parameters
    ----------
    acceptance : Geometric, PerPosition or BetaGeometric
        How drafts are accepted.
    cost : LinearCost, BlockCost or TableCost
        What a round costs.
    max_gamma : int, >= 0, optional
        The longest draft allowed. Without it a linear cost is searched without
        limit, any other cost to the end of its table or to 1,024. [tokens]
    tolerance : float, in [0, 1)
        The share of the best speedup that the band may lose.

    Returns
    -------
    Decision

    Raises
    ------
    DomainError
        If `max_gamma` is negative or `tolerance` leaves [0, 1).

    Notes
    -----
    Linear cost: tokens per round are concave, so the speedup over gamma >= 1
    is unimodal and its peak is found by its closed form (i.i.d.) or by
    bisecting the marginal rule ``s_(k+1) * T(k) > slope * E(k)``; then the
    peak is compared with gamma = 0. Any other cost is scanned.

    Examples
    --------
    >>> from gammaplan import Geometric, LinearCost
    >>> answer = decide(Geometric(0.8), LinearCost(0.1))
    >>> answer.gamma, round(answer.speedup, 2), answer.band.low, answer.band.high
    (6, 2.47, 4, 8)
    """
    share("tolerance", tolerance)
    if max_gamma is not None and max_gamma < 0:
        raise DomainError(f"max_gamma must be at least 0, got {max_gamma}")
    if isinstance(cost, LinearCost):
        return _Linear(acceptance, cost, max_gamma, tolerance).decision()
    return _scan(acceptance, cost, max_gamma, tolerance)


class _Linear:
    """The search under a linear cost, where the speedup has one peak over gamma >= 1."""

    def __init__(
        self, acceptance: Acceptance, cost: LinearCost, max_gamma: int | None, tolerance: float
    ) -> None:
        self.acceptance = acceptance
        self.cost = cost
        self.max_gamma = max_gamma
        self.tolerance = tolerance

    def best(self) -> tuple[float, float, float]:
        """The best length, its speedup, and the peak of the lengths that draft anything."""
        peak = self.peak()
        speed = self.speedup_at(peak)
        return (peak, speed, peak) if self.pays(speed) else (0, 1.0, peak)

    def decision(self) -> Decision:
        best, speed, peak = self.best()
        real, real_speed = self.continuous(peak)
        endless = math.isinf(best)
        return Decision(
            gamma=best,
            speedup=speed,
            expected_tokens=self.acceptance.ceiling if endless else self.tokens(best),
            round_cost=float(self.cost.round_cost(best)),
            gamma_continuous=real,
            speedup_continuous=real_speed,
            band=self.band(peak, best, (1 - self.tolerance) * speed),
            ceiling=self.acceptance.ceiling,
            c_range=None if endless else self.c_range(best),
            at_limit=best > 0 and best == self.max_gamma,
            extrapolated=beyond_measured(self.acceptance, best),
        )

    @property
    def limit(self) -> float:
        return math.inf if self.max_gamma is None else self.max_gamma

    def tokens(self, gamma: float) -> float:
        return float(self.acceptance.expected_tokens(gamma))

    def survival(self, gamma: float) -> float:
        return float(self.acceptance.survival(gamma))

    def speedup_at(self, gamma: float) -> float:
        if not math.isinf(gamma):
            return self.tokens(gamma) / float(self.cost.round_cost(gamma))
        if self.cost.slope == 0:
            return self.acceptance.ceiling / (1 + self.cost.overhead)
        return self.survival(gamma) / self.cost.slope

    def peak(self) -> float:
        """The best of the lengths that draft anything (0 where none is allowed)."""
        if self.limit == 0:
            return 0
        if isinstance(self.acceptance, Geometric):
            slope = self.cost.slope / (1 + self.cost.overhead)
            best = float(optimal_gamma(self.acceptance.alpha, slope))
            return _whole(min(max(best, 1), self.limit))

        short = np.arange(1, SHORT, dtype=np.float64)
        rises = self.rises(short)
        if rises.all():
            further = _last(lambda k: bool(self.rises(np.float64(k))), SHORT - 1)
            return min(further + 1, self.limit)
        return min(1 + int(rises.argmin()), self.limit)

    def rises(self, gamma: ArrayLike) -> Booleans:
        """Whether one more token makes a round faster: ``s_(k+1) * T(k) > slope * E(k)``."""
        lengths = np.asarray(gamma, dtype=np.float64)
        gained = self.acceptance.survival(lengths + 1) * self.cost.round_cost(lengths)
        return np.asarray(gained > self.cost.slope * self.acceptance.expected_tokens(lengths))

    def pays(self, speed: float) -> bool:
        """Whether the peak, at this speedup, beats plain decoding.

        Through 1 at gamma = 0 a win at any length is a win at gamma = 1, and
        ``s_1 > slope`` decides it without the rounding of a quotient.
        """
        if self.cost.overhead:
            return speed > 1
        return self.limit >= 1 and self.survival(1) > self.cost.slope

    def continuous(self, peak: float) -> tuple[float | None, float | None]:
        if not isinstance(self.acceptance, Geometric) or math.isinf(peak):
            return None, None
        slope = self.cost.slope / (1 + self.cost.overhead)
        root = min(float(stationary_gamma(self.acceptance.alpha, slope)), self.limit)
        speed = self.speedup_at(root)
        return (root, speed) if speed > 1 else (0.0, 1.0)

    def band(self, peak: float, best: float, level: float) -> Band:
        if math.isinf(level):
            return Band(self.tolerance, math.nan, math.nan, plain=False)

        def above(gamma: float) -> bool:
            return self.speedup_at(gamma) >= level

        plain = level <= 1
        if not above(peak):  # gamma = 0 alone
            return Band(self.tolerance, 0, 0, plain)
        start = peak if math.isfinite(peak) else _last(lambda k: not above(k), 0) + 1
        high = math.inf if above(math.inf) else _last(above, start)
        high = min(high, self.limit)
        low = _first(above, start)
        gaps = (Ends(1, int(low) - 1),) if plain and 1 < low < math.inf else ()
        if best == 0 and low > 1:
            return Band(self.tolerance, 0, 0, plain, gaps)
        return Band(self.tolerance, 0 if plain and low == 1 else low, _whole(high), plain, gaps)

    def c_range(self, best: float) -> Ends:
        fixed, verify = self.cost.overhead, self.cost.verify_slope

        def against_plain(k: float) -> float:
            return (self.tokens(k) - 1 - fixed) / k

        if best == 0 and not fixed:
            return Ends(max(0.0, self.threshold(0) - verify), math.inf)
        if best == 0:
            last = _last(lambda k: k * self.survival(k + 1) > self.tokens(k) - 1 - fixed, 0) + 1
            last = min(last, max(self.limit, 1))
            return Ends(max(0.0, against_plain(min(last, ENDLESS)) - verify), math.inf)
        high = against_plain(best) if fixed else math.inf
        if best > 1 or not fixed:
            high = min(high, (1 + fixed) * self.threshold(best - 1))
        low = 0.0 if best == self.limit else (1 + fixed) * self.threshold(best)
        return Ends(max(0.0, low - verify), max(0.0, high - verify))

    def threshold(self, gamma: float) -> float:
        return switch_cost(self.acceptance, gamma)


def best_gamma(
    acceptance: Acceptance, cost: Cost, max_gamma: int | None = None
) -> tuple[float, float]:
    """The length and the speedup of `decide`, without what surrounds them."""
    if isinstance(cost, LinearCost):
        return _Linear(acceptance, cost, max_gamma, 0.0).best()[:2]
    found = decide(acceptance, cost, max_gamma=max_gamma)
    return found.gamma, found.speedup


def switch_cost(acceptance: Acceptance, gamma: float) -> float:
    """The largest c of ``1 + c * gamma`` at which gamma + 1 is still not worse than gamma.

    ``s_(gamma + 1) / (E(gamma) - gamma * s_(gamma + 1))``. [target passes]
    """
    if isinstance(acceptance, Geometric):
        return float(cost_threshold(acceptance.alpha, gamma))
    s = float(acceptance.survival(gamma + 1))
    return s / (float(acceptance.expected_tokens(gamma)) - gamma * s)


def beyond_measured(acceptance: Acceptance, gamma: float) -> bool:
    """Whether `gamma` lies past the last position that was measured."""
    return acceptance.observed_to is not None and gamma > acceptance.observed_to


def _scan(acceptance: Acceptance, cost: Cost, max_gamma: int | None, tolerance: float) -> Decision:
    end = SCAN_LIMIT if cost.max_gamma is None else cost.max_gamma
    end = end if max_gamma is None else min(end, max_gamma)
    all_ = curve(acceptance, cost, np.arange(end + 1))
    best = int(np.nanargmax(all_.speedup))
    speed = float(all_.speedup[best])
    good = all_.speedup >= (1 - tolerance) * speed
    breaks = np.flatnonzero(~good)
    low = int(breaks[breaks < best].max(initial=-1)) + 1
    high = int(breaks[breaks > best].min(initial=end + 1)) - 1
    return Decision(
        gamma=best,
        speedup=speed,
        expected_tokens=float(all_.expected_tokens[best]),
        round_cost=float(all_.round_cost[best]),
        gamma_continuous=None,
        speedup_continuous=None,
        band=Band(tolerance, low, high, plain=bool(good[0]), gaps=_gaps(good)),
        ceiling=acceptance.ceiling,
        c_range=None,
        at_limit=best == end > 0,
        extrapolated=beyond_measured(acceptance, best),
    )


def _gaps(good: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[Ends, ...]:
    lengths = np.flatnonzero(good)
    jumps = np.flatnonzero(np.diff(lengths) > 1)
    return tuple(Ends(int(lengths[j]) + 1, int(lengths[j + 1]) - 1) for j in jumps)


def _last(holds: Callable[[float], bool], start: float) -> float:
    """The largest whole k >= start up to which `holds`, if it holds and then fails for good.

    `start` itself counts as holding; infinite if it never fails.
    """
    step = 1.0
    while holds(start + step):
        if start + step > ENDLESS:
            return math.inf
        step *= 2
    low, high = start + step // 2, start + step
    while low < (middle := (low + high) // 2) < high:  # past 2**53 neighbours are 2 apart
        low, high = (middle, high) if holds(middle) else (low, middle)
    return int(low)


def _first(holds: Callable[[float], bool], end: float) -> float:
    """The smallest whole k >= 1 from which on everything up to `end` holds, as `end` does."""
    low, high = 0.0, end
    while (middle := (low + high) // 2) > low:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return _whole(high)


def _whole(value: float) -> float:
    return value if math.isinf(value) else int(value)
