"""Drafts and the rows of probabilities that judge them, as every verification rule needs them."""

from typing import NamedTuple

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Booleans, Floats, non_negative
from gammaplan.model.drawing import Integers
from gammaplan.model.sampling import Reals
from gammaplan.results import Plain, Result, plain

SUM_TOLERANCE = 1e-3  # what 16-bit probabilities may miss of 1


class _VerifiedFields(NamedTuple):
    accepted: int | Integers
    token: int | Integers


class Verified(Result, _VerifiedFields):
    """What the target made of each draft.

    `accepted` tokens of the draft are emitted, then `token`: the correction
    after a refusal, or the bonus token after a draft that was kept whole.
    """

    __slots__ = ()

    @property
    def rows(self) -> list[Plain]:
        """One for each round."""
        rounds = zip(*(plain(np.ravel(column)) for column in self), strict=True)
        return [dict(zip(self._fields, one, strict=True)) for one in rounds]


class Rounds:
    """Drafts and their rows, checked and with one axis of rounds; shared rows stay one row."""

    def __init__(
        self,
        p: ArrayLike,
        drafted: ArrayLike,
        *,
        q: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> None:
        tokens = np.asarray(drafted)
        if tokens.size and tokens.dtype.kind not in "iu":
            raise DomainError(f"drafted must be whole numbers, got {tokens.dtype}")
        tokens = np.atleast_1d(tokens.astype(np.int64, copy=False))
        self.gamma = tokens.shape[-1]
        target = _distributions("p", p, self.gamma + 1)
        self.vocabulary = target.shape[-1]
        arrays = [target]
        if q is not None:
            arrays.append(_distributions("q", q, self.gamma))
            if self.gamma and arrays[1].shape[-1] != self.vocabulary:
                raise DomainError(
                    f"p and q must have one vocabulary, got {self.vocabulary} and "
                    f"{arrays[1].shape[-1]} tokens"
                )
        limits = np.asarray(self.gamma if lengths is None else lengths)
        if limits.dtype.kind not in "iu" or not ((limits >= 0) & (limits <= self.gamma)).all():
            raise DomainError(f"lengths must be whole numbers from 0 to {self.gamma}")
        leading = [a.shape[:-2] for a in arrays] + [tokens.shape[:-1], limits.shape]
        try:
            self._shape = np.broadcast_shapes(*leading)
        except ValueError:
            shapes = ", ".join(map(str, leading[:-1]))
            raise DomainError(f"the rounds must broadcast, got leading shapes {shapes}") from None
        self.count = int(np.prod(self._shape))
        self.lengths = np.broadcast_to(limits, self._shape).reshape(self.count)
        tokens = np.broadcast_to(tokens, (*self._shape, self.gamma))
        tokens = tokens.reshape(self.count, self.gamma)
        verified = np.arange(self.gamma) < self.lengths[:, None]
        self.drafted = np.where(verified, tokens, 0)
        if self.drafted.size and not (
            0 <= self.drafted.min() <= self.drafted.max() < self.vocabulary
        ):
            raise DomainError(
                f"drafted tokens must be from 0 to {self.vocabulary - 1}, got "
                f"{self.drafted.min()} to {self.drafted.max()}"
            )
        self.p = self._flat(target)
        self.q = self._flat(arrays[1]) if q is not None else None
        if self.q is not None and (impossible := verified & (self.taken(self.q) == 0)).any():
            which, i = np.argwhere(impossible)[0]
            raise DomainError(
                f"drafted tokens must be possible under q, got token {self.drafted[which, i]} of "
                f"probability 0 at position {i + 1} of round {which}"
            )

    def _flat(self, array: Floats) -> Floats:
        """``(1, positions, vocabulary)`` if every round has these rows, else one set a round."""
        if np.prod(array.shape[:-2]) == 1:
            return array.reshape(1, *array.shape[-2:])
        whole = np.broadcast_to(array, (*self._shape, *array.shape[-2:]))
        return whole.reshape(self.count, *array.shape[-2:])

    def taken(self, rows: Reals) -> Floats:
        """What the rows say of the drafted tokens, shape ``(rounds, gamma)``."""
        which = np.arange(self.count)[:, None] if len(rows) > 1 else 0
        return np.asarray(rows[which, np.arange(self.gamma), self.drafted])

    def rows(self, rows: Floats, position: int, chosen: Integers) -> Floats:
        """The rows of one position, for some rounds; one row where all share it."""
        return rows[:, position] if len(rows) == 1 else rows[chosen, position]

    def unbroken(self, kept: Booleans) -> Integers:
        """How many tokens come before the first that is not kept or not verified."""
        ends = np.ones((self.count, self.gamma + 1), dtype=bool)
        ends[:, :-1] = ~kept | (np.arange(self.gamma) >= self.lengths[:, None])
        return np.asarray(ends.argmax(axis=-1))

    def ends(self, accepted: Integers) -> "list[tuple[int, Integers, bool]]":
        """The rounds by where they end: the position, who ends there, and whether kept whole."""
        full = accepted == self.lengths
        groups = [
            (i, np.flatnonzero((accepted == i) & (full == whole)), whole)
            for i in np.flatnonzero(np.bincount(accepted)).tolist()
            for whole in (False, True)
        ]
        return [group for group in groups if group[1].size]

    def verified(self, accepted: Integers, token: Integers) -> Verified:
        """The result in the shape of the rounds."""
        if not self._shape:
            return Verified(int(accepted[0]), int(token[0]))
        return Verified(accepted.reshape(self._shape), token.reshape(self._shape))


def _distributions(name: str, value: ArrayLike, positions: int) -> Floats:
    """Rows of probabilities for so many positions."""
    array = non_negative(name, value)
    if array.ndim < 2 or array.shape[-2] != positions:
        raise DomainError(
            f"{name} must have the shape (..., {positions}, vocabulary) for these drafts, "
            f"got {array.shape}"
        )
    if positions and not array.shape[-1]:
        raise DomainError(f"{name} must have at least one token, got the shape {array.shape}")
    sums = array.sum(axis=-1)
    if sums.size and np.abs(sums - 1).max() > SUM_TOLERANCE:
        worst = sums.flat[np.abs(sums - 1).argmax()]
        raise DomainError(f"the rows of {name} must sum to 1, got one that sums to {worst:.6g}")
    return array
