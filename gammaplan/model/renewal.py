"""Rounds on a real sequence of positions, each with its own probability of acceptance."""

from dataclasses import dataclass, field

import numpy as np

from gammaplan.model.arrays import Booleans, Floats


@dataclass
class Rounds:
    """The rounds that drafts of each length would make on a sequence, in expectation.

    Parameters
    ----------
    sequences : int
        Sequences of acceptance probabilities that are followed side by side.
    lengths : tuple of int
        The draft lengths. [tokens]

    Notes
    -----
    The next position is token j of its round with probability u_j; j = gamma is
    the bonus token. With acceptance a there, a drafted token j < gamma moves on to
    j + 1 with probability a and ends its round otherwise; so rounds start where
    drafts end, and more often where acceptance is low. The hazard of token j is
    ``sum(u_j a) / sum(u_j)`` over the positions, which leaves a round that the end
    of a sequence cuts short out of the tokens that it never reached.
    """

    sequences: int
    lengths: tuple[int, ...]
    _at: Floats = field(init=False)
    _tried: Floats = field(init=False)
    _accepted: Floats = field(init=False)
    _drafting: Booleans = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.sequences, len(self.lengths), max(self.lengths) + 1)
        self._at, self._tried, self._accepted = (np.zeros(shape) for _ in range(3))
        self._at[..., 0] = 1
        self._drafting = np.arange(shape[-1]) < np.asarray(self.lengths)[:, None]

    def add(self, alpha: Floats, first: Booleans) -> None:
        """More positions: `alpha` of shape ``(sequences, positions)``; `first` starts anew."""
        for a, new in zip(alpha.T[:, :, None, None], first.tolist(), strict=True):
            if new:
                self._at[...] = 0
                self._at[..., 0] = 1
            drafted = self._at * self._drafting
            moved = drafted * a
            self._tried += drafted
            self._accepted += moved
            self._at[..., 1:] = moved[..., :-1]
            self._at[..., 0] = 1 - moved.sum(axis=-1)

    def expected_tokens(self) -> Floats:
        """Tokens per round, shape ``(sequences, lengths)``; NaN where a token was never tried."""
        with np.errstate(invalid="ignore"):
            hazards = np.where(self._drafting, self._accepted / self._tried, 0)
        survival = np.cumprod(hazards, axis=-1)
        blocked = np.minimum.accumulate(np.nan_to_num(hazards, nan=1), axis=-1) == 0
        return np.asarray(1 + np.where(blocked, 0, survival).sum(axis=-1))
