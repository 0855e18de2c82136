"""CSV and Markdown: nothing in a cell is run, and nothing breaks the table."""

import csv
import io

import pytest

from gammaplan.report.rows import csv_text, markdown_text


def cell_of_csv(value):
    (row,) = csv.DictReader(io.StringIO(csv_text({"rows": [{"name": value}]})))
    return row["name"]


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-cmd", "@sum"])
def test_a_cell_that_a_spreadsheet_would_run_is_quoted(text):
    assert cell_of_csv(text) == "'" + text


@pytest.mark.parametrize("number", [-1.5, 1e-300, 0.1, -3])
def test_numbers_stay_numbers(number):
    assert float(cell_of_csv(number)) == number


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a;b", "γ"])
def test_csv_round_trips(text):
    assert cell_of_csv(text) == text


@pytest.mark.parametrize("text", ["\tx", "\rx", "a\nb", "\x1b[31mred"])
def test_control_characters_are_shown_not_written(text):
    assert cell_of_csv(text) == text.encode("unicode_escape").decode()


def test_truth_is_lower_case():
    assert cell_of_csv(True) == "true"


def test_null_is_empty():
    assert cell_of_csv(None) == ""


def test_lists_are_joined_by_spaces():
    assert cell_of_csv([1, 2.5]) == "1 2.5"


def test_objects_become_columns():
    assert csv_text({"band": {"low": 4, "high": 8}}) == "band_low,band_high\n4,8\n"


def test_groups_have_their_labels_in_front():
    groups = [{"labels": {"batch": n}, "rows": [{"gamma": 1}]} for n in (1, 8)]
    assert csv_text({"groups": groups}) == "batch,gamma\n1,1\n8,1\n"


def test_groups_with_different_labels_have_every_column():
    groups = [{"labels": {name: 1}, "rows": [{"gamma": 1}]} for name in ("batch", "model")]
    assert csv_text({"groups": groups}) == "batch,gamma,model\n1,1,\n,1,1\n"


@pytest.mark.parametrize("mark", ["|", "`", "*", "<", "["])
def test_markup_in_a_markdown_cell_is_escaped(mark):
    _, _, row = markdown_text({"rows": [{"name": f"a{mark}b"}]}).splitlines()
    assert row == f"| a\\{mark}b |"
