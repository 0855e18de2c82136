"""What holds for every alpha, c and gamma; near-ties are settled in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp

from ..support import exact_speedup, exact_tokens

ROUNDING = 1 + 4e-16  # two roundings of a double

alphas = st.floats(0, 1)
inner_alphas = st.floats(0.01, 0.99)
costs = st.floats(0, 2)
inner_costs = st.floats(0.005, 2)
gammas = st.integers(0, 200)
drafts = st.integers(1, 60)
overheads = st.sampled_from([0.0, 0.0, 0.05, 0.4, 1.5])
slopes = st.sampled_from([0.0, 0.0, 0.01, 0.2])
tolerances = st.sampled_from([0.0, 0.01, 0.03, 0.05, 0.3])


@given(alphas, gammas)
def test_tokens_are_at_least_1_and_at_most_gamma_plus_1(alpha, gamma):
    assert 1 <= gp.expected_tokens(alpha, gamma) <= (gamma + 1) * ROUNDING


@given(alphas, st.integers(0, 30))
def test_tokens_are_the_sum_of_powers_of_alpha(alpha, gamma):
    truth = exact_tokens(alpha, gamma)
    assert abs(Fraction(gp.expected_tokens(alpha, gamma)) / truth - 1) < Fraction(1, 10**15)


@given(alphas, costs, gammas)
def test_speedup_never_exceeds_tokens(alpha, c, gamma):
    assert gp.speedup(alpha, c, gamma) <= gp.expected_tokens(alpha, gamma)


@given(alphas, gammas)
def test_tokens_never_exceed_the_ceiling(alpha, gamma):
    assert gp.expected_tokens(alpha, gamma) <= gp.ceiling(alpha) * ROUNDING


@given(alphas, costs, overheads, slopes)
def test_speedup_is_1_at_gamma_0(alpha, c, overhead, verify_slope):
    assert gp.speedup(alpha, c, 0, overhead=overhead, verify_slope=verify_slope) == 1


@given(alphas, alphas, costs)
def test_the_best_gamma_never_falls_as_alpha_rises(one, other, c):
    low, high = sorted((one, other))
    assert gp.optimal_gamma(low, c) <= gp.optimal_gamma(high, c)


@given(alphas, costs, costs)
def test_the_best_gamma_never_falls_as_c_falls(alpha, one, other):
    low, high = sorted((one, other))
    assert gp.optimal_gamma(alpha, high) <= gp.optimal_gamma(alpha, low)


@given(inner_alphas, inner_costs)
@example(0.7, 0.7)
@example(0.10000000000000002, 0.1)
def test_the_best_beats_its_neighbours_exactly(alpha, c):
    best = gp.optimal_gamma(alpha, c)
    assert exact_speedup(alpha, c, best) >= exact_speedup(alpha, c, best + 1)
    assert best == 0 or exact_speedup(alpha, c, best) > exact_speedup(alpha, c, best - 1)


@given(inner_alphas, inner_costs, overheads, slopes)
def test_the_best_beats_every_gamma_up_to_64(alpha, c, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    best = gp.speedup(alpha, c, gp.optimal_gamma(alpha, c, **terms), **terms)
    others = gp.speedup(alpha, c, np.arange(65), **terms)
    assert others.max() <= best * ROUNDING


@given(inner_alphas, inner_costs)
def test_the_best_is_the_floor_or_the_ceiling_of_the_stationary_gamma(alpha, c):
    assume(alpha > c)
    best, real = gp.optimal_gamma(alpha, c), gp.stationary_gamma(alpha, c)
    assert best in {max(1, np.floor(real)), np.ceil(real)}


@given(inner_alphas, inner_costs, st.floats(0, 100))
def test_no_real_gamma_beats_the_stationary_one(alpha, c, gamma):
    top = gp.speedup(alpha, c, gp.stationary_gamma(alpha, c))
    assert gp.speedup(alpha, c, gamma) <= top * ROUNDING


@given(alphas, st.floats(0, 1), drafts, overheads, slopes)
def test_drafting_pays_iff_the_pooled_rate_covers_the_cost(alpha, c, gamma, overhead, verify_slope):
    rate = (exact_tokens(alpha, gamma) - 1) / gamma
    needed = Fraction(c) + Fraction(verify_slope) + Fraction(overhead) / gamma
    truth = exact_speedup(alpha, c, gamma, overhead=overhead, verify_slope=verify_slope)
    assert (truth >= 1) == (rate >= needed)
    assume(abs(rate - needed) > Fraction(1, 10**12))
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    pays = gp.speedup(alpha, c, gamma, **terms) >= 1
    assert pays == (gp.pooled_rate(alpha, gamma) >= c + verify_slope + overhead / gamma)


@given(alphas, drafts)
def test_the_pooled_rate_never_exceeds_alpha(alpha, gamma):
    assert gp.pooled_rate(alpha, gamma) <= alpha * ROUNDING


@given(alphas, drafts)
def test_alpha_survives_the_mean_length_and_back(alpha, gamma):
    length = min(gp.expected_tokens(alpha, gamma), gamma + 1)
    back = gp.alpha_from_mean_length(length, gamma)
    assert gp.expected_tokens(back, gamma) == pytest.approx(length, rel=1e-14)
    assert back == pytest.approx(alpha, rel=1e-12, abs=1e-15)


@given(alphas, drafts)
def test_alpha_survives_the_pooled_rate_and_back(alpha, gamma):
    back = gp.alpha_from_pooled_rate(min(gp.pooled_rate(alpha, gamma), 1), gamma)
    assert back == pytest.approx(alpha, rel=1e-12)


@given(st.floats(0, 1), drafts, overheads, slopes)
def test_speedup_is_1_at_the_break_even_alpha(c, gamma, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    alpha = gp.break_even_alpha(c, gamma, **terms)
    assume(not np.isnan(alpha))
    assert gp.speedup(alpha, c, gamma, **terms) == pytest.approx(1, rel=1e-12)


@given(st.floats(1.001, 9), drafts)
def test_no_alpha_breaks_even_where_even_certain_acceptance_loses(c, gamma):
    assert gp.speedup(1, c, gamma) < 1
    assert np.isnan(gp.break_even_alpha(c, gamma))


@given(alphas, drafts, overheads, slopes)
def test_speedup_is_1_at_the_break_even_c(alpha, gamma, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    c = gp.break_even_c(alpha, gamma, **terms)
    assume(not np.isnan(c))
    assert gp.speedup(alpha, c, gamma, **terms) == pytest.approx(1, rel=1e-12)


@given(inner_alphas, st.floats(0.005, 1), overheads, slopes)
def test_speedup_is_1_at_the_break_even_gamma_and_below_1_past_it(alpha, c, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    last = gp.break_even_gamma(alpha, c, **terms)
    assume(0.01 < last < np.inf)
    assert gp.speedup(alpha, c, last, **terms) == pytest.approx(1, rel=1e-11)
    assert gp.speedup(alpha, c, last * 1.01, **terms) < 1


@given(inner_alphas, st.floats(0.005, 1), overheads, slopes)
def test_no_gamma_pays_where_the_break_even_gamma_is_0(alpha, c, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    assume(gp.break_even_gamma(alpha, c, **terms) == 0)
    assert gp.optimal_gamma(alpha, c, **terms) == 0


@given(inner_alphas, st.floats(0.02, 1), tolerances, overheads, slopes)
def test_flat_band_is_what_a_scan_finds(alpha, c, tolerance, overhead, verify_slope):
    terms = {"overhead": overhead, "verify_slope": verify_slope}
    speeds = gp.speedup(alpha, c, np.arange(5_000), **terms)
    best = gp.optimal_gamma(alpha, c, **terms)
    level = (1 - tolerance) * speeds[best]
    assume(not (np.abs(np.delete(speeds, best) / level - 1) < 1e-13).any())  # no tie in doubles
    outside = np.flatnonzero(speeds < level)
    low = outside[outside < best].max(initial=-1) + 1
    high = outside[outside > best].min() - 1
    assert gp.flat_band(alpha, c, tolerance=tolerance, **terms) == (low, high)


CONSTANT = st.tuples(inner_alphas, inner_costs, overheads, slopes, st.integers(1, 12))


@given(CONSTANT)
def test_constant_hazards_decide_as_one_alpha(drawn):
    alpha, c, overhead, verify_slope, positions = drawn
    cost = gp.LinearCost(c, overhead, verify_slope)
    law = gp.PerPosition((alpha,) * positions, beyond=alpha)
    one, other = gp.decide(law, cost), gp.decide(gp.Geometric(alpha), cost)
    assume(abs(alpha - cost.slope) > 1e-12)
    assert one.speedup == pytest.approx(other.speedup, rel=1e-12)
    assert one.gamma == other.gamma


@given(CONSTANT)
def test_constant_hazards_have_the_band_and_the_ceiling_of_one_alpha(drawn):
    alpha, c, overhead, verify_slope, positions = drawn
    cost = gp.LinearCost(c, overhead, verify_slope)
    law = gp.PerPosition((alpha,) * positions, beyond=alpha)
    one, other = gp.decide(law, cost), gp.decide(gp.Geometric(alpha), cost)
    assert (one.band.low, one.band.high) == (other.band.low, other.band.high)
    assert one.ceiling == pytest.approx(other.ceiling, rel=1e-12)
    assert one.c_range == pytest.approx(other.c_range, rel=1e-9, abs=1e-12)


@given(inner_alphas, inner_costs, overheads, slopes, st.integers(1, 40))
def test_a_table_sampled_from_a_line_decides_as_the_line(alpha, c, overhead, verify_slope, longest):
    line = gp.LinearCost(c, overhead, verify_slope)
    lengths = range(1, longest + 1)
    table = gp.TableCost(tuple(lengths), tuple(line.round_cost(lengths).tolist()))
    law = gp.Geometric(alpha)
    one, other = gp.decide(law, table), gp.decide(law, line, max_gamma=longest)
    assert one.speedup == pytest.approx(other.speedup, rel=1e-14)
    chosen = exact_speedup(alpha, c, one.gamma, overhead=overhead, verify_slope=verify_slope)
    assert float(chosen) == pytest.approx(other.speedup, rel=1e-14)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), inner_costs, overheads, slopes)
def test_the_best_of_measured_hazards_beats_every_gamma(hazards, c, overhead, verify_slope):
    law, cost = gp.PerPosition(tuple(hazards)), gp.LinearCost(c, overhead, verify_slope)
    others = gp.curve(law, cost, range(200)).speedup
    assert others.max() <= gp.decide(law, cost).speedup * ROUNDING


@given(st.floats(0.05, 5), st.floats(0.05, 5), inner_costs, overheads)
def test_the_best_of_a_beta_mixture_beats_every_gamma(p, q, c, overhead):
    law, cost = gp.BetaGeometric(p, q), gp.LinearCost(c, overhead)
    others = gp.curve(law, cost, range(200)).speedup
    assert others.max() <= gp.decide(law, cost).speedup * (1 + 1e-12)


@given(st.lists(inner_alphas, min_size=2, max_size=6), st.lists(costs, min_size=3, max_size=3))
def test_arrays_agree_with_scalars_and_broadcast(a, c):
    whole = gp.optimal_gamma(np.array(a)[:, None], c)
    assert whole.shape == (len(a), 3)
    assert_array_equal(whole, [[gp.optimal_gamma(x, y) for y in c] for x in a])


@given(st.lists(inner_alphas, min_size=2, max_size=6), st.lists(costs, min_size=3, max_size=3))
def test_speedups_of_arrays_agree_with_scalars(a, c):
    whole = gp.speedup(np.array(a)[:, None], c, 4)
    assert_array_equal(whole, [[gp.speedup(x, y, 4) for y in c] for x in a])


@given(st.lists(inner_alphas, min_size=2, max_size=6), inner_costs, tolerances)
def test_bands_of_arrays_agree_with_scalars(a, c, tolerance):
    whole = np.transpose(gp.flat_band(a, c, tolerance=tolerance))
    assert_array_equal(whole, [gp.flat_band(x, c, tolerance=tolerance) for x in a])


@given(st.lists(inner_alphas, min_size=2, max_size=6), drafts)
def test_conversions_of_arrays_agree_with_scalars(a, gamma):
    lengths = gp.expected_tokens(a, gamma)
    whole = gp.alpha_from_mean_length(lengths, gamma)
    one_by_one = [gp.alpha_from_mean_length(length, gamma) for length in lengths.tolist()]
    assert_allclose(whole, one_by_one, rtol=1e-15)  # numpy rounds its vector functions apart


def test_a_tail_that_is_always_accepted_has_an_answer_where_no_draft_pays():
    law = gp.PerPosition((0.9, 0.8, 0.7, 0.75), beyond=1)
    found = gp.decide(law, gp.LinearCost(0.4, overhead=1.5))
    assert (found.gamma, found.c_range) == (0, (pytest.approx(0.378), math.inf))
