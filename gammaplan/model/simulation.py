"""Rounds played out, one uniform for each verified token; nothing here knows a formula."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import fraction
from gammaplan.model.drawing import Integers

BLOCK = 32_768  # rounds at a time: their uniforms stay in the cache
Told: TypeAlias = Callable[[int], None]  # is told how many more rounds are done


class Tally(NamedTuple):
    """Rounds by accepted tokens, in strata that each have their own law.

    `counts[w, k]` rounds of stratum w accepted exactly k drafted tokens.
    """

    counts: Integers

    @property
    def rounds(self) -> int:
        """Rounds in all."""
        return int(self.counts.sum())

    @property
    def by_accepted(self) -> list[int]:
        """Rounds that accepted exactly 0, 1, ..., gamma tokens."""
        whole: list[int] = self.counts.sum(axis=0).tolist()
        return whole

    @property
    def mean_tokens(self) -> float:
        """Tokens per round, the bonus token counted."""
        lengths = np.arange(self.counts.shape[-1])
        return 1 + float((self.counts.sum(axis=0) * lengths).sum()) / self.rounds

    @property
    def standard_error(self) -> float | None:
        """Of `mean_tokens`, from the spread within the strata; None for single rounds."""
        size = self.counts.sum(axis=-1)
        if not (size > 1).all():
            return None
        lengths = np.arange(self.counts.shape[-1])
        mean = (self.counts * lengths).sum(axis=-1) / size
        squares = (self.counts * (lengths - mean[:, None]) ** 2).sum(axis=-1)
        return math.sqrt(float((squares * size / (size - 1)).sum())) / self.rounds


def simulate_drafts(
    hazards: Sequence[float], rounds: int, *, rng: np.random.Generator, told: Told | None = None
) -> Tally:
    """Rounds in which position i is accepted with probability ``hazards[i]``.

    Parameters
    ----------
    hazards : sequence of float
        P(a position is accepted, given that those before it were). [0 to 1]
    rounds : int
        Rounds to play, at least 1.
    rng : numpy.random.Generator
        Where the uniforms come from: one for each token that is verified.
    told : callable, optional
        Is told the number of rounds of each block that is done.

    Returns
    -------
    Tally
        One stratum.

    Raises
    ------
    DomainError
        If a hazard leaves [0, 1] or there are no rounds.

    Notes
    -----
    A block of rounds goes position by position, and only rounds without a
    refusal go on. Memory does not depend on `rounds`.

    Examples
    --------
    >>> played = simulate_drafts([0.8] * 6, 100_000, rng=np.random.default_rng(0))
    >>> print(round(played.mean_tokens, 1), round(played.standard_error, 3))  # 3.95 expected
    4.0 0.007
    """
    chances = fraction("hazards", list(hazards)).tolist()
    if rounds < 1:
        raise DomainError(f"rounds must be at least 1, got {rounds}")
    counts = [0] * (len(chances) + 1)
    uniforms = np.empty(min(BLOCK, rounds))
    for start in range(0, rounds, BLOCK):
        size = going = min(BLOCK, rounds - start)
        for i, chance in enumerate(chances):
            kept = int(np.count_nonzero(rng.random(out=uniforms[:going]) < chance))
            counts[i] += going - kept
            going = kept
            if not going:
                break
        counts[-1] += going
        if told:
            told(size)
    return Tally(np.asarray([counts]))
