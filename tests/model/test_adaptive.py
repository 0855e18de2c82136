"""Policies of draft length: the bounds, the gains of theory and what no policy may do."""

import itertools
import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

from gammaplan import (
    Discounted,
    DomainError,
    Heuristic,
    LinearCost,
    Regimes,
    Requests,
    TableCost,
    Tokens,
    clairvoyant,
    compare_policies,
    drawn,
    optimal_gamma,
    perfect_confidence,
    speedup,
)
from gammaplan.model.adaptive import OWN_ALPHA, paired_gain, round_costs
from gammaplan.model.causal import best_causal
from gammaplan.model.hindsight import bound_times, fixed_times
from gammaplan.model.policies import Fixed, Tiers, best_lengths
from gammaplan.model.processes import beta_parameters
from gammaplan.model.replay import PolicyError, replay
from gammaplan.model.stops import StopAfter, StopBefore, StopOnProduct, best_floor
from gammaplan.model.streams import Streams, runs

COST = LinearCost(0.1)
HISTORY = {"heuristic": Heuristic(), "tiers": Tiers()}


def best(alpha, c):
    return speedup(alpha, c, optimal_gamma(alpha, c))


def compared(process, c=0.1, requests=300, tokens=2_000, seed=1, **policies):
    cost = LinearCost(c)
    return compare_policies(
        drawn(process, requests=requests, tokens=tokens, seed=seed),
        {**HISTORY, "ours": Discounted(cost), **policies},
        cost,
    )


def product_stop(process, c=0.1):
    shown = process.worth(process.scores(8_192 * 64, np.random.default_rng(3))).reshape(8_192, 64)
    floor, _ = best_floor(shown, round_costs(LinearCost(c))[:65])
    return StopOnProduct(floor, process.worth)


# bounds


@pytest.mark.parametrize(
    ("alpha", "c", "ratio"), [(0.8, 0.1, 1.446), (0.7, 0.05, 1.269), (0.6, 0.02, 1.119)]
)
def test_the_clairvoyant_beats_the_best_fixed_length_by_the_published_ratio(alpha, c, ratio):
    assert clairvoyant(alpha, c) / best(alpha, c) == pytest.approx(ratio, abs=5e-4)


@given(st.floats(0.01, 0.999), st.floats(1e-4, 1.0))
def test_the_clairvoyant_never_beats_it_by_e_over_e_minus_1(alpha, c):
    assert clairvoyant(alpha, c) / best(alpha, c) < math.e / (math.e - 1)


def test_e_over_e_minus_1_is_approached():
    delta = 1e-8
    c = delta / (math.e - 2)
    assert clairvoyant(1 - delta, c) / best(1 - delta, c) == pytest.approx(
        math.e / (math.e - 1), abs=2e-4
    )


def test_the_bounds_hold_for_the_streams_that_were_drawn():
    found = compared(Requests(0.8), requests=500)
    assert found.bounds["clairvoyant"] == pytest.approx(clairvoyant(0.8, 0.1), rel=0.01)
    assert found.bounds["perfect_confidence"] == pytest.approx(
        perfect_confidence(0.8, 0.1), rel=0.01
    )
    assert found.fixed[6] == pytest.approx(best(0.8, 0.1), rel=0.01)


@pytest.mark.parametrize(
    "cost",
    [
        COST,
        LinearCost(0.02, overhead=0.5),
        LinearCost(0.3, verify_slope=0.2),
        TableCost([1, 2, 4, 8], [1.4, 1.5, 2.5, 2.6]),
    ],
)
def test_the_clairvoyant_is_the_best_of_all_ways_to_cut_a_stream_into_rounds(cost):
    rng = np.random.default_rng(0)
    costs = round_costs(cost)
    for _ in range(20):
        outcomes = rng.random(12) < 0.7
        streams = Streams(np.append(outcomes, False), np.array([12]))
        least = np.full(14, np.inf)
        least[12:] = 0.0
        for t in range(11, -1, -1):
            for gamma in range(min(len(costs), 13)):
                accepted = min(int(streams.ahead[t]), gamma)
                after = min(t + accepted + 1, 12)
                least[t] = min(least[t], costs[gamma] + least[after])
        assert bound_times(streams, costs).clairvoyant[0] == pytest.approx(least[0], rel=1e-12)


