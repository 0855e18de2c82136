"""JSON values of a stream, in every form, and what is dropped of it."""

import io
import json

import pytest

from gammaplan.engines import values as module
from gammaplan.engines.base import Dropped
from gammaplan.engines.values import fractions, values, whole_number, whole_numbers

ROWS = [{"a": 1}, {"b": [1, 2.5, None]}, {"c": "γ"}]
LINES = "\n".join(map(json.dumps, ROWS))


def read(data):
    """The values of some bytes or text."""
    raw = data if isinstance(data, bytes) else data.encode()
    return list(values(io.BufferedReader(io.BytesIO(raw))))


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        LINES + "\n",
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", "\n\n"),
        "\ufeff" + LINES,
        "\n".join(map(repr, ROWS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "".join(f"data: {json.dumps(row)}\n\n" for row in ROWS) + "data: [DONE]\n",
        "".join(f": comment\nevent: x\ndata:{json.dumps(row)}\n" for row in ROWS),
        "\n".join(json.dumps([row]) for row in ROWS),
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
        "".join(map(json.dumps, ROWS)),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + json.dumps(ROWS),
        ": ping\n\n" + "".join(f"id: 7\nevent: x\ndata: {json.dumps(row)}\n\n" for row in ROWS),
    ],
)
def test_every_form_gives_the_same_values(text):
    assert read(text) == ROWS


def test_one_pretty_document_is_one_value():
    assert read(json.dumps({"rows": ROWS}, indent=4)) == [{"rows": ROWS}]


def test_nan_and_infinity_are_read():
    found = read('{"rate": NaN}\n{"rate": -Infinity}\n{"rate": 1}\n')
    assert [str(row["rate"]) for row in found] == ["nan", "-inf", "1"]


def test_a_damaged_line_is_dropped_and_the_others_are_kept():
    assert read('{"a": 1}\n{"a": \n{"a": 2}\n') == [{"a": 1}, Dropped("a JSON line"), {"a": 2}]


@pytest.mark.parametrize("first", ['{"a": ', '{"a": 1}}', "{'a': }"])
def test_a_damaged_first_line_does_not_cost_the_others(first):
    found = read(f'{first}\n{{"a": 2}}\n')
    assert found[-1] == {"a": 2}
    assert isinstance(found[0], Dropped)


def test_documents_before_a_damaged_one_are_kept():
    laid = json.dumps({"a": 1}, indent=1) + '\n{\n "a":\n}\n'
    found = read(laid)
    assert found[0] == {"a": 1}
    assert len(found) > 1
    assert all(isinstance(value, Dropped) for value in found[1:])


def test_text_between_values_is_passed_over():
    assert read('{"a": 1}\nINFO: done\n{"a": 2}\n') == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "text", ["__import__('os').abort()", "{'a': __import__('os')}", "[exit()]"]
)
def test_nothing_is_evaluated(text):
    assert [v for v in read('{"a": 1}\n' + text) if not isinstance(v, Dropped)] == [{"a": 1}]


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\xff\xfe\x00", b"{\xff}", b"[" * 99_999, b"{'" * 999]
)
def test_junk_never_raises(data):
    assert all(isinstance(value, Dropped) for value in read(data))


def test_a_document_that_is_too_large_is_dropped(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_VALUE", 64)
    found = read('{\n"a": "' + "x" * 99 + '"\n}')
    assert found == [Dropped("one JSON document of more than 64 bytes")]


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (3.0, 3), (0, 0), (2**62, 2**62), (-1, None), (2.5, None), (True, None), ("3", None)],
)
def test_whole_numbers(value, number):
    assert whole_number(value) == number
    assert whole_numbers([value]) == (None if number is None else [number])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, None, [], {}])
def test_what_is_no_whole_number_never_raises(value):
    assert whole_number(value) is None


@pytest.mark.parametrize("value", [None, {}, "12", 3, [1, None], [[1]]])
def test_what_is_no_list_of_whole_numbers_is_none(value):
    assert whole_numbers(value) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [([0, 0.5, 1], [0.0, 0.5, 1.0]), ([1.5], None), ([-0.1], None), ([True], None), ("a", None)],
)
def test_fractions(value, found):
    assert fractions(value) == found
    assert fractions([float("nan")]) is None
