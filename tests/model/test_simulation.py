"""Rounds played out, one uniform for each verified token, against the formula."""

import numpy as np
import pytest

import gammaplan as gp
from gammaplan.errors import DomainError
from gammaplan.model.simulation import BLOCK, simulate_drafts


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.5, 0.8, 0.99, 1.0])
@pytest.mark.parametrize("gamma", [0, 1, 6, 40])
def test_tokens_per_round_are_those_of_the_formula(alpha, gamma):
    tally = simulate_drafts([alpha] * gamma, 100_000, rng=np.random.default_rng(3))
    off = abs(tally.mean_tokens - gp.expected_tokens(alpha, gamma))
    assert off <= 4.5 * tally.standard_error + 1e-12


def test_hazards_that_differ_give_their_survival():
    hazards = [0.9, 0.5, 0.7]
    tally = simulate_drafts(hazards, 100_000, rng=np.random.default_rng(3))
    law = gp.PerPosition(tuple(hazards))
    assert abs(tally.mean_tokens - law.expected_tokens(3)) <= 4.5 * tally.standard_error


def test_the_standard_error_is_that_of_repetitions():
    tallies = [simulate_drafts([0.8] * 6, 1_000, rng=np.random.default_rng(i)) for i in range(400)]
    spread = np.std([t.mean_tokens for t in tallies], ddof=1)
    assert spread == pytest.approx(np.mean([t.standard_error for t in tallies]), rel=0.12)


def test_a_single_round_has_no_standard_error():
    assert simulate_drafts([0.8], 1, rng=np.random.default_rng(0)).standard_error is None


@pytest.mark.parametrize("rounds", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_every_round_is_counted_once(rounds):
    done = []
    tally = simulate_drafts([0.7] * 3, rounds, rng=np.random.default_rng(0), told=done.append)
    assert tally.rounds == sum(done) == rounds


def test_one_uniform_is_drawn_for_each_verified_token():
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    tally = simulate_drafts([0.7] * 4, 70_000, rng=rng)
    verified = sum(n * min(k + 1, 4) for k, n in enumerate(tally.by_accepted))
    other.bit_generator.advance(verified)
    assert rng.random() == other.random()


def test_the_same_seed_plays_the_same_rounds():
    one, two = (simulate_drafts([0.7] * 4, 999, rng=np.random.default_rng(5)) for _ in range(2))
    assert one.by_accepted == two.by_accepted


@pytest.mark.parametrize("hazards", [[1.1], [-0.1], [float("nan")]])
def test_a_hazard_outside_0_and_1_is_refused(hazards):
    with pytest.raises(DomainError, match=r"hazards must be in \[0, 1\]"):
        simulate_drafts(hazards, 10, rng=np.random.default_rng(0))


@pytest.mark.parametrize("rounds", [0, -1])
def test_no_rounds_are_refused(rounds):
    with pytest.raises(DomainError, match="rounds must be at least 1"):
        simulate_drafts([0.5], rounds, rng=np.random.default_rng(0))
