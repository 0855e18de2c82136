"""Which policies keep the output distribution: the real rejection rule under each of them."""

import numpy as np
import pytest

from gammaplan import verify_chain

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
