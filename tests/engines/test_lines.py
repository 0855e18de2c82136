"""Bytes to clean lines: blocks, wrappings, encodings, damage."""

import bz2
import gzip
import io
import json
import lzma

import pytest

from gammaplan.engines import lines
from gammaplan.engines.lines import BUFFER, Blocks, clean, damage_of, matching, open_stream
from gammaplan.errors import InputError

RECORD = "INFO 06-01 10:10:41 [metrics.py:101] SpecDecoding metrics: Accepted: 3 tokens"
MARK = (b"SpecDecoding",)


def texts(data, marks=MARK):
    """The clean lines of some bytes that have a mark."""
    stream = io.BufferedReader(io.BytesIO(data))
    return [line.text for line in matching(iter(Blocks(stream)), marks)]


def opened(path):
    """All bytes of a file as the readers get them."""
    with open_stream(str(path)) as stream:
        return stream.read()


WRAPPED = {
    "compose": (f"llm-1  | {RECORD}", "llm-1", None),
    "compose in colour": (f"\x1b[36mllm-1  | \x1b[0m{RECORD}", "llm-1", None),
    "kubectl": (f"[pod/llm-7f9/server] {RECORD}", "llm-7f9/server", None),
    "containerd": (
        f"2026-06-01T10:10:41.123456789Z stdout F {RECORD}", None, "2026-06-01T10:10:41.123456789Z",
    ),
    "journald": (f"Jun 01 10:10:41 node-1 vllm[71]: {RECORD}", "node-1/vllm", "10:10:41"),
    "docker": (json.dumps({"log": RECORD + "\n", "time": "2026"}), None, "2026"),
    "JSON logger": (json.dumps({"asctime": "2026", "message": RECORD}), None, "2026"),
    "journal, ISO time": (
        f"2026-06-01T10:10:41+0000 node-1 vllm[71]: {RECORD}", "node-1/vllm", "2026-06-01T10:10:41",
    ),
    "syslog": (f"<14>Jun  1 10:10:41 node-1 vllm[71]: {RECORD}", "node-1/vllm", "10:10:41"),
    "journal as JSON": (json.dumps({"_PID": "71", "MESSAGE": RECORD}), None, None),
    "fluent-bit": (
        json.dumps({"log": RECORD, "kubernetes": {"pod_name": "a", "container_name": "b"}}),
        "a/b",
        None,
    ),
    "Loki": (json.dumps({"labels": {"pod": "a"}, "line": RECORD, "timestamp": "9"}), "a", "9"),
    "Google Cloud": (json.dumps({"textPayload": RECORD, "timestamp": "9"}), None, "9"),
    "OpenTelemetry": (json.dumps({"body": RECORD, "timestamp": "9"}), None, "9"),
    "compose around JSON": ("a-1 | " + json.dumps({"message": RECORD}), "a-1", None),
    "colour": (f"\x1b[32m{RECORD}\x1b[0m", None, None),
    "title and colour": (f"\x1b]0;title\x07\x1b[1;31m{RECORD}\x1b[m", None, None),
    "nothing": (RECORD, None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_line_is_freed_of_its_wrapping(name, end):
    text, instance, time = WRAPPED[name]
    found = clean((text + end).encode())
    assert found.text == RECORD
    assert instance in (found.instance, None)
    assert time in (found.time, None)


@pytest.mark.parametrize(
    "text", ["{", '{"a": 1}', "[1]", '{"log": 5}', "a | ", "", "\x1b", "\x1b["]
)
def test_what_is_no_wrapping_never_raises(text):
    assert isinstance(clean(text.encode()).text, str)


def test_a_table_in_a_line_is_no_compose_prefix_of_more_than_its_name():
    assert clean(b"id  0 | task 3 | draft").text.endswith("draft")


@pytest.mark.parametrize("size", [1, 2, 7, 100, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER])
def test_every_line_is_in_one_block_whole(size):
    data = b"".join(b"%d SpecDecoding " % i + b"x" * size + b"\n" for i in range(7))
    assert [t.split()[0] for t in texts(data)] == [str(i) for i in range(7)]


def test_offsets_point_at_their_lines():
    data = b"first\nSpecDecoding 1\nother\nSpecDecoding 2"
    stream = io.BufferedReader(io.BytesIO(data))
    found = list(matching(iter(Blocks(stream)), MARK))
    assert [data[line.offset :].split(b"\n")[0].decode() for line in found] == [
        line.text for line in found
    ]
    assert [line.whole for line in found] == [True, False]


def test_a_line_with_two_marks_is_one_line():
    assert texts(b"a SpecDecoding b\n", (b"SpecDecoding", b" b")) == ["a SpecDecoding b"]


def test_lines_come_in_order_whatever_mark_they_have():
    assert texts(b"y 1\nx 2\ny 3\n", (b"x", b"y")) == ["y 1", "x 2", "y 3"]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_line_without_an_end_is_skipped_and_counted(monkeypatch, at):
    monkeypatch.setattr(lines, "LONGEST_LINE", BUFFER)
    rows = [b"SpecDecoding 1\n", b"SpecDecoding 2\n"]
    rows.insert(at, b"SpecDecoding " + b"x" * 4 * BUFFER + b"\n")
    blocks = Blocks(io.BufferedReader(io.BytesIO(b"".join(rows))))
    found = list(matching(iter(blocks), MARK))
    assert [line.text for line in found] == ["SpecDecoding 1", "SpecDecoding 2"]
    assert blocks.skipped == 1
    data = b"".join(rows)
    assert all(data[f.offset :].startswith(f.text.encode()) for f in found)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_compressed_files_are_recognised_by_their_bytes(tmp_path, compress):
    path = tmp_path / "x"
    path.write_bytes(compress(RECORD.encode() * 999))
    assert opened(path) == RECORD.encode() * 999


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_are_recognised(tmp_path, encoding):
    path = tmp_path / "x"
    path.write_bytes((RECORD * 99 + " γ 𝛼").encode(encoding))
    assert opened(path).decode() == RECORD * 99 + " γ 𝛼"


def test_half_a_character_at_the_end_is_replaced(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe" + RECORD.encode("utf-16-le") + b"\x41")
    assert opened(path).decode() == RECORD + "\ufffd"


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_what_comes_before_damage_is_given_and_the_damage_told(tmp_path, compress):
    data = b"".join(b"SpecDecoding %d\n" % i for i in range(200_000))
    path = tmp_path / "x"
    packed = compress(data)
    path.write_bytes(packed[: len(packed) // 2])
    with open_stream(str(path)) as stream:
        blocks = Blocks(stream)
        found = list(matching(iter(blocks), MARK))
        assert damage_of(stream)
    assert blocks.lost
    assert len(found) > 1_000 if compress is not lzma.compress else found is not None
    assert all(line.text == f"SpecDecoding {i}" for i, line in enumerate(found[:-1]))


def test_a_whole_stream_has_no_damage(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(b"SpecDecoding\n"))
    with open_stream(str(path)) as stream:
        blocks = Blocks(stream)
        assert len(list(blocks)) == 1
    assert blocks.lost is None


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00"])
def test_what_only_starts_like_a_compressed_file_is_refused(tmp_path, head):
    path = tmp_path / "x"
    path.write_bytes(head + b"junk" * 20)
    with pytest.raises(InputError, match="cannot be read"):
        open_stream(str(path))


def test_a_name_with_a_null_byte_is_refused():
    with pytest.raises(InputError, match="cannot be read"):
        open_stream("a\0b")
