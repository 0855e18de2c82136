"""Recursive rejection: which child is accepted, against a simulation of the rule and exact laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.errors import DomainError
from gammaplan.model.rejection import rank_acceptance
from gammaplan.model.tree import Ranks

P, Q = [0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.4, 0.1]


@st.composite
def pairs(draw, most=5):
    size = draw(st.integers(1, most))
    rows = []
    for _ in range(2):
        raw = np.array(draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)))
        rows.append(raw / raw.sum() if raw.sum() > 1e-6 else np.full(size, 1 / size))
    return rows


def played(p, q, children, rng, *, replacement):
    """The child that is accepted (None: the residual's token), and the token that is emitted."""
    left, source = np.array(p), np.array(q)
    for child in range(children):
        if source.sum() <= 0:
            break
        token = rng.choice(len(p), p=source / source.sum())
        share = source / source.sum()
        if rng.random() * share[token] < left[token]:
            return child, token
        left = np.maximum(left - share, 0)
        left /= left.sum()
        if not replacement:
            source = share.copy()
            source[token] = 0
    return None, rng.choice(len(p), p=left)


def test_the_example_without_replacement():
    found = rank_acceptance(P, Q, 4)
    assert found.ranks.round(3).tolist() == [0.7, 0.168, 0.079, 0.053]
    assert found.ranks.sum() == pytest.approx(1)
    assert found.exact


def test_the_example_with_replacement():
    found = rank_acceptance(P, Q, 4, replacement=True).ranks
    assert found.round(3).tolist() == [0.7, 0.125, 0.044, 0.033]


@pytest.mark.parametrize("replacement", [False, True])
def test_the_rule_played_out_has_these_ranks_and_loses_nothing(replacement):
    rng, rounds = np.random.default_rng(5), 20_000
    outcomes = [played(P, Q, 3, rng, replacement=replacement) for _ in range(rounds)]
    ranks = rank_acceptance(P, Q, 3, replacement=replacement).ranks
    for child, expected in enumerate(ranks):
        share = np.mean([at == child for at, _ in outcomes])
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / rounds))
    emitted = np.bincount([token for _, token in outcomes], minlength=4) / rounds
    assert emitted == pytest.approx(np.array(P), abs=4 * np.sqrt(0.25 / rounds))


@given(pairs(), st.integers(1, 4), st.booleans())
def test_ranks_make_a_tree(pair, children, replacement):
    ranks = rank_acceptance(*pair, children, replacement=replacement).ranks
    assert ranks.min() >= 0
    assert Ranks.of(np.clip(ranks, 0, 1)).rows.shape == (1, children)


@given(pairs(), st.integers(1, 4), st.booleans())
def test_the_first_rank_is_the_overlap(pair, children, replacement):
    p, q = pair
    found = rank_acceptance(p, q, children, replacement=replacement).ranks[0]
    assert found == pytest.approx(np.minimum(p / p.sum(), q / q.sum()).sum(), abs=1e-12)


@given(pairs(), st.integers(1, 4))
def test_independent_drafts_keep_their_bound(pair, children):
    p, q = pair
    ranks = rank_acceptance(p, q, children, replacement=True).ranks
    assert ranks.sum() <= np.minimum(p, 1 - (1 - q) ** children).sum() + 1e-9


@given(pairs(most=4))
def test_every_token_drafted_once_accepts_one_where_the_draft_covers_the_target(pair):
    p, q = pair
    q = (q + 1e-3) / (q + 1e-3).sum()
    assert rank_acceptance(p, q, len(p)).ranks.sum() == pytest.approx(1, abs=1e-9)


def test_positions_are_averaged():
    both = rank_acceptance([P, Q], [Q, P], 3).ranks
    each = [rank_acceptance(p, q, 3).ranks for p, q in ((P, Q), (Q, P))]
    assert both == pytest.approx(np.mean(each, axis=0))


def test_many_sequences_are_drawn_and_agree_with_the_exact_ranks():
    rows, tail = 4_000, 300  # tokens that only the draft has
    found = rank_acceptance(
        np.tile(np.append(P, np.zeros(tail)), (rows, 1)),
        np.tile(np.append(np.array(Q) * 0.97, np.full(tail, 1e-4)), (rows, 1)),
        3,
        rng=np.random.default_rng(1),
    )
    one = np.append(P, np.zeros(30)), np.append(np.array(Q) * 0.97, np.full(30, 1e-3))
    exact = rank_acceptance(*one, 3).ranks
    assert not found.exact
    assert found.ranks == pytest.approx(exact, abs=0.01)


def test_too_many_sequences_need_a_generator():
    row = np.full(5_000, 1 / 5_000)
    with pytest.raises(DomainError, match="3 children of 5,000 tokens have too many sequences"):
        rank_acceptance(row, row, 3)


@pytest.mark.parametrize(
    ("p", "q", "children", "said"),
    [
        ([0.5, 0.4], [0.5, 0.5], 1, "p must be distributions"),
        ([0.5, 0.5], [1.5, -0.5], 1, "q must be distributions"),
        ([1.0], [0.5, 0.5], 1, "must have one shape"),
        ([1.0], [1.0], 0, "children must be at least 1, got 0"),
        ([], [], 1, "one probability a token"),
        ([float("nan"), 1.0], [0.5, 0.5], 1, "p must be distributions"),
    ],
)
def test_what_is_no_pair_of_distributions_is_refused(p, q, children, said):
    with pytest.raises(DomainError, match=said):
        rank_acceptance(p, q, children)
