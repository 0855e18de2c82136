"""Traces: every form that tells rounds one by one, and what is dropped from them."""

import gzip
import io
import json
import random

import pytest

from gammaplan.engines.base import Dropped
from gammaplan.engines.lines import open_stream
from gammaplan.engines.rounds import Traced, read_rounds


def read(text, gamma=None):
    raw = text if isinstance(text, bytes) else text.encode()
    return list(read_rounds(io.BufferedReader(io.BytesIO(raw)), gamma))


def dropped(text, gamma=None):
    return [item.what for item in read(text, gamma) if isinstance(item, Dropped)]


def test_a_round_a_line():
    text = '{"request": "a", "drafted": 4, "accepted": 2}\n\n{"drafted": 0, "accepted": 0}\n'
    assert read(text) == [Traced("a", 4, 2), Traced("", 0, 0)]


def test_a_round_may_bring_confidences():
    found = read('{"request": 1, "drafted": 2, "accepted": 2, "confidence": [0.5, 1]}')
    assert found == [Traced("1", 2, 2, [0.5, 1])]


def test_vllm_tells_the_steps_of_a_request():
    block = {"per_step_drafted": [3, 2], "per_step_accepted": [3, 0], "num_spec_steps": 2}
    response = {"id": "cmpl-1", "metrics": {"speculative_decoding": block}}
    expected = [Traced("cmpl-1", 3, 3), Traced("cmpl-1", 2, 0)]
    assert read(json.dumps(response)) == expected
    assert read(json.dumps([response])) == expected
    assert read(json.dumps(response, indent=2)) == expected


def test_spec_bench_counts_the_bonus_and_needs_the_draft_length():
    line = json.dumps({"question_id": 81, "choices": [{"accept_lengths": [1, 6, 3]}]})
    assert read(line, gamma=5) == [
        Traced("choice 1", 5, 0),
        Traced("choice 1", 5, 5),
        Traced("choice 1", 5, 2),
    ]
    assert dropped(line, gamma=4) == ["line 1, round 2: accepted 5 of 4 drafted"]
    assert dropped(line) == [
        f"line 1{which}: does not tell the draft length (Spec-Bench: give --gamma)"
        for which in ("", ", round 2", ", round 3")
    ]


def test_exllamav3_starts_a_request_where_positions_start_again():
    rows = [[0, 4, 2, 1.9], [3, 4, 4, 2.3], [0, 3, 1, 2.0]]
    expected = [Traced("request 1", 4, 2), Traced("request 1", 4, 4), Traced("request 2", 3, 1)]
    assert read(json.dumps(rows)) == expected
    objects = [{"position": p, "window": w, "accepted": a} for p, w, a, _ in rows]
    assert read("\n".join(map(json.dumps, objects))) == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"drafted": 3, "accepted": 5}', "accepted 5 of 3 drafted"),
        ('{"drafted": 3, "accepted": -1}', "accepted -1 of 3 drafted"),
        ('{"drafted": -3, "accepted": -4}', "accepted -4 of -3 drafted"),
        ('{"drafted": 3, "accepted": NaN}', "accepted nan of 3 drafted"),
        ('{"drafted": 3, "accepted": 1e400}', "accepted inf of 3 drafted"),
        ('{"drafted": 3, "accepted": 1.5}', "accepted 1.5 of 3 drafted"),
        ('{"drafted": true, "accepted": true}', "accepted True of True drafted"),
        ('{"drafted": "3", "accepted": [1]}', "accepted [1] of '3' drafted"),
        ('{"drafted": 300, "accepted": 1}', "300 drafted, more than 255"),
        ('{"drafted": 2, "accepted": 1, "confidence": [0.5]}', "1 confidences for 2 drafted"),
        ('{"drafted": 1, "accepted": 1, "confidence": 0.5}', "no list of confidences for 1"),
        ('{"drafted": 1, "accepted": 1, "confidence": [NaN]}', "a confidence outside [0, 1]"),
        ('{"drafted": 1, "accepted": 1, "confidence": [1.5]}', "a confidence outside [0, 1]"),
        ('{"accepted": 1}', "has no drafted and accepted"),
        ("[]", None),
        ("[7]", "record 1: has no drafted and accepted"),
        ('[{"rounds": 1}]', "record 1: has no drafted and accepted"),
        ('[{"drafted": 1, "accepted": 2}]', "record 1: accepted 2 of 1 drafted"),
        ('{"choices": [{"accept_lengths": 7}]}', "accept_lengths is no list"),
        ('{"drafted": null, "accepted": 1}', "does not tell the draft length"),
        ("12", "has no drafted and accepted"),
        ('{"drafted": 3, "acc', "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("\xff\xfe", "is no JSON"),
    ],
)
def test_what_is_no_round_is_dropped_and_its_line_named(line, said):
    found = read('{"drafted": 1, "accepted": 1}\n' + line + '\n{"drafted": 2, "accepted": 0}\n')
    assert [item for item in found if isinstance(item, Traced)] == [
        Traced("", 1, 1),
        Traced("", 2, 0),
    ]
    reasons = [item.what for item in found if isinstance(item, Dropped)]
    assert len(reasons) == (said is not None)
    if said:
        assert reasons[0].startswith("line 2")
        assert said in reasons[0]


def test_steps_that_do_not_match_are_dropped_as_one():
    block = {"per_step_drafted": [3], "per_step_accepted": [3, 0]}
    assert dropped(json.dumps(block)) == ["line 1: 1 steps drafted and 2 accepted"]


@pytest.mark.parametrize("left", [0.5, 1.0])
def test_a_compressed_trace_that_is_cut_says_so(tmp_path, left):
    """Even where what is left of it ends with a line."""
    rng = random.Random(0)
    lines = [f'{{"drafted": 9, "accepted": {rng.randint(0, 9)}}}\n' for _ in range(5_000)]
    packed = gzip.compress("".join(lines).encode())
    path = tmp_path / "rounds.jsonl.gz"
    path.write_bytes(packed[: int(left * (len(packed) - 8))])  # all of it but the check sum
    with open_stream(str(path)) as stream:
        found = list(read_rounds(stream))
    assert len([item for item in found if isinstance(item, Traced)]) > 1_000
    assert "the rest of the input, which is cut" in found[-1].what
