"""Blocks measured in place, and what many positions say together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp
from gammaplan.model.overlap import BadRow, Drawn, Workspace, overlaps, peaked
from gammaplan.model.renewal import Rounds
from gammaplan.model.rules import RULES, distortion
from gammaplan.model.sampling import Sampler
from gammaplan.model.summary import Summary

RNG = np.random.default_rng(7)
TARGET = RNG.normal(0, 3, (60, 400))
DRAFT = TARGET + RNG.normal(0, 1, TARGET.shape)
SAMPLERS = [Sampler(), Sampler(0), Sampler(0.7, 40, 0.95, 0.02), Sampler(1.3, top_p=0.8)]


def measured(target, draft, sampler, rules=(), precision=np.float64):
    t, d = (peaked(x.astype(precision), "logits") for x in (target, draft))
    work = Workspace(t.shape, precision)
    return overlaps(t, d, [Drawn(sampler, sampler)], rules, work)[0]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_measures_are_those_of_the_distributions(sampler):
    found = measured(TARGET, DRAFT, sampler, tuple(RULES.values()))
    p, q = (
        gp.transform(
            x,
            temperature=sampler.temperature,
            top_k=sampler.top_k,
            top_p=sampler.top_p,
            min_p=sampler.min_p,
        )
        for x in (TARGET, DRAFT)
    )
    assert_allclose(found["alpha"], gp.alpha_from_distributions(p, q), rtol=1e-12)
    assert_array_equal(found["argmax"], p.argmax(1) == q.argmax(1))
    assert_allclose(found["draft_outside"], (q * (p == 0)).sum(1), atol=1e-15)
    for name, rule in RULES.items():
        assert_allclose(found[name], gp.alpha_from_distributions(p, q, rule=name), atol=1e-14)
        if not rule.lossless:
            assert_allclose(found[f"distortion_{name}"], distortion(rule, p, q), atol=1e-14)


@pytest.mark.parametrize("sampler", [*SAMPLERS, Sampler(0.3), Sampler(1, min_p=0.05)])
def test_single_precision_moves_the_mean_by_less_than_a_millionth(sampler):
    rng = np.random.default_rng(3)
    target = rng.normal(0, 2.5, (40, 32_000)).astype(np.float16)
    draft = (target + rng.normal(0, 0.8, target.shape)).astype(np.float16)
    single = measured(target, draft, sampler, precision=np.float32)["alpha"]
    double = measured(target, draft, sampler, precision=np.float64)["alpha"]
    assert abs(single.mean() - double.mean()) < 1e-6


BAD = [
    ("logits", np.nan, "got nan"),
    ("logits", np.inf, "got inf"),
    ("logits", [-np.inf] * 4, "got only -inf"),
    ("probs", -0.1, "must hold probabilities, got -0.1"),
    ("probs", 0.35, r"probabilities must sum to 1, got 1.1 \(\+0.1\)"),
    ("logprobs", 0.0, r"exp of the log-probabilities must sum to 1, got 1.75 \(\+0.75\)"),
]


@pytest.mark.parametrize(("kind", "value", "message"), BAD)
def test_a_bad_row_is_named(kind, value, message):
    block = np.full((3, 4), {"probs": 0.25, "logits": 1.0, "logprobs": np.log(0.25)}[kind])
    block[2, 1 if np.ndim(value) == 0 else slice(None)] = value
    with pytest.raises(BadRow, match=f"row 2: .*{message}") as caught:
        peaked(block, kind)
    assert caught.value.row == 2


@pytest.mark.parametrize(("kind", "given"), [("probs", np.exp), ("logprobs", lambda x: x)])
def test_probabilities_and_their_logarithms_give_the_alpha_of_the_logits(kind, given):
    sides = [given(np.log(gp.transform(x))) for x in (TARGET, DRAFT)]
    t, d = (peaked(x, kind) for x in sides)
    one = Drawn(Sampler(), Sampler())
    found = overlaps(t, d, [one], (), Workspace(t.shape, np.float64))[0]
    assert_allclose(found["alpha"], measured(TARGET, DRAFT, Sampler())["alpha"], rtol=1e-12)


def of(alphas, first=None, clustered=False, parts=1):
    found = Summary(clustered=clustered)
    first = np.zeros(len(alphas), bool) if first is None else np.asarray(first)
    for a, f in zip(np.array_split(alphas, parts), np.array_split(first, parts), strict=True):
        found.add({"alpha": a}, f)
    return found


ALPHAS = RNG.beta(4, 1, 1000)


@pytest.mark.parametrize("parts", [1, 7])
def test_positions_are_summed_up_however_they_arrive(parts):
    found = of(ALPHAS, parts=parts)
    assert found.mean("alpha") == pytest.approx(ALPHAS.mean())
    assert found.quantile(0.25) == pytest.approx(np.quantile(ALPHAS, 0.25), abs=5e-3)
    assert found.histogram(10) == np.histogram(ALPHAS, 10, (0, 1))[0].tolist()
    assert [at for _, at in found.worst] == np.argsort(ALPHAS)[:5].tolist()


def test_the_quantile_of_one_position_is_its_alpha():
    assert of(np.array([0.123456789])).quantile(0.5) == 0.123456789


def test_positions_that_are_alike_within_a_sequence_widen_the_interval():
    rng = np.random.default_rng(5)
    alphas = np.clip(np.repeat(rng.beta(8, 2, 40), 25) + rng.normal(0, 0.01, 1000), 0, 1)
    first = np.arange(1000) % 25 == 0
    wide = of(alphas, first, clustered=True, parts=7).interval(0.95)
    shuffled = rng.permutation(alphas)
    narrow = of(shuffled, first, clustered=True).interval(0.95)
    assert wide.method == "sequences"
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


@pytest.mark.parametrize("clustered", [True, False])
def test_the_interval_covers_the_mean_as_often_as_it_says(clustered):
    rng, covered = np.random.default_rng(11), 0
    first = np.arange(400) % 10 == 0
    for _ in range(400):
        alphas = rng.beta(4, 2, 400)
        if clustered:
            alphas = np.repeat(rng.beta(4, 2, 40), 10)
        interval = of(alphas, first, clustered=clustered).interval(0.95)
        covered += interval.low <= 4 / 6 <= interval.high
    assert covered >= 366  # 0.95 of 400 less 3.3 standard deviations


def test_no_spread_gives_no_interval():
    assert of(np.ones(100)).interval(0.95) is None


@pytest.mark.parametrize("gamma", [1, 2, 5])
def test_rounds_at_one_alpha_emit_the_geometric_sum(gamma):
    rounds = Rounds(2, (gamma, 8))
    rounds.add(np.tile([[0.8], [0.3]], 500), np.zeros(500, bool))
    expected = [[gp.expected_tokens(a, g) for g in (gamma, 8)] for a in (0.8, 0.3)]
    assert_allclose(rounds.expected_tokens(), expected, rtol=1e-12)


def test_rounds_on_a_sequence_are_those_of_playing_them_out():
    rng = np.random.default_rng(2)
    alpha = np.where(np.arange(200_000) // 10 % 2 == 0, 0.95, 0.3)
    rounds = Rounds(1, (4,))
    rounds.add(alpha[None, :20_000], np.zeros(20_000, bool))
    at = count = 0
    accepted = rng.random(len(alpha)) < alpha
    while at + 5 < len(alpha):
        run = accepted[at : at + 4]
        at += (4 if run.all() else int(run.argmin())) + 1
        count += 1
    assert rounds.expected_tokens()[0, 0] == pytest.approx(at / count, rel=5e-3)
    assert rounds.expected_tokens()[0, 0] < gp.expected_tokens(alpha.mean(), 4)


def test_a_sequence_that_ends_tells_nothing_of_tokens_it_never_reached():
    rounds = Rounds(1, (1, 2))
    rounds.add(np.array([[0.7]]), np.zeros(1, bool))
    assert_array_equal(rounds.expected_tokens(), [[1.7, np.nan]])


def test_sequences_start_new_rounds():
    rounds = Rounds(1, (2,))
    rounds.add(np.array([[0.9, 0.1] * 50]), np.arange(100) % 2 == 0)
    hazard = (0.9 + 0.1 * 0.1) / 1.1  # a round may start at either position
    assert_allclose(rounds.expected_tokens(), [[1 + hazard + hazard * 0.1]])
