"""The figures that the documentation names, one by one."""

import math

import pytest
from numpy.testing import assert_allclose

import gammaplan as gp

SURVIVAL = (0.917, 0.837, 0.648, 0.538, 0.451, 0.348)  # a public vLLM log
COST = 39.28 / 65.90  # a draft of 39.28 ms beside a target of 65.90 ms


def test_the_worked_example_is_6_at_2_47():
    assert gp.optimal_gamma(0.8, 0.1) == 6
    assert gp.speedup(0.8, 0.1, 6) == pytest.approx(2.46964, rel=1e-12)


def test_the_worked_example_has_its_continuous_optimum_at_5_756():
    assert round(gp.stationary_gamma(0.8, 0.1), 3) == 5.756


def test_the_worked_example_is_flat_from_4_to_8():
    assert gp.flat_band(0.8, 0.1) == (4, 8)


@pytest.mark.parametrize(
    ("tolerance", "band"), [(0.01, (5, 7)), (0.03, (4, 8)), (0.05, (4, 9))], ids=str
)
def test_bands_of_the_worked_example(tolerance, band):
    assert gp.flat_band(0.8, 0.1, tolerance=tolerance) == band


def test_the_ends_of_the_band_lose_2_77_and_2_62_percent():
    loss = 1 - gp.speedup(0.8, 0.1, [4, 8]) / gp.speedup(0.8, 0.1, 6)
    assert (100 * loss).round(2).tolist() == [2.77, 2.62]


@pytest.mark.parametrize(
    ("alpha", "gamma", "speed"), [(0.6, 3, 1.67), (0.4, 2, 1.30), (0.8, 6, 2.47)]
)
def test_optima_of_the_introductory_note(alpha, gamma, speed):
    assert gp.optimal_gamma(alpha, 0.1) == gamma
    assert round(gp.speedup(alpha, 0.1, gamma), 2) == speed


@pytest.mark.parametrize(
    ("alpha", "c", "gamma"), [(0.9, 0.02, 19), (0.95, 0.02, 31), (0.3, 0.5, 0), (0.7, 0.1, 4)]
)
def test_optima_that_a_scan_of_12_or_a_rule_of_thumb_misses(alpha, c, gamma):
    assert gp.optimal_gamma(alpha, c) == gamma


@pytest.mark.parametrize(
    ("alpha", "c", "gamma"),
    [(0.25, 0.22, 1), (0.51, 0.20, 2), (0.68, 0.37, 2)],
)
def test_optima_that_rounding_the_continuous_one_misses(alpha, c, gamma):
    assert round(gp.stationary_gamma(alpha, c)) == gamma - 1
    assert gp.optimal_gamma(alpha, c) == gamma


def test_pooled_rate_at_alpha_0_8_and_gamma_4_is_0_59():
    assert round(gp.pooled_rate(0.8, 4), 2) == 0.59


def test_taking_0_59_for_alpha_gives_2_26_tokens_where_the_truth_is_3_36():
    assert round(gp.expected_tokens(0.59, 4), 2) == 2.26
    assert round(gp.expected_tokens(0.8, 4), 2) == 3.36


def test_hazards_of_the_reported_survival():
    hazards = gp.PerPosition.from_survival(SURVIVAL).hazards
    assert [round(h, 3) for h in hazards] == [0.917, 0.913, 0.774, 0.830, 0.838, 0.772]


def test_mean_length_of_the_reported_survival():
    law = gp.PerPosition.from_survival(SURVIVAL)
    assert law.expected_tokens(6) == pytest.approx(4.739, rel=1e-12)


def test_alpha_of_the_reported_survival():
    assert round(gp.censored_alpha(SURVIVAL), 4) == 0.8515
    assert round(gp.alpha_from_mean_length(4.739, 6), 4) == 0.8662


def test_the_reported_mean_length_plans_11_at_c_0_05():
    assert gp.optimal_gamma(gp.alpha_from_mean_length(4.739, 6), 0.05) == 11


def test_the_reported_histogram():
    counts = gp.Counts.from_histogram([39, 1, 0, 3])
    assert (counts.rounds, counts.accepted, counts.alpha) == (43, 10, 0.2)
    assert round(counts.mean_length, 5) == 1.23256
    assert [round(h, 3) for h in counts.hazards] == [0.093, 0.75, 1.0]


