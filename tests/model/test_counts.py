"""Counts: how they add up, and what follows from them by counting alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.errors import DomainError
from gammaplan.model.estimate import Counts, alpha_bounds

ROUND = st.integers(0, 6).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, d)))
ROUNDS = st.lists(ROUND, max_size=12)
WHOLE = st.none() | st.integers(0, 99)
PARTIAL = st.builds(
    Counts,
    rounds=WHOLE,
    drafted=WHOLE,
    accepted=WHOLE,
    accepted_at_least=st.none() | st.lists(st.integers(0, 9), max_size=4).map(tuple),
    gamma=st.none() | st.integers(1, 6),
)


def told(rounds, gamma=None):
    """The counts of rounds told one by one."""
    return Counts.from_rounds([d for d, _ in rounds], [a for _, a in rounds], gamma)


@given(PARTIAL, PARTIAL, PARTIAL)
def test_counts_add_in_any_order(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@given(ROUNDS, ROUNDS)
def test_counts_of_parts_add_up_to_the_counts_of_the_whole(a, b):
    assert told(a, 6) + told(b, 6) == told(a + b, 6)


@given(ROUNDS)
def test_empty_drafts_count_for_nothing(rounds):
    assert told(rounds, 6) == told([r for r in rounds if r[0]], 6)


@given(ROUNDS)
def test_the_pooled_rate_is_never_above_alpha(rounds):
    found = told(rounds)
    if found.alpha is not None and found.pooled_rate is not None:
        assert found.pooled_rate <= found.alpha


@given(ROUNDS)
def test_every_round_ends_in_a_refusal_or_in_a_full_acceptance(rounds):
    found = told(rounds)
    assert found.full_accepts + found.rejections == found.rounds
    assert found.accepted == sum(found.accepted_at_least)
    assert found.drafted == sum(found.drafted_at_least)


@given(ROUNDS)
def test_hazards_count_only_rounds_that_drafted_the_position(rounds):
    found = told(rounds)
    expected = []
    for i in range(1, len(found.accepted_at_least) + 1):
        tried = [(d, a) for d, a in rounds if d >= i and a >= i - 1]
        expected.append(sum(a >= i for _, a in tried) / len(tried) if tried else None)
    assert list(found.hazards or ()) == (expected if found.rounds else [])


@given(ROUNDS)
def test_bounds_by_counting_contain_alpha(rounds):
    found = told(rounds, 6)
    if found.alpha is None:
        return
    empty = sum(not d for d, _ in rounds)
    full = sum(a == 6 for _, a in rounds)
    for known in (
        {"drafted": found.drafted},
        {"rounds": found.rounds},
        {"drafted": found.drafted, "gamma": 6},
        {"drafted": found.drafted, "rounds": found.rounds + empty, "gamma": 6},
        {
            "drafted": found.drafted,
            "rounds": found.rounds + empty,
            "gamma": 6,
            "full_accepts": full,
        },
    ):
        low, high = alpha_bounds(found.accepted, **known)
        assert low <= found.alpha <= high


def test_a_figure_that_one_side_lacks_is_lacking_in_the_sum():
    both = Counts(rounds=3, drafted=9, accepted=4) + Counts(drafted=2, accepted=1)
    assert both == Counts(drafted=11, accepted=5)


def test_positions_of_different_lengths_add_up():
    both = Counts.full(10, [8, 6]) + Counts.full(5, [5, 4, 3])
    assert both.accepted_at_least == (13, 10, 3)
    assert both.drafted_at_least == (15, 15, 5)
    assert both.gamma == 3
    assert both.hazards == (13 / 15, 10 / 13, 3 / 4)


def test_full_drafts_are_the_same_told_in_any_form():
    drafted, accepted = [3, 3, 3, 3], [3, 0, 1, 3]
    one = Counts.from_rounds(drafted, accepted)
    other, histogram = Counts.full(4, [3, 2, 2]), Counts.from_histogram([1, 1, 0, 2])
    assert other == histogram
    assert (one.alpha, one.hazards, one.gamma) == (other.alpha, other.hazards, other.gamma)
    assert one.drafted_at_least == other.drafted_at_least == (4, 4, 4)


def test_the_longest_draft_is_known_only_where_all_are_as_long():
    assert Counts.from_rounds([3, 3], [1, 2]).gamma == 3
    assert Counts.from_rounds([3, 2], [1, 2]).gamma is None
    assert Counts.from_rounds([3, 2], [1, 2], 4).gamma == 4


@pytest.mark.parametrize("rounds", [([1], [2]), ([2], [-1]), ([1, 2], [1])])
def test_rounds_that_cannot_be_are_refused(rounds):
    with pytest.raises(DomainError):
        Counts.from_rounds(*rounds)


@pytest.mark.parametrize("histogram", [[], [5], [0, 0], [3, -1]])
def test_histograms_that_say_nothing_are_refused(histogram):
    with pytest.raises(DomainError, match="histogram"):
        Counts.from_histogram(histogram)
