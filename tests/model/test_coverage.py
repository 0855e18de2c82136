"""Intervals that rest on priors or on a fitted cost hold about their level.

Set-ups are drawn from the priors' own law, runs with the priors' own noise, so the intervals should
hold what they say: 80 %, a little more for the width that was stretched on real sweeps.
"""

from dataclasses import replace

import numpy as np
import pytest

from gammaplan import PowerCost, Run, calibrate, repeats
from gammaplan.model.calibration import DEFAULT, EXPLICIT, falling_acceptance
from gammaplan.model.costing import fitted_cost
from gammaplan.model.planning import predicted
from gammaplan.model.prediction import speedup_interval
from gammaplan.model.unmeasured import fitted_spread, prior_acceptance, prior_cost

SETUPS = 150
PRIOR = DEFAULT.unknown
GAMMAS = np.arange(1, 9)
LEVEL = pytest.approx(0.82, abs=0.05)  # 80 % and the stretch; repeats of the draw move by 0.03


class Drawn:
    """One set-up of the priors' law: its curves, and runs with their noise."""

    def __init__(self, rng, noise=PRIOR.run_noise):
        a, d, k, p = rng.normal(PRIOR.mean, PRIOR.sd)
        self.rng, self.noise = rng, noise
        self.law = falling_acceptance(a, d, (), EXPLICIT)
        self.cost = PowerCost(float(np.exp(k)), p)
        steps = rng.normal(0, np.sqrt(PRIOR.own_variance), len(GAMMAS))
        self.truth = np.log(self.law.expected_tokens(GAMMAS) / self.cost.round_cost(GAMMAS)) + steps

    def speedup(self, gamma):
        """What one run at this length measures."""
        return float(np.exp(self.truth[gamma - 1] + self.rng.normal(0, self.noise)))

    def run(self, gamma):
        noise = np.exp(self.rng.normal(0, PRIOR.length_noise))
        tokens = float(np.clip(self.law.expected_tokens(gamma) * noise, 1, gamma + 1))
        return Run(gamma, self.speedup(gamma), mean_length=tokens)


def held(intervals, rng, noise=PRIOR.run_noise):
    """The share of runs, one a length, that fall into the interval of their set-up."""
    inside = []
    for _ in range(SETUPS):
        drawn = Drawn(rng, noise)
        low, high = intervals(drawn)
        shown = np.array([drawn.speedup(g) for g in GAMMAS])
        inside.append((low <= shown) & (shown <= high))
    return float(np.mean(inside))


@pytest.mark.parametrize("lengths", [(3,), (2, 6)])
def test_runs(lengths):
    def intervals(drawn):
        return speedup_interval(calibrate([drawn.run(g) for g in lengths]), GAMMAS)

    assert held(intervals, np.random.default_rng(1)) == LEVEL


@pytest.mark.parametrize("lengths", [(3,), (3, 6)])
@pytest.mark.parametrize("noise", [PRIOR.run_noise, 0.05, 0.12])
def test_runs_that_were_repeated(lengths, noise):
    """On a machine that changes its speed too: by the published noise 0.12 holds 37 to 49 %."""

    def intervals(drawn):
        return speedup_interval(calibrate([drawn.run(g) for g in lengths * 3]), GAMMAS)

    assert held(intervals, np.random.default_rng(5), noise) == LEVEL


class Compared(Drawn):
    """A set-up whose runs are all compared with the mean of some plain ones."""

    def __init__(self, rng, noise, plain):
        super().__init__(rng, noise[0])
        self.plain_noise = noise[1]
        logs = rng.normal(0, noise[1], plain)
        self.mean, self.repeats = logs.mean(), repeats([np.exp(logs).tolist()])

    def runs(self, lengths):
        found = [self.run(g) for g in lengths]
        off = np.exp(-self.mean)
        return [replace(r, speedup=r.speedup * off, baseline_repeats=self.repeats) for r in found]

    def again(self, gamma):
        """What another run over another plain run measures."""
        return self.speedup(gamma) * np.exp(-self.rng.normal(0, self.plain_noise))


NOISES = ((0.12, 0.12), (0.02, 0.12), (0.12, 0.02))  # of the runs, and of the plain ones


@pytest.mark.parametrize("lengths", [(3,), (3, 6)])
@pytest.mark.parametrize(
    ("noise", "runs", "plain"),
    [
        *((n, *k) for n in NOISES for k in ((3, 3), (2, 2), (2, 10), (10, 3))),
        *((NOISES[0], *k) for k in ((3, 1), (1, 3))),
    ],
)
def test_runs_and_plain_runs_that_were_repeated(lengths, noise, runs, plain):
    """Where one of both was not repeated it is taken to differ as the other; more is not seen."""
    rng, inside = np.random.default_rng(7), []
    for _ in range(SETUPS):
        drawn = Compared(rng, noise, plain)
        low, high = speedup_interval(calibrate(drawn.runs(lengths * runs)), GAMMAS)
        shown = np.array([drawn.again(g) for g in GAMMAS])
        inside.append((low <= shown) & (shown <= high))
    assert np.mean(inside) == pytest.approx(0.81, abs=0.07)


def test_a_prior_stands_for_the_acceptance():
    law, spread = prior_acceptance()

    def intervals(drawn):
        ahead = predicted(law, drawn.cost, GAMMAS, [spread])
        return ahead.low, ahead.high

    assert held(intervals, np.random.default_rng(2)) == LEVEL


def test_a_prior_stands_for_the_cost():
    cost, spread = prior_cost()

    def intervals(drawn):
        ahead = predicted(drawn.law, cost, GAMMAS, [spread])
        return ahead.low, ahead.high

    assert held(intervals, np.random.default_rng(3)) == LEVEL


def test_a_cost_was_fitted_to_runs():
    def intervals(drawn):
        runs = [drawn.run(g) for g in (1, 4, 8)]
        fit = fitted_cost({r.gamma: r.round_cost for r in runs})
        worst = max(abs(r) for r in fit.residuals)
        ahead = predicted(drawn.law, fit.cost, GAMMAS, [fitted_spread(worst)])
        return ahead.low, ahead.high

    assert held(intervals, np.random.default_rng(4)) == LEVEL