def test_the_reported_pooled_rate():
    assert round(gp.alpha_from_pooled_rate(0.80, 5), 4) == 0.9265


def test_break_even_alpha_of_the_reported_timings():
    assert round(gp.break_even_alpha(COST, 5), 5) == 0.83224


def test_speedups_of_the_reported_timings():
    found = gp.speedup(0.813, COST, range(1, 7)).round(4).tolist()
    assert found == [1.1359, 1.1286, 1.0800, 1.0189, 0.9556, 0.8942]


def test_speedups_of_certain_acceptance_at_half_cost():
    assert_allclose(gp.speedup(1, 0.5, [1, 2, 4]), [4 / 3, 3 / 2, 5 / 3], rtol=1e-15)


def test_plain_decoding_may_be_within_the_tolerance_and_apart_from_the_band():
    band = gp.decide(gp.Geometric(0.55), gp.LinearCost(0.2, overhead=0.4)).band
    assert (band.low, band.high, band.plain, band.gaps) == (2, 3, True, ((1, 1),))


def test_flat_band_with_overhead_is_the_run_around_the_best():
    assert gp.flat_band(0.55, 0.2, overhead=0.4) == (2, 3)


def test_with_overhead_gamma_1_may_lose_where_gamma_3_wins():
    found = gp.speedup(0.3, 0.02, [1, 3], overhead=0.3).round(3)
    assert found.tolist() == [0.985, 1.042]
    assert gp.optimal_gamma(0.3, 0.02, overhead=0.3) >= 1


@pytest.mark.parametrize(
    ("alpha", "c", "gamma"),
    [
        (0, 0.1, 0),
        (0, 0, 0),
        (0.5, 0.5, 0),
        (0.8, 0, math.inf),
        (1, 0.5, math.inf),
        (1, 0, math.inf),
        (1, 1, 0),
        (1, 2, 0),
        (0.8, 1, 0),
    ],
)
def test_edges_of_the_optimum(alpha, c, gamma):
    assert gp.optimal_gamma(alpha, c) == gamma
    assert gp.decide(gp.Geometric(alpha), gp.LinearCost(c)).gamma == gamma


@pytest.mark.parametrize(
    ("alpha", "c", "supremum"), [(0.8, 0, 5), (1, 0.5, 2), (1, 0.25, 4), (1, 0, math.inf)]
)
def test_an_unbounded_decision_has_the_supremum_as_its_speedup(alpha, c, supremum):
    found = gp.decide(gp.Geometric(alpha), gp.LinearCost(c))
    assert found.unbounded
    assert found.speedup == pytest.approx(supremum, rel=1e-15)


@pytest.mark.parametrize(
    ("alpha", "c", "band"),
    [(0, 0, (0, math.inf)), (1, 1, (0, math.inf)), (0.5, 0, (5, math.inf))],
    ids=str,
)
def test_bands_that_never_end(alpha, c, band):
    assert gp.flat_band(alpha, c) == band


def test_there_is_no_band_below_an_infinite_supremum():
    low, high = gp.flat_band(1, 0)
    assert math.isnan(low)
    assert math.isnan(high)


def test_gamma_is_best_exactly_for_a_range_of_c():
    low, high = gp.decide(gp.Geometric(0.7), gp.LinearCost(0.1)).c_range
    assert (round(low, 4), round(high, 4)) == (0.08, 0.1325)


def test_positions_of_a_log_narrow_gamma_by_c():
    law = gp.PerPosition.from_survival([0.930, 0.845, 0.683])
    chosen = [gp.decide(law, gp.LinearCost(c)).gamma for c in (0.486, 0.778, 0.780, 0.929, 0.931)]
    assert chosen == [2, 2, 1, 1, 0]


def test_a_tolerance_of_0_below_a_supremum_that_no_length_reaches_has_no_finite_band():
    band = gp.decide(gp.Geometric(1), gp.LinearCost(1e-300), tolerance=0).band
    assert (band.low, band.high) == (math.inf, math.inf)


def test_a_beta_mixture_may_start_at_the_edge_of_its_tail_formula():
    assert gp.BetaGeometric(0.25, 0.5).survival([0, 1]).round(4).tolist() == [1, 0.3333]
