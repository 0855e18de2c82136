"""Around the best length: ranges of prediction, the next runs, drafts side by side."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gammaplan.model.acceptance import Acceptance
from gammaplan.model.arrays import Floats
from gammaplan.model.cost import Cost
from gammaplan.model.curve import curve
from gammaplan.model.decision import decide

LEVEL = 0.8  # of every prediction interval
FEWEST_SHOWN, MOST_SHOWN = 8, 32
ALPHAS = 17  # points of an interval at which lengths are compared
REACH = 64  # lengths among which the best of a moved law is looked for first
NEXT_RUNS = 2

# Standard deviations of ln speedup below and above the prediction, at given draft lengths.
Spread: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Predicted:
    """Speedups over draft lengths, with the interval that a run would fall in.

    `low` and `high` are None where nothing uncertain went into the prediction.
    """

    gammas: Floats
    speedup: Floats
    low: Floats | None
    high: Floats | None

    def at(self, gamma: int) -> tuple[float, float | None, float | None]:
        """Speedup, low and high of one of the lengths."""
        i = int(np.flatnonzero(self.gammas == gamma)[0])
        low = None if self.low is None else float(self.low[i])
        return float(self.speedup[i]), low, None if self.high is None else float(self.high[i])


def quantile(level: float) -> float:
    """The standard normal deviate that a central interval of this level reaches to."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle / math.sqrt(2)) < level else (low, middle)
    return high


def predicted(
    law: Acceptance, cost: Cost, gammas: Sequence[int], spreads: Sequence[Spread]
) -> Predicted:
    """Speedups and their intervals; independent spreads add up in quadrature."""
    lengths = np.asarray(gammas, dtype=np.float64)
    speed = curve(law, cost, lengths).speedup
    if not spreads:
        return Predicted(lengths, speed, None, None)
    sides = [spread(lengths) for spread in spreads]
    z = quantile(LEVEL) * (lengths > 0)
    below, above = (np.sqrt(sum(np.square(side[k]) for side in sides)) for k in (0, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        return Predicted(lengths, speed, speed * np.exp(-z * below), speed * np.exp(z * above))


def around(
    speedup: float, gamma: float, spreads: Sequence[Spread]
) -> tuple[float, float] | tuple[None, None]:
    """The prediction interval around one speedup; None twice where nothing is uncertain."""
    if not spreads:
        return None, None
    sides = [spread(np.array([float(gamma)])) for spread in spreads]
    below, above = (math.hypot(*(float(side[k][0]) for side in sides)) for k in (0, 1))
    z = quantile(LEVEL)
    return speedup * math.exp(-z * below), speedup * math.exp(z * above)


def alpha_spread(
    law: Acceptance, interval: tuple[float, float], level: float, *, alpha: float
) -> Spread:
    """What an interval around `alpha` does to the speedup: the law moved to its ends."""
    z = quantile(level)
    ends = [law.raised(end - alpha) for end in interval]

    def spread(gammas: Floats) -> tuple[Floats, Floats]:
        low, middle, high = (np.log(at.expected_tokens(gammas)) for at in (ends[0], law, ends[1]))
        return np.maximum(middle - low, 0) / z, np.maximum(high - middle, 0) / z

    return spread


def lengths_shown(
    best: int | None, band_high: int | None, measured: Collection[int], max_gamma: int | None
) -> list[int]:
    """The lengths worth a row: 0 to past the best and its band, and every measured one.

    None stands for a best length, or an end of the band, that is not finite.
    """
    reach = [FEWEST_SHOWN, *(g + 1 for g in measured)]
    reach += [] if best is None else [best + 2]
    reach += [] if band_high is None else [band_high + 1]
    last = min(max(reach), MOST_SHOWN)
    last = last if max_gamma is None else min(last, max_gamma)
    return sorted({*range(last + 1), *measured, *([] if best is None else [best])})


def next_runs(
    best: int | None,
    ahead: Predicted,
    measured: Collection[int],
    max_gamma: int | None,
    *,
    unknown: bool,
) -> list[tuple[int, str]]:
    """The one or two lengths whose measurement would settle most, and a code of why.

    The best first, unless it was measured; then the neighbour that could be
    the best ("interval"), or that only a run can clear of a cliff of the cost
    ("cliff"). Where nothing pays: the length that comes nearest to paying.
    `unknown` says that the acceptance or the cost is only a prior.
    """
    limit = math.inf if max_gamma is None else max_gamma

    def reach(gamma: int) -> float:
        speed, _, high = ahead.at(gamma)
        found = speed if high is None else high
        return -math.inf if math.isnan(found) else found

    shown = {int(g) for g in ahead.gammas}
    open_ = [g for g in sorted(shown) if 0 < g <= limit and g not in measured]
    open_ = [g for g in open_ if reach(g) > -math.inf]
    if best == 0:
        hopes = [g for g in open_ if reach(g) > 1]
        return [(max(hopes, key=reach), "could_pay")] if hopes else []
    best = max(shown) if best is None else best
    found: list[tuple[int, str]] = []
    if best in open_:
        found.append((best, "prior" if unknown and not measured else "best_unmeasured"))
    near = [g for g in (best - 1, best + 1) if g in open_]
    for g in sorted(near, key=reach, reverse=True):
        speed = ahead.at(best)[0]
        found.append((g, "interval" if reach(g) > speed else "cliff"))
    return found[:NEXT_RUNS]


def always_within(
    law: Acceptance,
    cost: Cost,
    interval: tuple[float, float],
    lengths: Sequence[int],
    *,
    alpha: float,
    tolerance: float,
    max_gamma: int | None,
) -> list[int]:
    """The lengths that are within the tolerance of the best for every alpha of the interval.

    `alpha` is the estimate that the interval is around.
    """
    last = max(*lengths, REACH)
    reach = np.arange(last + 1.0 if max_gamma is None else min(last, max_gamma) + 1.0)
    good = np.ones(len(lengths), dtype=bool)
    for end in np.linspace(*interval, ALPHAS):
        moved = law.raised(float(end) - alpha)
        speeds = curve(moved, cost, reach).speedup
        best = float(np.nanmax(speeds))
        if max_gamma != reach[-1] and speeds[-1] == best:  # it may lie further on
            best = decide(moved, cost, max_gamma=max_gamma).speedup
        there = curve(moved, cost, np.asarray(lengths, dtype=float)).speedup
        good &= there >= best * (1 - tolerance)
    return [g for g, fits in zip(lengths, good, strict=True) if fits]


def told_apart(
    one: tuple[float, float | None, float | None],
    other: tuple[float, float | None, float | None],
    noise: float,
) -> bool:
    """Whether a speedup is above another by more than both intervals, or the noise, allow."""
    (fast, low, _), (slow, _, high) = one, other
    if not (fast > 0 and slow > 0):
        return fast != slow
    below = math.log(fast / low) if low else 0.0
    above = math.log(high / slow) if high else 0.0
    return math.log(fast / slow) > max(math.hypot(below, above), -math.log1p(-noise))


def end_to_end(speedup: float, ms_per_token: float, prefill_ms: float, output_tokens: int) -> float:
    """Speedup of a whole request: the prefill is no faster with speculation. [dimensionless]

    ``(p + n t) / (p + n t / S)``, theory of Amdahl's law with p the prefill.
    """
    decoding = output_tokens * ms_per_token
    return (prefill_ms + decoding) / (prefill_ms + decoding / speedup)
