"""Several workloads under one draft length: the time per token adds up."""

from collections.abc import Mapping, Sequence

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Acceptance
from gammaplan.model.arrays import Floats
from gammaplan.model.cost import Cost
from gammaplan.model.cost_tables import TableCost
from gammaplan.model.planning import Spread
from gammaplan.model.positions import PerPosition

POSITIONS = 128  # written out one by one; past them the last hazard holds


def mixed_acceptance(laws: Sequence[Acceptance], shares: Sequence[float]) -> PerPosition:
    """The law of a mix of workloads whose rounds cost the same.

    Parameters
    ----------
    laws : sequence of Acceptance
        How the drafts of each workload are accepted.
    shares : sequence of float
        The share of each in the tokens that are generated; they add up to 1.

    Notes
    -----
    Time per token adds up: ``1 / E(gamma) = sum(w / E_r(gamma))``, so the mix
    is slower than one at the mean alpha would be. E stays concave, and its
    steps ``E(i) E(i-1) sum(w s_r(i) / (E_r(i) E_r(i-1)))`` are the survival.

    Examples
    --------
    >>> from gammaplan import Geometric
    >>> mix = mixed_acceptance([Geometric(0.5), Geometric(0.9)], [0.5, 0.5])
    >>> float(mix.expected_tokens(5).round(3))
    2.773
    """
    if len(laws) != len(shares) or abs(sum(shares) - 1) > 1e-6 or min(shares) < 0:
        raise DomainError(f"shares must add up to 1, got {sum(shares):g} for {len(laws)} laws")
    lengths = np.arange(POSITIONS + 1.0)
    tokens = [law.expected_tokens(lengths) for law in laws]
    time: Floats = np.zeros(POSITIONS + 1)
    steps: Floats = np.zeros(POSITIONS)
    for law, share, e in zip(laws, shares, tokens, strict=True):
        time += share / e
        steps += share * law.survival(lengths[1:]) / (e[1:] * e[:-1])
    survival = np.minimum.accumulate(np.clip(steps / (time[1:] * time[:-1]), 0, 1))
    full = PerPosition.from_survival(survival)  # falls to 0 where nothing is accepted
    measured = [law.observed_to for law in laws if law.observed_to is not None]
    return PerPosition(
        full.hazards, full.hazards[-1], min([*measured, POSITIONS]) if measured else None
    )


def shared_cost(costs: Sequence[Cost]) -> TableCost:
    """The round cost that workloads share, where each has measured it: their geometric mean.

    Examples
    --------
    >>> from gammaplan import LinearCost
    >>> float(shared_cost([LinearCost(0.1), LinearCost(0.1)]).round_cost(4).round(3))
    1.4
    """
    lengths = range(1, POSITIONS + 1)
    logs = [np.log(cost.round_cost(lengths)) for cost in costs]
    return TableCost(lengths, np.exp(np.mean(logs, axis=0)).tolist())


def harmonic(measured: Sequence[Mapping[int, float]], shares: Sequence[float]) -> dict[int, float]:
    """The speedup of the mix at every length that was measured in all workloads."""
    lengths = set(measured[0]).intersection(*measured)
    return {
        gamma: 1 / sum(w / own[gamma] for w, own in zip(shares, measured, strict=True))
        for gamma in sorted(lengths)
    }


def mixed_spread(
    laws: Sequence[Acceptance], shares: Sequence[float], spreads: Sequence[Sequence[Spread]]
) -> Spread:
    """The spread of the mix's ln speedup: each workload's by its share of the time."""

    def spread(gammas: Floats) -> tuple[Floats, Floats]:
        time = [w / law.expected_tokens(gammas) for w, law in zip(shares, laws, strict=True)]
        below, above = np.zeros_like(gammas), np.zeros_like(gammas)
        for own, several in zip(time, spreads, strict=True):
            part = own / np.sum(time, axis=0)
            for one in several:
                low, high = one(gammas)
                below, above = below + (part * low) ** 2, above + (part * high) ** 2
        return np.sqrt(below), np.sqrt(above)

    return spread
