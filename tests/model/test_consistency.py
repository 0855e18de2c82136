"""Figures that cannot all be true, and the counts that rounded figures stand for."""

import numpy as np
import pytest

from gammaplan.model.consistency import contradiction, rounded_counts, rounds_of

GOOD = {
    "accepted": 1882,
    "drafted": 2298,
    "rounds": 766,
    "gamma": 3,
    "mean_length": 1 + 1882 / 766,
    "survival": (712 / 766, 647 / 766, 523 / 766),
    "pooled_rate": 1882 / 2298,
}


def test_figures_of_one_record_do_not_contradict_each_other():
    assert contradiction(**GOOD) is None


@pytest.mark.parametrize("name", GOOD)
def test_a_figure_that_is_missing_is_no_contradiction(name):
    assert contradiction(**{k: v for k, v in GOOD.items() if k != name}) is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"accepted": 2299}, "2299 accepted of 2298 drafted"),
        ({"drafted": 2299}, "2299 drafted tokens in 766 rounds of at most 3"),
        ({"pooled_rate": 1.01}, "an accepted share of 1.01"),
        ({"pooled_rate": -0.01}, "an accepted share of -0.01"),
        ({"survival": (0.9, 0.91, 0.6)}, "position 2 accepted in 0.91 of rounds after 0.9"),
        ({"survival": (1.2, 0.9, 0.6)}, "position 1 accepted in 1.2"),
        ({"mean_length": 4.5}, "a mean length of 4.5 with drafts of at most 3"),
        ({"mean_length": 0.5}, "a mean length of 0.5"),
        ({"mean_length": 3.0}, "a mean length of 3 beside 1 + positions = 3.457"),
        ({"pooled_rate": 0.5}, "an accepted share of 0.5 below (length - 1) / gamma"),
    ],
)
def test_what_cannot_be_is_named(wrong, named):
    assert named in (contradiction(**{**GOOD, **wrong}) or "")


def test_rounding_explains_what_it_can():
    figures = {"mean_length": 3.46, "survival": (0.930, 0.845, 0.683), "gamma": 3}
    assert contradiction(**figures, half_unit=0.005) is None
    assert contradiction(**figures, half_unit=0.0) is not None


@pytest.mark.parametrize("seed", range(200))
def test_counts_come_back_from_rates_of_three_decimals(seed):
    rng = np.random.default_rng(seed)
    rounds, gamma = int(rng.integers(1, 999)), int(rng.integers(1, 9))
    counts = tuple(sorted(rng.integers(0, rounds + 1, gamma).tolist(), reverse=True))
    rates = [round(c / rounds, 3) for c in counts]
    assert rounded_counts(rates, rounds, sum(counts), 5e-4) == (counts, True)


def test_counts_of_many_rounds_are_open_by_a_few_and_that_is_said():
    rates = [round(c / 40_000, 3) for c in (30_011, 20_007)]
    found = rounded_counts(rates, 40_000, 50_018, 5e-4)
    assert found
    counts, unique = found
    assert sum(counts) == 50_018
    assert counts == pytest.approx((30_011, 20_007), abs=20)
    assert not unique


@pytest.mark.parametrize("seed", range(100))
def test_equal_rates_of_many_rounds_still_give_counts_that_never_rise(seed):
    rng = np.random.default_rng(seed)
    rounds, last = 97_196, int(rng.integers(1, 200))
    counts = (36_096, 799, 376, last, last, last)
    rates = [round(c / rounds, 4) for c in sorted(counts, reverse=True)]
    found = rounded_counts(rates, rounds, sum(counts), 5e-5)
    assert found
    assert sum(found[0]) == sum(counts)
    assert list(found[0]) == sorted(found[0], reverse=True)
    assert all(abs(c / rounds - u) <= 5.1e-5 for c, u in zip(found[0], rates, strict=True))


@pytest.mark.parametrize(
    ("rates", "rounds", "accepted"),
    [([0.5], 9, 4), ([0.5, 0.25], 8, 7), ([0.25, 0.5], 8, 6), ([0.5, 0.5], 4, 5)],
)
def test_rates_that_no_counts_give_are_refused(rates, rounds, accepted):
    assert rounded_counts(rates, rounds, accepted, 5e-4) is None


@pytest.mark.parametrize("rounds", [1, 37, 160, 993])
@pytest.mark.parametrize("per_round", [0.03, 0.4, 1.37, 6.5])
def test_the_number_of_rounds_is_among_those_that_the_length_allows(rounds, per_round):
    accepted = round(rounds * per_round)
    if accepted:
        printed = round(accepted / rounds, 2)
        assert rounds in rounds_of(accepted, printed, 0.005)


def test_nothing_accepted_tells_no_number_of_rounds():
    assert len(rounds_of(0, 0.0, 0.005)) == 0
