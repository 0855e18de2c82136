r"""The two curves with four parameters, and their posterior given runs.

Acceptance falls with position, a round costs more the longer the draft:

.. math::
    \mathrm{logit}\, b_i = a - d \ln i, \qquad
    E(\gamma) = 1 + \sum_{i \le \gamma} \prod_{j \le i} b_j, \qquad
    T(\gamma) = 1 + e^{k} D(\gamma)^{p}

with :math:`D(\gamma)` the tokens really drafted in a round (:math:`\gamma` for full drafts). The
parameters :math:`\theta = (a, d, k, p)` have independent normal priors;
:math:`\ln S = \ln E - \ln T` and :math:`\ln E` are observed with normal errors.
Everything is batched: arrays are ``(N, n)``, N sets of runs by the lengths 1..n, so that the script
that fits the priors uses these very functions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Floats


@dataclass(frozen=True)
class Prior:
    """What is believed before the first run.

    Parameters
    ----------
    mean, sd : tuple of 4 floats
        Of (a, d, k, p): logit of the first position's rate, its fall per unit of ln i, ln of the
        extra cost of one drafted token, power of the draft length in the cost.
    speed_noise : float
        Standard deviation of ln speedup at one length about the smooth curve, from one run.
    run_noise : float
        The part of it that another run would not repeat; the rest belongs to the length.
    length_noise : float
        Standard deviation of ln mean length about the smooth curve.
    """

    mean: tuple[float, float, float, float]
    sd: tuple[float, float, float, float]
    speed_noise: float
    length_noise: float
    run_noise: float = 0.02

    @property
    def own_variance(self) -> float:
        """Variance of ln S that belongs to the length (cost steps), not to the run."""
        return max(self.speed_noise**2 - self.run_noise**2, 0.0)

    def speed_variance(self, runs: int) -> float:
        """Variance of the mean ln S of so many runs of one length about the smooth curve."""
        return self.own_variance + self.run_noise**2 / runs

    def with_noise(self, run_noise: float) -> "Prior":
        """The prior with more noise of a run; what belongs to a length stays as it is."""
        if run_noise <= self.run_noise:
            return self
        speed = math.sqrt(self.own_variance + run_noise**2)
        return replace(self, run_noise=run_noise, speed_noise=speed)


@dataclass(frozen=True)
class Priors:
    """A prior for a draft whose method is not known, and one for each family of methods.

    ``width`` stretches the standard deviation of a prediction; it was fitted on held-out lengths.
    """

    unknown: Prior
    methods: Mapping[str, Prior]
    width: float = 1.0

    def choose(self, method: str | None) -> tuple[str, Prior]:
        """Name and prior of the family of ``method``; the general one where it is not known."""
        name = family(method)
        return (name, self.methods[name]) if name in self.methods else ("unknown", self.unknown)


FAMILIES = {
    "mtp": ("mtp", "nextn"),
    "eagle": ("eagle",),
    "block": ("dflash", "dspark", "pard", "parallel", "medusa", "block", "p-eagle", "peagle"),
    "draft-model": ("draft-model", "draft_model", "draft model", "standalone"),
}


def family(method: str | None) -> str:
    """Family of a draft method as engines and papers print it: ``"EAGLE-3"`` is ``"eagle"``."""
    text = (method or "").lower()
    for name in ("block", "mtp", "eagle", "draft-model"):
        if any(word in text for word in FAMILIES[name]):
            return name
    return "unknown"


class Observed(NamedTuple):
    """Sets of runs laid out by length 1..n; a weight of 0 means not measured.

    ``speed`` is ln S with weight 1/variance, ``length`` is ln E with weight 1/variance,
    ``drafted`` is D(gamma), and ``rates`` are conditional rates measured by position (nan: not).
    """

    speed: Floats
    speed_weight: Floats
    length: Floats
    length_weight: Floats
    drafted: Floats
    rates: Floats


class Posterior(NamedTuple):
    """Most probable parameters (N, 4), their covariance (N, 4, 4), and ln E, ln T with slopes."""

    theta: Floats
    covariance: Floats
    tokens: Floats
    tokens_slope: Floats
    cost: Floats
    cost_slope: Floats


def log_tokens(theta: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Ln E at lengths 1..n (N, n) and its derivative by theta (N, n, 4).

    Where ``rates`` are given they replace the modelled ones and no longer depend on theta.
    """
    ln_i = np.log(np.arange(1.0, rates.shape[1] + 1))
    x = np.clip(theta[:, :1] - theta[:, 1:2] * ln_i, -30, 30)
    known = ~np.isnan(rates)
    b = np.where(known, np.where(known, rates, 0.5), 1 / (1 + np.exp(-x)))
    s = np.cumprod(b, axis=1)
    tokens = 1 + np.cumsum(s, axis=1)
    slack = np.where(known, 0.0, 1 - b)
    slope = np.zeros((*s.shape, 4))
    slope[..., 0] = np.cumsum(s * np.cumsum(slack, axis=1), axis=1) / tokens
    slope[..., 1] = -np.cumsum(s * np.cumsum(slack * ln_i, axis=1), axis=1) / tokens
    return np.log(tokens), slope


