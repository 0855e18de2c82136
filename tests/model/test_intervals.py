"""Intervals: their golden values, their edges, their clusters, and how often they are right."""

import importlib.util
import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gammaplan.model.estimate import Counts
from gammaplan.model.estimation import estimate
from gammaplan.model.intervals import (
    FEWEST_BLOCKS,
    MOST_ALIKE,
    MOST_BLOCKS,
    MOST_KEPT,
    Blocks,
    Requests,
    alike,
    clopper_pearson,
    cluster_interval,
    wilson,
)

from ..support import DATA, rows

FIT = rows("golden/fit")
by_fit = pytest.mark.parametrize("row", FIT, ids=[f"fit {row['id']}" for row in FIT])


@pytest.fixture(scope="module")
def coverage():
    """The benchmark that draws the records."""
    path = DATA.parents[1] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@by_fit
@pytest.mark.parametrize("method", [clopper_pearson, wilson])
def test_the_golden_intervals(row, method):
    found = method(int(row["accepted"]), int(row["rejections"]), 0.95)
    name = {"clopper-pearson": "cp", "wilson": "wilson"}[found.method]
    golden = [float(row[f"{name}_low"]), float(row[f"{name}_high"])]
    assert_allclose([found.low, found.high], golden, rtol=1e-12, atol=1e-15)


