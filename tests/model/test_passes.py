"""Timed passes: V(n) as measured, nothing beyond, steps found, and the costs they make."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gammaplan as gp
from gammaplan.cli.curvefiles import read_curves
from gammaplan.model.passes import PassTimes, pass_cost, pass_times
from tests.support import DATA, rows

PUBLIC = PassTimes((1, 2, 3, 5, 8), (8.47, 13.49, 15.64, 20.67, 28.13))
curves = st.lists(st.tuples(st.integers(1, 60), st.floats(0.5, 200)), min_size=1, max_size=12).map(
    lambda points: pass_times([(1, 10.0), *points])
)


def test_the_public_curve_relative_to_one_token():
    assert PUBLIC.relative([1, 2, 3, 5, 8]).round(3).tolist() == [1, 1.593, 1.847, 2.44, 3.321]


@given(curves, st.integers(1, 80))
def test_between_points_the_time_is_between_theirs_and_outside_there_is_none(passes, n):
    at = float(passes.at(n))
    if n > passes.tokens[-1]:
        assert np.isnan(at)
        return
    below = max(i for i, t in enumerate(passes.tokens) if t <= n)
    near = passes.ms[below : below + 2]
    assert min(near) * (1 - 1e-12) <= at <= max(near) * (1 + 1e-12)


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0.5, 9)), min_size=1), st.randoms())
def test_the_order_of_the_points_does_not_matter(points, random):
    shuffled = points.copy()
    random.shuffle(shuffled)
    one, other = pass_times(points), pass_times(shuffled)
    assert one.tokens == other.tokens
    assert one.ms == pytest.approx(other.ms)


def test_points_of_one_count_are_averaged():
    assert pass_times([(2, 3.0), (1, 1.0), (2, 5.0)]).ms == (1.0, 4.0)


@pytest.mark.parametrize("curve", read_curves(str(DATA / "sweeps/verify_curves.csv")),
                         ids=lambda curve: curve.key.curve)  # fmt: skip
def test_every_public_curve_reads_and_its_steps_are_found(curve):
    table = [r for r in rows("sweeps/verify_curves") if r["curve_id"] == curve.key.curve]
    points = {int(r["n_tokens"]): Fraction(r["ms"] or r["relative"]) for r in table}
    if list(points) != [1] and 1 not in points:
        points[1] = Fraction(1)
    assert dict(zip(curve.passes.tokens, curve.passes.ms, strict=True)) == {
        n: float(v) for n, v in sorted(points.items())
    }
    printed = {int(r["n_tokens"]): float(r["relative"]) for r in table if r["relative"]}
    for n, relative in printed.items():
        assert float(curve.passes.relative(n)) == pytest.approx(relative, abs=6e-5)
    steps = []
    order = sorted(points)
    for a, n, b in zip(order, order[1:], order[2:], strict=False):
        line = points[a] + (points[b] - points[a]) * Fraction(n - a, b - a)
        if points[n] > line * Fraction(102, 100):
            steps.append(n)
    assert [step.tokens for step in curve.passes.steps] == steps


def test_there_are_8_public_curves_and_6_of_their_points_are_steps():
    found = read_curves(str(DATA / "sweeps/verify_curves.csv"))
    assert len(found) == 8
    assert sum(len(curve.passes.steps) for curve in found) == 6
    assert [c.passes.falls for c in found if c.passes.falls] == [((1, 2),), ((2, 3), (5, 9))]


@given(curves.filter(lambda p: p.tokens[-1] > 1), st.floats(0, 5))
def test_a_sequential_draft_is_paid_for_each_token(passes, ms):
    cost = pass_cost(passes, draft_ms=ms)
    for gamma in cost.gammas:
        truth = (ms * gamma + float(passes.at(gamma + 1))) / passes.ms[0]
        assert float(cost.round_cost(gamma)) == pytest.approx(truth)
    assert cost.max_gamma == passes.tokens[-1] - 1
    assert np.isnan(cost.round_cost(cost.max_gamma + 1))


@given(curves.filter(lambda p: p.tokens[-1] > 1), st.floats(0, 5))
def test_a_block_is_paid_once_and_a_lookup_not_at_all(passes, ms):
    once, none = pass_cost(passes, "one-pass", draft_ms=ms), pass_cost(passes, "lookup")
    apart = np.array(once.round_costs) - np.array(none.round_costs)
    assert apart == pytest.approx(ms / passes.ms[0])


@given(curves.filter(lambda p: p.tokens[-1] > 1), st.floats(0.01, 5), st.floats(0, 2))
def test_a_draft_that_reads_is_paid_for_every_token_that_was_verified(passes, first, more):
    last = passes.tokens[-1]
    reading = PassTimes((1, last), (first, first + more * (last - 1)))
    cost, without = pass_cost(passes, reading=reading), pass_cost(passes)
    assert cost.gammas == without.gammas
    apart = np.array(cost.round_costs) - np.array(without.round_costs)
    truth = (first + more * np.array(cost.gammas)) / passes.ms[0]
    assert apart == pytest.approx(truth, rel=1e-9, abs=1e-9)


def test_lengths_end_where_the_draft_was_not_timed():
    passes, reading = PassTimes((1, 2, 8), (10.0, 11.0, 14.0)), PassTimes((2, 4), (1.0, 2.0))
    assert pass_cost(passes, reading=reading).gammas == (1, 2, 3)
    with pytest.raises(gp.DomainError, match="reads 4 tokens after a round of γ 1"):
        pass_cost(passes, batch=2, reading=PassTimes((5, 8), (1.0, 2.0)))


def test_of_repeated_passes_the_median_counts():
    assert pass_times([(1, 5.0), (1, 6.0), (1, 30.0), (2, 8.0)]) == PassTimes((1, 2), (6.0, 8.0))


def test_tokens_of_all_sequences_make_a_cost_for_any_batch():
    passes = PassTimes((1, 4, 8, 16, 32), (10.0, 10.0, 11.0, 14.0, 24.0))
    assert pass_cost(passes, batch=8).round_costs == pytest.approx((14 / 11, 19 / 11, 24 / 11))


@pytest.mark.parametrize(
    ("tokens", "batch", "said"),
    [((1, 2, 4), 4, "verifies at least 8 tokens"), ((2, 4), 1, "the plain pass"),
     ((1,), 1, "verifies at least 2 tokens")],
)  # fmt: skip
def test_what_was_not_measured_is_not_assumed(tokens, batch, said):
    with pytest.raises(gp.DomainError, match=said):
        pass_cost(PassTimes(tokens, tuple(float(n) for n in tokens)), batch=batch)


def test_a_step_is_scanned_and_not_taken_for_the_end():
    passes = PassTimes((1, 2, 3, 9), (10.0, 16.0, 16.5, 17.0))
    best = gp.decide(gp.Geometric(0.8), pass_cost(passes, draft_ms=0.2))
    assert best.gamma == 8
    assert gp.decide(gp.Geometric(0.8), pass_cost(passes, draft_ms=0.2), max_gamma=1).gamma == 1


@given(st.floats(0, 2), st.integers(1, 40), st.floats(0, 0.5), st.floats(0, 1))
def test_a_block_decides_like_its_table(draft, block, slope, alpha):
    cost = gp.BlockCost(draft, block, slope)
    lengths = range(1, block + 1)
    table = gp.TableCost(list(lengths), cost.round_cost(list(lengths)).tolist())
    law = gp.Geometric(alpha)
    ours, theirs = gp.decide(law, cost), gp.decide(law, table)
    assert (ours.gamma, ours.speedup, ours.at_limit) == (
        theirs.gamma, theirs.speedup, theirs.at_limit,
    )  # fmt: skip
    assert ours.gamma <= block


@pytest.mark.parametrize("block", [0, 1.5, -1])
def test_a_block_has_a_token_at_least(block):
    with pytest.raises(gp.DomainError, match="block must be a whole number of at least 1"):
        gp.BlockCost(0.1, block)


def test_a_free_block_with_a_sloping_verification_is_theorys_linear_case():
    law = gp.Geometric(0.8)
    block = gp.decide(law, gp.BlockCost(0.4, 64, 0.05))
    line = gp.decide(law, gp.LinearCost(0.05, overhead=0.4))
    assert (block.gamma, block.speedup) == (line.gamma, pytest.approx(line.speedup))
    assert block.gamma == gp.optimal_gamma(0.8, 0.05 / 1.4)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 30))
def test_misses_are_plain_rounds(hit_rate, alpha, c, gamma):
    from gammaplan.model.lookup import with_misses

    law, cost = gp.Geometric(alpha), gp.LinearCost(c, 0.1, 0.02)
    mixed, paid = with_misses(law, cost, hit_rate)
    tokens = hit_rate * law.expected_tokens(gamma) + 1 - hit_rate
    passes = hit_rate * cost.round_cost(gamma) + 1 - hit_rate
    assert float(mixed.expected_tokens(gamma)) == pytest.approx(float(tokens))
    assert float(paid.round_cost(gamma)) == pytest.approx(float(passes))


def test_misses_scale_a_table_too():
    from gammaplan.model.lookup import with_misses

    for cost in (gp.TableCost((1, 4), (1.5, 2.1)), gp.PowerCost(0.4, 0.8), gp.BlockCost(0.3, 4)):
        _, paid = with_misses(gp.Geometric(0.7), cost, 0.25)
        for gamma in itertools.chain([0], range(1, 5)):
            truth = 1 + 0.25 * (float(cost.round_cost(gamma)) - 1)
            assert float(paid.round_cost(gamma)) == pytest.approx(truth)
