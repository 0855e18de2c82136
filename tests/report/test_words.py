"""Numbers and labels as people read them."""

import pytest

from gammaplan.report.plain import printable
from gammaplan.report.words import bar, lengths, named, percent, plain, times


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.4696, "2.47×"), (1.0188, "1.019×"), (0.9556, "0.956×"), (1e9, "1e+09×"), (None, "∞")],
)
def test_a_speedup_has_more_digits_near_1(value, text):
    assert times(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"), [(4, 8, "4..8"), (6, 6, "6"), (15, None, "15 and longer")]
)
def test_a_run_of_lengths(low, high, text):
    assert lengths(low, high) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, ""), (1, "████"), (0.5, "██"), (1 / 32, "▏"), (2, "████"), (-1, "")]
)
def test_a_bar_is_as_long_as_its_share(share, text):
    assert bar(share, 4) == text


def test_a_share_is_printed_in_percent():
    assert percent(0.9772) == "97.7 %"


def test_a_number_has_no_trailing_zeros():
    assert plain(0.10) == "0.1"


def test_labels_are_one_line():
    assert named({"temperature": 0.7, "batch": 8}) == "temperature=0.7, batch=8"


def test_escapes_in_labels_are_shown():
    assert named({"model": "\x1b[31mred\n"}) == "model=\\x1b[31mred\\n"


@pytest.mark.parametrize("text", ["\x00", "\x1b", "\x9b", "\u202e", "\u2028", "\ud800", "\r"])
def test_control_and_format_characters_are_not_printed(text):
    assert printable(text).isascii()
    assert printable(text).isprintable()


def test_letters_of_any_language_are_printed():
    assert printable("γ ≥ 草案") == "γ ≥ 草案"
