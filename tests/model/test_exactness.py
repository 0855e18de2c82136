"""Which policies keep the output distribution: the real rejection rule under each of them."""

import numpy as np
import pytest

from gammaplan import Discounted, Heuristic, LinearCost, Past, verify_chain
from gammaplan.model.policies import Fixed, Tiers
from gammaplan.model.stops import StopAfter, StopBefore, StopOnProduct

P, Q = np.array([0.7, 0.3]), np.array([0.5, 0.5])  # target and draft, over the tokens A and B
ROUNDS = 200_000
ERROR = 5 * np.sqrt(0.25 / ROUNDS)


def share_of_a(drafted, lengths):
    """How often A comes first, if only so many tokens of each draft are verified."""
    p = np.tile(P, (3, 1))
    q = np.tile(Q, (2, 1))
    rng = np.random.default_rng(1)
    done = verify_chain(p, q, drafted, rng=rng, lengths=lengths)
    first = np.where(done.accepted > 0, drafted[:, 0], done.token)
    return float((first == 0).mean())


@pytest.fixture
def drafted():
    return np.random.default_rng(0).choice(2, size=(ROUNDS, 2), p=Q)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_a_length_chosen_from_the_past_is_exact(drafted, length):
    assert share_of_a(drafted, np.full(ROUNDS, length)) == pytest.approx(0.7, abs=ERROR)


def test_stopping_after_a_token_that_is_verified_is_exact(drafted):
    lengths = np.where(drafted[:, 0] == 0, 2, 1)  # B is doubtful: draft no further, verify it
    assert share_of_a(drafted, lengths) == pytest.approx(0.7, abs=ERROR)


def test_dropping_a_sampled_token_after_seeing_it_is_biased(drafted):
    lengths = np.where(drafted[:, 0] == 0, 1, 0)  # B is doubtful: do not verify it
    assert share_of_a(drafted, lengths) == pytest.approx(0.85, abs=ERROR)


def test_dropping_a_greedy_token_is_exact():
    """The draft's most probable token is no draw: what is dropped depends on the past alone."""
    greedy = np.zeros((ROUNDS, 2), dtype=int)
    for length in (0, 1):
        p, q = np.tile(P, (3, 1)), np.tile([1.0, 0.0], (2, 1))
        done = verify_chain(
            p, q, greedy, rng=np.random.default_rng(2), lengths=np.full(ROUNDS, length)
        )
        first = np.where(done.accepted > 0, 0, done.token)
        assert (first == 0).mean() == pytest.approx(0.7, abs=ERROR)


STREAMS, LENGTH, LONGEST = 40_000, 10, 6
SCORES = np.array([0.9, 0.3], dtype=np.float32)  # what the draft shows for A and for B


def written(lengths_of):
    """The first tokens of many streams, written round by round under the rejection rule."""
    rng = np.random.default_rng(5)
    p, q = np.tile(P, (LONGEST + 1, 1)), np.tile(Q, (LONGEST, 1))
    text = np.full((STREAMS, LENGTH + LONGEST + 1), -1)
    at, rows = np.zeros(STREAMS, dtype=int), np.arange(STREAMS)
    lengths = accepted = np.zeros(STREAMS, dtype=np.uint8)
    for index in range(LENGTH):
        draft = rng.choice(2, size=(STREAMS, LONGEST), p=Q)
        lengths = lengths_of(Past(index, lengths, accepted, LONGEST), draft)
        done = verify_chain(p, q, draft, rng=rng, lengths=lengths)
        accepted = np.asarray(done.accepted)
        for k in range(LONGEST):
            text[rows, np.minimum(at + k, LENGTH)] = draft[:, k]
        text[rows, np.minimum(at + accepted, LENGTH)] = done.token
        at = np.minimum(at + accepted + 1, LENGTH)
    return text[:, :LENGTH]


def looking_back(policy):
    """A policy of the past, which does not see what was drafted."""
    return lambda past, draft: policy.lengths(past)


def stopped(stop):
    """A stop rule, which sees the scores of what was drafted."""

    def lengths(past, draft):
        shown = np.append(SCORES[draft], np.zeros((len(draft), 1), dtype=np.float32), axis=1)
        return stop.wants(shown.ravel(), LONGEST)[:: LONGEST + 1]

    return lengths


EXACT = {
    "fixed": looking_back(Fixed(4)),
    "heuristic": looking_back(Heuristic()),
    "tiers": looking_back(Tiers(warm_up=2, every=1)),
    "ours": looking_back(Discounted(LinearCost(0.1))),
    "stop after": stopped(StopAfter(0.4)),
    "product stop": stopped(StopOnProduct(0.5)),
}


@pytest.mark.parametrize("name", EXACT)
def test_what_is_written_under_a_policy_has_the_law_of_the_target(name):
    first = written(EXACT[name]) == 0
    error = 5 * np.sqrt(0.25 / STREAMS)
    np.testing.assert_allclose(first.mean(axis=0), 0.7, atol=error)
    np.testing.assert_allclose((first[:, 1:] & first[:, :-1]).mean(axis=0), 0.49, atol=error)


def test_what_is_written_under_a_stop_that_drops_has_not():
    first = written(stopped(StopBefore(0.4))) == 0
    assert first[:, 0].mean() == pytest.approx(0.85, abs=5 * np.sqrt(0.25 / STREAMS))