@given(
    outcomes=st.lists(st.booleans(), min_size=1, max_size=60),
    lengths=st.lists(st.integers(0, 12), min_size=60, max_size=60),
)
def test_no_sequence_of_lengths_beats_the_clairvoyant(outcomes, lengths):
    class Any:
        def lengths(self, past):
            return np.array([lengths[past.round]])

    streams = Streams(np.append(outcomes, False), np.array([len(outcomes)]))
    costs = round_costs(COST)
    least = bound_times(streams, costs).clairvoyant[0]
    assert replay(streams, Any(), costs).time[0] >= least - 1e-9


@pytest.mark.parametrize("gamma", [0, 1, 3, 7])
def test_a_fixed_length_needs_no_stepping(gamma):
    streams = next(drawn(Regimes(0.9, 0.4, 30), requests=20, tokens=333, seed=2)())
    costs = round_costs(COST)
    stepped = replay(streams, Says(lambda past: np.full(past.streams, gamma)), costs).time
    np.testing.assert_array_equal(
        replay(streams, Fixed(gamma), costs).time, fixed_times(streams, gamma, costs)
    )
    np.testing.assert_allclose(fixed_times(streams, gamma, costs), stepped, rtol=1e-12)


# gains


@pytest.mark.parametrize(
    ("spread", "published", "precise"),
    [(0.12, 0.019, 0.0178), (0.20, 0.056, 0.0552), (0.28, 0.129, 0.1251), (0.35, 0.23, 0.2301)],
)
def test_a_perfect_confidence_gains_what_its_law_allows(spread, published, precise):
    """`precise` is from value iteration over the product, apart from the renewal measure here."""
    process = Tokens(0.8, spread)
    stop = product_stop(process)
    gain = compared(process, requests=400, tokens=4_000, stop=stop).gains["stop"]
    exact = exact_stopping(0.8, spread, 0.1) / best(0.8, 0.1) - 1
    assert exact == pytest.approx(precise, abs=1e-4)
    assert exact == pytest.approx(published, abs=0.005)
    assert gain.gain == pytest.approx(exact, abs=0.003)


def exact_stopping(alpha, spread, c):
    """The best product stop by the renewal measure of -log P, on a grid."""
    b = betaincinv(*beta_parameters(alpha, spread), (np.arange(50_000) + 0.5) / 50_000)
    cells, last = 500, 800
    steps = -np.log(b) * cells
    low = np.floor(steps).astype(int)
    weight = np.zeros(last + 2)
    for at, share in ((low, low + 1 - steps), (low + 1, steps - low)):
        weight += np.bincount(np.minimum(at, last + 1), share, last + 2) / len(b)
    renewal = np.zeros(last + 1)
    renewal[0] = 1 / (1 - weight[0])
    for g in range(1, last + 1):
        renewal[g] = weight[1 : g + 1] @ renewal[g - 1 :: -1][:g] / (1 - weight[0])
    product = np.exp(-np.arange(last + 1) / cells)
    tokens, drafted = 1 + alpha * np.cumsum(renewal * product), np.cumsum(renewal)
    return float((tokens / (1 + c * drafted)).max())


@pytest.mark.parametrize("spread", [0.12, 0.35])
def test_a_useless_confidence_gains_nothing(spread):
    process = Tokens(0.8, spread, quality=0.0)
    found = compared(process, stop=product_stop(process), after=StopAfter(), before=StopBefore())
    for name in ("stop", "after", "before"):
        assert found.gains[name].low <= 0


