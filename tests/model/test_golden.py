"""Every row of the golden files, at the precision that their README calls fair."""

import json
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp
from gammaplan.model.optimum import cost_threshold

from ..support import column, rows

pytestmark = pytest.mark.golden

CURVE, OPTIMUM = rows("golden/curve"), rows("golden/optimum")
CHAIN, FIT = rows("golden/chain"), rows("golden/fit")
ALPHA, C = column(OPTIMUM, "alpha"), column(OPTIMUM, "c")
BEST = column(OPTIMUM, "gamma_int")
LARGE = 1e5  # integers above this are compared within 1e-6: the README of the golden files


@cache
def decided(tolerance: float = 0.03) -> list[gp.Decision]:
    pairs = zip(ALPHA, C, strict=True)
    return [gp.decide(gp.Geometric(a), gp.LinearCost(c), tolerance=tolerance) for a, c in pairs]


by_chain = pytest.mark.parametrize("row", CHAIN, ids=[f"chain {row['id']}" for row in CHAIN])
by_fit = pytest.mark.parametrize("row", FIT, ids=[f"fit {row['id']}" for row in FIT])
by_tolerance = pytest.mark.parametrize("tolerance", [0.01, 0.03, 0.05])


def numbers(cell: str) -> list[float]:
    return [float(number) for number in json.loads(cell)]


def same_integers(found: np.ndarray, golden: np.ndarray) -> None:
    exact = ~(np.isfinite(golden) & (golden > LARGE))
    assert_array_equal(found[exact], golden[exact])
    assert_allclose(found[~exact], golden[~exact], rtol=1e-6)


def test_expected_tokens():
    found = gp.expected_tokens(column(CURVE, "alpha"), column(CURVE, "gamma"))
    assert_allclose(found, column(CURVE, "expected_tokens"), rtol=1e-14)


def test_speedup():
    found = gp.speedup(column(CURVE, "alpha"), column(CURVE, "c"), column(CURVE, "gamma"))
    assert_allclose(found, column(CURVE, "speedup"), rtol=1e-14)


def test_optimal_gamma_is_exact():
    assert_array_equal(gp.optimal_gamma(ALPHA, C), BEST)


def test_decide_is_exact():
    assert_array_equal([decision.gamma for decision in decided()], BEST)


def test_speedup_at_the_best_integer():
    found = gp.speedup(ALPHA, C, BEST)
    assert_allclose(found, column(OPTIMUM, "speedup_at_int"), rtol=1e-14)


def test_decided_speedup():
    found = [decision.speedup for decision in decided()]
    assert_allclose(found, column(OPTIMUM, "speedup_at_int"), rtol=1e-14)


def test_stationary_gamma():
    golden = column(OPTIMUM, "gamma_cont")
    inside = ~np.isnan(golden)
    found = gp.stationary_gamma(ALPHA, C)
    assert_allclose(found[inside], golden[inside], rtol=1e-12)


def test_stationary_gamma_is_0_or_infinite_where_there_is_no_root():
    outside = np.isnan(column(OPTIMUM, "gamma_cont"))
    expected = np.where(column(OPTIMUM, "attained") == 1, 0, np.inf)
    assert_array_equal(gp.stationary_gamma(ALPHA, C)[outside], expected[outside])


def test_speedup_at_the_stationary_gamma():
    golden = column(OPTIMUM, "speedup_at_cont")
    inside = ~np.isnan(golden)
    found = gp.speedup(ALPHA, C, gp.stationary_gamma(ALPHA, C))
    assert_allclose(found[inside], golden[inside], rtol=1e-14)


def test_ceiling():
    assert_allclose(gp.ceiling(ALPHA), column(OPTIMUM, "ceiling"), rtol=1e-14)


@by_tolerance
def test_band_high(tolerance):
    _, high = gp.flat_band(ALPHA, C, tolerance=tolerance)
    same_integers(high, column(OPTIMUM, f"band{100 * tolerance:02.0f}_high"))


@by_tolerance
def test_band_low(tolerance):
    low, _ = gp.flat_band(ALPHA, C, tolerance=tolerance)
    tie = (C == 0) & (tolerance == ALPHA)
    same_integers(low[~tie], column(OPTIMUM, f"band{100 * tolerance:02.0f}_low")[~tie])


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_band_low_of_a_tie_to_the_last_bit(share):
    low, _ = gp.flat_band(share, 0, tolerance=share)
    assert low in (0, 1)


@by_tolerance
def test_decide_has_the_band_of_flat_band(tolerance):
    found = [[d.band.low, d.band.high] for d in decided(tolerance)]
    assert_array_equal(np.transpose(found), gp.flat_band(ALPHA, C, tolerance=tolerance))


def test_c_low():
    golden = column(OPTIMUM, "c_low")
    known = ~np.isnan(golden)
    found = cost_threshold(ALPHA[known], BEST[known])
    assert_allclose(found, golden[known], rtol=1e-13)


def test_c_high():
    golden = column(OPTIMUM, "c_high")
    known = np.isfinite(golden)
    found = cost_threshold(ALPHA[known], BEST[known] - 1)
    assert_allclose(found, golden[known], rtol=1e-13)


def test_decided_c_range():
    golden = np.transpose([column(OPTIMUM, "c_low"), column(OPTIMUM, "c_high")])
    known = np.flatnonzero(~np.isnan(golden[:, 0]))
    found = [decided()[i].c_range for i in known]
    assert_allclose(found, golden[known], rtol=1e-13)


@by_chain
def test_chain_of_any_hazards(row):
    law = gp.PerPosition(tuple(json.loads(row["hazards"])))
    cost = gp.LinearCost(float(row["c"]), float(row["overhead"]), float(row["verify_slope"]))
    found = gp.curve(law, cost, range(law.observed_to + 1))
    assert_allclose(found.expected_tokens, numbers(row["expected_tokens"]), rtol=1e-14)
    assert_allclose(found.speedup, numbers(row["speedup"]), rtol=1e-14)


@by_chain
def test_best_of_a_chain(row):
    law = gp.PerPosition(tuple(json.loads(row["hazards"])))
    cost = gp.LinearCost(float(row["c"]), float(row["overhead"]), float(row["verify_slope"]))
    found = gp.decide(law, cost, max_gamma=law.observed_to)
    assert found.gamma == int(row["best_gamma"])
    assert found.speedup == pytest.approx(float(row["best_speedup"]), rel=1e-14)
    assert (found.gamma > 0) == (row["speculation_helps"] == "1")


@by_fit
def test_point_estimates_of_counts(row):
    counts = gp.Counts.from_histogram(json.loads(row["counts"]))
    assert counts.alpha == pytest.approx(float(row["alpha_mle"]), rel=1e-14)
    assert counts.mean_length == pytest.approx(float(row["mean_tokens"]), rel=1e-14)
    assert counts.pooled_rate == pytest.approx(float(row["accepted_over_drafted"]), rel=1e-14)


@by_fit
def test_alpha_from_the_mean_length_of_counts(row):
    found = gp.alpha_from_mean_length(float(row["mean_tokens"]), int(row["gamma"]))
    assert found == pytest.approx(float(row["alpha_from_mean"]), rel=1e-14)


@by_fit
def test_hazards_of_counts(row):
    counts = gp.Counts.from_histogram(json.loads(row["counts"]))
    golden = np.array(json.loads(row["hazards"]), dtype=float)  # null: NaN
    assert_allclose(np.array(counts.hazards, dtype=float), golden, rtol=1e-14)
