"""Schedules: every batch once, few ranges, no batch loses more than the tolerance."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import gammaplan as gp
from gammaplan.model.schedule import Range, cost_at, schedule

tolerances = st.floats(0, 0.5)


@st.composite
def speedups(draw, most=9):
    batches = sorted(draw(st.sets(st.integers(1, 2_000), min_size=1, max_size=most)))
    lengths = draw(st.integers(1, 6))
    row = st.lists(st.floats(0.2, 6), min_size=lengths, max_size=lengths)
    table = draw(st.lists(row, min_size=len(batches), max_size=len(batches)))
    return batches, np.column_stack([np.ones(len(batches)), np.array(table)])


@given(speedups(), tolerances)
def test_ranges_cover_every_batch_exactly_once(plan, tolerance):
    ranges = schedule(*plan, tolerance=tolerance).ranges
    assert ranges[0].low == 1
    assert ranges[-1].high is None
    for before, after in itertools.pairwise(ranges):
        assert after.low == before.high + 1
        assert before.low <= before.high
        assert before.gamma != after.gamma


@given(speedups(), tolerances)
def test_no_batch_loses_more_than_the_tolerance(plan, tolerance):
    batches, table = plan
    made = schedule(batches, table, tolerance=tolerance)
    assert [b for part in made.parts for b in part.batches] == batches
    for part in made.parts:
        for batch in part.batches:
            row = table[batches.index(batch)]
            assert part.range.low <= batch <= (part.range.high or batch)
            assert row[part.range.gamma] >= (1 - tolerance) * row.max() * (1 - 1e-9)
            assert part.speedup <= row[part.range.gamma] * (1 + 1e-12)
            assert part.loss >= 1 - row[part.range.gamma] / row.max() - 1e-12


@given(speedups(), tolerances, tolerances)
def test_a_wider_tolerance_never_gives_more_ranges(plan, one, other):
    narrow, wide = sorted((one, other))
    assert len(schedule(*plan, tolerance=wide).parts) <= len(
        schedule(*plan, tolerance=narrow).parts
    )


@given(speedups(most=5), st.sampled_from([0.0, 0.03, 0.2]))
def test_the_ranges_are_the_fewest_that_there_are(plan, tolerance):
    batches, table = plan
    good = table >= (1 - tolerance) * table.max(axis=1, keepdims=True) * (1 - 1e-12)
    fewest = min(
        1 + sum(a != b for a, b in itertools.pairwise(lengths))
        for lengths in itertools.product(*(np.flatnonzero(row) for row in good))
    )
    assert len(schedule(batches, table, tolerance=tolerance).parts) == fewest


@given(speedups(), tolerances)
def test_a_schedule_of_equal_costs_is_one_range(plan, tolerance):
    batches, table = plan
    equal = np.tile(table[0], (len(batches), 1))
    made = schedule(batches, equal, tolerance=tolerance)
    assert made.ranges == (Range(1, None, int(np.argmax(table[0]))),)


@given(speedups())
@example(([1], np.array([[1, 6, np.nextafter(6, 7)]])))  # their logarithms are one number
def test_the_best_of_each_batch_is_its_own(plan):
    batches, table = plan
    made = schedule(batches, table)
    assert list(made.best) == np.argmax(table, axis=1).tolist()
    assert list(made.speedups) == table.max(axis=1).tolist()


@given(speedups(), st.floats(0.001, 0.2))
def test_what_a_boundary_gains_is_over_going_on_as_before(plan, tolerance):
    batches, table = plan
    made = schedule(batches, table, tolerance=tolerance)
    for before, part in itertools.pairwise(made.parts):
        ratios = [
            table[batches.index(b), part.range.gamma] / table[batches.index(b), before.range.gamma]
            for b in part.batches
        ]
        assert part.gain == pytest.approx(np.exp(np.mean(np.log(ratios))) - 1)
    assert made.parts[0].gain is None


def test_unknown_lengths_are_never_chosen():
    table = np.array([[1, 1.5, np.nan], [1, 0.9, np.nan]])
    assert schedule([1, 9], table).ranges == (Range(1, 3, 1), Range(4, None, 0))


@pytest.mark.parametrize(
    ("fast", "crossover"),
    [([2, 1.5, 0.9], (8, 64)), ([2, 1.5, 1.1], (64, None)), ([0.9, 0.8, 0.7], (None, 1)),
     ([0.9, 1.5, 0.7], (8, 64))],
)  # fmt: skip
def test_the_crossover_is_where_nothing_pays_any_more(fast, crossover):
    table = np.column_stack([np.ones(3), fast])
    assert schedule([1, 8, 64], table).crossover == crossover


@pytest.mark.parametrize("batches", [[], [0, 1], [2, 2], [3, 1]])
def test_batches_increase_from_1(batches):
    with pytest.raises(gp.DomainError, match="batches must increase from at least 1"):
        schedule(batches, np.ones((len(batches), 2)))


@given(st.integers(1, 50), st.integers(2, 400), st.floats(0, 1), st.floats(0, 1))
def test_a_cost_between_two_batches_is_between_theirs(low, more, one, other):
    costs = {low: gp.LinearCost(one), low + more: gp.LinearCost(other)}
    for batch in {low, low + more // 2, low + more}:
        found = cost_at(costs, batch).round_cost([1, 7])
        ends = np.array([cost.round_cost([1, 7]) for cost in costs.values()])
        assert (found >= ends.min(axis=0) - 1e-12).all()
        assert (found <= ends.max(axis=0) + 1e-12).all()


def test_a_cost_outside_the_measured_batches_is_refused():
    costs = {4: gp.LinearCost(0.1), 8: gp.LinearCost(0.2)}
    for batch in (1, 9):
        with pytest.raises(gp.DomainError, match=f"no cost was measured at batch {batch}"):
            cost_at(costs, batch)


def test_costs_that_share_no_length_are_refused():
    costs = {1: gp.TableCost((5,), (2.0,)), 3: gp.TableCost((1,), (1.1,))}
    with pytest.raises(gp.DomainError, match="share no draft length"):
        cost_at(costs, 2)


@given(st.floats(0.3, 0.95), st.floats(0.01, 0.2))
def test_the_schedule_of_one_batch_is_its_decision(alpha, c):
    law, cost = gp.Geometric(alpha), gp.LinearCost(c)
    best = gp.decide(law, cost).gamma
    assume(best < 128)
    table = gp.curve(law, cost, np.arange(129)).speedup[None]
    assert schedule([1], table, tolerance=0).ranges == (Range(1, None, best),)