def test_half_a_confidence_gains_less_than_a_whole_one():
    half, whole = (
        compared(p, stop=product_stop(p)).gains["stop"].gain
        for p in (Tokens(0.8, 0.28, 0.5), Tokens(0.8, 0.28))
    )
    assert 0 < half < whole / 2


@pytest.mark.parametrize(
    ("spread", "published"), [(0.10, 0.022), (0.15, 0.048), (0.20, 0.084), (0.25, 0.131)]
)
def test_knowing_the_alpha_of_each_request_gains_what_is_published(spread, published):
    found = compared(Requests(0.7, spread), c=0.05, requests=6_000, tokens=400)
    gain = found.gains[OWN_ALPHA]
    assert gain.gain == pytest.approx(published, abs=0.004)
    assert 0 < found.gains["ours"].gain < gain.gain


@pytest.mark.parametrize(
    ("groups", "published"), [((0.6, 0.8), 0.023), ((0.5, 0.9), 0.090), ((0.3, 0.9), 0.129)]
)
def test_knowing_the_group_of_each_request_gains_what_is_published(groups, published):
    costs = round_costs(LinearCost(0.05))
    lengths = np.arange(len(costs))
    times = [costs / ((1 - a ** (lengths + 1)) / (1 - a)) for a in groups]
    known, one = sum(t.min() for t in times), sum(times).min()
    assert one / known - 1 == pytest.approx(published, abs=1e-3)


# nothing varies


@pytest.mark.parametrize(("alpha", "c"), [(0.8, 0.01), (0.8, 0.1), (0.5, 0.1), (0.9, 0.02)])
def test_where_nothing_varies_no_policy_of_the_past_gains(alpha, c):
    found = compared(Requests(alpha), c=c)
    assert all(gain.low <= 0 for gain in found.gains.values())
    assert found.gains["ours"].gain > -0.01


def test_after_200_rounds_ours_lost_at_most_a_hundredth():
    found = compared(Requests(0.8), requests=2_000, tokens=800)  # 200 rounds of about 4 tokens
    assert found.gains["ours"].low > -0.01


@pytest.mark.parametrize(("c", "share"), [(0.01, 0.82), (0.05, 0.93), (0.1, 0.96)])
def test_the_heuristic_ignores_the_cost(c, share):
    gain = compared(Requests(0.8), c=c).gains["heuristic"].gain
    assert 1 + gain == pytest.approx(share, abs=0.006)


class Groups:
    """Requests of a few kinds in turn, each with its α."""

    def __init__(self, *alphas):
        self.alphas = alphas

    def draw(self, streams, tokens, rng):
        alpha = np.resize(self.alphas, streams)
        accepted = rng.random((streams, tokens + 1)) < alpha[:, None]
        accepted[:, -1] = False
        return Streams(accepted.ravel(), np.full(streams, tokens), alpha=alpha)


@pytest.mark.parametrize(("process", "c"), [
    (Requests(0.7, 0.10), 0.05), (Requests(0.7, 0.15), 0.05), (Requests(0.7, 0.20), 0.05),
    (Requests(0.7, 0.25), 0.05), (Groups(0.6, 0.8), 0.05), (Groups(0.5, 0.9), 0.05),
    (Groups(0.3, 0.9), 0.05), (Requests(0.8), 0.01), (Requests(0.8), 0.05), (Requests(0.8), 0.1),
])  # fmt: skip
def test_no_other_policy_of_the_past_is_better_than_ours(process, c):
    gains = compared(process, c=c, requests=400).gains
    assert max(gains["heuristic"].high, gains["tiers"].high) < gains["ours"].low


# regimes


