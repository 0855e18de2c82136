"""What a picture is made of: ticks, limits, and labels that find a place."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from gammaplan.report.drawing.labels import flag_rows, shortened, spread
from gammaplan.report.picture import Axis, fitted, ticks

numbers = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


@given(numbers, st.floats(1e-6, 1e9), st.integers(2, 13), st.booleans())
def test_ticks_lie_within_the_axis_and_are_no_more_than_asked(low, extent, most, whole):
    high = low + extent
    found = ticks(Axis("", low, high, whole=whole), most)
    room = 1e-6 * extent + 1e-9 * abs(low)
    assert len(found) <= most
    assert all(low - room <= t.at <= high + room or whole for t in found)
    assert [t.at for t in found] == sorted({t.at for t in found})


@given(st.integers(0, 1000), st.integers(1, 1000), st.integers(2, 13))
def test_ticks_of_whole_numbers_are_whole(low, extent, most):
    found = ticks(Axis("", low - 0.5, low + extent + 0.5, whole=True), most)
    assert found
    assert all(t.at == round(t.at) and t.text.replace(",", "") == str(round(t.at)) for t in found)


@given(st.floats(1e-6, 1e3), st.floats(2, 1e6), st.integers(3, 13))
def test_ticks_in_proportion_lie_within_the_axis(low, ratio, most):
    found = ticks(Axis("", low, low * ratio, scale="log"), most)
    assert len(found) <= most
    assert all(low * 0.999 <= t.at <= low * ratio * 1.001 for t in found)


def test_names_are_thinned_out_evenly():
    axis = Axis("", 9.5, -0.5, names=tuple("abcdefghij"))
    assert [t.text for t in ticks(axis, 5)] == ["a", "c", "e", "g", "i"]


def test_a_tick_that_would_be_long_is_a_power_of_ten():
    assert [t.text for t in ticks(Axis("", 0, 3e9), 4)][-1] == "3e+09"


def test_ticks_of_long_numbers_that_differ_late_are_told_apart():
    texts = [t.text for t in ticks(Axis("", 1e7, 1e7 + 10), 6)]
    assert texts == ["10000000", "10000002", "10000004", "10000006", "10000008", "10000010"]


def test_limits_hold_every_value_and_what_is_to_be_included():
    low, high = fitted([2.0, None, 3.0, math.inf], include=[1.0])
    assert low < 1.0
    assert 3.0 < high < 4.0


@pytest.mark.parametrize("values", [[], [None], [5.0], [0.0, 0.0]])
def test_limits_have_an_extent_whatever_there_is(values):
    low, high = fitted(values)
    assert low < high


@given(st.lists(st.floats(0, 10), max_size=20))
def test_labels_are_apart_and_within_their_edge(wanted):
    places = spread(wanted, 0.5, 0.0, 10.0)
    ordered = sorted(places)
    assert all(b - a >= 0.5 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert all(-1e-9 <= place <= 10.0 + 1e-9 for place in places)


@given(st.lists(st.floats(0, 10), min_size=2, max_size=20, unique=True))
def test_labels_keep_the_order_of_what_they_name(wanted):
    places = spread(wanted, 0.4, 0.0, 10.0)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert order == sorted(order, key=lambda i: places[i])


def test_labels_that_have_room_stay_where_they_belong():
    assert spread([1.0, 3.0, 2.0], 0.5, 0.0, 10.0) == [1.0, 3.0, 2.0]


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 4)), max_size=12))
def test_flags_in_a_row_do_not_touch(flags):
    starts = [min(start, 10 - width) for start, width in flags]
    widths = [width for _, width in flags]
    found = flag_rows(starts, widths, 0.1, 10.0)
    for i, row in enumerate(found):
        for j in range(i):
            if found[j] == row:
                first, second = sorted((i, j), key=lambda k: starts[k])
                assert starts[first] + widths[first] <= starts[second]


@given(st.text(max_size=60), st.integers(4, 40))
def test_a_shortened_text_fits_and_keeps_its_ends(text, most):
    short = shortened(text, most)
    assert len(short) <= most
    assert short == text or ("…" in short and short[0] == text[0])
