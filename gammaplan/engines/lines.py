"""Bytes to clean lines, in constant memory: compression, encodings, prefixes, colour."""

import bz2
import gzip
import io
import json
import lzma
import re
import sys
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from gammaplan.engines.addresses import OPEN, Access, is_address, shown
from gammaplan.errors import InputError

BUFFER = 2**20
STREAM_BUFFER = 2**16  # smaller than BUFFER, so that blocks are read past it, not copied out of it
LONGEST_LINE = 16 * 2**20  # a longer line is skipped and counted
Block: TypeAlias = tuple[bytearray, int, int]  # buffer, end of the last whole line, offset

_MAGIC: tuple[tuple[bytes, Callable[[BinaryIO], Any]], ...] = (  # Any: raw streams, to typeshed
    (b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_COMPOSE = re.compile(r"([\w.-]{1,80}?) +\| ")
_KUBECTL = re.compile(r"\[(?:pod/)?([\w.-]+/[\w./-]{1,200}|\d{2,5})\] ")  # a pod, or a port
_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\S{8,30}) (?:stdout|stderr) [FP] ")
_JOURNAL = re.compile(
    r"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d (?=\d\d:)|(?=\d{4}-\d\d-\d\d[T ]\d\d:))"
    r"([\d:T -]{8,19})\S* (\S+) ([\w.@-]+)\[\d+\]: "
)
# Docker, fluent-bit, loggers, the journal, Loki, Google's and OpenTelemetry's: the text, its time.
_ENVELOPES = (
    ("log", "time"),
    ("message", "asctime"),
    ("msg", "time"),
    ("MESSAGE", "__REALTIME_TIMESTAMP"),
    ("line", "timestamp"),
    ("textPayload", "timestamp"),
    ("body", "timestamp"),
)
_SOURCES = ("kubernetes", "labels")  # objects of an envelope that name a pod and its container
_POD = (("pod_name", "pod"), ("container_name", "container"))


class Line(NamedTuple):
    """One line, freed of what containers, terminals and loggers wrapped it in."""

    text: str
    instance: str | None = None
    time: str | None = None
    offset: int = -1
    whole: bool = True  # False for a last line without its newline


def open_stream(path: str, access: Access = OPEN) -> io.BufferedReader:
    """The bytes of a file, a URL, or standard input for "-", decompressed and in UTF-8."""
    stream = _open(path, access)
    try:
        head = stream.peek(8)[:8]
        for magic, decompressed in _MAGIC:
            if head.startswith(magic):
                stream = io.BufferedReader(_Layer(decompressed(stream), stream), STREAM_BUFFER)
                head = stream.peek(8)[:8]
    except DAMAGED as error:
        if path != "-":
            stream.close()
        raise InputError(f"{named(path)}: cannot be read: {_reason(error)}") from None
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            return io.BufferedReader(_Recoded(stream, encoding), BUFFER)
    for zeros, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(head) >= 4 and not any(head[zeros::2]) and all(head[1 - zeros :: 2]):
            return io.BufferedReader(_Recoded(stream, encoding), BUFFER)
    return stream


def named(path: str) -> str:
    """How messages name an input."""
    if path == "-":
        return "standard input"
    return shown(path) if is_address(path) else path


def damaged_stream(data: bytes, reason: str | None) -> io.BufferedReader:
    """A stream of bytes that are in memory; `reason` says why they end early, if they do.

    The line that was cut is left out: half a number is a number too.
    """
    source = _Cut(data[: data.rfind(b"\n") + 1] if reason else data, reason)
    return io.BufferedReader(_Layer(source, source), STREAM_BUFFER)


class _Cut(io.BytesIO):
    """Bytes that may end in damage."""

    def __init__(self, data: bytes, reason: str | None) -> None:
        super().__init__(data)
        self._reason = reason

    def readinto1(self, buffer: Any) -> int:  # Any: a writable buffer, as io has it
        count = super().readinto1(buffer)
        if not count and len(buffer) and self._reason:
            raise EOFError(self._reason)
        return count


def _open(path: str, access: Access) -> io.BufferedReader:
    if path == "-":
        if sys.stdin is None:
            raise InputError(f"{named(path)}: cannot be read: it is closed")
        source = sys.stdin.buffer
        return source if isinstance(source, io.BufferedReader) else _buffered(source)
    if is_address(path):
        from gammaplan.engines.fetch import open_page

        return open_page(path, access)
    stream: io.BufferedReader | None = None
    try:
        if not Path(path).is_dir():
            stream = io.BufferedReader(io.FileIO(path), STREAM_BUFFER)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {_reason(error)}") from None
    except ValueError as error:  # a NUL byte in the name
        raise InputError(f"{path!r}: cannot be read: {error}") from None
    if stream is None:
        raise InputError(f"{path}: must be a file, and is a directory")
    return stream


def _buffered(source: Any) -> io.BufferedReader:  # Any: whatever stands in for standard input
    return io.BufferedReader(source)


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or "it is cut"


class _Layer(io.RawIOBase):
    """A stream made of another, which is closed with it."""

    def __init__(self, stream: Any, below: BinaryIO) -> None:  # Any: a decompressor, as io has it
        self._stream, self._below = stream, below
        self._given = False
        self._damage: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, as io has it
        """Fill the buffer; the stream ends at damage, unless all of it is."""
        filled, count = 0, 1
        with memoryview(buffer) as view:
            while count and filled < len(view) and self._damage is None:
                try:
                    count = self._stream.readinto1(view[filled:])
                except DAMAGED as error:
                    if not (filled or self._given):
                        raise
                    self._damage, count = _reason(error), 0
                filled += count
        self._given = True
        return filled

    @property
    def damage(self) -> str | None:
        """Why the stream ended early, if it did."""
        return self._damage

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._below.close()
        super().close()


class _Recoded(_Layer):
    """A stream in another encoding, as UTF-8; what cannot be decoded is replaced."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        super().__init__(stream, stream)
        self._decoder = getincrementaldecoder(encoding)(errors="replace")
        self._rest = b""

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, as io has it
        while not self._rest:
            data = self._stream.read1(len(buffer) // 2 + 1)
            text = self._decoder.decode(data, final=not data)
            self._rest = text.encode("utf-8", "replace")
            if not data:
                break
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    @property
    def damage(self) -> str | None:
        """Why the stream ended early, if it did."""
        return damage_of(self._stream)


def damage_of(stream: io.BufferedIOBase) -> str | None:
    """Why a stream that was decompressed ended early; None where it did not."""
    raw = getattr(stream, "raw", None)
    return raw.damage if isinstance(raw, _Layer) else None


class Blocks:
    """Blocks of whole lines of a stream; one buffer serves them all.

    Iterating yields ``(buffer, end, offset)``: ``buffer[:end]`` holds whole
    lines (the last may lack its newline at the end of the input) and `offset`
    is where the block starts in the input. `lost` says why reading stopped
    early, `skipped` counts lines that were too long.
    """

    def __init__(
        self, stream: io.BufferedReader, progress: Callable[[int], None] = lambda offset: None
    ) -> None:
        self._stream = stream
        self._progress = progress
        self.lost: str | None = None
        self.skipped = 0

    def __iter__(self) -> Iterator[Block]:
        buffer, filled, offset = bytearray(BUFFER), 0, 0
        while True:
            if filled == len(buffer):
                if len(buffer) >= LONGEST_LINE:
                    offset += self._skip_line(filled)
                    filled = 0
                    continue
                buffer.extend(bytes(len(buffer)))
            count = self._read(buffer, filled)
            if not count:
                if filled:
                    yield buffer, filled, offset
                return
            filled += count
            end = buffer.rfind(b"\n", filled - count, filled) + 1
            if end:
                self._progress(offset)
                yield buffer, end, offset
                buffer[: filled - end] = buffer[end:filled]
                filled -= end
                offset += end

    def _read(self, buffer: bytearray, filled: int) -> int:
        with memoryview(buffer) as view, view[filled:] as free:
            try:
                count = self._stream.readinto(free)
            except DAMAGED as error:
                self.lost = _reason(error)
                return 0
        if not count:
            self.lost = damage_of(self._stream)
        return count

    def _skip_line(self, taken: int) -> int:
        """Read past a line that is longer than any record; returns its length."""
        self.skipped += 1
        while True:
            try:
                part = self._stream.readline(BUFFER)
            except DAMAGED as error:
                self.lost = _reason(error)
                return taken
            taken += len(part)
            if not part or part.endswith(b"\n"):
                return taken


def matching(blocks: Iterator[Block], marks: tuple[bytes, ...]) -> Iterator[Line]:
    """The clean lines that have any of the marks, in order."""
    for buffer, end, offset in blocks:
        for start, stop in line_spans(buffer, end, marks):
            raw = bytes(buffer[start:stop])
            yield clean(raw)._replace(
                offset=offset + start, whole=stop < end or raw.endswith(b"\n")
            )


def line_spans(buffer: bytearray, end: int, marks: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Start and end (newline included) of each line in ``buffer[:end]`` that has a mark."""
    spans: dict[int, int] = {}
    for mark in marks:
        at = buffer.find(mark, 0, end)
        while at >= 0:
            start = buffer.rfind(b"\n", 0, at) + 1
            stop = buffer.find(b"\n", at, end) + 1 or end
            spans[start] = stop
            at = buffer.find(mark, stop, end)
    return iter(sorted(spans.items()))


def clean(raw: bytes) -> Line:
    """One raw line without its wrapping; what it was wrapped in names instance and time."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    instance = time = None
    for _ in range(3):  # compose around a JSON driver around a colour is as deep as it gets
        text = ANSI.sub("", text)
        if text.startswith("{") and (inner := _unwrapped(text)):
            text, time = inner.text.rstrip("\r\n"), inner.time or time
            instance = inner.instance or instance
        elif match := _COMPOSE.match(text) or _KUBECTL.match(text):
            text, instance = text[match.end() :], match[1]
        elif match := _CRI.match(text):
            text, time = text[match.end() :], match[1]
        elif match := _JOURNAL.match(text):
            text, time, instance = text[match.end() :], match[1], f"{match[2]}/{match[3]}"
        else:
            break
    return Line(text, instance, time)


def _unwrapped(text: str) -> Line | None:
    """The message inside a JSON log line, its time, and the pod that printed it."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    for key, when in _ENVELOPES:
        if isinstance(record.get(key), str):
            time = record.get(when)
            return Line(record[key], _pod(record), time if isinstance(time, str) else None)
    return None


def _pod(record: dict[str, Any]) -> str | None:  # Any: parsed JSON
    """The pod and its container, where an envelope names them."""
    for key in _SOURCES:
        source = record.get(key)
        if isinstance(source, dict):
            found = [next((source[n] for n in names if n in source), None) for names in _POD]
            if any(found):
                return "/".join(str(name) for name in found if name)
    return None


def is_log_line(raw: bytes) -> bool:
    """Whether a line that starts like JSON is a log line in a JSON wrapper."""
    return _unwrapped(raw.decode("utf-8", "replace").strip()) is not None
