"""What happens to a log on its way to a file: prefixes, colours, noise, encodings, cuts.

Written from engines.md sections 3.1 and 18 (engine formats as of autumn 2026).
"""

from __future__ import annotations

import codecs
import gzip
import json
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

Jacket = Callable[[str, bool], str]
"""Dresses one line; the flag is False for a line in which the file breaks off."""

ACCESS = (
    '"POST /v1/chat/completions HTTP/1.1" 200 OK',
    '"GET /metrics HTTP/1.1" 200 OK',
    '"GET /search?q=SpecDecoding%20metrics HTTP/1.1" 404 Not Found',
    '"GET /docs/accepted/drafted?from=SpecDecoding HTTP/1.1" 200 OK',
    '"POST /v1/completions?note=draft+acceptance+rate HTTP/1.1" 200 OK',
)
CHATTER = (
    "INFO: upload accepted: 5 files",
    "WARNING: request queue drafted 3 times, accepted 2",
    "connection accepted from 192.0.2.41",
    "",
)


class Clock:
    """The time of the log, moving forward only."""

    def __init__(self, rng: random.Random) -> None:
        self.now = datetime(2025, 4, 1) + timedelta(seconds=rng.randrange(45_000_000))

    def tick(self, seconds: float) -> datetime:
        """Move on and tell the new time."""
        self.now += timedelta(seconds=seconds)
        return self.now


def vllm_prefix(rng: random.Random) -> Callable[[datetime, str], str]:
    """The head of a vLLM line for a time and a source file: section 3.1."""
    style = rng.choice(("bare", "process", "process", "colour"))
    pid = rng.choice((1, 7, 311, 2236552))

    def head(time: datetime, file: str) -> str:
        at = time.strftime("%m-%d %H:%M:%S")
        if style == "bare":
            return f"INFO {at} [{file}] "
        if style == "process":
            return f"(APIServer pid={pid}) INFO {at} [{file}] "
        grey = "\x1b[90m"
        return (
            f"\x1b[0;36m(APIServer pid={pid})\x1b[0;0m \x1b[32mINFO\x1b[0m "
            f"{grey}{at}\x1b[0m {grey}[{file}]\x1b[0m "
        )

    return head


def noise(rng: random.Random) -> str:
    """An access line or a remark that has nothing to do with speculative decoding."""
    if rng.random() < 0.2:
        return rng.choice(CHATTER)
    return f"INFO:     192.0.2.{rng.randint(1, 250)}:{rng.randint(1024, 65535)} - " + rng.choice(
        ACCESS
    )


def interleave(
    rng: random.Random,
    lines: Sequence[str],
    make: Callable[[random.Random], str] = noise,
    share: float | None = None,
) -> list[str]:
    """The lines in order with unrelated ones between and around them."""
    share = rng.choice((0.0, 0.3, 0.7)) if share is None else share
    mixed: list[str] = []
    for line in lines:
        while rng.random() < share:
            mixed.append(make(rng))
        mixed.append(line)
    if rng.random() < share:
        mixed.append(make(rng))
    return mixed


def braid(rng: random.Random, queues: Sequence[Sequence[str]]) -> list[str]:
    """Lines of several writers in one log, each writer's in order."""
    left, mixed = [list(reversed(queue)) for queue in queues], []
    while any(left):
        mixed.append(rng.choice([queue for queue in left if queue]).pop())
    return mixed


def cut(rng: random.Random, record: str, after: str, before: str) -> str:
    """The record broken off behind the first `after` and ahead of the last `before`."""
    start, stop = record.index(after) + len(after) + 1, record.rindex(before)
    assert start <= stop, (record, after, before)
    return record[: rng.randint(start, stop)]


def _bare(rng: random.Random) -> Jacket:
    return lambda line, whole: line


def compose(name: str, width: int = 0, *, colour: bool = False) -> Jacket:
    """The prefix of docker compose: `NAME | `."""
    head = f"{name:<{max(width, len(name))}}  | "
    head = f"\x1b[36m{head}\x1b[0m" if colour else head
    return lambda line, whole: head + line


