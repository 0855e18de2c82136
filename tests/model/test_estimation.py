"""From counts to alpha: golden values, the order of methods, bounds, and what is refused."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gammaplan as gp
from gammaplan.errors import DomainError
from gammaplan.model.estimate import Counts, alpha_bounds
from gammaplan.model.estimation import NARROW, estimate
from gammaplan.model.intervals import Requests, clopper_pearson

from ..support import rows

FIT = rows("golden/fit")
by_fit = pytest.mark.parametrize("row", FIT, ids=[f"fit {row['id']}" for row in FIT])


@by_fit
def test_the_golden_figures(row):
    counts = Counts.from_histogram(json.loads(row["counts"]))
    found = estimate(counts)
    assert found.method == "mle"
    assert (counts.rounds, counts.accepted, counts.rejections, counts.gamma) == tuple(
        int(row[name]) for name in ("iterations", "accepted", "rejections", "gamma")
    )
    by_length = gp.alpha_from_mean_length(counts.mean_length, counts.gamma)
    for mine, name in (
        (found.alpha, "alpha_mle"),
        (counts.mean_length, "mean_tokens"),
        (by_length, "alpha_from_mean"),
        (counts.pooled_rate, "accepted_over_drafted"),
    ):
        assert_allclose(mine, float(row[name]), rtol=1e-12, atol=1e-15, err_msg=name)
    golden = [None if h is None else float(h) for h in json.loads(row["hazards"])]
    assert list(counts.hazards) == [h if h is None else pytest.approx(h, rel=1e-12) for h in golden]


@by_fit
def test_an_estimate_lies_in_its_interval(row):
    found = estimate(Counts.from_histogram(json.loads(row["counts"])))
    assert found.interval.low <= found.alpha <= found.interval.high


# Bounds by counting


def simulated(logs, rng):
    """Logs of up to 12 rounds, drafts short and empty among them: what each counts."""
    rounds, gamma = rng.integers(1, 13, logs), rng.integers(1, 7, logs)
    there = np.arange(12) < rounds[:, None]
    short = rng.random((logs, 12)) < rng.random((logs, 1))
    drafts = np.where(short, rng.integers(0, 7, (logs, 12)) % (gamma[:, None] + 1), gamma[:, None])
    drafts = np.where(there, drafts, 0)
    with np.errstate(divide="ignore"):
        ran = np.log1p(-rng.random((logs, 12))) // np.log(rng.random((logs, 1)))
    taken = np.minimum(ran, drafts).astype(int)
    full = ((taken == gamma[:, None]) & there).sum(axis=1)
    figures = (
        rounds, gamma, drafts.sum(axis=1), taken.sum(axis=1), full, (taken < drafts).sum(axis=1),
    )  # fmt: skip
    return np.stack(figures, axis=1).tolist()


def test_bounds_contain_the_truth_of_every_simulated_log():
    outside, tightest = [], 0
    rng = np.random.default_rng(1)
    for rounds, gamma, drafted, accepted, full, refused in simulated(100_000, rng):
        if not drafted:
            continue
        truth = accepted / (accepted + refused)
        low, high = alpha_bounds(
            accepted, drafted=drafted, rounds=rounds, gamma=gamma, full_accepts=full
        )
        tightest += low == high
        if not low <= truth <= high or truth < accepted / drafted:
            outside.append((rounds, gamma, drafted, accepted, full, refused))
    assert outside == []
    assert tightest > 10_000


def test_estimates_of_simulated_logs_contain_the_truth():
    for rounds, gamma, drafted, accepted, _, refused in simulated(5_000, np.random.default_rng(2)):
        if not drafted:
            continue
        truth = accepted / (accepted + refused)
        found = estimate(Counts(rounds, drafted, accepted, gamma=gamma))
        if found.bounds:
            low, high = found.bounds
            assert low <= truth <= high
        elif found.method == "mle":
            assert found.alpha == pytest.approx(truth)


def test_rounds_that_drafted_the_longest_tighten_the_bounds():
    figures = {"rounds": 112, "drafted": 319, "accepted": 187, "gamma": 3}
    loose = estimate(Counts(**figures, accepted_at_least=(86, 61, 40))).bounds
    tight = estimate(
        Counts(**figures, accepted_at_least=(86, 61, 40), drafted_at_least=(112, 107, 100))
    ).bounds
    assert loose == pytest.approx((187 / 259, 187 / 242))
    assert tight == pytest.approx((187 / 259, 187 / 247))


# Which method answers


def test_refusals_that_were_counted_are_used_before_anything_else():
    counts = Counts(rounds=100, drafted=300, accepted=200, rejections=50, gamma=3)
    found = estimate(counts, mean_length=2.5)
    assert (found.method, found.alpha) == ("mle", 0.8)


def test_full_drafts_without_positions_are_estimated_by_their_length():
    found = estimate(Counts(rounds=6021, drafted=24084, accepted=14446, gamma=4))
    assert found.method == "mean_length"
    assert found.alpha == pytest.approx(gp.alpha_from_mean_length(1 + 14446 / 6021, 4))
    assert found.interval.low < found.alpha < found.interval.high
    low, high = found.bounds
    assert low <= found.alpha <= high


def test_nearly_full_drafts_are_estimated_by_the_middle_of_their_bounds():
    found = estimate(Counts(87, 259, 167, (72, 53, 42), gamma=3))
    low, high = found.bounds
    assert found.method == "nearly_full_drafts"
    assert (found.alpha, high - low < NARROW) == ((low + high) / 2, True)
    assert found.interval.low == clopper_pearson(167, 45, 0.95).low
    assert found.interval.high == clopper_pearson(167, 43, 0.95).high


def test_wide_bounds_are_given_without_a_point():
    found = estimate(Counts(drafted=265, accepted=189))
    assert (found.method, found.alpha, found.interval, found.acceptance) == (
        "bounds",
        None,
        None,
        None,
    )
    assert found.bounds == (189 / 265, 189 / 190)


def test_one_refusal_left_open_by_nothing_is_counted():
    found = estimate(Counts(drafted=10, accepted=9))
    assert (found.method, found.alpha, found.counts.rejections) == ("mle", 0.9, 1)


@pytest.mark.parametrize("counts", [Counts(), Counts(drafted=9), Counts(0, 0, 0), Counts(gamma=4)])
def test_nothing_to_go_by_gives_nothing(counts):
    found = estimate(counts)
    assert (found.alpha, found.bounds, found.method) == (None, None, "none")


def test_an_average_alone_has_no_interval():
    found = estimate(Counts(gamma=3), mean_length=2.8713)
    assert found.alpha == pytest.approx(0.781901, abs=1e-6)
    assert found.interval is None


def test_nothing_accepted_is_alpha_zero():
    found = estimate(Counts(rounds=40, drafted=160, accepted=0, gamma=4))
    assert (found.alpha, found.method, found.counts.rejections) == (0.0, "mle", 40)
    assert found.counts.accepted_at_least == (0, 0, 0, 0)
    assert found.interval.low == 0.0


def test_everything_accepted_is_alpha_one():
    found = estimate(Counts(rounds=40, drafted=160, accepted=160, gamma=4))
    assert (found.alpha, found.counts.rejections, found.interval.high) == (1.0, 0, 1.0)


# What the user states


def test_full_drafts_may_be_asserted():
    counts = Counts(drafted=300, accepted=200, gamma=3)
    assert estimate(counts).alpha is None
    found = estimate(counts, full_drafts=True)
    assert found.method == "mean_length"
    assert found.counts.rounds == 100
    assert found.counts.drafted_at_least == (100, 100, 100)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (Counts(drafted=300, accepted=200), "give --gamma"),
        (Counts(drafted=301, accepted=200, gamma=3), "contradict"),
        (Counts(rounds=101, drafted=300, accepted=200, gamma=3), "contradict"),
    ],
)
def test_full_drafts_that_contradict_the_counts_are_refused(counts, said):
    with pytest.raises(DomainError, match=said):
        estimate(counts, full_drafts=True)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0, math.nan])
def test_a_level_outside_its_domain_is_refused(level):
    with pytest.raises(DomainError, match="level must be in"):
        estimate(Counts.from_histogram([3, 1]), level=level)


# Laws


@pytest.mark.parametrize("seed", range(30))
def test_the_estimate_is_between_its_bounds_and_above_the_pooled_rate(seed):
    rng = np.random.default_rng(seed)
    gamma, n = int(rng.integers(1, 8)), int(rng.integers(5, 400))
    taken = np.minimum(rng.geometric(rng.uniform(0.1, 0.9), n) - 1, gamma)
    counts = Counts.full(n, [int((taken >= i).sum()) for i in range(1, gamma + 1)])
    found = estimate(counts)
    low, high = alpha_bounds(counts.accepted, drafted=counts.drafted, rounds=n, gamma=gamma)
    assert low <= found.alpha <= high
    assert counts.pooled_rate <= found.alpha


@pytest.mark.parametrize(("alpha", "gamma"), [(0.8, 4), (0.5, 1), (0.95, 3), (0.3, 5)])
@pytest.mark.parametrize("rounds", [20, 60, 1_000])
def test_the_interval_of_a_length_contains_alpha_as_often_as_it_says(alpha, gamma, rounds):
    one = np.array([alpha**k * (1 - alpha) for k in range(gamma)] + [alpha**gamma])
    chances, power, left = np.ones(1), one, rounds  # of each sum of accepted tokens, exactly
    while left:
        chances = np.convolve(chances, power) if left % 2 else chances
        power, left = np.convolve(power, power), left // 2
    covered = 0.0
    for accepted in np.flatnonzero(chances > 1e-6).tolist():
        counts = Counts(rounds, rounds * gamma, accepted, gamma=gamma)
        interval = estimate(counts).interval
        covered += chances[accepted] * (interval.low <= alpha <= interval.high)
    assert covered > 0.94


def test_windows_that_differ_widen_the_interval_of_a_length():
    counts = Counts(rounds=1_000, drafted=4_000, accepted=2_000, gamma=4)
    alone = estimate(counts).interval
    apart = Requests.of(np.array([[300.0, 100.0], [100.0, 100.0]] * 5))
    together = estimate(counts, clusters=(apart, "blocks")).interval
    assert together.method == "blocks"
    assert together.high - together.low > alone.high - alone.low
