"""What is believed of an acceptance or a cost that nobody measured: the priors, as laws."""

import math
from collections.abc import Callable

import numpy as np

from gammaplan.data.roofline_errors import HIGH, LOW
from gammaplan.model.arrays import Floats
from gammaplan.model.calibration import DEFAULT, EXPLICIT, falling_acceptance
from gammaplan.model.cost_tables import PowerCost
from gammaplan.model.planning import LEVEL, Spread, quantile
from gammaplan.model.positions import PerPosition
from gammaplan.model.posterior import Priors, log_cost, log_tokens


def prior_acceptance(
    method: str | None = None, priors: Priors = DEFAULT
) -> tuple[PerPosition, Spread]:
    """The acceptance of a draft of this method before any measurement, and its spread."""
    _, prior = priors.choose(method)
    law = falling_acceptance(prior.mean[0], prior.mean[1], (), EXPLICIT)

    def slope(n: int) -> Floats:
        free = np.full((1, n), np.nan)
        return np.asarray(log_tokens(np.array([prior.mean]), free)[1][0])

    return law, _spread(slope, prior.sd, priors.width, prior.length_noise)


def prior_cost(method: str | None = None, priors: Priors = DEFAULT) -> tuple[PowerCost, Spread]:
    """The round cost of a draft of this method before any measurement, and its spread."""
    _, prior = priors.choose(method)
    cost = PowerCost(math.exp(prior.mean[2]), prior.mean[3])

    def slope(n: int) -> Floats:
        return np.asarray(log_cost(np.array([prior.mean]), np.arange(1.0, n + 1)[None])[1][0])

    return cost, _spread(slope, prior.sd, priors.width, prior.speed_noise)


def measured_spread(method: str | None = None, priors: Priors = DEFAULT) -> Spread:
    """What is left of the spread at one length once a run has measured it."""
    _, prior = priors.choose(method)

    def spread(gammas: Floats) -> tuple[Floats, Floats]:
        off = np.full(gammas.shape, priors.width * np.sqrt(2) * prior.run_noise)
        return off, off

    return spread


def fitted_spread(
    worst_residual: float | None,
    method: str | None = None,
    priors: Priors = DEFAULT,
    *,
    run_noise: float | None = None,
) -> Spread:
    """How far one length may lie from a cost fitted to others, in logarithms of its speedup.

    `run_noise` is that of the runs, where they were repeated.
    """
    prior = priors.choose(method)[1].with_noise(run_noise or 0.0)
    size = priors.width * max(worst_residual or 0.0, prior.speed_noise)

    def spread(gammas: Floats) -> tuple[Floats, Floats]:
        off = np.full(gammas.shape, size)
        return off, off

    return spread


def _spread(
    slope: Callable[[int], Floats], sd: tuple[float, ...], width: float, noise: float
) -> Spread:
    """The spread of a logarithm that is linear in parameters with these deviations."""

    def spread(gammas: Floats) -> tuple[Floats, Floats]:
        n = np.maximum(gammas, 1).astype(np.int64)
        variance = (np.square(slope(int(n.max(initial=1)))) * np.square(sd)).sum(-1)
        off = width * np.sqrt(variance + noise**2)[n - 1]
        return off, off

    return spread


def estimated_spread(low: float = LOW, high: float = HIGH) -> Spread:
    """The spread of an estimated cost: `low` to `high` hold the middle share `LEVEL` of its ratios.

    A round that costs more than estimated makes the speedup smaller, so the ends change sides.

    Examples
    --------
    >>> below, above = estimated_spread(0.8, 1.6)(np.array([1.0, 4.0]))
    >>> np.exp(quantile(LEVEL) * np.vstack([below, above])).round(3).tolist()
    [[1.6, 1.6], [1.25, 1.25]]
    """
    z = quantile(LEVEL)
    return lambda gammas: (
        np.full_like(gammas, np.log(high) / z),
        np.full_like(gammas, -np.log(low) / z),
    )