def heuristic_in_the_long_run(states, dwell, c, longest=60):
    """The speedup of the heuristic and of the best fixed length, from their Markov chains."""
    accept = np.diag(states)
    turn = np.array([[dwell - 1, 1], [1, dwell - 1]]) / dwell
    power, refused, tokens = np.eye(2), np.zeros((2, 2)), np.zeros(2)
    moves = np.zeros((longest + 1, 2, longest + 1, 2))
    emitted, fixed = np.zeros((longest + 1, 2)), []
    for gamma in range(longest + 1):
        tokens = tokens + power.sum(axis=1)
        whole = power @ turn
        emitted[gamma] = tokens
        moves[gamma, :, max(gamma - 1, 1)] += refused
        moves[gamma, :, min(gamma + 2, longest)] += whole
        fixed.append(stationary(refused + whole) @ tokens / (1 + c * gamma))
        refused = refused + power @ (np.eye(2) - accept) @ turn
        power = power @ accept @ turn
    often = stationary(moves.reshape(2 * longest + 2, -1)).reshape(-1, 2)
    cost = 1 + c * np.arange(longest + 1)
    return (often * emitted).sum() / (often.sum(axis=1) @ cost), max(fixed)


def stationary(moves):
    """How often a chain is in each state."""
    system = np.vstack([moves.T - np.eye(len(moves)), np.ones(len(moves))])
    return np.linalg.lstsq(system, np.append(np.zeros(len(moves)), 1.0), rcond=None)[0]


@pytest.mark.parametrize(("states", "dwell", "heuristic"), [
    ((0.9, 0.4), 20, 0.0141), ((0.9, 0.4), 100, 0.0504), ((0.9, 0.4), 1_000, 0.0758),
    ((0.95, 0.3), 20, 0.0351), ((0.95, 0.3), 100, 0.0814), ((0.95, 0.3), 1_000, 0.1334),
])  # fmt: skip
def test_in_regimes_ours_gains_more_than_the_heuristic_and_no_more_than_can_be(
    states, dwell, heuristic
):
    process = Regimes(*states, dwell)
    found = compared(process, requests=400, tokens=4_000)
    limit = best_causal(process, round_costs(COST)).gain
    precise, fixed = heuristic_in_the_long_run(states, dwell, 0.1)
    assert precise / fixed - 1 == pytest.approx(heuristic, abs=1e-4)
    assert found.gains["heuristic"].gain == pytest.approx(heuristic, abs=0.008)
    assert found.gains["heuristic"].high < found.gains["ours"].low
    assert found.gains["ours"].low < limit


def test_the_heuristic_cannot_gain_9_percent_however_long_a_regime_lasts():
    """Each regime is i.i.d. then; half of the tokens are of each."""
    rates = [
        compared(Requests(alpha), tokens=4_000).gains["heuristic"].speedup for alpha in (0.9, 0.4)
    ]
    lengths = np.arange(20)
    fixed = max(2 / sum(1 / speedup(a, 0.1, lengths) for a in (0.9, 0.4)))
    assert 2 / sum(1 / r for r in rates) / fixed - 1 < 0.09


def test_where_the_regimes_are_alike_the_past_is_worth_nothing():
    found = best_causal(Regimes(0.8, 0.8, 50), round_costs(COST))
    assert found.speedup == pytest.approx(best(0.8, 0.1))
    assert found.gain == pytest.approx(0, abs=1e-9)


def test_the_best_fixed_length_of_a_law_is_that_of_its_streams():
    found = compared(Regimes(0.9, 0.4, 30), requests=500)
    limit = best_causal(Regimes(0.9, 0.4, 30), round_costs(COST))
    assert found.fixed.max() == pytest.approx(limit.fixed, rel=0.005)


def test_regimes_that_never_end_are_as_good_as_known():
    known = 2 / (1 / best(0.9, 0.1) + 1 / best(0.4, 0.1))
    limit = best_causal(Regimes(0.9, 0.4, 1e6), round_costs(COST))
    assert limit.speedup == pytest.approx(known, rel=0.01)


# the comparison


def test_the_interval_of_a_gain_covers_it():
    covered = 0
    truth = compared(Regimes(0.9, 0.4, 50), requests=2_000, tokens=400).gains["ours"].gain
    for seed in range(40):
        gain = compared(Regimes(0.9, 0.4, 50), requests=30, tokens=400, seed=seed).gains["ours"]
        covered += gain.low <= truth <= gain.high
    assert covered >= 34


