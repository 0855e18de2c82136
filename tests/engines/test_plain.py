"""The plain form: a JSON object a round, as anyone can write it."""

import json

import pytest

from gammaplan.engines.base import Dropped, Round
from gammaplan.engines.plain import claims, read
from gammaplan.errors import Finding


def rounds(*values):
    """What the reader yields for some objects."""
    return list(read(iter(values)))


def test_a_round_is_its_two_counts():
    assert rounds({"drafted": 3, "accepted": 2}) == [Round(3, 2, {})]


def test_label_request_and_time_are_kept():
    value = {"drafted": 3, "accepted": 2, "label": "chat", "request": 7, "time": "10:10:41"}
    assert rounds(value) == [Round(3, 2, {"label": "chat"}, "7", "10:10:41")]


def test_other_keys_are_passed_over():
    value = {"drafted": 3, "accepted": 2, "confidence": [0.5], "step": 9, "x": None}
    assert rounds(value) == [Round(3, 2, {})]


def test_rounds_without_a_draft_are_said_once():
    found = rounds(*[{"drafted": 0, "accepted": 0}] * 5)
    assert [f.code for f in found if isinstance(f, Finding)] == ["zero_drafts"]
    assert "5 round(s)" in found[0].message


@pytest.mark.parametrize(
    "value",
    [
        {"drafted": 2, "accepted": 3},
        {"drafted": -1, "accepted": 0},
        {"drafted": 2.5, "accepted": 1},
        {"drafted": "3", "accepted": 1},
        {"drafted": True, "accepted": 1},
        {"drafted": float("nan"), "accepted": 1},
        {"drafted": None, "accepted": 1},
        {"drafted": 3},
        [],
        "x",
        None,
    ],
)
def test_what_is_no_round_is_dropped_with_its_number(value):
    good = {"drafted": 3, "accepted": 2}
    found = rounds(good, value, good)
    assert [type(item) for item in found] == [Round, Dropped, Round]
    assert found[1].what.startswith("line 2: ")


def test_only_objects_with_both_counts_are_claimed():
    assert claims({"drafted": 1, "accepted": 1})
    assert not claims({"drafted": 1})
    assert not claims([1])


def test_rounds_of_varying_length_give_a_point(cli, tmp_path):
    path = tmp_path / "trace.jsonl"
    pairs = [(5, 5), (3, 1), (0, 0), (4, 4), (2, 0)] * 20
    path.write_text("".join(f"{json.dumps({'drafted': d, 'accepted': a})}\n" for d, a in pairs))
    found = json.loads(cli(["fit", str(path), "--json"]).stdout)["result"]
    assert (found["alpha"], found["counts"]["rounds"]) == (200 / 240, 80)
    assert found["gamma"] is None
    assert found["hazards"] == [0.75, pytest.approx(40 / 60), 1.0, 1.0, 1.0]
