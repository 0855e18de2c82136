"""Rules over real rows: exact ones pass, and wrong ones are found out."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from gammaplan.model.losslessness import Losslessness, classes
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
    """It keeps 2 % of the tokens drafted where most are refused: what it emits there is 2 % off."""

    def wrong(p, q):
        refused = 1 - np.minimum(p[:-1], q).sum(axis=-1).min()
        return careless(min(1, 0.02 / refused))

    assert np.mean(p_values(wrong, 150_000, pairs=25) < 1e-4) > 0.95


def test_acceptance_that_is_2_percent_too_eager_is_seen_in_most_pairs():
    found = p_values(lambda p, q: plays(lenience=0.98)["lenience"], 300_000, pairs=16)
    assert np.mean(found < 0.01) > 0.5


def test_a_rule_that_corrects_from_p_instead_of_the_residual_is_found_out():
    def verify(p, q, drafted, *, rng):
        accepted, token = verify_chain(p, q, drafted, rng=rng)
        own = rng.choice(len(p[0]), p=p[0], size=len(token))
        return Verified(accepted, np.where(accepted == 0, own, token))

    found = p_values(lambda p, q: Play(False, verify), 40_000, pairs=25)
    assert np.mean(found < 1e-4) > 0.9


def counted(tokens, p):
    """The test of these sequences, the vocabulary cut in its own order."""
    test = Losslessness(len(p), len(tokens))
    test.add(tokens, p, [np.arange(p.shape[1])] * len(p))
    return test.result()


def test_positions_that_are_right_alone_and_wrong_together_are_found_out():
    first = np.random.default_rng(0).integers(0, 2, ROUNDS)
    assert counted(np.stack([first, 1 - first], axis=1), np.full((2, 2), 0.5)).p_value < 1e-100


def test_positions_beyond_the_seventh_are_tested():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 2, (ROUNDS, 20))
    fair = np.full((20, 2), 0.5)
    assert counted(tokens, fair).p_value > 0.001
    tokens[:, 15] = rng.random(ROUNDS) < 0.4
    assert counted(tokens, fair).p_value < 1e-6


def test_one_token_that_should_never_be_emitted_is_enough():
    p = np.array([[0.5, 0.5, 0.0]])
    tokens = np.random.default_rng(0).integers(0, 2, (ROUNDS, 1))
    tokens[7] = 2
    assert counted(tokens, p).p_value == 0


def test_where_only_one_sequence_is_possible_it_passes():
    found = counted(np.zeros((ROUNDS, 3), int), np.array([[1.0, 0.0]] * 3))
    assert (found.statistic, found.df, found.p_value) == (0, 0, 1)


def test_for_one_window_the_statistic_is_pearsons():
    p = np.array([[0.3, 0.7], [0.6, 0.4]])
    rng = np.random.default_rng(0)
    tokens = np.stack([rng.choice(2, ROUNDS, p=row) for row in p], axis=1)
    counts = np.bincount(tokens @ [2, 1], minlength=4)
    law = np.multiply.outer(*p).ravel()
    ours, theirs = counted(tokens, p), chisquare(counts, ROUNDS * law)
    assert ours.df == 3
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


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
    assert found[0].goodness.df == 4 * (2 - 1)
    assert kstest([f.goodness.p_value for f in found], "uniform").pvalue > 0.001


def test_fewer_rounds_than_windows_leave_windows_out():
    windows = [pair_of(2, seed) for seed in range(5)]
    played = simulate_rule(plays()["residual"], windows, 3, rng=np.random.default_rng(0))
    assert played.tally.counts.shape == (3, 3)


@pytest.mark.parametrize("name", plays())
def test_tokens_per_round_are_those_of_the_formula(name):
    windows = [pair_of(3, seed) for seed in range(4)]
    play = plays()[name]
    played = simulate_rule(play, windows, 100_000, rng=np.random.default_rng(0))
    off = abs(played.tally.mean_tokens - played.expected_tokens)
    assert off <= 4.5 * played.tally.standard_error + 1e-12


def test_blocks_of_too_many_values_have_no_formula():
    p, q = np.random.default_rng(0).dirichlet(np.ones(500), size=(2, 5))
    played = simulate_rule(plays()["block"], [(p, q[:4])], 40, rng=np.random.default_rng(0))
    assert played.expected_tokens is None


def test_p_values_over_many_windows_are_uniform():
    windows = [pair_of(2, seed) for seed in range(12)]
    found = [
        simulate_rule(plays()["residual"], windows, 1_500, rng=np.random.default_rng(i))
        for i in range(150)
    ]
    assert kstest([f.goodness.p_value for f in found], "uniform").pvalue > 0.01


@pytest.mark.parametrize("cuts", [1, 2, 5, 30])
def test_classes_of_a_flat_row_are_equal(cuts):
    shares = np.bincount(classes(np.full(3_000, 1 / 3_000), np.arange(3_000), cuts)) / 3_000
    assert shares == pytest.approx(np.full(cuts, 1 / cuts), abs=1 / 2_000)


def test_a_token_that_holds_nearly_everything_has_a_class_without_the_others():
    assert classes(np.array([0.01, 0.98, 0.01]), np.array([1, 0, 2]), 2).tolist() == [1, 0, 1]