def test_pairing_takes_out_what_requests_share():
    rng = np.random.default_rng(0)
    base = rng.uniform(10, 100, 50)
    _, low, high = paired_gain(base, base / 1.05)
    assert low == pytest.approx(0.05)
    assert high == pytest.approx(0.05)


def test_one_request_has_no_interval():
    assert paired_gain(np.array([2.0]), np.array([1.0])) == (1.0, None, None)


def test_policies_meet_the_same_streams_and_leave_nothing_behind():
    ours = Discounted(COST)
    first = compared(Requests(0.8), tokens=300, ours=ours, again=Discounted(COST))
    assert first.gains["ours"] == first.gains["again"]
    assert compared(Requests(0.8), tokens=300, ours=ours).gains["ours"] == first.gains["ours"]


def test_many_blocks_are_as_good_as_one(monkeypatch):
    whole = compared(Regimes(0.9, 0.4, 30), requests=40, tokens=500)
    several = []
    streams = next(drawn(Regimes(0.9, 0.4, 30), requests=40, tokens=500, seed=1)())
    bits = streams.accepted.reshape(40, 501)
    for rows in (slice(0, 7), slice(7, 40)):
        part = bits[rows]
        several.append(Streams(part.ravel(), np.full(len(part), 500), request=np.arange(40)[rows]))
    found = compare_policies(lambda: several, {**HISTORY, "ours": Discounted(COST)}, COST)
    assert found.best_fixed == whole.best_fixed
    for name in found.gains:
        assert found.gains[name].gain == pytest.approx(whole.gains[name].gain, abs=1e-12)
        assert found.gains[name].low == pytest.approx(whole.gains[name].low, abs=1e-12)


def test_the_best_fixed_length_is_that_of_all_streams_not_of_the_first():
    def blocks():
        for alpha in (0.3, 0.9, 0.9):
            yield from drawn(Requests(alpha), requests=20, tokens=500, seed=0)()

    found = compare_policies(blocks, {"fixed": Fixed(0)}, COST)
    assert found.best_fixed == int(np.argmax(found.fixed))
    assert found.gains["fixed"].speedup == pytest.approx(1)
    assert found.gains["fixed"].gain == pytest.approx(1 / found.fixed.max() - 1)


# policies that misbehave


class Says:
    def __init__(self, answer):
        self.answer = answer

    def lengths(self, past):
        return self.answer(past)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            lambda past: np.full(past.streams, -1),
            "policy Says must return lengths from 0 to 128, got -1",
        ),
        (
            lambda past: np.full(past.streams, 10**9),
            "policy Says must return lengths from 0 to 128, got 1000000000",
        ),
        (
            lambda past: np.full(past.streams, np.nan),
            "policy Says must return 3 whole numbers, got float64",
        ),
        (lambda past: [1, 2], "policy Says must return 3 whole numbers"),
        (lambda past: None, "policy Says must return 3 whole numbers"),
        (lambda past: 1 / 0, "policy Says failed in round 1: ZeroDivisionError"),
    ],
)
def test_a_policy_that_misbehaves_is_named(answer, said):
    blocks = drawn(Requests(0.8), requests=3, tokens=50, seed=0)
    with pytest.raises(PolicyError, match=said):
        compare_policies(blocks, {"mine": Says(answer)}, COST)


def test_a_policy_may_look_at_the_past_only():
    seen = []

    def answer(past):
        seen.append((past.round, past.drafted.copy(), past.accepted.copy()))
        return np.full(past.streams, 2)

    streams = Streams(np.array([True, True, False, True, False, False]), np.array([5]))
    replay(streams, Says(answer), round_costs(COST))
    assert [(r, int(d[0]), int(a[0])) for r, d, a in seen] == [(0, 0, 0), (1, 2, 2), (2, 2, 1)][:2]