def _compose(rng: random.Random) -> Jacket:
    return compose(rng.choice(("llm-1", "inference-gpu0-1")), 14, colour=rng.random() < 0.3)


def _kubectl(rng: random.Random) -> Jacket:
    head = f"[pod/llm-{rng.randrange(16**8):08x}-x7k2p/server] "
    return lambda line, whole: head + line


def _cri(rng: random.Random) -> Jacket:
    clock, stream = Clock(rng), rng.choice(("stdout", "stderr"))
    stamps = random.Random(rng.random())

    def dress(line: str, whole: bool) -> str:
        at = clock.tick(stamps.random()).strftime("%Y-%m-%dT%H:%M:%S.%f")
        return f"{at}{stamps.randrange(1000):03d}Z {stream} F {line}"

    return dress


def _json_file(rng: random.Random) -> Jacket:
    clock, spaced = Clock(rng), rng.random() < 0.5
    stamps = random.Random(rng.random())

    def dress(line: str, whole: bool) -> str:
        at = clock.tick(stamps.random()).strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"
        separators = (", ", ": ") if spaced else (",", ":")
        row = {"log": line + "\n", "stream": "stderr", "time": at}
        text = json.dumps(row, separators=separators)
        return text if whole else text[: text.index('\\n"')]

    return dress


def _journald(rng: random.Random) -> Jacket:
    clock = Clock(rng)
    stamps = random.Random(rng.random())
    unit = f"node-{rng.randint(1, 9)} {rng.choice(('llm', 'python3', 'inference'))}"
    pid = rng.randint(100, 99999)

    def dress(line: str, whole: bool) -> str:
        at = clock.tick(stamps.random()).strftime("%b %d %H:%M:%S")
        return f"{at} {unit}[{pid}]: {line}"

    return dress


JACKETS = (_bare, _bare, _bare, _compose, _kubectl, _cri, _json_file, _journald)


def log_file(
    rng: random.Random, lines: Sequence[str], tail: str | None = None, *, jacket: bool = True
) -> bytes:
    """The bytes of a log, perhaps from a container runtime, perhaps broken off in `tail`."""
    dress = (rng.choice(JACKETS) if jacket else _bare)(rng)
    dressed = [dress(line, True) for line in lines]
    return encode(rng, dressed, None if tail is None else dress(tail, False))


def encode(rng: random.Random, lines: Sequence[str], tail: str | None = None) -> bytes:
    """The bytes of the lines: LF or CRLF, UTF-8 or UTF-16, BOM, gzip, last newline or none."""
    newline = rng.choice(("\n", "\n", "\n", "\r\n"))
    text = newline.join(lines)
    if tail is not None:
        text += newline + tail
    elif rng.random() < 0.8:
        text += newline
    return encode_text(rng, text)


def encode_text(rng: random.Random, text: str) -> bytes:
    """The bytes of a text, seldom with a BOM or as UTF-16, sometimes compressed."""
    kind = rng.choices(("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"), (16, 2, 1, 1))[0]
    bom = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(kind, b"")
    data = bom + text.encode(kind)
    return gzip.compress(data, mtime=0) if rng.random() < 0.1 else data


def document(rng: random.Random, value: object, *, indent: bool | None = None) -> bytes:
    """A JSON document, on one line or indented."""
    pretty = rng.random() < 0.5 if indent is None else indent
    text = json.dumps(value, indent=rng.choice((1, 2, 4)) if pretty else None)
    return encode(rng, text.split("\n"))


def documents(rng: random.Random, rows: Sequence[object], tail: str | None = None) -> bytes:
    """JSON lines, or where nothing is cut also a list or a document of one."""
    shape = rng.random()
    if tail is None and len(rows) == 1 and shape < 0.5:
        return document(rng, rows[0])
    if tail is None and shape < 0.5:
        return document(rng, list(rows))
    return encode(rng, [json.dumps(row) for row in rows], tail)


def event_stream(rng: random.Random, chunks: Sequence[object]) -> bytes:
    """A response as it is streamed: an event a chunk, and the mark of the end."""
    lines = []
    for text in [*map(json.dumps, chunks), "[DONE]"]:
        lines += [f"data: {text}", ""]
    return encode(rng, lines)
