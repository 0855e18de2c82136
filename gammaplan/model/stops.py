"""Stop rules: a draft that looks at the confidence of each token it has drafted.

A stop rule is an object with one method, `wants`: the length of a draft from
every position on, judged by the scores from there to its end and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.streams import CHUNK, Singles, Small, runs

Worth: TypeAlias = Callable[[Singles], Singles]
MOST = 64  # the longest draft of a product stop
FLOORS = 96


@runtime_checkable
class Stop(Protocol):
    """A rule that ends a draft by the confidence of its tokens.

    `drops` says that the token which ends the draft was paid for and is not
    verified.
    """

    @property
    def drops(self) -> bool:
        """Whether the last drafted token is left out."""

    def wants(self, score: Singles, longest: int) -> Small:
        """The length of a draft that starts at each position, from 0 to `longest`."""


@dataclass(frozen=True)
class StopAfter:
    """Stop after the first token below the threshold; it is verified with the others.

    Hugging Face Transformers' `assistant_confidence_threshold`.
    """

    threshold: float = 0.4
    most: int = 20
    drops: ClassVar[bool] = False

    def wants(self, score: Singles, longest: int) -> Small:
        """Tokens up to the first doubtful one, and that one."""
        if not (most := min(self.most, longest)):
            return np.zeros(len(score), dtype=np.uint8)
        confident = runs(score >= np.float32(self.threshold), most - 1)
        confident += np.uint8(1)
        return confident


@dataclass(frozen=True)
class StopBefore:
    """Stop before the first token below the threshold: it was drafted and is not verified.

    llama.cpp's p-min. It keeps the output exact only where the draft takes its
    most probable token.
    """

    threshold: float = 0.75
    most: int = 16
    drops: ClassVar[bool] = True

    def wants(self, score: Singles, longest: int) -> Small:
        """Tokens up to the first doubtful one, without it."""
        return runs(score >= np.float32(self.threshold), min(self.most, longest))


@dataclass(frozen=True)
class StopOnProduct:
    """Stop once the product of what the scores are worth is too small for one more token.

    Parameters
    ----------
    floor : float
        The product at or below which no further token is drafted. Before the
        first token the product is 1. [0 to 1]
    worth : callable, optional
        From scores to the acceptance that they stand for; default the score.
    """

    floor: float
    worth: Worth | None = None
    most: int = MOST
    drops: ClassVar[bool] = False

    def wants(self, score: Singles, longest: int) -> Small:
        """Tokens for as long as the product before them stays above the floor."""
        most = min(self.most, longest)
        if self.floor >= 1 or not most:
            return np.zeros(len(score), dtype=np.uint8)
        want = np.ones(len(score), dtype=np.uint8)
        for first in range(0, len(score), CHUNK):
            shown = score[first : first + CHUNK + most]
            level = np.full(min(CHUNK, len(score) - first) + most, -np.inf, dtype=np.float32)
            with np.errstate(divide="ignore"):
                np.log(shown if self.worth is None else self.worth(shown), out=level[: len(shown)])
            _count_on(level, np.float32(np.log(self.floor)), want[first : first + CHUNK], most)
        return want


def _count_on(level: Singles, floor: np.float32, want: Small, most: int) -> None:
    """Add to `want` the tokens that are drafted because the sum of `level` is above the floor."""
    count = len(want)
    total = level[:count].copy()
    for k in range(1, most):
        on = total > floor  # once false, false for good: a product only falls
        if not np.count_nonzero(on):
            break
        want += on.view(np.uint8)
        total += level[k : k + count]


def best_floor(worth: Singles, round_cost: Floats) -> tuple[float, float]:
    """The floor of `StopOnProduct` with the largest speedup, and that speedup.

    Parameters
    ----------
    worth : ndarray of float, shape ``(rounds, positions)``
        Acceptance of the tokens of as many drafts.
    round_cost : ndarray of float, shape ``(positions + 1,)``
        Cost of a round by its length. [target passes]

    Notes
    -----
    Drafting on is right exactly while the product so far times the mean
    acceptance of the next token exceeds what it costs times the speedup: the
    product only falls, so looking one token ahead is looking at all of them.
    The floors compared are a fine geometric grid; 1 stands for plain decoding.
    """
    product = np.cumprod(worth, axis=1, dtype=np.float32)
    tokens = np.concatenate([np.ones((len(worth), 1)), 1 + np.cumsum(product, axis=1)], axis=1)
    best = 1.0, 1.0
    rows = np.arange(len(worth))
    for floor in np.geomspace(0.999, 1e-3, FLOORS):
        length = np.minimum((product > floor).sum(axis=1) + 1, worth.shape[1])
        speed = float(tokens[rows, length].sum() / round_cost[length].sum())
        if speed > best[1]:
            best = float(floor), speed
    return best


@dataclass(frozen=True)
class Calibrated:
    """What a score is worth: the acceptance of the recorded tokens that showed one like it.

    `rates` has a value for each of as many equal cells of [0, 1].
    """

    rates: tuple[float, ...]

    def __call__(self, score: Singles) -> Singles:
        """The acceptance that each score stands for."""
        cells = len(self.rates)
        at = np.minimum((score * cells).astype(np.int32), cells - 1)
        return np.take(np.asarray(self.rates, dtype=np.float32), at)