POLICIES = [Heuristic(), Tiers(), Discounted(COST), Fixed(3)]


def decisions(policy, streams):
    """Where every round of the first stream starts, and how long its draft is."""
    found, at = [], 0

    def answer(past):
        nonlocal at
        given = policy.lengths(past)
        found.append((at, int(given[0])))
        at += min(int(streams.ahead[at]), int(given[0])) + 1
        return given

    replay(streams, Says(answer), round_costs(COST))
    return found


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_another_future_changes_no_decision_before_it(policy):
    outcomes = np.random.default_rng(4).random(300) < 0.7
    for now in range(100, 130):
        futures = [
            Streams(np.append(outcomes, False), np.array([300])),
            Streams(np.append(outcomes[:now], np.zeros(201, dtype=bool)), np.array([now + 200])),
            Streams(np.append(outcomes[:now], [True] * 200 + [False]), np.array([now + 200])),
        ]
        seen = [decisions(deepcopy(policy), streams) for streams in futures]
        known = [[one for one in each if one[0] <= now] for each in seen]
        assert len(known[0]) > 20
        assert known[1] == known[2] == known[0]


@pytest.mark.parametrize("stop", [StopAfter(), StopBefore(), StopOnProduct(0.3)])
def test_a_stop_rule_looks_at_no_token_that_it_has_not_drafted(stop):
    rng = np.random.default_rng(4)
    score = rng.beta(4, 1, 600).astype(np.float32)
    want = stop.wants(score, 30)
    for at in range(0, 500, 7):
        changed = score.copy()
        changed[at + int(want[at]) + stop.drops :] = rng.random(1)
        assert stop.wants(changed, 30)[at] == want[at]


def test_a_stop_rule_without_confidences_is_refused():
    blocks = drawn(Requests(0.8), requests=3, tokens=50, seed=0)
    with pytest.raises(PolicyError, match="StopAfter needs confidences"):
        compare_policies(blocks, {"stop": StopAfter()}, COST)


@pytest.mark.parametrize("name", ["own_alpha", "best_fixed", "clairvoyant"])
def test_a_policy_cannot_be_called_like_a_result(name):
    with pytest.raises(DomainError, match=name):
        compare_policies(list, {name: Fixed(1)}, COST)


def test_no_tokens_are_refused():
    with pytest.raises(DomainError, match="no tokens"):
        compare_policies(list, {}, COST)


@pytest.mark.parametrize("longest", [-1, 256])
def test_a_longest_draft_that_no_stream_knows_is_refused(longest):
    with pytest.raises(DomainError, match=f"max_gamma must be from 0 to 255, got {longest}"):
        compare_policies(list, {}, COST, max_gamma=longest)


@pytest.mark.parametrize("dtype", ["i1", "<i2", ">i4", "<i8", "u1", ">u8"])
def test_lengths_may_be_whole_numbers_of_any_kind(dtype):
    streams = next(drawn(Requests(0.8), requests=3, tokens=50, seed=0)())
    costs = round_costs(COST)
    found = replay(streams, Says(lambda past: np.full(past.streams, 7, dtype=dtype)), costs)
    np.testing.assert_allclose(found.time, fixed_times(streams, 7, costs))
    with pytest.raises(PolicyError, match="from 0 to 5, got 7"):
        replay(streams, Says(lambda past: np.full(past.streams, 7, dtype=dtype)), costs[:6])


