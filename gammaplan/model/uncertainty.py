"""What an interval on alpha does to the answer."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gammaplan.model.acceptance import Acceptance
from gammaplan.model.cost import Cost
from gammaplan.model.curve import curve
from gammaplan.model.decision import Decision, best_gamma

ALPHAS = 17  # points of the interval at which regret is looked at
MOST_LENGTHS = 256  # lengths compared for the smallest worst regret


class Uncertainty(NamedTuple):
    """The answer at the ends of the interval, and the length that regrets least.

    `gamma_low` and `gamma_high` are the best lengths at the low and the high
    end, `speedup_low` and `speedup_high` what the chosen length gives there;
    `robust_gamma` has the smallest `worst_regret`, the share of the best
    speedup it loses where it loses most; `rounds_needed` is how many more
    rounds would tell the best length from its neighbour (None where that
    cannot be said, 0 where the interval already does).
    """

    gamma_low: float
    gamma_high: float
    speedup_low: float
    speedup_high: float
    robust_gamma: int
    worst_regret: float
    rounds_needed: int | None


def under_uncertainty(
    acceptance: Acceptance,
    cost: Cost,
    interval: tuple[float, float],
    decision: Decision,
    *,
    alpha: float,
    rounds: int | None = None,
    max_gamma: int | None = None,
) -> Uncertainty:
    """The answer over an interval of alpha.

    Parameters
    ----------
    acceptance : Acceptance
        The law of `decision`.
    cost : Cost
        The cost of `decision`.
    interval : (float, float)
        The ends for alpha. [0 to 1]
    decision : Decision
        The answer at the estimate.
    alpha : float
        The estimate that the interval is around: the law is moved by the
        distance of an end from it. [0 to 1]
    rounds : int, optional
        The rounds that the interval comes from.
    max_gamma : int, optional
        The longest draft allowed. [tokens]

    Notes
    -----
    Widths of intervals fall with the square root of the rounds, so telling the
    best length from its neighbour at a distance d from the estimate takes
    ``rounds * (half width / d)**2`` rounds in all.
    """

    def moved(to: float) -> Acceptance:
        return acceptance.raised(to - alpha)

    ends = [moved(end) for end in interval]
    best = [best_gamma(law, cost, max_gamma)[0] for law in ends]
    chosen = decision.gamma
    known = min(chosen, 2.0**40)
    there = [float(curve(law, cost, known).speedup) for law in ends]
    robust, worst = _least_regret(moved, cost, interval, best, max_gamma)
    return Uncertainty(
        best[0],
        best[1],
        there[0],
        there[1],
        robust,
        worst,
        _rounds_needed(moved, cost, interval, alpha, decision, rounds, max_gamma),
    )


def _least_regret(
    moved: Callable[[float], Acceptance],
    cost: Cost,
    interval: tuple[float, float],
    best: list[float],
    max_gamma: int | None,
) -> tuple[int, float]:
    low, high = min(best), max(best)
    top = int(min(high, low + MOST_LENGTHS, 2.0**40))
    first = int(min(low, top))
    lengths = np.concatenate([[0] if first else [], np.arange(first, top + 1)])
    worst = np.zeros(len(lengths))
    for alpha in np.linspace(*interval, ALPHAS):
        law = moved(float(alpha))
        supremum = best_gamma(law, cost, max_gamma)[1]
        speeds = np.nan_to_num(curve(law, cost, lengths).speedup, nan=0.0)
        lost = 1 - speeds / supremum if math.isfinite(supremum) else np.ones(len(lengths))
        worst = np.maximum(worst, lost)
    at = int(worst.argmin())
    return int(lengths[at]), max(0.0, float(worst[at]))


def _rounds_needed(
    moved: Callable[[float], Acceptance],
    cost: Cost,
    interval: tuple[float, float],
    alpha: float,
    decision: Decision,
    rounds: int | None,
    max_gamma: int | None,
) -> int | None:
    if not rounds:
        return None
    distance = math.inf
    for end in interval:
        inside, outside = alpha, end
        if best_gamma(moved(end), cost, max_gamma)[0] == decision.gamma:
            continue
        for _ in range(30):
            middle = (inside + outside) / 2
            same = best_gamma(moved(middle), cost, max_gamma)[0] == decision.gamma
            inside, outside = (middle, outside) if same else (inside, middle)
        distance = min(distance, abs(outside - alpha))
    if math.isinf(distance):
        return 0
    if distance < 1e-9:
        return None
    half = max(abs(end - alpha) for end in interval)
    return max(0, math.ceil(rounds * (half / distance) ** 2) - rounds)
