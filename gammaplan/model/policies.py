"""Policies: how long the next draft is, from what was accepted so far.

A policy is an object with one method, `lengths`. It sees the past of many
streams side by side, one element each, and may keep what it likes between calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from gammaplan.model.acceptance import expected_tokens
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.optimum import optimal_gamma
from gammaplan.model.streams import Small

Array = np.ndarray[Any, np.dtype[Any]]
LEAST = np.float32(1e-6)  # tokens that every count starts from, so that none is ever 0
GRID = 2_048  # values of α for which the best length is looked up


class Past(NamedTuple):
    """What a policy may know: the last round of each stream, and how many there were.

    Before the first round `round` is 0 and both counts are 0. A stream that has
    ended goes on with rounds that accept nothing; what is said of it is ignored.
    """

    round: int
    drafted: Array
    accepted: Array
    longest: int

    @property
    def streams(self) -> int:
        """How many there are."""
        return len(self.drafted)


class Policy(Protocol):
    """A rule of draft length that looks at the past."""

    def lengths(self, past: Past) -> Array:
        """The next draft of each stream: whole numbers from 0 to `past.longest`."""


@dataclass
class Fixed:
    """Always the same length."""

    gamma: int

    def lengths(self, past: Past) -> Array:
        """`gamma`."""
        return np.full(past.streams, self.gamma, dtype=np.uint8)


@dataclass
class Heuristic:
    """Two more after a whole draft was accepted, else one less, at least 1.

    The schedule "heuristic" of Hugging Face Transformers (`_assisted_decoding`,
    docs/model.md); it knows no cost.
    """

    first: int = 5

    def lengths(self, past: Past) -> Array:
        """The last length, moved."""
        if past.round == 0:
            return np.full(past.streams, min(self.first, past.longest), dtype=np.int16)
        moved = past.drafted.astype(np.int16)
        moved += 3 * (past.accepted == past.drafted).view(np.int8)
        moved -= 1
        np.maximum(moved, 1, out=moved)
        return np.minimum(moved, past.longest, out=moved)


@dataclass
class Tiers:
    """SGLang's adaptive steps: a smoothed count of accepted tokens moves among a few lengths.

    After ten rounds, every fifth looks at the average: down a tier while it is at
    most the lower tier less 0.75, else up while it is above the own tier less 0.5.
    """

    tiers: Sequence[int] = (1, 3, 5, 7)
    smoothing: float = 0.2
    every: int = 5
    warm_up: int = 10
    _tier: Array = field(init=False, repr=False)
    _mean: Array = field(init=False, repr=False)
    _chosen: Array = field(init=False, repr=False)

    def lengths(self, past: Past) -> Array:
        """The tier of each stream."""
        if past.round == 0:
            self._tier = np.full(past.streams, len(self.tiers) // 2, dtype=np.uint8)
            self._choose(past.longest)
            self._mean = self._chosen - np.float32(1)
        else:
            self._mean += np.float32(self.smoothing) * (past.accepted - self._mean)
            if past.round > self.warm_up and (past.round - self.warm_up) % self.every == 0:
                self._move()
                self._choose(past.longest)
        return self._chosen

    def _choose(self, longest: int) -> None:
        self._chosen = np.minimum(self.tiers, longest).astype(np.uint8)[self._tier]

    def _move(self) -> None:
        lowest, highest = (self._above(less) for less in (0.75, 0.5))
        down = lowest < self._tier
        self._tier = np.where(down, lowest, np.maximum(self._tier, highest))

    def _above(self, less: float) -> Array:
        """How many tiers, each less so much, the average is above; the last is never left."""
        edges = np.array(self.tiers[:-1], dtype=np.float32) - np.float32(less)
        above: Array = sum((self._mean > edge).view(np.uint8) for edge in edges)
        return above


@dataclass
class Discounted:
    """Our policy: α from discounted counts, and the length that is the best for it.

    Several discounts are followed at once. Each predicts the outcomes of a
    round from its own Beta counts; they are weighted by how well they did, so
    that nothing is forgotten where nothing varies. A discount of 1 forgets
    nothing.

    Parameters
    ----------
    cost : Cost
        What a round costs.
    discounts : sequence of float
        How much of the counts a round keeps. [0 to 1]
    prior : (float, float)
        Accepted and refused tokens that every count starts from and decays to.
    memory : float
        How much of its record a discount keeps per round. [0 to 1]
    """

    cost: Cost
    discounts: Sequence[float] = (0.7, 0.9, 1.0)
    prior: tuple[float, float] = (1.6, 0.4)
    memory: float = 0.98
    _best: Small = field(init=False, repr=False)
    _counts: Array = field(init=False, repr=False)  # accepted, refused; by discount and stream
    _belief: Array = field(init=False, repr=False)  # their shares, of the same shape
    _record: Array = field(init=False, repr=False)
    _kept: Array = field(init=False, repr=False)
    _fresh: Array = field(init=False, repr=False)

    def lengths(self, past: Past) -> Array:
        """The best length for the α that the discounts believe in together."""
        if past.round == 0:
            self._begin(past)
        else:
            self._learn(past)
        np.divide(self._counts, self._counts[0] + self._counts[1], out=self._belief)
        weight = self._record - self._record.max(axis=0)
        np.exp(weight, out=weight)
        whole = weight.sum(axis=0)
        weight *= self._belief[0]
        alpha = weight.sum(axis=0)
        alpha /= whole
        alpha *= GRID
        chosen: Array = self._best.take(alpha.astype(np.intp))
        return chosen

    def _begin(self, past: Past) -> None:
        self._best = best_lengths(self.cost, past.longest)
        self._kept = np.array(self.discounts, dtype=np.float32)[:, None]
        prior = np.maximum(np.array(self.prior, dtype=np.float32), LEAST)[:, None, None]
        self._counts = np.repeat(np.repeat(prior, len(self._kept), 1), past.streams, 2)
        self._fresh = prior * (1 - self._kept)
        self._belief = np.empty_like(self._counts)
        self._record = np.zeros_like(self._counts[0])

    def _learn(self, past: Past) -> None:
        seen = np.stack([past.accepted, past.accepted < past.drafted]).astype(np.float32)[:, None]
        score = np.log(self._belief, out=self._belief)
        score *= seen
        self._record *= np.float32(self.memory)
        self._record += score[0]
        self._record += score[1]
        self._counts *= self._kept
        self._counts += seen
        self._counts += self._fresh


def best_lengths(cost: Cost, longest: int) -> Small:
    """The best length for α in the middle of each of 2,048 cells of [0, 1], and for 1 itself."""
    alpha = np.append((np.arange(GRID) + 0.5) / GRID, 1.0)
    if isinstance(cost, LinearCost):
        best = optimal_gamma(alpha, cost.c, overhead=cost.overhead, verify_slope=cost.verify_slope)
        closed: Small = np.minimum(best, longest).astype(np.uint8)
        return closed
    lengths = np.arange(longest + 1)
    speed = expected_tokens(alpha[:, None], lengths) / cost.round_cost(lengths)
    scanned: Small = np.argmax(speed, axis=1).astype(np.uint8)
    return scanned