def log_cost(theta: Floats, drafted: Floats) -> tuple[Floats, Floats]:
    """Ln T at lengths 1..n (N, n) and its derivative by theta (N, n, 4)."""
    ln_d = np.log(drafted)
    extra = np.exp(np.clip(theta[:, 2:3] + theta[:, 3:4] * ln_d, -30, 30))
    slope = np.zeros((*drafted.shape, 4))
    slope[..., 2] = extra / (1 + extra)
    slope[..., 3] = slope[..., 2] * ln_d
    return np.log1p(extra), slope


def posterior(seen: Observed, mean: Floats, precision: Floats, steps: int = 25) -> Posterior:
    r"""Most probable theta by damped Gauss-Newton, and the covariance there (Laplace).

    Minimises :math:`\sum w_S (\ln S - \ln E + \ln T)^2 + \sum w_E (\ln m - \ln E)^2 +
    (\theta - \mu)^\top P (\theta - \mu)`.

    Parameters
    ----------
    seen : Observed
        N sets of runs.
    mean : Floats
        Prior means (N, 4).
    precision : Floats
        Prior precisions, diagonal (N, 4).
    steps : int
        Most Newton steps; 0 only evaluates at ``mean``.
    """
    free = np.full_like(seen.rates, np.nan)
    diagonal = np.arange(4)

    def evaluate(theta: Floats) -> tuple[Floats, Floats, Floats, Posterior]:
        smooth, smooth_slope = log_tokens(theta, free)
        tokens, tokens_slope = log_tokens(theta, seen.rates)
        cost, cost_slope = log_cost(theta, seen.drafted)
        miss = np.where(seen.speed_weight > 0, seen.speed - tokens + cost, 0.0)
        short = np.where(seen.length_weight > 0, seen.length - smooth, 0.0)
        off = theta - mean
        loss = (
            (seen.speed_weight * miss**2).sum(1)
            + (seen.length_weight * short**2).sum(1)
            + (precision * off**2).sum(1)
        )
        by_speed = tokens_slope - cost_slope
        gradient = (
            np.einsum("ng,ngi->ni", seen.speed_weight * miss, by_speed)
            + np.einsum("ng,ngi->ni", seen.length_weight * short, smooth_slope)
            - precision * off
        )
        curvature = np.einsum("ng,ngi,ngj->nij", seen.speed_weight, by_speed, by_speed)
        curvature += np.einsum("ng,ngi,ngj->nij", seen.length_weight, smooth_slope, smooth_slope)
        curvature[:, diagonal, diagonal] += precision
        return (
            loss,
            gradient,
            curvature,
            Posterior(theta, curvature, tokens, tokens_slope, cost, cost_slope),
        )

    loss, gradient, curvature, best = evaluate(mean.copy())
    damping = np.full(len(mean), 1e-3)
    for _ in range(steps):
        damped = curvature.copy()
        damped[:, diagonal, diagonal] *= 1 + damping[:, None]
        step = np.clip(np.linalg.solve(damped, gradient[..., None])[..., 0], -2, 2)
        if np.abs(step).max() < 1e-10:
            break
        trial = evaluate(best.theta + step)
        better = trial[0] <= loss
        damping = np.clip(np.where(better, damping / 5, damping * 10), 1e-9, 1e9)
        theta = np.where(better[:, None], trial[3].theta, best.theta)
        loss, gradient, curvature, best = trial if better.all() else evaluate(theta)
    return best._replace(covariance=np.asarray(np.linalg.inv(curvature), dtype=np.float64))
