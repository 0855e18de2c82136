"""From trace files to parts of requests, kept on disk: a trace is read once and replayed often."""

import re
import struct
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from gammaplan.engines.base import Dropped
from gammaplan.engines.lines import named
from gammaplan.engines.rounds import Traced, read_rounds
from gammaplan.errors import InputError
from gammaplan.model.traces import Part

if TYPE_CHECKING:
    from io import BufferedReader

TRACE = re.compile(rb'"drafted"|"per_step_accepted"|"accept_lengths"|"window"|\A\s*\[\s*\[')
SNIFFED = 65_536
LONGEST_PART = 4_096  # tokens; a longer request is replayed in parts, each from the start
MOST_HELD = 2**24  # tokens of unfinished parts in memory
EACH_HELD = 512  # what an unfinished part counts besides
SHOWN = 5  # dropped rounds that are named
_HEAD = struct.Struct("<qiii")


class Trace(NamedTuple):
    """A trace that was read: its parts, and the account of its rounds."""

    spool: IO[bytes]
    rounds: int
    split: int
    dropped: int
    reasons: tuple[str, ...]
    scored: bool
    accepted: int
    refused: int

    def parts(self) -> Iterator[Part]:
        """The parts, from the disk."""
        self.spool.seek(0)
        while head := self.spool.read(_HEAD.size):
            request, rounds, confidences, _ = _HEAD.unpack(head)
            drafted, accepted = (
                np.frombuffer(self.spool.read(rounds), dtype=np.uint8) for _ in range(2)
            )
            confidence = None
            if confidences >= 0:
                raw = self.spool.read(4 * confidences)
                confidence = np.frombuffer(raw, dtype=np.float32)
            yield Part(request, drafted, accepted, confidence)


def is_trace(stream: "BufferedReader") -> bool:
    """Whether an input tells rounds one by one; gammaplan's own documents do not."""
    from gammaplan.cli.inputs import DOCUMENT

    head = stream.peek(SNIFFED)[:SNIFFED]
    return not DOCUMENT.search(head) and TRACE.search(head) is not None


class _Open:
    """The rounds of one request that are not written yet."""

    def __init__(self) -> None:
        self.drafted, self.accepted = bytearray(), bytearray()
        self.confidence = array("f")
        self.tokens = 0
        self.held = EACH_HELD


class Recorder:
    """Reads traces, one input after the other, onto the disk; closing it forgets them.

    Rounds are sorted by request and written in parts of bounded length. A
    request is known by its input and its name.
    """

    def __init__(self, spool: IO[bytes], gamma: int | None) -> None:
        self._spool, self._gamma = spool, gamma
        self._open: dict[int, _Open] = {}
        self._held = self._rounds = self._split = self._dropped = 0
        self._accepted = self._refused = 0
        self._reasons: list[str] = []
        self._scored: bool | None = None
        self._paths: list[str] = []

    def read(self, stream: "BufferedReader", path: str) -> None:
        """All rounds of one input."""
        self._paths.append(named(path))
        for item in read_rounds(stream, self._gamma):
            if isinstance(item, Dropped):
                self._drop(f"{named(path)}: {item.what}")
            else:
                self._add(path, item)

    def _drop(self, reason: str) -> None:
        self._dropped += 1
        if len(self._reasons) < SHOWN:
            self._reasons.append(reason)

    def _add(self, path: str, item: Traced) -> None:
        """One more round of its request."""
        if self._scored is None:
            self._scored = item.confidence is not None
        if self._scored and item.confidence is None and item.drafted:
            self._drop(f"{named(path)}: a round without confidence among rounds that have it")
            return
        name = f"{len(self._paths)} {item.request}".encode("utf-8", "replace")
        key = int.from_bytes(blake2b(name, digest_size=7).digest(), "little")
        if (held := self._open.get(key)) is None:
            held = self._open[key] = _Open()
            self._held += held.held
        held.drafted.append(item.drafted)
        held.accepted.append(item.accepted)
        if self._scored:
            held.confidence.extend(item.confidence or ())
        size = item.accepted + 1
        held.tokens += size
        held.held += size
        self._held += size
        self._rounds += 1
        self._accepted += item.accepted
        self._refused += item.accepted < item.drafted
        if held.tokens >= LONGEST_PART:
            self._write(key)
            self._split += 1
        while self._held > MOST_HELD:
            self._write(next(iter(self._open)))

    def _write(self, key: int) -> None:
        held = self._open.pop(key)
        self._held -= held.held
        count = len(held.confidence) if self._scored else -1
        self._spool.write(_HEAD.pack(key, len(held.drafted), count, 0))
        self._spool.write(held.drafted)
        self._spool.write(held.accepted)
        self._spool.write(held.confidence.tobytes())

    def finish(self) -> Trace:
        """Write what is left; the trace reads from the disk for as long as the spool is open."""
        for key in list(self._open):
            self._write(key)
        if not self._rounds:
            why = f" ({self._reasons[0]})" if self._reasons else ""
            raise InputError(f"{', '.join(self._paths)}: has no usable round{why}")
        return Trace(
            self._spool,
            self._rounds,
            self._split,
            self._dropped,
            tuple(self._reasons),
            bool(self._scored),
            self._accepted,
            self._refused,
        )
