"""The rows of target and draft side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gammaplan.arrays.files import open_rows
from gammaplan.arrays.rows import BLOCK, Rows
from gammaplan.errors import InputError
from gammaplan.model.sampling import Reals


@dataclass(frozen=True)
class Pair:
    """Target and draft at the same positions, over the same tokens."""

    target: Rows
    draft: Rows
    vocab: int

    @property
    def positions(self) -> int:
        """Rows of each."""
        return self.target.positions

    @property
    def precision(self) -> Any:  # Any: a floating type of numpy's
        """float64 if either side is, else float32."""
        sides = (self.target.precision, self.draft.precision)
        return max(sides, key=lambda t: np.dtype(t).itemsize)

    @property
    def seekable(self) -> bool:
        """Whether any row can be reached at once: not inside a zip file."""
        return all(part.member is None for part in self.target.parts + self.draft.parts)

    @property
    def guessed(self) -> list[str]:
        """The files whose type was not stated, and was taken for granted."""
        return [p.name for p in self.target.parts + self.draft.parts if p.guessed]

    @property
    def block_rows(self) -> int:
        """Rows of a block that stays in a processor's cache."""
        return max(1, min(BLOCK // self.vocab, self.positions))

    def blocks(
        self, start: int = 0, stop: int | None = None, size: int | None = None
    ) -> Iterator[tuple[int, Reals, Reals]]:
        """The position of the first row, the rows of the target, and those of the draft.

        There are `size` rows in a block, or `block_rows`. Every block is the same memory,
        filled anew: copy what must outlive it.
        """
        stop = self.positions if stop is None else stop
        size = self.block_rows if size is None else size
        sides = [rows.blocks(start, stop, size, self.vocab) for rows in (self.target, self.draft)]
        for target, draft in zip(*sides, strict=True):
            yield (
                start,
                target.astype(self.precision, copy=False),
                draft.astype(self.precision, copy=False),
            )
            start += len(target)


def pair(target: Rows, draft: Rows, *, vocab: int | None = None) -> Pair:
    """Target and draft, if they have the same shape; `vocab` keeps the first columns of both.

    Raises
    ------
    InputError
        If they differ in positions or, without `vocab`, in columns.
    """
    if target.positions != draft.positions:
        raise InputError(
            f"target and draft must have the same positions, got {target.positions:,} rows in "
            f"{target.name} and {draft.positions:,} in {draft.name}"
        )
    smaller = min(target.vocab, draft.vocab)
    if vocab is None and target.vocab != draft.vocab:
        raise InputError(
            f"target and draft must have one vocabulary, got {target.vocab:,} columns in "
            f"{target.name} and {draft.vocab:,} in {draft.name}; if one is padded, "
            f"--vocab {smaller} keeps the first {smaller:,} of both"
        )
    if vocab is not None and vocab > smaller:
        raise InputError(f"--vocab must be at most {smaller:,}, the narrower array, got {vocab:,}")
    return Pair(target, draft, vocab or smaller)


def open_pair(target: str, draft: str | None, *, vocab: int | None = None) -> Pair:
    """The pair that two files hold, or the arrays target and draft of one.

    Raises
    ------
    InputError
        As `open_rows` and `pair`.
    """
    if draft is None and target.endswith(".npy"):
        raise InputError(f"{target}: holds one array; the draft's file was required beside it")
    if draft is None:
        target, draft = f"{target}:target", f"{target}:draft"
    return pair(open_rows(target), open_rows(draft), vocab=vocab)
