"""What would help most, and where speculation breaks even, seen from the length in use."""

import math
from typing import NamedTuple

from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.convert import break_even_alpha, break_even_c, break_even_gamma
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.curve import curve
from gammaplan.model.decision import Decision, best_gamma

ALPHA_STEP = 0.05


class Lever(NamedTuple):
    """One change, everything else as it is, and what it would give.

    `change` is "gamma", "alpha" or "c"; `gamma` and `speedup` are where the
    change alone leads; `gain` is relative to the speedup at the reference
    length; `best_gamma` and `best_speedup` are after choosing the length anew.
    """

    change: str
    gamma: float
    speedup: float
    gain: float
    best_gamma: float
    best_speedup: float


class BreakEven(NamedTuple):
    """Where the reference length stops paying; None where the model has no such point.

    `gamma` is the length this was asked for, `alpha` the acceptance and `c` the
    cost at which it gains nothing, `last_gamma` the real length beyond which
    every longer draft loses.
    """

    gamma: float
    alpha: float | None
    c: float | None
    last_gamma: float | None


def reference_gamma(decision: Decision, in_use: int | None) -> int:
    """The length that levers and break-even points refer to: in use, else the best, else 1."""
    if in_use:
        return in_use
    return int(decision.gamma) if 0 < decision.gamma < math.inf else 1


def levers(
    acceptance: Acceptance,
    cost: Cost,
    decision: Decision,
    *,
    in_use: int | None = None,
    max_gamma: int | None = None,
) -> tuple[Lever, ...]:
    """The changes worth comparing, the most helpful first.

    The length moved to the best, every acceptance probability 0.05 higher, and
    (for a linear cost) c halved, each alone.
    """
    reference = reference_gamma(decision, in_use) if in_use != 0 else 0
    now = float(curve(acceptance, cost, reference).speedup)

    def lever(change: str, law: Acceptance, price: Cost) -> Lever:
        there = float(curve(law, price, reference).speedup)
        best, fastest = best_gamma(law, price, max_gamma)
        return Lever(change, reference, there, _gain(there, now), best, fastest)

    moved = _gain(decision.speedup, now)
    found = [
        Lever("gamma", decision.gamma, decision.speedup, moved, decision.gamma, decision.speedup),
        lever("alpha", acceptance.raised(ALPHA_STEP), cost),
    ]
    if isinstance(cost, LinearCost):
        found.append(
            lever("c", acceptance, LinearCost(cost.c / 2, cost.overhead, cost.verify_slope))
        )
    return tuple(sorted(found, key=lambda item: -item.gain))


def break_even(acceptance: Acceptance, cost: Cost, gamma: int) -> BreakEven:
    """Where drafting `gamma` tokens neither gains nor loses, all else equal."""
    if not isinstance(cost, LinearCost):
        return BreakEven(gamma, None, None, None)
    price = {"overhead": cost.overhead, "verify_slope": cost.verify_slope}
    if isinstance(acceptance, Geometric):
        ratio = float(break_even_c(acceptance.alpha, gamma, **price))
        last = float(break_even_gamma(acceptance.alpha, cost.c, **price))
    else:
        tokens = float(acceptance.expected_tokens(gamma))
        ratio = (tokens - 1 - cost.overhead) / gamma - cost.verify_slope
        last = math.nan
    alpha = float(break_even_alpha(cost.c, gamma, **price))
    return BreakEven(gamma, _known(alpha), _known(ratio) if ratio >= 0 else None, _known(last))


def _gain(then: float, now: float) -> float:
    """The relative gain; from a speedup too small for a double, any is infinite."""
    if now:
        return then / now - 1
    return math.inf if then else 0.0


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
