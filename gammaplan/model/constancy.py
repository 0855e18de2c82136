"""Whether one alpha describes every position, and which law does where it does not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.mixture import BetaGeometric

Direction: TypeAlias = Literal["constant", "rising", "falling", "uneven"]
SIGNIFICANT = 0.05
FEWEST_POSITIONS, FEWEST_ROUNDS = 4, 100  # a mixture is extrapolated: it needs more than a hint


@dataclass(frozen=True)
class Constancy:
    """The likelihood-ratio test of one alpha over the positions.

    `statistic` is G squared, chi-square with `df` degrees of freedom if
    acceptance is constant; `direction` is "rising", "falling" or "uneven" where
    it is not, "constant" where nothing speaks against it.
    """

    statistic: float
    df: int
    p_value: float
    direction: Direction


def constancy(accepted: Sequence[int], tried: Sequence[int]) -> Constancy:
    """Test whether positions that were tried `tried` times accepted at one rate.

    Parameters
    ----------
    accepted, tried : sequence of int, shape ``(gamma,)``
        Rounds that accepted position i, of those that tried it.

    Returns
    -------
    Constancy

    Notes
    -----
    ``G2 = 2 * sum(a * log(b / alpha) + r * log((1 - b) / (1 - alpha)))`` over
    positions with hazard b = a / n. Each position's part is the sum of two
    deviances ``x * log(x / m) - (x - m)``, whose differences ``x - m`` are
    taken from the integers: the logarithms alone lose five digits where
    hazards are almost equal.
    """
    from scipy.special import chdtrc

    pairs = [(a, n) for a, n in zip(accepted, tried, strict=True) if n]
    total, trials = sum(a for a, _ in pairs), sum(n for _, n in pairs)
    df = len(pairs) - 1
    if df < 1 or total in (0, trials):
        return Constancy(0.0, max(df, 0), 1.0, "constant")
    statistic = 0.0
    for a, n in pairs:
        gap = (
            a * trials - n * total
        ) / trials  # accepted less expected, exact but for one division
        statistic += 2 * (
            _deviance(a, n * total / trials, gap)
            + _deviance(n - a, n * (trials - total) / trials, -gap)
        )
    p_value = float(chdtrc(df, statistic))
    direction = _direction(pairs) if p_value < SIGNIFICANT else "constant"
    return Constancy(statistic, df, p_value, direction)


def _deviance(x: float, mean: float, gap: float) -> float:
    """``x * log(x / mean) - gap`` with ``gap = x - mean``, by its series where that is small."""
    if x == 0:
        return -gap
    v = gap / (x + mean)
    if abs(v) > 0.1:
        return x * math.log(x / mean) - gap
    total, power = gap * v, 2 * x * v
    for k in range(3, 41, 2):
        power *= v * v
        step = power / k
        if total + step == total:
            break
        total += step
    return total


def _direction(pairs: Sequence[tuple[int, int]]) -> Direction:
    """The sign of the weighted slope of the hazards, if the slope explains most of the change."""
    a, n = np.array(pairs, dtype=np.float64).T
    hazards, at = a / n, np.arange(len(a))
    centre = (n * at).sum() / n.sum()
    alpha = a.sum() / n.sum()
    spread = (n * (at - centre) ** 2).sum()
    slope = (n * (at - centre) * (hazards - alpha)).sum() / spread
    explained = slope * slope * spread / max((n * (hazards - alpha) ** 2).sum(), 1e-300)
    if explained < 0.25:
        return "uneven"
    return "rising" if slope > 0 else "falling"


def beta_geometric(accepted: Sequence[int], tried: Sequence[int]) -> BetaGeometric | None:
    """The mixture whose hazards fit best, if it fits as well as a hazard for each position.

    Maximum likelihood over p and q, on a grid of the mean and ``log(p + q)``
    that is refined around its best point; None where a likelihood-ratio test
    against free hazards rejects it, or where fewer than 4 positions or 100
    rounds were seen.
    """
    from scipy.special import chdtrc

    pairs = [(a, n) for a, n in zip(accepted, tried, strict=True) if n]
    if len(pairs) < FEWEST_POSITIONS or pairs[0][1] < FEWEST_ROUNDS:
        return None
    a, n = np.array(pairs, dtype=np.float64).T
    at = np.arange(len(a))

    def log_likelihood(mean: Floats, spread: Floats) -> Floats:
        p = (mean * np.exp(spread))[..., None]
        hazards = (p + at) / (np.exp(spread)[..., None] + at)
        return np.asarray((a * np.log(hazards) + (n - a) * np.log1p(-hazards)).sum(axis=-1))

    mean_at, spread_at, mean_by, spread_by = 0.5, 2.5, 0.49, 5.0
    best = -math.inf
    for _ in range(40):
        means = np.clip(mean_at + mean_by * np.linspace(-1, 1, 13), 1e-6, 1 - 1e-6)
        spreads = spread_at + spread_by * np.linspace(-1, 1, 13)
        grid = log_likelihood(*np.meshgrid(means, spreads, indexing="ij"))
        i, j = np.unravel_index(int(grid.argmax()), grid.shape)
        mean_at, spread_at, best = float(means[i]), float(spreads[j]), float(grid[i, j])
        mean_by, spread_by = mean_by * 0.6, spread_by * 0.6
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.where(a > 0, a * np.log(a / n), 0) + np.where(
            a < n, (n - a) * np.log1p(-a / n), 0
        )
    statistic = max(0.0, 2 * (float(free.sum()) - best))
    if float(chdtrc(len(pairs) - 2, statistic)) < SIGNIFICANT:
        return None
    total = math.exp(spread_at)
    return BetaGeometric(mean_at * total, (1 - mean_at) * total, len(pairs))
