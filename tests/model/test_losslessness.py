"""Rules over real rows: exact ones pass, and wrong ones are found out."""

import numpy as np
import pytest
from scipy.stats import kstest

from gammaplan.model.losslessness import Losslessness, transformed
from gammaplan.model.playing import Play, plays, shared_out, simulate_rules
from gammaplan.model.rounds import Verified
from gammaplan.model.verification import verify_chain

PAIRS, ROUNDS = 200, 10_000
EXACT = [name for name, play in plays().items() if play.exact]
LOSSY = [name for name, play in plays().items() if not play.exact]


def pair(seed):
    """A random target and draft: vocabulary 2..50, gamma 1..6, from flat to peaked."""
    rng = np.random.default_rng([7, seed])
    vocabulary, gamma = int(rng.integers(2, 51)), int(rng.integers(1, 7))
    p = rng.dirichlet(np.full(vocabulary, rng.choice([0.2, 1.0, 5.0])), size=gamma + 1)
    noise = rng.dirichlet(np.full(vocabulary, 0.7), size=gamma)
    return p, 0.6 * p[:-1] + 0.4 * noise


def simulate_rule(play, windows, rounds, *, rng):
    shares = shared_out(rounds, len(windows))
    return simulate_rules({"": play}, windows[: len(shares)], shares, rng=rng)[""]


def p_values(play_for, rounds, pairs=PAIRS):
    found = []
    for seed in range(pairs):
        p, q = pair(seed)
        played = simulate_rule(
            play_for(p, q), [(p, q)], rounds, rng=np.random.default_rng([11, seed])
        )
        found.append(played.goodness.p_value)
    return np.array(found)


@pytest.mark.parametrize("name", EXACT)
def test_p_values_of_an_exact_rule_are_uniform(name):
    found = p_values(lambda p, q: plays()[name], ROUNDS)
    assert kstest(found, "uniform").pvalue > 0.01


@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_rule_is_found_out(name):
    assert np.mean(p_values(lambda p, q: plays()[name], ROUNDS, pairs=50) < 1e-4) > 0.9


def test_a_rule_that_is_2_percent_wrong_is_found_out():
    """Its first token differs from the target's in total variation by 0.02 times the draft's."""

    def wrong(p, q):
        refused = 1 - np.minimum(p[:-1], q).sum(axis=-1).min()
        return careless(min(1, 0.02 / refused))

    assert np.mean(p_values(wrong, 100_000, pairs=50) < 1e-4) > 0.95


def test_acceptance_that_is_2_percent_too_high_is_seen_in_most_pairs():
    found = p_values(lambda p, q: plays(lenience=0.98)["lenience"], 400_000, pairs=30)
    assert np.mean(found < 0.01) > 0.8


def test_a_rule_that_corrects_from_p_instead_of_the_residual_is_found_out():
    def verify(p, q, drafted, *, rng):
        accepted, token = verify_chain(p, q, drafted, rng=rng)
        own = rng.choice(len(p[0]), p=p[0], size=len(token))
        return Verified(accepted, np.where(accepted == 0, own, token))

    found = p_values(lambda p, q: Play(False, verify), 40_000, pairs=50)
    assert np.mean(found < 1e-4) > 0.9


def test_positions_that_are_right_alone_and_wrong_together_are_found_out():
    rng = np.random.default_rng(0)
    test = Losslessness(2, ROUNDS)
    u = rng.random((ROUNDS, 1))
    test.add(np.concatenate([u, (u + 0.5) % 1], axis=1))
    assert test.result().p_value < 1e-100


def test_positions_beyond_the_seventh_are_tested():
    rng = np.random.default_rng(0)
    test = Losslessness(20, ROUNDS)
    u = rng.random((ROUNDS, 20))
    u[:, 15] **= 1.2
    test.add(u)
    assert test.result().p_value < 1e-6


def careless(share):
    """A rule that emits this share of the refused tokens all the same."""

    def verify(p, q, drafted, *, rng):
        accepted, token = verify_chain(p, q, drafted, rng=rng)
        refused = accepted < drafted.shape[1]
        at = np.minimum(accepted, drafted.shape[1] - 1)
        slips = refused & (rng.random(len(token)) < share)
        return Verified(accepted, np.where(slips, drafted[np.arange(len(token)), at], token))

    return Play(False, verify)


def test_windows_of_different_rows_share_one_test():
    windows = [pair_of(3, seed) for seed in range(40)]
    rng = np.random.default_rng(0)
    good = simulate_rule(plays()["block"], windows, 20_000, rng=rng)
    bad = simulate_rule(careless(0.3), windows, 20_000, rng=rng)
    assert good.goodness.p_value > 0.001
    assert bad.goodness.p_value < 1e-6
    assert good.tally.counts.shape == (40, 4)


def pair_of(gamma, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(12), size=gamma + 1)
    return p, rng.dirichlet(np.ones(12), size=gamma)


@pytest.mark.parametrize("rounds", [1, 2, 39])
def test_too_few_rounds_are_not_tested(rounds):
    played = simulate_rule(
        plays()["residual"], [pair_of(3, 0)], rounds, rng=np.random.default_rng(0)
    )
    assert played.goodness is None
    assert played.tally.rounds == rounds


def test_a_few_rounds_are_tested_with_few_cells():
    found = [
        simulate_rule(plays()["residual"], [pair_of(3, i)], 60, rng=np.random.default_rng(i))
        for i in range(200)
    ]
    assert found[0].goodness.df == 4 * (3 - 1)
    assert kstest([f.goodness.p_value for f in found], "uniform").pvalue > 0.001


def test_fewer_rounds_than_windows_leave_windows_out():
    windows = [pair_of(2, seed) for seed in range(5)]
    played = simulate_rule(plays()["residual"], windows, 3, rng=np.random.default_rng(0))
    assert played.tally.counts.shape == (3, 3)


@pytest.mark.parametrize("name", [n for n, play in plays().items() if play.rule])
def test_tokens_per_round_are_those_of_alpha(name):
    windows = [pair_of(3, seed) for seed in range(4)]
    play = plays()[name]
    played = simulate_rule(play, windows, 100_000, rng=np.random.default_rng(0))
    tally, expected = played.tally, 1 + played.survival.sum()
    assert abs(tally.mean_tokens - expected) <= 4.5 * tally.standard_error + 1e-12


def test_the_transform_of_a_token_stays_within_its_own_mass():
    p, order = np.array([0.2, 0.5, 0.3]), np.array([2, 0, 1])
    low = transformed(np.arange(3), p, order, np.zeros(3))
    high = transformed(np.arange(3), p, order, np.ones(3))
    assert low.tolist() == pytest.approx([0.3, 0.5, 0.0])
    assert high.tolist() == pytest.approx([0.5, 1.0, 0.3])
