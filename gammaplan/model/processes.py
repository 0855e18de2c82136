"""Assumed processes of acceptance: by request, by stretch of text, by token with a confidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Booleans, fraction
from gammaplan.model.streams import CHUNK, Singles, Streams

BLOCK = 2**23  # tokens drawn at a time
QUANTILE_BITS, OUTCOME_BITS = 13, 19  # of the 32 that are drawn for a token
QUANTILES = 2**QUANTILE_BITS  # of the Beta from which a token's acceptance is drawn


class Process(Protocol):
    """A law of streams; `draw` is all that a comparison needs."""

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """So many streams of so many tokens each."""


@dataclass(frozen=True)
class Requests:
    """Every request has an α of its own, from a Beta with this mean and spread.

    Examples
    --------
    >>> drawn = Requests(0.8, 0.15).draw(3, 100, np.random.default_rng(0))
    >>> drawn.alpha.round(2)
    array([0.75, 0.56, 0.88])
    """

    alpha: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        beta_parameters(self.alpha, self.spread)

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """Streams of independent outcomes, each with its own α."""
        if not self.spread:
            return _streams(streams, tokens, np.float32(self.alpha), rng)
        alpha = rng.beta(*beta_parameters(self.alpha, self.spread), streams)
        drawn = _streams(streams, tokens, alpha[:, None].astype(np.float32), rng)
        drawn.alpha = alpha
        return drawn


@dataclass(frozen=True)
class Regimes:
    """Two states of the text that take turns, each with its α.

    Parameters
    ----------
    good, bad : float
        Acceptance in each state. [0 to 1]
    dwell : float, >= 1
        How long a state lasts on average. [tokens]
    """

    good: float
    bad: float
    dwell: float

    def __post_init__(self) -> None:
        fraction("regimes", [self.good, self.bad])
        if not self.dwell >= 1:
            raise DomainError(f"dwell must be at least 1 token, got {self.dwell:g}")

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """Streams of a two-state Markov chain that starts in either state alike."""
        turns = rng.random((streams, tokens + 1), dtype=np.float32) < 1 / self.dwell
        turns[:, 0] = rng.random(streams) < 0.5
        state = np.logical_xor.accumulate(turns, axis=1)
        alpha = np.where(state, np.float32(self.bad), np.float32(self.good))
        return _streams(streams, tokens, alpha, rng)


@dataclass(frozen=True)
class Tokens:
    """Every token has its own acceptance, and the draft shows a score for it.

    Parameters
    ----------
    alpha, spread : float
        Mean and standard deviation of a token's acceptance probability.
    quality : float
        Share of the tokens whose score is that probability; the scores of the
        others are drawn from the same Beta, apart from it. [0 to 1]
    """

    alpha: float
    spread: float
    quality: float = 1.0

    def __post_init__(self) -> None:
        beta_parameters(self.alpha, self.spread)
        fraction("quality", self.quality)

    def worth(self, score: Singles) -> Singles:
        """The acceptance of a token that shows this score."""
        return np.float32(self.quality) * score + np.float32((1 - self.quality) * self.alpha)

    def scores(self, count: int, rng: np.random.Generator) -> Singles:
        """Acceptance probabilities; the scores have the same law."""
        return self._drawn(count, rng)[0]

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """Streams with a score at every position."""
        count = streams * (tokens + 1)
        score, accepted = self._drawn(count, rng)
        accepted[tokens :: tokens + 1] = False
        if self.quality < 1:
            shown = rng.random(count, dtype=np.float32) < self.quality
            score = np.where(shown, score, self.scores(count, rng))
        return Streams(accepted, np.full(streams, tokens), score=score)

    def _drawn(self, count: int, rng: np.random.Generator) -> tuple[Singles, Booleans]:
        """Acceptance probabilities and outcomes, both from one draw of 32 bits for a token."""
        quantiles = _quantiles(*beta_parameters(self.alpha, self.spread))
        score, accepted = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.bool_)
        for first in range(0, count, CHUNK):
            part = slice(first, min(first + CHUNK, count))
            bits = rng.integers(2**64, size=CHUNK // 2, dtype=np.uint64).view(np.uint32)
            bits = bits[: part.stop - first]
            quantiles.take(bits >> np.uint32(OUTCOME_BITS), out=score[part], mode="clip")
            bits &= np.uint32(2**OUTCOME_BITS - 1)
            uniform = bits.astype(np.float32)
            uniform *= np.float32(2.0**-OUTCOME_BITS)
            np.less(uniform, score[part], out=accepted[part])
        return score, accepted


def drawn(
    process: Process, *, requests: int, tokens: int, seed: int
) -> Callable[[], Iterator[Streams]]:
    """Requests of a process, some at a time; the same ones whenever it is called.

    Parameters
    ----------
    process : Process
        How acceptance varies: `Requests`, `Regimes`, `Tokens` or your own.
    requests : int
        How many are drawn.
    tokens : int
        How long each is.
    seed : int
        Where the random numbers start.

    Returns
    -------
    callable
        Gives the streams, what `compare_policies` asks for.

    Examples
    --------
    >>> blocks = drawn(Requests(0.8), requests=3, tokens=100, seed=0)
    >>> [len(streams) for streams in blocks()]
    [3]
    """

    def blocks() -> Iterator[Streams]:
        rng = np.random.default_rng(seed)
        each = max(1, BLOCK // tokens)
        for first in range(0, requests, each):
            streams = process.draw(min(each, requests - first), tokens, rng)
            streams.request += first
            yield streams

    return blocks


def beta_parameters(mean: float, spread: float) -> tuple[float, float]:
    """The Beta with this mean and standard deviation; a spread of 0 has none and gives infinity.

    Raises
    ------
    DomainError
        If the mean leaves [0, 1] or no Beta is so wide: ``spread**2`` must be
        below ``mean * (1 - mean)``.

    Examples
    --------
    >>> beta_parameters(0.75, 0.25)
    (1.5, 0.5)
    """
    fraction("alpha", mean)
    room = mean * (1 - mean)
    if spread and not (spread > 0 and spread * spread < room):
        raise DomainError(
            f"the spread around {mean:g} must be at least 0 and below {room**0.5:.4g}, "
            f"got {spread:g}"
        )
    strength = room / spread**2 - 1 if spread else float("inf")
    return mean * strength, (1 - mean) * strength


@lru_cache(maxsize=4)
def _quantiles(p: float, q: float) -> Singles:
    """The middles of 8,192 equally likely cells of Beta(p, q)."""
    from scipy.special import betaincinv

    middles: Singles = betaincinv(p, q, (np.arange(QUANTILES) + 0.5) / QUANTILES).astype(np.float32)
    return middles


def _streams(
    streams: int, tokens: int, alpha: Singles | np.float32, rng: np.random.Generator
) -> Streams:
    alphas = np.broadcast_to(alpha, (streams, tokens + 1))
    accepted = np.empty((streams, tokens + 1), dtype=np.bool_)
    each = max(1, CHUNK // (tokens + 1))
    for first in range(0, streams, each):
        rows = slice(first, first + each)
        uniform = rng.random(accepted[rows].shape, dtype=np.float32)
        np.less(uniform, alphas[rows], out=accepted[rows])
    accepted[:, -1] = False
    return Streams(accepted.ravel(), np.full(streams, tokens))
