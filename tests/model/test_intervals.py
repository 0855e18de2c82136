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
    MOST_BLOCKS,
    Blocks,
    Requests,
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


def test_intervals_of_long_records_contain_the_limit(coverage):
    least = 0.93 - coverage.allowance(0.93, coverage.RUNS)
    found = {s.name: coverage.covered(s) for s in coverage.SCENARIOS if s.long}
    assert {name: share for name, share in found.items() if share < least} == {}
    assert np.mean(list(found.values())) >= 0.94
