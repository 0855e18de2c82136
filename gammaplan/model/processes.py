"""Assumed processes of acceptance: by request, by stretch of text, by token with a confidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Booleans, Floats, fraction
from gammaplan.model.streams import Singles, Streams

BLOCK = 2**22  # tokens drawn at a time
QUANTILES = 65_536  # of the Beta from which a token's acceptance is drawn


class Process(Protocol):
    """A law of streams; `draw` is all that a comparison needs."""

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """So many streams of so many tokens each."""


@dataclass(frozen=True)
class Requests:
    """Every request has an α of its own, Beta with this mean and standard deviation.

    Examples
    --------
    >>> drawn = Requests(0.8, 0.15).draw(3, 100, np.random.default_rng(0))
    >>> drawn.alpha.round(2)
    array([0.77, 0.87, 0.84])
    """

    alpha: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        beta_parameters(self.alpha, self.spread)

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """Streams of independent outcomes, each with its own α."""
        if not self.spread:
            return _streams(_uniforms(streams, tokens, rng) < self.alpha)
        alpha = rng.beta(*beta_parameters(self.alpha, self.spread), streams)
        return _streams(_uniforms(streams, tokens, rng) < alpha[:, None], alpha=alpha)


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
        turns = _uniforms(streams, tokens, rng) < 1 / self.dwell
        turns[:, 0] = rng.random(streams) < 0.5
        state = np.logical_xor.accumulate(turns, axis=1)
        alpha = np.where(state, np.float32(self.bad), np.float32(self.good))
        return _streams(_uniforms(streams, tokens, rng) < alpha)


@dataclass(frozen=True)
class Tokens:
    """Every token has an acceptance of its own, Beta, and the draft shows a score for it.

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

    def draw(self, streams: int, tokens: int, rng: np.random.Generator) -> Streams:
        """Streams with a score at every position."""
        from scipy.special import betaincinv

        p, q = beta_parameters(self.alpha, self.spread)
        grid = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = betaincinv(p, q, grid).astype(np.float32)

        def probabilities() -> Singles:
            at = rng.integers(QUANTILES, size=(streams, tokens + 1), dtype=np.uint16)
            return np.take(quantiles, at)

        score = probabilities()
        accepted = _uniforms(streams, tokens, rng) < score[:, :-1]
        if self.quality < 1:
            shown = _uniforms(streams, tokens + 1, rng) < self.quality
            score = np.where(shown, score, probabilities())
        return _streams(accepted, score=score.ravel())


def drawn(
    process: Process, *, requests: int, tokens: int, seed: int
) -> Callable[[], Iterator[Streams]]:
    """Requests of a process, some at a time; the same ones whenever it is called."""

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


def _uniforms(streams: int, tokens: int, rng: np.random.Generator) -> Singles:
    return rng.random((streams, tokens), dtype=np.float32)


def _streams(
    accepted: Booleans, *, alpha: Floats | None = None, score: Singles | None = None
) -> Streams:
    streams, tokens = accepted.shape
    closed = np.zeros((streams, tokens + 1), dtype=np.bool_)
    closed[:, :tokens] = accepted
    return Streams(closed.ravel(), np.full(streams, tokens), alpha=alpha, score=score)
