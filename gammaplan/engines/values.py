"""JSON values of a stream: one document, JSON lines, server-sent events or Python reprs."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import msgspec

from gammaplan.engines.base import Dropped
from gammaplan.engines.lines import DAMAGED, damage_of

LARGEST_VALUE = 64 * 2**20
FRAMES = (b":", b"event:", b"id:", b"retry:")  # of server-sent events, besides their data
CUT = Dropped("the rest of the input, which is cut")
_STARTS, _ENDS = re.compile(r"[^\ufeff\s]"), re.compile(r"[ \t]*(?:[\r\n{\[]|$)")
_DECODE = msgspec.json.Decoder().decode
_BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def values(stream: BufferedReader) -> Iterator[Any]:  # Any: parsed JSON
    """Each value in turn, the items of a top-level list one by one; `Dropped` for a damaged one.

    One value a line where the first line is one; otherwise the whole input is
    one document, which must fit in memory (64 MiB).
    """
    try:
        yield from _values(stream)
    except DAMAGED:
        yield CUT
    else:
        if damage_of(stream):
            yield CUT


def _values(stream: BufferedReader) -> Iterator[Any]:
    first = stream.readline(LARGEST_VALUE)
    if first.startswith(b"HTTP/"):
        while first.strip():
            first = stream.readline(LARGEST_VALUE)
    while first and (not first.strip() or first.startswith(FRAMES)):
        first = stream.readline(LARGEST_VALUE)
    one = _line(first)
    if one is not None and not isinstance(one, Dropped):
        yield from _items(one)
        yield from _lines(stream)
        return
    rest = stream.read(LARGEST_VALUE + 1)
    if len(rest) > LARGEST_VALUE:
        yield Dropped(f"one JSON document of more than {LARGEST_VALUE:,} bytes")
        return
    found, left = _documents(first + rest)
    for value in found:
        yield from _items(value)
    if not found and isinstance(one, Dropped):
        yield one
        left = rest
    for line in left.splitlines():
        value = _line(line)
        if value is not None:
            yield from _items(value)


def _documents(text: bytes) -> tuple[list[Any], bytes]:
    """The documents that follow each other from the start, however laid out, and what is left."""
    try:
        return [_DECODE(text)], b""
    except _BROKEN:
        pass
    whole, found, at = text.decode("utf-8", "replace"), [], 0
    while start := _STARTS.search(whole, at):
        try:
            value, end = json.JSONDecoder().raw_decode(whole, start.start())
        except (ValueError, RecursionError):
            break
        if not _ENDS.match(whole, end):
            break
        found.append(value)
        at = end
    return found, whole[at:].encode()


def _lines(stream: BufferedReader) -> Iterator[Any]:
    while line := stream.readline(LARGEST_VALUE):
        value = _line(line)
        if value is not None:
            yield from _items(value)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    else:
        yield value


def _line(line: bytes) -> Any:
    """The value of one line; None for a line without one, `Dropped` for a damaged one."""
    text = line.strip().removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"data:"):
        text = text[5:].strip()
    if not text or text == b"[DONE]" or text[:1] in (b":", b"#"):
        return None
    try:
        return _DECODE(text)
    except _BROKEN:
        pass
    if text[:1] not in (b"{", b"["):
        return None
    for lenient in (json.loads, _repr_of) if len(text) < 2**20 else ():
        try:
            return lenient(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return Dropped("a JSON line")


def _repr_of(text: bytes) -> Any:
    """The value of a Python repr; what is damaged may warn besides failing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return ast.literal_eval(text.decode())


def whole_number(value: Any) -> int | None:
    """`value` if it is a whole number of at least 0 (a float that is one too), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < 2**63 or value != int(value):
        return None
    return int(value)


def whole_numbers(value: Any) -> list[int] | None:
    """`value` if it is a list of whole numbers of at least 0, else None."""
    if not isinstance(value, list):
        return None
    numbers = [whole_number(v) for v in value]
    return None if None in numbers else [n for n in numbers if n is not None]


def fractions(value: Any) -> list[float] | None:
    """`value` if it is a list of numbers in [0, 1], else None."""
    if not isinstance(value, list):
        return None
    good = all(
        isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1 for v in value
    )
    return [float(v) for v in value] if good else None
