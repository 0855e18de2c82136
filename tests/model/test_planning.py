"""Predictions with their intervals, the next runs, drafts and mixes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan import DomainError, Geometric, LinearCost, PerPosition, Run, calibrate, decide
from gammaplan.model.planning import (
    alpha_spread,
    always_within,
    end_to_end,
    lengths_shown,
    next_runs,
    predicted,
    quantile,
    told_apart,
)
from gammaplan.model.prediction import speedup_interval
from gammaplan.model.unmeasured import prior_acceptance, prior_cost
from gammaplan.model.workloads import mixed_acceptance

ALPHA = st.floats(0.05, 0.95)
LAW, COST = Geometric(0.8), LinearCost(0.1)


def test_the_quantile_is_that_of_the_normal_distribution():
    assert quantile(0.95) == pytest.approx(1.959963984540054, abs=1e-12)


def test_nothing_uncertain_has_no_interval():
    assert predicted(LAW, COST, [0, 6], []).low is None


def test_an_interval_on_alpha_gives_its_own_ends_at_its_own_level():
    spread = alpha_spread(LAW, (0.75, 0.85), 0.8, alpha=0.8)
    ahead = predicted(LAW, COST, [0, 4], [spread])
    ends = [float(Geometric(a).expected_tokens(4)) / 1.4 for a in (0.75, 0.85)]
    assert [ahead.low[1], ahead.high[1]] == pytest.approx(ends, rel=1e-9)


def test_plain_decoding_is_certain():
    _, spread = prior_acceptance()
    ahead = predicted(LAW, COST, [0, 4], [spread])
    assert ahead.at(0) == (1.0, 1.0, 1.0)


def test_a_prior_is_wider_the_longer_the_draft():
    for spread in (prior_acceptance()[1], prior_cost("eagle3")[1]):
        off, _ = spread(np.arange(1.0, 12))
        assert (np.diff(off) > 0).all()


@given(st.lists(st.sampled_from([1, 2, 3, 5, 7]), min_size=1, max_size=4), st.integers(1, 7))
def test_one_more_run_that_agrees_never_widens(lengths, more):
    def run(gamma):
        return Run(gamma, 1.3, pooled_rate=0.5)

    gammas = np.arange(1, 9)
    low, high = speedup_interval(calibrate([run(g) for g in lengths]), gammas)
    low_2, high_2 = speedup_interval(calibrate([run(g) for g in [*lengths, more]]), gammas)
    assert (high_2 / low_2 <= high / low * (1 + 1e-9)).all()


def test_the_best_is_measured_before_its_neighbours():
    ahead = predicted(LAW, COST, range(10), [])
    assert next_runs(6, ahead, (), None, unknown=False) == [(6, "best_unmeasured"), (5, "cliff")]
    assert next_runs(6, ahead, (5, 6), None, unknown=False) == [(7, "cliff")]
    assert next_runs(6, ahead, (5, 6), 6, unknown=False) == []


def test_no_run_is_asked_for_where_nothing_can_pay():
    ahead = predicted(Geometric(0.2), LinearCost(0.5), range(10), [])
    assert next_runs(0, ahead, (), None, unknown=False) == []


def test_a_length_that_could_pay_is_worth_a_run():
    law = Geometric(0.5)
    spread = alpha_spread(law, (0.2, 0.8), 0.8, alpha=0.5)
    ahead = predicted(law, LinearCost(0.55), range(6), [spread])
    assert next_runs(0, ahead, (), None, unknown=False)[0][1] == "could_pay"


def test_rows_reach_past_the_band_and_every_run():
    assert lengths_shown(6, 8, (), None) == list(range(10))
    assert lengths_shown(2, 3, (16,), None)[-1] == 17
    assert lengths_shown(None, None, (), 3) == [0, 1, 2, 3]
    assert lengths_shown(900, 1_000, (), None)[-1] == 900


def test_the_lengths_that_are_always_within_contain_no_loser():
    found = always_within(
        LAW, COST, (0.7, 0.85), range(10), alpha=0.8, tolerance=0.1, max_gamma=None
    )
    assert found == [4, 5, 6, 7]
    for alpha in (0.7, 0.85):
        best = decide(Geometric(alpha), COST).speedup
        for gamma in found:
            assert float(Geometric(alpha).expected_tokens(gamma)) / (1 + 0.1 * gamma) > 0.9 * best


def test_drafts_within_their_intervals_are_not_told_apart():
    assert not told_apart((2.0, 1.8, 2.2), (1.9, 1.7, 2.1), 0.03)
    assert told_apart((2.0, 1.95, 2.05), (1.5, 1.45, 1.55), 0.03)
    assert not told_apart((2.0, None, None), (1.97, None, None), 0.03)


def test_end_to_end_is_the_speedup_without_a_prefill_and_1_without_decoding():
    assert end_to_end(2.0, 25.0, 0.0, 100) == pytest.approx(2.0)
    assert end_to_end(2.0, 25.0, 300.0, 0) == 1.0


def test_a_mix_of_workloads_is_harmonic():
    law = mixed_acceptance([Geometric(0.5), Geometric(0.9)], [0.5, 0.5])
    assert float(law.expected_tokens(5)) == pytest.approx(2.773, abs=5e-4)  # theory of mixtures


@given(ALPHA, ALPHA, st.floats(0.05, 0.95))
def test_a_mix_is_slower_than_its_mean_alpha(a, b, share):
    law = mixed_acceptance([Geometric(a), Geometric(b)], [share, 1 - share])
    mean = Geometric(share * a + (1 - share) * b)
    for gamma in (1, 4, 12):
        harmonic = share / Geometric(a).expected_tokens(gamma)
        harmonic += (1 - share) / Geometric(b).expected_tokens(gamma)
        assert float(law.expected_tokens(gamma)) == pytest.approx(1 / float(harmonic), rel=1e-9)
        assert float(law.expected_tokens(gamma)) <= float(mean.expected_tokens(gamma)) * (1 + 1e-9)


def test_a_mix_of_one_workload_is_that_workload():
    law = PerPosition((0.9, 0.8, 0.7))
    mix = mixed_acceptance([law], [1.0])
    assert mix.observed_to == 3
    assert mix.expected_tokens(range(9)) == pytest.approx(law.expected_tokens(range(9)))


def test_a_workload_that_accepts_nothing_is_allowed():
    law = mixed_acceptance([Geometric(0.0), Geometric(0.0)], [0.5, 0.5])
    assert math.isclose(float(law.expected_tokens(4)), 1.0)


def test_shares_must_add_up():
    with pytest.raises(DomainError, match="add up to 1"):
        mixed_acceptance([LAW], [0.9])
