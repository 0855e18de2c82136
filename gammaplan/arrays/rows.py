"""An array of shape (positions, vocab) in one file or in shards, never whole in memory."""

import zipfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammaplan.arrays.floats import itemsize, precision, widen
from gammaplan.errors import InputError
from gammaplan.model.sampling import Reals

BLOCK = 2**17  # elements of a block: two of them and their work stay in a cache
SLICE = 2**20  # bytes asked for at once


@dataclass(frozen=True)
class Part:
    """One array in one file: where its bytes start, and what they are."""

    path: str
    name: str
    rows: int
    vocab: int
    dtype: str
    offset: int
    member: str | None = None

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.vocab * itemsize(self.dtype)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes that `offset` counts in: of the file, or of a member of a zip file."""
        with Path(self.path).open("rb", buffering=0) as file:
            if self.member is None:
                yield file
                return
            with zipfile.ZipFile(file) as whole, whole.open(self.member) as inside:
                yield inside


@dataclass(frozen=True)
class Rows:
    """Parts one after the other; all have one vocabulary."""

    name: str
    parts: tuple[Part, ...]

    @property
    def vocab(self) -> int:
        """Columns."""
        return self.parts[0].vocab

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The position after the last one of each part."""
        return tuple(accumulate(part.rows for part in self.parts))

    @property
    def positions(self) -> int:
        """Rows of all parts together."""
        return self.ends[-1]

    @property
    def precision(self) -> Any:  # Any: a floating type of numpy's
        """float64 if any part is, else float32."""
        return max((precision(p.dtype) for p in self.parts), key=lambda t: np.dtype(t).itemsize)

    def where(self, position: int) -> str:
        """The file and the row in it, for messages."""
        i = bisect_right(self.ends, position)
        first = self.ends[i - 1] if i else 0
        return f"{self.parts[i].name}: row {position - first}"

    def blocks(self, start: int, stop: int, size: int, vocab: int) -> Iterator[Reals]:
        """Rows `start` to `stop`, `size` at a time, their first `vocab` columns.

        Every block is the same memory, filled anew.
        """
        block = np.empty((size, vocab), self.precision)
        filled = 0
        for part, first in zip(self.parts, (0, *self.ends), strict=False):
            at, end = max(start - first, 0), min(stop - first, part.rows)
            if at >= end:
                continue
            with part.opened() as file:
                _seek(part, file, at)
                while at < end:
                    count = min(size - filled, end - at)
                    _fill(part, file, at, block[filled : filled + count])
                    at, filled = at + count, filled + count
                    if filled == size:
                        yield block
                        filled = 0
        if filled:
            yield block[:filled]


def _seek(part: Part, file: IO[bytes], row: int) -> None:
    try:
        file.seek(part.offset + row * part.row_bytes)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{part.name}: row {row} cannot be reached: {error}") from None


def _fill(part: Part, file: IO[bytes], row: int, out: Reals) -> None:
    """The next rows of a part, as numbers."""
    data = bytearray(len(out) * part.row_bytes)
    view = memoryview(data)
    got = 0
    while got < len(view):
        try:
            count = file.readinto(view[got : got + SLICE])  # type: ignore[attr-defined]  # both have it
        except (OSError, zipfile.BadZipFile, EOFError) as error:
            raise InputError(
                f"{part.name}: row {row + got // part.row_bytes} cannot be read: {error}"
            ) from None
        if not count:
            raise InputError(
                f"{part.name}: ends in row {row + got // part.row_bytes}; "
                f"{part.rows} rows of {part.row_bytes:,} bytes were announced"
            )
        got += count
    table = np.frombuffer(data, np.uint8).reshape(len(out), part.row_bytes)[
        :, : out.shape[1] * itemsize(part.dtype)
    ]
    if precision(part.dtype) == out.dtype:
        widen(np.ascontiguousarray(table), part.dtype, out)
    else:
        narrow = np.empty(out.shape, precision(part.dtype))
        widen(np.ascontiguousarray(table), part.dtype, narrow)
        np.copyto(out, narrow)
