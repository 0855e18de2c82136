"""Records added up: what makes a group, what the interval needs, and merging."""

import pytest

from gammaplan.data.findings import finding
from gammaplan.engines import groups
from gammaplan.engines.base import Dropped, Record, Round
from gammaplan.engines.groups import clusters_of, collect, merge, sparse
from gammaplan.model.estimate import Counts


def window(rounds, at_least, name="", **group):
    """A window of full drafts."""
    return Record(Counts.full(rounds, at_least), group, "window", name)


def request(name, rounds, at_least):
    """A request of full drafts."""
    return Record(Counts.full(rounds, at_least), {}, "request", name)


def test_windows_of_one_group_add_up():
    found = collect([window(10, [8, 6]), window(20, [15, 9])])
    (group,) = found.groups.values()
    assert group.total == Counts.full(10, [8, 6]) + Counts.full(20, [15, 9])
    assert found.records == 2


def test_labels_and_draft_lengths_keep_groups_apart():
    items = [window(9, [5], model="a"), window(9, [5], model="b"), window(9, [5, 1], model="a")]
    assert len(collect(items).groups) == 3


def test_records_without_drafts_are_counted_and_contribute_nothing():
    found = collect([window(9, [5]), Record(Counts(0, 0, 0, gamma=1), {}, "window")])
    assert (len(found.groups), found.empty) == (1, 1)


def test_rounds_add_up_with_records_of_the_same_group():
    rounds = [Round(3, a, {}) for a in (3, 0, 1)]
    (group,) = collect(rounds).groups.values()
    assert group.total == Counts.from_rounds([3, 3, 3], [3, 0, 1])


def test_a_finding_is_kept_once_and_damage_is_counted():
    found = collect([finding("rounding_only")] * 3 + [Dropped("x", i) for i in range(9)])
    assert [f.code for f in found.findings] == ["rounding_only"]
    assert found.lost == 9
    assert len(found.dropped) == groups.MOST_DROPPED


def test_requests_are_clusters_and_windows_are_blocks():
    ask = [request(str(i), 10, [8, 6]) for i in range(5)]
    sums, kind = clusters_of(collect(ask).groups.values(), by_trials=True)
    assert (sums.n, kind) == (5, "requests")
    windows = [window(10, [8, 6]) for _ in range(5)]
    sums, kind = clusters_of(collect(windows).groups.values(), by_trials=True)
    assert (sums.n, kind) == (5, "blocks")


def test_parts_of_one_request_are_one_cluster():
    rounds = [Round(3, 2, {}, request=str(i % 4)) for i in range(40)]
    sums, _ = clusters_of(collect(rounds).groups.values(), by_trials=True)
    assert sums.n == 4


def test_one_cluster_is_none():
    found = collect([window(10, [8, 6])])
    assert clusters_of(found.groups.values(), by_trials=True) is None


def test_requests_beyond_a_limit_share_clusters(monkeypatch):
    monkeypatch.setattr(groups, "MOST_NAMES", 8)
    rounds = [Round(3, 2, {}, request=str(i)) for i in range(1000)]
    sums, _ = clusters_of(collect(rounds).groups.values(), by_trials=True)
    assert sums.n <= 16
    assert sums.a == 2000


@pytest.mark.parametrize(("pieces", "few"), [(2, True), (9, True), (10, False), (99, False)])
def test_few_blocks_are_said(pieces, few):
    found = collect([window(10, [8, 6]) for _ in range(pieces)])
    assert bool(list(sparse(found.groups.values()))) == few


@pytest.mark.parametrize(("pieces", "few"), [(2, True), (3, False)])
def test_few_requests_are_said(pieces, few):
    found = collect([request(str(i), 10, [8, 6]) for i in range(pieces)])
    assert bool(list(sparse(found.groups.values()))) == few


def test_by_lists_values_and_tells_which_keys_there_are():
    items = [window(9, [5], "10:10", model="a"), window(9, [4], "10:20", model="a")]
    found = collect(items, by="window")
    assert [g.labels["window"] for g in found.listed.values()] == ["10:10", "10:20"]
    assert collect(items, by="nothing").keys == {"model", "window"}


def test_merging_is_adding_up_all_of_it():
    items = [window(10, [8, 6]), window(20, [15, 9]), window(9, [5, 5], model="b"), Dropped("x")]
    whole = collect(items)
    parts = merge(collect([item]) for item in items)
    assert [g.total for g in parts.groups.values()] == [g.total for g in whole.groups.values()]
    assert (parts.records, parts.lost) == (whole.records, whole.lost) == (3, 1)
    assert [clusters_of([g], by_trials=True) for g in parts.groups.values()] == [
        clusters_of([g], by_trials=True) for g in whole.groups.values()
    ]


def test_merging_rounds_of_the_same_request_keeps_it_one_cluster():
    items = [Round(3, a, {}, request=name) for a, name in ((3, "x"), (1, "y"), (0, "x"))]
    parts = merge(collect([item]) for item in items)
    (group,) = parts.groups.values()
    assert group.total == Counts.from_rounds([3, 3, 3], [3, 1, 0])
    assert clusters_of([group], by_trials=True)[0].n == 2


@pytest.mark.parametrize(("rounds", "said"), [(60, True), (150, True), (400, False)])
def test_blocks_of_few_rounds_are_a_lower_bound_on_the_uncertainty(rounds, said):
    items = [Round(4, k % 5, {}) for k in range(rounds)]
    found = collect(items)
    assert [f.code for f in sparse(found.groups.values())] == ["few_clusters"] * said


def test_windows_that_resemble_their_neighbours_are_too_few():
    steady = [window(10, [8, 6]), window(10, [7, 3])] * 20
    drifting = [window(10, [8, 6])] * 20 + [window(10, [7, 3])] * 20
    assert not list(sparse(collect(steady).groups.values()))
    [found] = sparse(collect(drifting).groups.values())
    assert found.code == "few_clusters"
    assert "5 blocks, merged from neighbours that are alike," in found.message
    sums, kind = clusters_of(collect(drifting).groups.values(), by_trials=True)
    assert (sums.n, kind) == (5, "blocks")


def test_requests_that_resemble_their_neighbours_stay_apart():
    items = [request(str(i), 10, [8, 6] if i < 20 else [7, 3]) for i in range(40)]
    found = collect(items).groups.values()
    assert clusters_of(found, by_trials=True)[0].n == 40
    assert not list(sparse(found))


@pytest.mark.parametrize(("names", "told"), [("a", "1 request"), ("ab", "2 requests"), ("abc", "")])
def test_rounds_of_few_requests_are_said(names, told):
    rounds = [Round(4, k % 5, {}, request=names[k % len(names)]) for k in range(900)]
    found = collect(rounds).groups.values()
    assert [f.message.split(": ")[1].split(" cannot")[0] for f in sparse(found)] == [told][
        : bool(told)
    ]


def test_rounds_of_one_request_are_blocks():
    rounds = [Round(4, k % 5, {}, request="a") for k in range(900)]
    sums, kind = clusters_of(collect(rounds).groups.values(), by_trials=True)
    assert (sums.n, kind) == (14, "blocks")
