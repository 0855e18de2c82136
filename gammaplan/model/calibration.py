"""Measured runs → acceptance and cost, with stated priors.

Each run is inverted for acceptance with its decay and for the cost of its round; what the runs do
not say comes from priors fitted on public sweeps (``benchmarks/fit_priors.py``). What one length
costs above or below the smooth curve (kernel widths, padded graphs) stays with that length.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

import numpy as np

from gammaplan.data import priors as table
from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Geometric
from gammaplan.model.arrays import Floats
from gammaplan.model.convert import alpha_from_mean_length
from gammaplan.model.cost import LinearCost
from gammaplan.model.cost_tables import PowerCost, drafted_tokens
from gammaplan.model.positions import PerPosition
from gammaplan.model.posterior import Observed, Posterior, Prior, Priors, posterior
from gammaplan.model.runs import FULL, Run, run_noise
from gammaplan.results import Result

DEFAULT = Priors(
    Prior(*table.UNKNOWN),
    {name: Prior(*row) for name, row in table.METHODS.items()},
    table.WIDTH,
)
EXPLICIT = 64  # positions whose rates are written out; past them the last one holds
LOOSE = 0.7  # a parameter whose spread is above this share of its prior's is the prior's


@dataclass(frozen=True)
class Assumption:
    """One number of the answer that the runs alone do not fix, and where it comes from."""

    name: str
    value: float
    source: str


@dataclass(frozen=True)
class Measured:
    """What the spread of a prediction depends on: the prior, and which lengths were measured.

    `shared` is the standard deviation of ln speedup that all runs have in common.
    """

    prior: Prior
    width: float
    speed_runs: tuple[tuple[int, int], ...]  # (gamma, runs)
    length_gammas: tuple[int, ...]
    shared: float = 0.0


@dataclass(frozen=True)
class Calibration(Result):
    """Acceptance and cost that explain the runs, and the assumptions behind them.

    `measured` is what `speedup_interval` needs; None for the textbook model.
    """

    acceptance: PerPosition | Geometric
    cost: PowerCost | LinearCost
    assumptions: tuple[Assumption, ...]
    measured: Measured | None = None


def calibrate(
    runs: Iterable[Run],
    *,
    engine: str | None = None,
    method: str | None = None,
    batch: int | None = None,
    priors: Priors = DEFAULT,
    textbook: bool = False,
) -> Calibration:
    """Acceptance and cost fitted to measured runs of one set-up, with stated priors.

    Parameters
    ----------
    runs : iterable of Run
        At least one, all of one target, draft, machine and batch. Runs of one
        length are pooled: geometric mean of the speedups. How far they differ is
        the noise of a run, where that is more than published runs differ by.
    engine, batch : str and int, optional
        Not used: knowing the engine made predictions worse on sources that
        were left out of the fit, and a batch changes the cost, which the runs
        measure.
    method : str, optional
        Draft method as printed (eagle3, mtp, dflash, ...): its family's prior.
    priors : Priors
        What is believed before any run; see gammaplan/data/priors.py.
    textbook : bool
        One alpha and a round cost of exactly 1 + c gamma, no prior, for
        comparison.

    Returns
    -------
    Calibration
        The law of acceptance, the cost, and every assumption with its source.

    Raises
    ------
    DomainError
        If there is no run, or the runs contradict a textbook round.

    Notes
    -----
    ``logit b_i = a - d * ln(i)`` for the hazards and ``T = 1 + exp(k) *
    D(gamma) ** p`` for the cost, independent normal priors on (a, d, k, p),
    normal errors of ln S and of the log mean length; the most probable values
    by damped Gauss-Newton. docs/plan.md has the model, docs/validation.md its
    score.

    Examples
    --------
    >>> from gammaplan import Run, calibrate, decide
    >>> fitted = calibrate([Run(5, 1.45, pooled_rate=0.6)])
    >>> decide(fitted.acceptance, fitted.cost, max_gamma=8).gamma
    3
    """
    ordered = sorted(runs, key=lambda run: run.gamma)
    if not ordered:
        raise DomainError("calibrate needs at least one run")
    if textbook:
        return _textbook(ordered)
    name, published = priors.choose(method)
    shown = run_noise(ordered, published.run_noise)
    prior = published.with_noise(shown.run)
    keep = _keep(ordered)
    seen = _observe(ordered, prior, keep)
    fit = posterior(seen, np.array([prior.mean]), 1 / np.square([prior.sd]))
    a, d, k, p = (float(x) for x in fit.theta[0])
    known = np.flatnonzero(~np.isnan(seen.rates[0]))
    acceptance = falling_acceptance(
        a, d, tuple(float(x) for x in seen.rates[0, known]), ordered[-1].gamma
    )
    cost = PowerCost(math.exp(k), p, keep, _steps(ordered, prior, seen, fit))
    given = tuple(sorted({run.gamma for run in ordered if run.tokens() is not None}))
    counts = tuple(Counter(run.gamma for run in ordered).items())
    source = f"prior of {name} drafts" if name != "unknown" else "prior of all drafts"
    share = np.sqrt(np.diagonal(fit.covariance[0])) / np.array(prior.sd)
    assumptions = tuple(
        Assumption(label, value, source if loose > LOOSE else f"runs, with the {source}")
        for label, value, loose in zip(
            ("alpha_first", "decay", "cost_of_one", "cost_power"),
            (1 / (1 + math.exp(-a)), d, math.exp(k), p),
            share,
            strict=True,
        )
    )
    told = "repeated runs" if prior.run_noise > published.run_noise else "published runs"
    assumptions += (Assumption("run_noise", prior.run_noise, told),)
    measured = Measured(prior, priors.width, counts, given, shown.shared)
    return Calibration(acceptance, cost, assumptions, measured)


def falling_acceptance(
    logit: float, decay: float, measured: Sequence[float], observed_to: int
) -> PerPosition:
    r"""Conditional rates :math:`\mathrm{logit}\, b_i = a - d \ln i`, measured ones as measured.

    A rate that rises (d < 0) is held from `observed_to` on: a rise is not extrapolated.
    """
    explicit = max(EXPLICIT, observed_to)
    last = observed_to if decay < 0 else explicit + 1
    i = np.minimum(np.arange(1.0, explicit + 2), max(last, 1))
    b = 1 / (1 + np.exp(-np.clip(logit - decay * np.log(i), -700, 700)))
    b[: len(measured)] = measured
    return PerPosition(tuple(b[:-1].tolist()), float(b[-1]), observed_to)


def _keep(runs: Sequence[Run]) -> float:
    """Probability that a draft goes on, from the longest run; 1 where drafts are full."""
    run = runs[-1]
    if run.gamma == 1 or run.drafted() >= FULL * run.gamma:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if drafted_tokens(run.gamma, middle) < run.drafted() else (low, middle)
        )
    return (low + high) / 2


def _pooled_rates(runs: Sequence[Run], n: int) -> Floats:
    """Conditional rates by position from the printed survivals, averaged over runs; nan beyond."""
    rates = np.full(n, np.nan)
    before = 1.0
    for i in range(n):
        at = [r.survival[i] for r in runs if r.survival is not None and len(r.survival) > i]
        if not at or before <= 0:
            break
        now = min(fmean(at), before)
        rates[i], before = now / before, now
    return rates


def _observe(runs: Sequence[Run], prior: Prior, keep: float) -> Observed:
    """Pool the runs, sorted by length, as arrays (1, n)."""
    n = runs[-1].gamma
    speed, speed_weight, length, length_weight = np.zeros((4, 1, n))
    for g, of_it in groupby(runs, key=lambda run: run.gamma):
        same = list(of_it)
        speed[0, g - 1] = fmean(math.log(run.speedup) for run in same)
        speed_weight[0, g - 1] = 1 / prior.speed_variance(len(same))
        tokens = [run.tokens() for run in same]
        known = [t for t in tokens if t is not None]
        if known:
            length[0, g - 1] = math.log(max(fmean(known), 1.001))
            length_weight[0, g - 1] = 1 / prior.length_noise**2
    rates = _pooled_rates(runs, n)
    prefix = 1 + np.cumsum(np.cumprod(rates))
    for i in np.flatnonzero(~np.isnan(rates)):
        if length_weight[0, i] == 0:
            length[0, i] = math.log(max(prefix[i], 1.001))
            length_weight[0, i] = 1 / prior.length_noise**2
    lengths = np.array([[float(drafted_tokens(g, keep)) for g in range(1, n + 1)]])
    return Observed(speed, speed_weight, length, length_weight, lengths, rates[None])


def _steps(
    runs: Sequence[Run], prior: Prior, seen: Observed, fit: Posterior
) -> tuple[tuple[int, float], ...]:
    """Cost of each measured length over the smooth curve: its residual, shrunk by the run noise."""
    miss = seen.speed - fit.tokens + fit.cost
    return tuple(
        (g, math.exp(-prior.own_variance * seen.speed_weight[0, g - 1] * miss[0, g - 1]))
        for g in sorted({run.gamma for run in runs})
    )


def _textbook(runs: Sequence[Run]) -> Calibration:
    """One alpha, the mean over the runs that print acceptance, and c, the mean over all runs."""
    known = [(t, run.gamma) for run in runs if (t := run.tokens()) is not None]
    if not known:
        raise DomainError("the textbook model needs an acceptance figure in one run at least")
    alpha = fmean(float(alpha_from_mean_length(tokens, gamma)) for tokens, gamma in known)
    law = Geometric(alpha, max(run.gamma for run in runs))
    c = fmean(
        max((float(law.expected_tokens(r.gamma)) / r.speedup - 1) / r.gamma, 0.0) for r in runs
    )
    return Calibration(
        law, LinearCost(c), (Assumption("alpha", alpha, "runs"), Assumption("c", c, "runs"))
    )