# streams


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 20), st.integers(1, 9))
def test_runs_are_counted_up_to_a_limit_wherever_chunks_meet(true, most, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gammaplan.model.streams.CHUNK", chunk)
        found = runs(np.array(true), most)
    for at, count in enumerate(found.tolist()):
        in_a_row = len(list(itertools.takewhile(bool, true[at:])))
        assert count == min(in_a_row, most)


def test_a_run_is_never_counted_above_255():
    assert runs(np.ones(700, dtype=bool)).tolist() == [255] * 445 + list(range(255, 0, -1))


def test_lengths_of_their_own_are_fixed_lengths_side_by_side():
    streams = next(drawn(Requests(0.8), requests=4, tokens=200, seed=0)())
    costs = round_costs(COST)
    own = fixed_times(streams, [0, 2, 5, 9], costs)
    for stream, gamma in enumerate([0, 2, 5, 9]):
        assert own[stream] == pytest.approx(fixed_times(streams, gamma, costs)[stream])


def test_a_score_is_the_probability_of_its_token():
    streams = Tokens(0.6, 0.3).draw(400, 1_000, np.random.default_rng(0))
    known = np.delete(np.arange(len(streams.score)), streams.ends)
    score, accepted = streams.score[known], streams.accepted[known]
    for low in np.arange(0, 1, 0.1):
        near = (score >= low) & (score < low + 0.1)
        error = math.sqrt(0.25 / near.sum())
        assert accepted[near].mean() == pytest.approx(score[near].mean(), abs=4 * error)
    following = np.corrcoef(score[:-1], accepted[1:])[0, 1]
    assert following == pytest.approx(0, abs=4 / math.sqrt(len(score)))


# rules


def test_stop_rules_look_at_each_token_in_turn():
    score = np.array([0.9, 0.5, 0.3, 0.9, 0.9, 0.9, 0.1], dtype=np.float32)
    assert StopAfter(0.4).wants(score, 4).tolist() == [3, 2, 1, 4, 3, 2, 1]
    assert StopBefore(0.4).wants(score, 2).tolist() == [2, 1, 0, 2, 2, 1, 0]
    assert StopOnProduct(0.4).wants(score, 4).tolist() == [3, 2, 1, 4, 3, 2, 1]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_a_product_stop_is_the_loop_that_it_stands_for(scores, floor):
    array = np.array(scores, dtype=np.float32)
    want = StopOnProduct(floor).wants(array, 16)
    for start in range(len(scores)):
        product, length, near = 1.0, 0, False
        for score in array[start:]:
            near = near or math.isclose(product, floor, rel_tol=1e-4)
            if product <= floor or length == 16:
                break
            product *= float(score)
            length += 1
        assert want[start] == length or near or length == len(scores) - start


def test_the_tiers_move_as_sglang_moves_them():
    tiers = Tiers()
    moves = []
    drafted = accepted = np.zeros(1, dtype=np.uint8)
    from gammaplan import Past

    for index, share in enumerate(itertools.chain([1.0] * 40, [0.0] * 40)):
        drafted = tiers.lengths(Past(index, drafted, accepted, 64))
        moves.append(int(drafted[0]))
        accepted = (drafted * share).astype(np.uint8)
    assert moves[:15] == [5] * 15
    assert moves[25] == 7
    assert moves[-1] == 1


@pytest.mark.parametrize("cost", [COST, TableCost([1, 2, 3, 6], [1.1, 1.2, 1.5, 2.5])])
def test_the_table_of_best_lengths_is_the_best_at_the_middle_of_each_cell(cost):
    lengths = np.arange(7)
    for cell in (0, 700, 1_600, 2_047):
        alpha = (cell + 0.5) / 2_048
        speeds = [sum(alpha**k for k in range(n + 1)) / float(cost.round_cost(n)) for n in lengths]
        chosen = best_lengths(cost, 6)[cell]
        assert speeds[chosen] == pytest.approx(max(speeds))


@pytest.mark.parametrize(
    ("mean", "spread"), [(0.8, 0.4), (0.8, -0.1), (0.0, 0.1), (1.2, 0.1), (0.5, math.nan)]
)
def test_a_spread_that_no_beta_has_is_refused(mean, spread):
    with pytest.raises(DomainError):
        Requests(mean, spread)


def test_a_dwell_below_one_token_is_refused():
    with pytest.raises(DomainError, match="dwell"):
        Regimes(0.9, 0.4, 0.5)
