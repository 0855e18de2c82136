"""Raw samples over time: what counters gained, restarts and late series included."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.engines import series as module
from gammaplan.engines.base import Sample
from gammaplan.engines.series import Gains, Raw

HOST = {"instance": "gpu1:8000", "job": "vllm"}


def raw(name, rows, **labels):
    """The samples of one series, given as (time, value)."""
    return Raw({"__name__": name, **HOST, **labels}, np.asarray(rows, float).reshape(-1, 2))


def gained(*stretches, settings=()):
    """What series gained over stretches of time, by name."""
    gains = Gains(settings)
    for stretch in stretches:
        gains.add(stretch)
    return {s.name: s.value for s in gains.samples()}


def codes(*stretches, settings=()):
    gains = Gains(settings)
    for stretch in stretches:
        gains.add(stretch)
    return [f.code for f in gains.findings()]


def test_a_counter_gains_its_last_sample_less_its_first():
    assert gained([raw("a_total", [(1, 5), (2, 5), (3, 9)])]) == {"a_total": 4}


def test_after_a_fall_it_counts_from_zero():
    assert gained([raw("a_total", [(1, 50), (2, 60), (3, 4), (4, 9)])]) == {"a_total": 10 + 9}


def test_a_fall_restarts_every_counter_of_its_process():
    rows = [raw("a_total", [(1, 50), (2, 4)]), raw("b_total", [(1, 3), (2, 7)])]
    assert gained(rows) == {"a_total": 4, "b_total": 7}
    assert codes(rows) == ["counter_reset"]


def test_a_fall_leaves_other_processes_alone():
    rows = [raw("a_total", [(1, 50), (2, 4)]), raw("b_total", [(1, 3), (2, 7)], engine="1")]
    assert gained(rows) == {"a_total": 4, "b_total": 4}


def test_a_series_that_comes_late_after_a_restart_is_no_second_restart():
    rows = [
        raw("a_total", [(1, 50), (2, 4), (3, 9), (4, 10)]),
        raw("b_total", [(1, 30), (3, 2), (4, 8)]),
    ]
    assert gained(rows) == {"a_total": 10, "b_total": 8}
    gains = Gains()
    gains.add(rows)
    (found,) = gains.findings()
    assert found.message.count("instance=") == 1
    assert "at 1970-01-01T00:00:02Z" in found.message


def test_a_series_that_its_target_lacked_before_counts_from_zero():
    rows = [raw("a_total", [(1, 5), (2, 6)]), raw("b_total", [(2, 7)], engine="1")]
    assert gained(rows) == {"a_total": 1, "b_total": 7}


def test_a_series_of_another_scrape_counts_from_its_first_sample():
    rows = [raw("a_total", [(1, 5), (2, 6)]), raw("b_total", [(1.5, 700), (2.5, 701)], engine="1")]
    assert gained(rows) == {"a_total": 1, "b_total": 1}


def test_a_process_without_an_instance_is_not_taken_for_part_of_another():
    labels = {"__name__": "a_total", "pod": "x"}
    other = {"__name__": "a_total", "pod": "y"}
    gains = Gains()
    gains.add([
        Raw(labels, np.array([(1.0, 5.0), (2.0, 6.0)])),
        Raw(other, np.array([(2.0, 900.0), (3.0, 901.0)])),
    ])  # fmt: skip
    assert [s.value for s in gains.samples()] == [1, 1]


def test_samples_seen_twice_or_out_of_order_count_once():
    rows = [(1, 5), (3, 9), (2, 6), (3, 9), (1, 5)]
    assert gained([raw("a_total", rows)]) == {"a_total": 4}
    assert gained([raw("a_total", rows)], [raw("a_total", [(2, 6), (3, 9), (4, 11)])]) == {
        "a_total": 6
    }


def test_what_no_counter_can_be_is_left_out_and_said():
    rows = [raw("a_total", [(1, 5), (2, math.nan), (3, math.inf), (4, -1), (5, 9)])]
    assert gained(rows) == {"a_total": 4}
    assert codes(rows) == ["bad_sample"]


def test_a_gauge_is_as_it_is_at_last():
    assert gained([raw("length", [(1, 3), (2, 2.5)])]) == {"length": 2.5}


def test_a_setting_that_changed_is_left_out_and_said():
    rows = [raw("steps", [(1, 3), (2, 5)]), raw("a_total", [(1, 3), (2, 5)])]
    assert gained(rows, settings=["steps"]) == {"a_total": 2}
    assert codes(rows, settings=["steps"]) == ["settings_changed"]
    assert codes(rows[1:], settings=["steps"]) == []


def test_a_page_that_two_jobs_scraped_counts_once_with_the_most_samples():
    rows = [
        raw("a_total", [(1.1, 5), (2.1, 8)], job="a"),
        raw("a_total", [(1.2, 5), (2.2, 8), (3.2, 9)], job="b"),
    ]
    assert gained(rows) == {"a_total": 4}
    assert codes(rows) == ["same_page_twice"]


def test_a_series_that_is_listed_twice_counts_once():
    rows = [raw("a_total", [(1, 5), (2, 8)]), raw("a_total", [(1, 5), (2, 8), (3, 9)])]
    assert gained(rows) == {"a_total": 3}
    assert codes(rows) == ["same_page_twice"]


def test_series_beyond_the_limit_are_not_read_and_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_SERIES", 3)
    rows = [raw("a_total", [(1, 5), (2, 6)], engine=str(i)) for i in range(9)]
    gains = Gains()
    gains.add(rows)
    assert len(gains.samples()) == 3
    assert [f.code for f in gains.findings()] == ["too_many_series"]


def test_the_span_is_from_the_first_to_the_last_sample():
    gains = Gains()
    gains.add([raw("a_total", [(1, 5), (2, 6)]), raw("a_total", [(3, 5), (9, 6)], engine="1")])
    assert gains.span(gains.samples()) == (1.0, 9.0, 4, 2)


def test_one_scrape_alone_spans_nothing():
    gains = Gains()
    gains.add([raw("a_total", [(1, 5)]), raw("length", [(1, 5), (2, 6)])])
    assert gains.span(gains.samples()) is None


def plain_gains(rows):
    """The same by the rule as it is written: scrape by scrape, all counters of one process."""
    total = [0.0] * len(rows[0])
    for before, after in pairwise(rows):
        fell = any(b < a for a, b in zip(before, after, strict=True))
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            total[i] += b if fell else b - a
    return total


@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 50), min_size=n, max_size=n), min_size=1, max_size=12
        )
    ),
    st.lists(st.integers(0, 12), max_size=3),
)
def test_any_stretches_of_time_give_what_the_whole_gives(rows, cuts):
    ends = sorted({0, *(c for c in cuts if c < len(rows)), len(rows)})
    stretches = [
        [
            raw(f"c{i}_total", [(10 + t, rows[t][i]) for t in range(max(0, a - 1), b)])
            for i in range(len(rows[0]))
        ]
        for a, b in pairwise(ends)
    ]
    found = gained(*stretches)
    assert [found[f"c{i}_total"] for i in range(len(rows[0]))] == plain_gains(rows)


def test_the_labels_of_a_series_are_kept_and_its_name_is_apart():
    gains = Gains()
    gains.add([raw("a_total", [(1, 5), (2, 6)], position="0")])
    assert gains.samples() == [Sample("a_total", {**HOST, "position": "0"}, 1.0)]


@pytest.mark.parametrize("time", [1e30, -1e30])
def test_a_clock_that_is_far_off_breaks_nothing(time):
    rows = [raw("a_total", [(time, 5), (time + abs(time), 2)])]
    assert gained(rows) == {"a_total": 2}
    assert codes(rows) == ["counter_reset"]
