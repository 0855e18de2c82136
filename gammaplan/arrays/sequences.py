"""Which positions start a sequence, read from ids that lie beside the rows."""

from contextlib import ExitStack

import numpy as np

from gammaplan.arrays.files import named_arrays
from gammaplan.arrays.headers import integer_part
from gammaplan.arrays.rows import read_raw, seek_row
from gammaplan.model.arrays import Booleans


class Sequences:
    """The sequence ids of positions, read in order; a sequence starts where the id changes.

    Parameters
    ----------
    source : str
        A .npy, .npz or .safetensors file, or ``FILE:NAME``, with one whole
        number for each position.
    positions : int
        How many there must be.

    Raises
    ------
    InputError
        If it cannot be read, holds no whole numbers, or has another length.
    """

    def __init__(self, source: str, positions: int) -> None:
        (found,) = named_arrays(source, most=1)
        self._part = integer_part(found, positions)
        self._files = ExitStack()
        self._file = self._files.enter_context(self._part.opened())
        seek_row(self._part, self._file, 0)
        self._at = 0
        self._last: bytes | None = None

    def __enter__(self) -> "Sequences":
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def starts(self, count: int) -> Booleans:
        """Whether each of the next `count` positions starts a sequence."""
        raw = np.empty((count, self._part.row_bytes), np.uint8)
        read_raw(self._part, self._file, self._at, raw)
        changed = np.ones(count, bool)
        np.any(raw[1:] != raw[:-1], axis=1, out=changed[1:])
        changed[0] = raw[0].tobytes() != self._last
        self._at, self._last = self._at + count, raw[-1].tobytes()
        return changed
