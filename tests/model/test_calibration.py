"""Runs → acceptance and cost: the laws that hold whatever was measured, and the priors' score."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan import (
    DomainError,
    PowerCost,
    Run,
    calibrate,
    decide,
    optimal_gamma,
    predict_speedup,
    speedup_interval,
)
from gammaplan.model.costing import fitted_cost, pooled_costs

ALPHA = st.floats(0.05, 0.98)
GAMMAS = st.lists(st.integers(1, 12), min_size=1, max_size=4)


def textbook_run(alpha: float, c: float, gamma: int) -> Run:
    tokens = math.fsum(alpha**i for i in range(gamma + 1))
    return Run(gamma, tokens / (1 + c * gamma), mean_length=tokens)


@given(ALPHA, st.floats(0.01, 0.8), GAMMAS)
def test_textbook_is_exact(alpha, c, gammas):
    runs = [textbook_run(alpha, c, g) for g in gammas]
    found = calibrate(runs, textbook=True)
    assert found.acceptance.alpha == pytest.approx(alpha, abs=1e-6)
    assert found.cost.c == pytest.approx(c, abs=1e-6)
    best = decide(found.acceptance, found.cost).gamma
    assert best == optimal_gamma(found.acceptance.alpha, found.cost.c)


@given(ALPHA, st.floats(0, 0.8), GAMMAS)
def test_agreeing_runs_never_widen(alpha, c, gammas):
    runs = [textbook_run(alpha, c, g) for g in gammas]
    grid = np.arange(17)
    widths = []
    for n in range(1, len(runs) + 1):
        fit = calibrate(runs[:n])
        low, high = speedup_interval(fit, grid)
        assert low[0] == high[0] == predict_speedup(fit, 0) == 1
        widths.append(np.log(high / low))
    for before, after in itertools.pairwise(widths):
        assert (after <= before + 1e-9).all()


@given(ALPHA, st.floats(0.05, 0.8), st.integers(1, 12))
def test_measured_length_is_met(alpha, c, gamma):
    run = textbook_run(alpha, c, gamma)
    assert predict_speedup(calibrate([run]), gamma) == pytest.approx(run.speedup, rel=0.15)


def test_printed_positions_are_used_as_printed():
    fit = calibrate([Run(4, 1.4, survival=(0.844, 0.599, 0.385, 0.271))])
    np.testing.assert_allclose(
        fit.acceptance.survival([1, 2, 3, 4]), (0.844, 0.599, 0.385, 0.271), rtol=1e-12
    )
    assert fit.acceptance.observed_to == 4


def test_early_stops_cost_what_they_draft():
    full = calibrate([Run(8, 1.5, mean_length=3)])
    early = calibrate([Run(8, 1.5, mean_length=3, drafted_per_round=4.0)])
    assert full.cost.keep == 1
    assert 0.5 < early.cost.keep < 1


def test_scalars_and_arrays():
    fit = calibrate([Run(5, 1.45, pooled_rate=0.55)], method="EAGLE-3")
    assert isinstance(predict_speedup(fit, 3), float)
    assert predict_speedup(fit, [0, 3]).shape == (2,)
    assert {a.name for a in fit.assumptions} >= {"alpha_first", "decay", "cost_of_one"}
    for bad in (-1, 1.5, math.inf):
        with pytest.raises(DomainError):
            predict_speedup(fit, bad)


@pytest.mark.parametrize(
    "figures",
    [
        {"gamma": 0, "speedup": 1.0},
        {"gamma": 5000, "speedup": 1.0},
        {"gamma": 4, "speedup": 0.0},
        {"gamma": 4, "speedup": math.nan},
        {"gamma": 4, "speedup": 1.0, "mean_length": 5.5},
        {"gamma": 4, "speedup": 1.0, "mean_length": 0.5},
        {"gamma": 4, "speedup": 1.0, "pooled_rate": 55},
        {"gamma": 2, "speedup": 1.0, "survival": (0.9, 0.8, 0.7)},
        {"gamma": 2, "speedup": 1.0, "survival": (0.5, 0.9)},
        {"gamma": 4, "speedup": 1.0, "drafted_per_round": 9.0},
        {"gamma": 4, "speedup": 1.0, "pooled_rate": 0.1, "mean_length": 4.0},
    ],
)
def test_runs_that_cannot_be(figures):
    with pytest.raises(DomainError):
        Run(**figures)


def test_nothing_to_calibrate():
    with pytest.raises(DomainError, match="at least one run"):
        calibrate([])
    with pytest.raises(DomainError, match="acceptance figure"):
        calibrate([Run(4, 1.2)], textbook=True)


@pytest.mark.parametrize(
    "run",
    [
        Run(4, 7.0, mean_length=2.0),
        Run(4, 0.05, mean_length=5.0),
        Run(3, 1.5, mean_length=1.0),
        Run(64, 2.0, pooled_rate=0.3),
        Run(1, 1.9, mean_length=2.0),
        Run(5, 1.5),
    ],
)
def test_extreme_runs_still_answer(run):
    speeds = predict_speedup(calibrate([run]), range(20))
    assert np.isfinite(speeds).all()
    assert (speeds > 0).all()


def test_a_power_cost_keeps_its_steps():
    cost = PowerCost(0.4, 0.8, steps=((3, 1.2),))
    smooth = PowerCost(0.4, 0.8)
    assert cost.round_cost(0) == 1
    np.testing.assert_allclose(cost.round_cost([2, 4]), smooth.round_cost([2, 4]))
    assert cost.round_cost(3) == pytest.approx(1.2 * smooth.round_cost(3))


def test_a_timed_pass_is_taken_out_of_the_slope():
    costs = {2: 1.6, 6: 2.6}
    whole = fitted_cost(costs).line.slope
    for name, other in (("c", "verify_slope"), ("verify_slope", "c")):
        line = fitted_cost(costs, **{name: 0.1}).line
        assert getattr(line, name) == 0.1
        assert getattr(line, other) == pytest.approx(whole - 0.1)


def test_timings_of_both_passes_leave_the_fixed_part_to_the_runs():
    fit = fitted_cost({4: 2.0}, c=0.1, verify_slope=0.05)
    assert fit.timed
    assert (fit.line.c, fit.line.verify_slope) == (0.1, 0.05)
    assert fit.line.overhead == pytest.approx(0.4)


def test_a_timed_draft_that_exceeds_the_slope_of_the_runs_stays_as_timed():
    fit = fitted_cost({2: 1.3, 6: 1.7}, c=0.3)
    assert (fit.line.c, fit.line.verify_slope, fit.line.overhead) == (0.3, 0.0, 0.0)
    assert min(fit.residuals) < -0.1


@given(st.floats(1.0, 1.2), st.floats(0.05, 0.8))
def test_a_line_is_found(fixed, slope):
    fit = fitted_cost({g: fixed + slope * g for g in (1, 2, 3, 5, 8)})
    assert not fit.curved
    assert max(abs(r) for r in fit.residuals) < 0.03


def test_one_outlier_makes_a_table_and_leaves_the_line():
    costs = {g: 1.1 + 0.2 * g for g in range(1, 9)} | {5: 3.5}
    fit = fitted_cost(costs)
    assert fit.curved
    assert fit.line.slope == pytest.approx(0.2, rel=0.2)


def test_duplicates_are_pooled():
    runs = [Run(4, 1.0, mean_length=3), Run(4, 4.0, mean_length=3)]
    assert pooled_costs(runs, {}) == {4: pytest.approx(1.5)}


def test_calibration_loads_no_scipy():
    code = "import sys, gammaplan as g; g.calibrate([g.Run(5, 1.4)]); print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