@by_fit
def test_an_estimate_carries_the_exact_interval(row):
    found = estimate(Counts.from_histogram(json.loads(row["counts"]))).interval
    assert found
    assert found.method == "clopper-pearson"
    golden = [float(row["cp_low"]), float(row["cp_high"])]
    assert_allclose([found.low, found.high], golden, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("method", [clopper_pearson, wilson])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_an_interval_contains_its_estimate_and_grows_with_its_level(method, level):
    for accepted, refused in [(0, 1), (1, 0), (1, 1), (7, 3), (10**9, 10**6)]:
        alpha = accepted / (accepted + refused)
        narrow, wide = method(accepted, refused, level), method(accepted, refused, 0.9999)
        assert 0 <= wide.low <= narrow.low <= alpha <= narrow.high <= wide.high <= 1


def test_all_accepted_reaches_one_and_none_reaches_zero():
    assert clopper_pearson(5, 0, 0.95).high == 1.0
    assert clopper_pearson(0, 5, 0.95).low == 0.0
    assert wilson(5, 0, 0.95).high == 1.0
    assert wilson(0, 5, 0.95).low == 0.0


@pytest.mark.parametrize("records", [1, 2, 19, 20, 21, 40, 41, 1_000, 12_345])
def test_blocks_keep_every_record_in_constant_memory(records):
    blocks, rng = Blocks(), np.random.default_rng(records)
    taken = rng.integers(0, 9, size=records)
    for a in taken:
        blocks.add(float(a), 9.0)
    found = blocks.array()
    assert found.sum(axis=0).tolist() == [taken.sum(), 9 * records]
    assert len(found) <= MOST_BLOCKS
    assert len(found) >= min(records, FEWEST_BLOCKS)


def test_blocks_are_of_consecutive_records():
    blocks = Blocks()
    for i in range(1_000):
        blocks.add(float(i), 1.0)
    means = blocks.array()[:, 0] / blocks.array()[:, 1]
    assert (np.diff(means) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_many_records_at_once_are_the_same_blocks(seed):
    rng = np.random.default_rng(seed)
    taken, tried = rng.integers(0, 9, 777).astype(float), rng.integers(9, 20, 777).astype(float)
    one, many = Blocks(), Blocks()
    for a, t in zip(taken, tried, strict=True):
        one.add(a, t)
    cuts = sorted(rng.integers(0, 777, 6))
    for some in np.split(np.arange(777), cuts):
        many.add_many(taken[some], tried[some])
    assert one == many


def test_requests_add_in_any_order():
    pairs = [(3.0, 5.0), (0.0, 2.0), (9.0, 9.0), (4.0, 0.0)]
    forth, back, parts = Requests(), Requests(), Requests()
    for a, t in pairs:
        forth.add(a, t)
    for a, t in reversed(pairs):
        back.add(a, t)
    for pair in pairs:
        one = Requests()
        one.add(*pair)
        parts += one
    assert forth == back == parts
    assert forth == Requests.of(np.array(pairs))


def test_requests_that_are_alike_leave_no_width():
    sums = Requests.of(np.array([[8.0, 10.0]] * 6))
    found = cluster_interval(sums, 0.95, "requests")
    assert found
    assert (found.low, found.high) == pytest.approx((0.8, 0.8))


@pytest.mark.parametrize(
    "sums", [[[8.0, 10.0]], [[0.0, 5.0], [0.0, 7.0]], [[5.0, 5.0], [7.0, 7.0]]]
)
def test_clusters_without_spread_of_their_own_have_no_interval(sums):
    assert cluster_interval(Requests.of(np.array(sums)), 0.95, "requests") is None


def test_the_wider_interval_is_given_and_named():
    counts = Counts(accepted=800, rejections=200)
    alike = Requests.of(np.array([[80.0, 100.0]] * 10))
    apart = Requests.of(np.array([[95.0, 100.0], [65.0, 100.0]] * 5))
    exact = clopper_pearson(800, 200, 0.95)
    assert estimate(counts, clusters=(alike, "requests")).interval == exact
    wider = estimate(counts, clusters=(apart, "requests")).interval
    assert wider
    assert wider.method == "requests"
    assert wider.low < exact.low < exact.high < wider.high


@pytest.fixture(scope="module")
def shares(coverage):
    """What the benchmark finds for every record."""
    long = {s: coverage.found(s) for s in coverage.SCENARIOS}
    return long | {s: coverage.found(s, 300) for s in coverage.SHORT}


def test_intervals_of_long_records_contain_the_limit(coverage, shares):
    least = 0.93 - coverage.allowance(0.93, coverage.RUNS)
    found = {s.name: share.covered for s, share in shares.items() if s.long}
    assert {name: share for name, share in found.items() if share < least} == {}
    assert np.mean(list(found.values())) >= 0.94


def test_independent_blocks_of_rounds_are_rarely_called_alike(coverage, shares):
    most = 0.03 + coverage.allowance(0.03, coverage.RUNS)
    found = {s.name: share.warned for s, share in shares.items() if s.name.startswith("indep")}
    long = {name: share for name, share in found.items() if ",000" in name}
    assert len(long) >= 4
    assert max(long.values()) <= most


def test_records_that_seldom_change_state_are_called_too_short(coverage, shares):
    """Of two states far apart; of the shortest many records show only one of the two."""
    apart = [share for s, share in shares.items() if not s.long and "0.9 and 0.5" in s.name]
    shortest, *others, longest = apart
    assert shortest.warned > 0.75
    assert [share.either for share in others] == pytest.approx([1, 1, 1], abs=0.05)
    assert min(share.covered for share in (*others, longest)) > 0.87
    assert longest.covered > 0.93 - coverage.allowance(0.93, 300)


def in_turns(each, times):
    """Blocks in which good and bad stretches of `each` records take turns, `times` each."""
    blocks = Blocks()
    for a in ([9.0] * each + [5.0] * each) * times:
        blocks.add(a, 10.0)
    return blocks


@pytest.mark.parametrize(("each", "times", "same"), [(1, 40, False), (4, 10, True), (40, 1, True)])
def test_neighbours_that_take_turns_are_not_alike_and_stretches_are(each, times, same):
    assert alike(in_turns(each, times).array(MOST_KEPT)) == same


def test_blocks_without_spread_are_not_alike():
    assert not alike(np.array([[8.0, 10.0]] * 40))


def test_fewer_than_ten_blocks_are_too_few_to_tell():
    assert not alike(np.array([[9.0, 10.0]] * 5 + [[5.0, 10.0]] * 4))
    assert alike(np.array([[9.0, 10.0]] * 5 + [[5.0, 10.0]] * 5))


def test_neighbours_that_are_alike_are_merged_to_a_few_blocks():
    found = in_turns(40, 1).independent()
    assert 4 <= len(found) <= MOST_ALIKE
    assert found.sum(axis=0).tolist() == in_turns(40, 1).array().sum(axis=0).tolist()
    assert len(in_turns(1, 40).independent()) >= FEWEST_BLOCKS


@pytest.mark.parametrize("first", [0, 1, 79, 80, 500])
@pytest.mark.parametrize("second", [0, 1, 81, 3_000])
def test_blocks_of_two_parts_are_joined_in_order(first, second):
    parts = Blocks(), Blocks()
    for part, start, stop in ((parts[0], 0, first), (parts[1], first, first + second)):
        for i in range(start, stop):
            part.add(float(i), 1.0)
    before = [list(s) for s in parts[0].sums]
    found = parts[0].joined(parts[1])
    assert len(found.sums) <= MOST_KEPT
    assert [sum(column) for column in zip(*found.sums, strict=True)] == (
        [sum(range(first + second)), first + second] if first + second else []
    )
    means = [a / n for a, n in found.sums]
    assert means == sorted(means)
    assert max([n for _, n in found.sums], default=1) <= found.size
    assert parts[0].sums == before
