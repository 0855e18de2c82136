"""The verification rules: what they keep, what they emit, and what they refuse to judge."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from gammaplan.errors import DomainError
from gammaplan.model.drawing import draw, draw_excess, excess
from gammaplan.model.playing import one_hot
from gammaplan.model.verification import verify_block, verify_chain, verify_match, verify_typical

MANY = 200_000
P, Q = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def rows(rng, *shape, vocabulary=4):
    return rng.dirichlet(np.full(vocabulary, 0.7), size=shape)


def drafts(rng, q, rounds):
    return np.stack([draw(row[None], rng.random(rounds)) for row in q], axis=-1)


def near(found, expected):
    """Within five standard errors of a mean of so many bounded counts."""
    found = np.asarray(found)
    return abs(found.mean() - expected) < 5 * found.std() / np.sqrt(found.size) + 1e-9


# What is kept


def test_the_chain_keeps_the_powers_of_alpha(rng):
    kept = verify_chain([P] * 3, [Q] * 2, drafts(rng, [Q] * 2, MANY), rng=rng).accepted
    assert near(kept, 10 / 9)


def test_block_verification_keeps_more_of_the_same_drafts(rng):
    kept = verify_block([P] * 3, [Q] * 2, drafts(rng, [Q] * 2, MANY), rng=rng).accepted
    assert near(kept, 11 / 9)


def test_no_rule_could_keep_more_than_blocks_have_in_common():
    def common(i):
        products = itertools.product((0, 1), repeat=i)
        third = Fraction(1, 3)
        p, q = (third, 2 * third), (2 * third, third)
        return sum(min(np.prod([p[x] for x in xs]), np.prod([q[x] for x in xs])) for xs in products)

    assert common(1) + common(2) == Fraction(12, 9)


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_block_verification_keeps_what_its_formula_says(gamma, seed):
    rng = np.random.default_rng(seed)
    p, q = rows(rng, gamma + 1, vocabulary=3), rows(rng, gamma, vocabulary=3)
    expected = 0.0
    for xs in itertools.product(range(3), repeat=gamma):
        ratios = [p[i, x] / q[i, x] for i, x in enumerate(xs)]
        weight = np.prod([q[i, x] for i, x in enumerate(xs)])
        running = list(itertools.accumulate(ratios, lambda r, ratio: min(1, r * ratio), initial=1))
        expected += weight * sum(running[1:])
    chain = sum(np.cumprod(np.minimum(p[:-1], q).sum(axis=-1)))
    assert expected >= chain
    assert near(verify_block(p, q, drafts(rng, q, 50_000), rng=rng).accepted, expected)


def test_each_position_is_kept_with_its_own_alpha(rng):
    p, q = rows(rng, 4), rows(rng, 3)
    kept = verify_chain(p, q, drafts(rng, q, MANY), rng=rng).accepted
    for i, survival in enumerate(np.cumprod(np.minimum(p[:-1], q).sum(axis=-1)), 1):
        assert near(kept >= i, survival)


def test_a_draft_that_takes_the_most_probable_token_is_kept_as_often_as_p_has_it(rng):
    p, q = rows(rng, 2), rows(rng, 1)
    drafted = np.full((MANY, 1), q[0].argmax())
    assert near(verify_chain(p, one_hot(q), drafted, rng=rng).accepted, p[0, q[0].argmax()])


def test_a_perfect_draft_is_kept_whole(rng):
    p = rows(rng, 6)
    drafted = drafts(rng, p[:-1], 1_000)
    for verify in (verify_chain, verify_block):
        assert (verify(p, p[:-1], drafted, rng=rng).accepted == 5).all()


def test_a_draft_that_the_target_never_says_is_never_kept(rng):
    p, q = [[1.0, 0.0]] * 2, [[0.0, 1.0]]
    for verify in (verify_chain, verify_block):
        accepted, token = verify(p, q, np.ones((1_000, 1), int), rng=rng)
        assert (accepted == 0).all()
        assert (token == 0).all()


def test_an_exact_match_is_as_frequent_as_two_draws_that_agree(rng):
    p, q = rows(rng, 2), rows(rng, 1)
    kept = verify_match(p, drafts(rng, q, MANY), rng=rng).accepted
    assert near(kept, float(p[0] @ q[0]))


def test_lenience_keeps_the_smaller_of_q_and_p_over_l(rng):
    p, q = rows(rng, 2), rows(rng, 1)
    kept = verify_chain(p, q, drafts(rng, q, MANY), rng=rng, lenience=0.3).accepted
    assert near(kept, float(np.minimum(p[0] / 0.3, q[0]).sum()))


def test_with_lenience_no_token_is_emitted_more_often_than_p_over_l(rng):
    p, q = rows(rng, 2), rows(rng, 1)
    drafted = drafts(rng, q, MANY)
    accepted, token = verify_chain(p, q, drafted, rng=rng, lenience=0.3)
    first = np.where(accepted > 0, drafted[:, 0], token)
    share = np.bincount(first, minlength=4) / MANY
    assert (share <= p[0] / 0.3 + 5 / np.sqrt(MANY)).all()
    assert np.abs(share - p[0]).max() > 0.02


def test_typical_acceptance_keeps_tokens_above_its_threshold(rng):
    p = np.array([[0.7, 0.2, 0.1], [1, 0, 0]])
    entropy = -(p[0] * np.log(p[0])).sum()
    low = min(0.3, 0.15 * np.exp(entropy * -1))
    kept = verify_typical(p, [[0], [1], [2]], rng=rng, delta=0.15).accepted
    assert_array_equal(kept, p[0] >= low)


# What is emitted


def sequences(verify, start, table_p, table_q, gamma, rounds, rng):
    """Sequences of a target whose next token depends on the last: emitted, then continued."""
    vocabulary = len(start)
    everyone = np.arange(rounds)
    drafted = np.empty((rounds, gamma), dtype=np.int64)
    p, q = np.empty((rounds, gamma + 1, vocabulary)), np.empty((rounds, gamma, vocabulary))
    p[:, 0] = start
    for i in range(gamma):
        q[:, i] = table_q[drafted[:, i - 1]] if i else table_q[0]
        drafted[:, i] = draw(q[:, i], rng.random(rounds))
        p[:, i + 1] = table_p[drafted[:, i]]
    accepted, token = verify(p, q, drafted, rng=rng)
    emitted = np.empty((rounds, gamma + 1), dtype=np.int64)
    for i in range(gamma + 1):
        row = table_p[emitted[:, i - 1]] if i else np.broadcast_to(start, (rounds, vocabulary))
        emitted[:, i] = draw(row, rng.random(rounds))
        at = drafted[:, i] if i < gamma else token
        emitted[:, i] = np.where(accepted > i, at, emitted[:, i])
        emitted[:, i] = np.where(accepted == i, token, emitted[:, i])
    assert emitted[everyone, accepted].tolist() == token.tolist()
    return emitted


@pytest.mark.parametrize("verify", [verify_chain, verify_block])
@pytest.mark.parametrize("seed", range(3))
def test_sequences_have_the_law_of_a_target_with_memory(verify, seed):
    rng = np.random.default_rng(seed)
    start, table_p, table_q = (
        rows(rng, vocabulary=3),
        rows(rng, 3, vocabulary=3),
        rows(rng, 3, vocabulary=3),
    )
    emitted = sequences(verify, start, table_p, table_q, 2, 100_000, rng)
    counts = np.bincount(emitted @ [9, 3, 1], minlength=27)
    law = np.einsum("a,ab,bc->abc", start, table_p, table_p).ravel()
    assert chisquare(counts, 100_000 * law).pvalue > 1e-3


@pytest.mark.parametrize("verify", [verify_chain, verify_block])
def test_drafts_of_different_lengths_keep_the_law(verify, rng):
    p, q = rows(rng, 4), rows(rng, 3)
    drafted = drafts(rng, q, MANY)
    lengths = rng.integers(0, 4, MANY)
    accepted, token = verify(p, q, drafted, rng=rng, lengths=lengths)
    assert (accepted <= lengths).all()
    assert set(accepted) == {0, 1, 2, 3}
    for length in range(4):
        chosen = lengths == length
        first = np.where(accepted > 0, drafted[:, 0], token)[chosen]
        counts = np.bincount(first, minlength=4)
        assert chisquare(counts, counts.sum() * p[0]).pvalue > 1e-3


@pytest.mark.parametrize("verify", [verify_chain, verify_block])
def test_what_lies_behind_the_length_is_not_looked_at(verify, rng):
    p, q = rows(rng, 3), rows(rng, 2)
    known = drafts(rng, q[:1], 1_000)
    hidden = np.concatenate([known, np.full((1_000, 1), -1)], axis=1)
    long = verify(p, q, hidden, rng=np.random.default_rng(1), lengths=1)
    assert (long.accepted <= 1).all()
    kept = long.accepted == 1
    assert near(kept, float(np.minimum(p[0], q[0]).sum()))


def test_dropping_drafted_tokens_after_seeing_them_biases_the_output(rng):
    p, q = [[0.7, 0.3]] * 2, [[0.5, 0.5]]
    drafted = drafts(rng, np.array(q), MANY)
    lengths = (drafted[:, 0] == 0).astype(int)
    accepted, token = verify_chain(p, q, drafted, rng=rng, lengths=lengths)
    first = np.where(accepted > 0, drafted[:, 0], token)
    assert near(first == 0, 0.85)


def test_without_a_draft_the_token_is_the_targets(rng):
    p = rows(rng, 1)
    drafted = np.empty((MANY, 0), int)
    for verify in (verify_chain, verify_block):
        accepted, token = verify(p, np.empty((0, 4)), drafted, rng=rng)
        assert not accepted.any()
        assert chisquare(np.bincount(token, minlength=4), MANY * p[0]).pvalue > 1e-3


def test_no_token_of_weight_0_is_ever_drawn(rng):
    weights = np.array([[0.0, 0.3, 0.0, 1e-300, 0.0]])
    u = np.concatenate([rng.random(1_000), [0.0, np.nextafter(1, 0)]])
    assert set(draw(weights, u)) <= {1, 3}


def test_shared_rows_are_judged_as_the_same_rows_repeated(rng):
    p, q = rows(rng, 4, vocabulary=9), rows(rng, 3, vocabulary=9)
    drafted = drafts(rng, q, 500)
    tiled = np.tile(p, (500, 1, 1)), np.tile(q, (500, 1, 1))
    once = verify_chain(p, q, drafted, rng=np.random.default_rng(5))
    each = verify_chain(*tiled, drafted, rng=np.random.default_rng(5))
    assert_array_equal(once, each)
    once = verify_block(p, q, drafted, rng=np.random.default_rng(5))
    each = verify_block(*tiled, drafted, rng=np.random.default_rng(5))
    assert_array_equal(once.accepted, each.accepted)


def test_the_excess_of_sorted_rows_is_the_excess(rng):
    p, q, scale = rows(rng, 1, vocabulary=50), rows(rng, 1, vocabulary=50), rng.random(200)
    q[0, :5] = 0
    p[0, 3:9] = 0
    direct = excess(np.repeat(p, 200, axis=0), np.repeat(q, 200, axis=0), scale)
    assert_allclose(excess(p, q, scale), direct, atol=1e-15)


def test_draws_from_the_excess_of_sorted_rows_have_its_law(rng):
    p, q = rows(rng, 1, vocabulary=6), rows(rng, 1, vocabulary=6)
    weights = np.maximum(0.8 * p - q, 0)[0]
    drawn = draw_excess(p, q, np.full(MANY, 0.8), rng.random(MANY))
    counts = np.bincount(drawn, minlength=6)
    assert not counts[weights == 0].any()
    there = weights > 0
    expected = MANY * weights[there] / weights.sum()
    assert chisquare(counts[there], expected).pvalue > 1e-3


# The shapes


def test_one_round_gives_two_ints(rng):
    found = verify_chain([P] * 3, [Q] * 2, [0, 1], rng=rng)
    assert isinstance(found.accepted, int)
    assert isinstance(found.token, int)


def test_rounds_keep_their_shape_and_broadcast(rng):
    p, q = rows(rng, 5, 1, 3), rows(rng, 7, 2)
    found = verify_chain(p, q, np.zeros((5, 1, 2), int), rng=rng)
    assert found.accepted.shape == found.token.shape == (5, 7)


@pytest.mark.parametrize("verify", [verify_chain, verify_block])
def test_no_rounds_give_no_tokens(verify, rng):
    found = verify([P] * 3, [Q] * 2, np.empty((0, 2), int), rng=rng)
    assert found.accepted.shape == found.token.shape == (0,)


BAD = {
    "a draft of other length": ([P] * 3, [Q] * 2, [0], r"p must have the shape \(..., 2"),
    "rows of q missing": ([P] * 3, [Q], [0, 1], r"q must have the shape \(..., 2"),
    "other vocabulary": ([P] * 2, [[0.5, 0.3, 0.2]], [0], "one vocabulary, got 2 and 3"),
    "no distribution": ([P, 0.9 * P], [Q], [0], "rows of p must sum to 1, got one that .* 0.9"),
    "negative": ([P] * 2, [[1.5, -0.5]], [0], "q must be at least 0"),
    "not a number": ([P] * 2, [[np.nan, 1]], [0], "q must be at least 0"),
    "an unknown token": ([P] * 2, [Q], [2], "from 0 to 1, got 2 to 2"),
    "a negative token": ([P] * 2, [Q], [-1], "from 0 to 1, got -1 to -1"),
    "fractions": ([P] * 2, [Q], [0.5], "whole numbers, got float64"),
    "a token that q cannot draw": ([P] * 2, [[1, 0]], [1], "got token 1 of probability 0"),
    "rounds that do not fit": ([[P] * 2] * 3, [[Q]] * 2, [[0]], "must broadcast"),
}


@pytest.mark.parametrize("verify", [verify_chain, verify_block])
@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_judged_is_refused_with_the_reason(verify, case, rng):
    p, q, drafted, message = BAD[case]
    with pytest.raises(DomainError, match=message):
        verify(p, q, drafted, rng=rng)


@pytest.mark.parametrize("lengths", [-1, 2, 0.5, np.nan])
def test_a_length_outside_the_draft_is_refused(lengths, rng):
    with pytest.raises(DomainError, match="lengths must be whole numbers from 0 to 1"):
        verify_chain([P] * 2, [Q], [0], rng=rng, lengths=lengths)


@pytest.mark.parametrize("lenience", [0, -1, 1.5, np.nan])
def test_lenience_outside_its_range_is_refused(lenience, rng):
    with pytest.raises(DomainError, match="lenience must be"):
        verify_chain([P] * 2, [Q], [0], rng=rng, lenience=lenience)
