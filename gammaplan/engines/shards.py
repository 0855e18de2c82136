"""One large log in shards of whole lines, where every line stands alone."""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

from gammaplan.engines.lines import STREAM_BUFFER, open_stream
from gammaplan.engines.reading import Wanted, read

LARGE = 512 * 2**20  # bytes: below it one process is done before another has started
LOOKED_AT = 16 * 2**20  # bytes in which the format must show itself
Span = tuple[int, int]


def spans(path: str, *, wanted: Wanted, most: int) -> list[Span]:
    """Where to cut a file into shards, one for each process; nothing where it may not be cut.

    Only plain files of a format whose lines stand alone are cut, at the ends
    of lines.
    """
    if path == "-" or most < 2 or not Path(path).is_file():
        return []
    size = Path(path).stat().st_size
    parts = min(most, size // (LARGE // 2))
    if size < LARGE or not _stands_alone(path, wanted):
        return []
    cuts = [0]
    with Path(path).open("rb") as stream:
        for i in range(1, parts):
            stream.seek(size * i // parts)
            stream.readline()
            cuts.append(stream.tell())
    cuts = sorted({*cuts, size})
    return list(pairwise(cuts))


def _stands_alone(path: str, wanted: Wanted) -> bool:
    """Whether the file is plain text of a format of which every line is a record by itself."""
    with open_stream(path) as stream:
        if not isinstance(stream.raw, io.FileIO):
            return False  # compressed, or in another encoding
    with open_span(path, (0, LOOKED_AT)) as head:
        return read(path, wanted=wanted, stream=head).stands_alone


def open_span(path: str, span: Span) -> io.BufferedReader:
    """The bytes of one shard."""
    return io.BufferedReader(_Span(path, span), STREAM_BUFFER)


class _Span(io.RawIOBase):
    """A file from one offset to another."""

    def __init__(self, path: str, span: Span) -> None:
        self._file = io.FileIO(path)
        self._file.seek(span[0])
        self._left = span[1] - span[0]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, as io has it
        with memoryview(buffer) as view, view[: self._left] as wanted:
            count = self._file.readinto(wanted) or 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
