"""Whether one alpha describes every position, and the law that follows."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gammaplan.model.acceptance import Geometric
from gammaplan.model.constancy import beta_geometric, constancy
from gammaplan.model.estimate import Counts
from gammaplan.model.estimation import estimate
from gammaplan.model.mixture import BetaGeometric
from gammaplan.model.positions import PerPosition

from ..support import rows

FIT = rows("golden/fit")


def at_least(survival, rounds):
    """Rounds that accepted at least i tokens, as near to a law as integers come."""
    return [round(rounds * s) for s in survival]


def law_test(counts):
    """The test of counts of full drafts."""
    return constancy(counts.accepted_at_least, counts.at_risk)


@pytest.mark.parametrize("row", FIT, ids=[f"fit {row['id']}" for row in FIT])
def test_the_golden_statistic(row):
    found = law_test(Counts.from_histogram(json.loads(row["counts"])))
    assert_allclose(found.statistic, float(row["lrt_g2"]), rtol=1e-12, atol=1e-14)
    assert_allclose(found.p_value, float(row["lrt_p"]), rtol=1e-12)


@pytest.mark.parametrize("row", FIT, ids=[f"fit {row['id']}" for row in FIT])
def test_the_degrees_of_freedom_are_the_positions_reached_less_one(row):
    counts = Counts.from_histogram(json.loads(row["counts"]))
    reached = sum(n > 0 for n in counts.at_risk)
    assert law_test(counts).df == reached - 1
    if reached == counts.gamma:
        assert law_test(counts).df == int(row["lrt_df"])


@pytest.mark.parametrize("gap", [1, 10, 1000])
def test_hazards_that_are_almost_equal_keep_their_digits(gap):
    n, a = 10**9, 8 * 10**8
    found = constancy([a + gap, a - gap], [n, n]).statistic
    exact = 2 * Fraction(gap) ** 2 / n / (Fraction(8, 10) * Fraction(2, 10))
    assert found == pytest.approx(float(exact), rel=1e-5)


def test_hazards_that_are_equal_have_no_statistic():
    assert constancy([80, 64], [100, 80]).statistic == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("counts", [([5], [9]), ([0, 0], [9, 0]), ([9, 9], [9, 9]), ([0], [0])])
def test_nothing_speaks_against_what_was_hardly_seen(counts):
    found = constancy(*counts)
    assert (found.statistic, found.p_value, found.direction) == (0.0, 1.0, "constant")


@pytest.mark.parametrize(
    ("hazards", "direction"),
    [
        ([0.8, 0.8, 0.8, 0.8], "constant"),
        ([0.9, 0.8, 0.7, 0.6], "falling"),
        ([0.6, 0.7, 0.8, 0.9], "rising"),
        ([0.9, 0.6, 0.6, 0.9], "uneven"),
    ],
)
def test_the_direction_of_the_hazards(hazards, direction):
    counts = Counts.full(10_000, at_least(np.cumprod(hazards), 10_000))
    assert law_test(counts).direction == direction


def test_the_test_is_right_about_constant_acceptance_as_often_as_it_says():
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(1_000):
        taken = np.minimum(rng.geometric(0.3, 400) - 1, 4)
        counts = Counts.full(400, [int((taken >= i).sum()) for i in range(1, 5)])
        rejected += law_test(counts).p_value < 0.05
    assert 0.05 - 3 * math.sqrt(0.05 * 0.95 / 1_000) < rejected / 1_000
    assert rejected / 1_000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1_000)


def test_constant_acceptance_is_planned_with_one_alpha():
    law = estimate(Counts.full(10_000, at_least(0.7 ** np.arange(1, 5), 10_000))).acceptance
    assert isinstance(law, Geometric)
    assert law.alpha == pytest.approx(0.7, abs=1e-3)


def test_falling_acceptance_is_planned_with_the_measured_positions():
    counts = Counts.full(10_000, [9_000, 7_200, 5_040, 3_024])
    law = estimate(counts).acceptance
    assert isinstance(law, PerPosition)
    assert law.survival(np.arange(1, 5)) == pytest.approx([0.9, 0.72, 0.504, 0.3024])


@pytest.mark.parametrize(("p", "q"), [(2.8, 1.2), (1.0, 1.0), (6.0, 2.0)])
def test_a_mixture_is_recognised_and_planned_with(p, q):
    survival = BetaGeometric(p, q).survival(np.arange(1, 8))
    law = estimate(Counts.full(100_000, at_least(survival, 100_000))).acceptance
    assert isinstance(law, BetaGeometric)
    assert (law.p, law.q) == pytest.approx((p, q), rel=0.02)
    assert law.observed_to == 7


def test_a_mixture_that_does_not_fit_gives_way_to_the_positions():
    counts = Counts.full(100_000, at_least(np.cumprod([0.5, 0.5, 0.5, 0.5, 0.99]), 100_000))
    assert law_test(counts).direction == "rising"
    assert beta_geometric(counts.accepted_at_least, counts.at_risk) is None
    assert isinstance(estimate(counts).acceptance, PerPosition)


@pytest.mark.parametrize("seen", [([60, 45, 36], [100, 60, 45]), ([12, 9, 8, 7], [20, 12, 9, 8])])
def test_a_mixture_is_not_extrapolated_from_a_hint(seen):
    assert beta_geometric(*seen) is None


def test_the_best_mixture_has_the_highest_likelihood():
    survival = BetaGeometric(2.8, 1.2).survival(np.arange(1, 6))
    counts = Counts.full(5_000, at_least(survival, 5_000))
    accepted, tried = np.array(counts.accepted_at_least), np.array(counts.at_risk)
    best = beta_geometric(counts.accepted_at_least, counts.at_risk)

    def likelihood(p, q):
        hazards = (p + np.arange(5)) / (p + q + np.arange(5))
        return float((accepted * np.log(hazards) + (tried - accepted) * np.log1p(-hazards)).sum())

    assert best
    top = likelihood(best.p, best.q)
    for dp in (0.99, 1.01):
        for dq in (0.99, 1.01):
            assert likelihood(best.p * dp, best.q * dq) <= top + 1e-9
