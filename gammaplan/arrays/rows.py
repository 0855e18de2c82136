"""An array of shape (positions, vocab) in one file or in shards, never whole in memory."""

import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BufferedIOBase, RawIOBase
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gammaplan.arrays.floats import itemsize, precision, widen
from gammaplan.errors import InputError
from gammaplan.model.sampling import Reals

Readable: TypeAlias = RawIOBase | BufferedIOBase
UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)
BLOCK = 2**17  # elements of a block: two of them and their work stay in a cache


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
    guessed: bool = False

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.vocab * itemsize(self.dtype)

    @contextmanager
    def opened(self) -> Iterator[Readable]:
        """The bytes that `offset` counts in: of the file, or of a member of a zip file."""
        with Path(self.path).open("rb", buffering=0) as file:
            if self.member is None:
                yield file
                return
            with zipfile.ZipFile(file) as whole, whole.open(self.member) as inside:
                assert isinstance(inside, BufferedIOBase)  # a ZipExtFile
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

    @property
    def element(self) -> int:
        """Bytes of an element, the fewest of any part: how exact the numbers are."""
        return min(itemsize(part.dtype) for part in self.parts)

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
            raw = np.empty((size, part.row_bytes), np.uint8)
            with part.opened() as file:
                seek_row(part, file, at)
                while at < end:
                    count = min(size - filled, end - at)
                    read_raw(part, file, at, raw[:count])
                    _convert(raw[:count], part.dtype, block[filled : filled + count])
                    at, filled = at + count, filled + count
                    if filled == size:
                        yield block
                        filled = 0
        if filled:
            yield block[:filled]


def seek_row(part: Part, file: Readable, row: int) -> None:
    """Put the file at the start of a row."""
    try:
        file.seek(part.offset + row * part.row_bytes)
    except UNREADABLE as error:
        raise InputError(f"{part.name}: row {row} cannot be reached: {error}") from None


def read_raw(part: Part, file: Readable, row: int, raw: NDArray[np.uint8]) -> None:
    """Fill `raw` with the next rows of a part."""
    view = raw.reshape(-1).data
    got = 0
    while got < len(view):
        at = f"{part.name}: row {row + got // part.row_bytes}"
        try:
            count = file.readinto(view[got:])
        except UNREADABLE as error:
            raise InputError(f"{at} cannot be read: {error}") from None
        if not count:
            raise InputError(f"{at} is cut; {part.rows} rows were announced")
        got += count


def _convert(raw: NDArray[np.uint8], dtype: str, out: Reals) -> None:
    """The first columns of raw rows, as numbers of the type of `out`."""
    wanted = np.ascontiguousarray(raw[:, : out.shape[1] * itemsize(dtype)])
    if precision(dtype) == out.dtype:
        widen(wanted, dtype, out)
    else:
        narrow = np.empty(out.shape, precision(dtype))
        widen(wanted, dtype, narrow)
        np.copyto(out, narrow)
