"""Rounds played out, one uniform for each verified token; nothing here knows a formula."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Floats, fraction
from gammaplan.model.drawing import Integers, draw
from gammaplan.model.losslessness import Goodness, Losslessness, favoured_order, transformed
from gammaplan.model.rounds import Verified
from gammaplan.model.rules import RULES, Lenience, Rule
from gammaplan.model.verification import (
    verify_block,
    verify_chain,
    verify_match,
    verify_typical,
)

BLOCK = 32_768  # rounds at a time: their uniforms stay in the cache
TOKENS = 2**18  # tokens at a time, where they are kept
LENIENCE = Lenience.lenience
Told = Callable[[int], None]  # is told how many more rounds are done


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


class Play(NamedTuple):
    """How a rule is played: what drafts and verifies, and whether its output should be p."""

    exact: bool
    verify: Callable[..., Verified]
    rule: Rule | None = None
    greedy: bool = False

    def alpha(self, p: Floats, q: Floats) -> Floats | None:
        """P(a token is drafted and accepted) for each row; None if it depends on the others."""
        return None if self.rule is None else np.asarray(self.rule.accepted(p, q).sum(axis=-1))


def plays(lenience: float = LENIENCE) -> dict[str, Play]:
    """Every rule by its name."""

    def lenient(p: Floats, q: Floats, drafted: Integers, *, rng: np.random.Generator) -> Verified:
        return verify_chain(p, q, drafted, rng=rng, lenience=lenience)

    def matched(p: Floats, q: Floats, drafted: Integers, *, rng: np.random.Generator) -> Verified:
        return verify_match(p, drafted, rng=rng)

    def typical(p: Floats, q: Floats, drafted: Integers, *, rng: np.random.Generator) -> Verified:
        return verify_typical(p, drafted, rng=rng)

    def argmax(p: Floats, q: Floats, drafted: Integers, *, rng: np.random.Generator) -> Verified:
        return verify_match(one_hot(p), drafted, rng=rng)

    return {
        "residual": Play(True, verify_chain, RULES["residual"]),
        "block": Play(True, verify_block),
        "greedy_draft": Play(True, verify_chain, RULES["greedy_draft"], greedy=True),
        "exact_match": Play(True, matched, RULES["exact_match"]),
        "lenience": Play(lenience == 1, lenient, Lenience(lenience)),
        "typical": Play(False, typical, RULES["typical"]),
        "argmax": Play(False, argmax, RULES["argmax"], greedy=True),
    }


class Played(NamedTuple):
    """What one rule did over real rows; `goodness` is None for too few rounds to test."""

    tally: Tally
    goodness: Goodness | None


def simulate_rule(
    play: Play,
    windows: Sequence[tuple[Floats, Floats]],
    rounds: int,
    *,
    rng: np.random.Generator,
    told: Told | None = None,
) -> Played:
    """One rule over windows of rows, and the test that what it emits has the target's law.

    Parameters
    ----------
    play : Play
        How to draft and to verify.
    windows : sequence of (p, q)
        Target rows, shape ``(gamma + 1, vocabulary)``, and the draft's rows for
        the first gamma of these positions.
    rounds : int
        Rounds in all, shared out evenly.
    rng : numpy.random.Generator
        Where the uniforms come from.
    told : callable, optional
        Is told the number of rounds of each window that is done.

    Returns
    -------
    Played
        A stratum for each window that had rounds.

    Notes
    -----
    Each round drafts, verifies, and then draws from the target what is
    missing of ``gamma + 1`` tokens. A rule is lossless if these sequences have
    the joint law of the target's rows, and only then.
    """
    positions = len(windows[0][0])
    test = Losslessness(positions, rounds)
    counts = []
    for (p, q), share in zip(windows, _shares(rounds, len(windows)), strict=True):
        if not share:
            continue
        claimed = one_hot(q) if play.greedy else q
        orders = [favoured_order(a, b) for a, b in zip(p, claimed, strict=False)]
        orders.append(np.arange(p.shape[-1]))
        tally = np.zeros(positions, dtype=np.int64)
        block = max(1, TOKENS // positions)
        for start in range(0, share, block):
            size = min(block, share - start)
            accepted, emitted = _emit(play, p, claimed, size, rng)
            tally += np.bincount(accepted, minlength=positions)
            u = rng.random(emitted.shape)
            for i, order in enumerate(orders):
                u[:, i] = transformed(emitted[:, i], p[i], order, u[:, i])
            test.add(u)
        counts.append(tally)
        if told:
            told(share)
    return Played(Tally(np.asarray(counts)), test.result())


def _shares(rounds: int, parts: int) -> list[int]:
    """`rounds` shared out evenly."""
    return [rounds // parts + (i < rounds % parts) for i in range(parts)]


def one_hot(q: Floats) -> Floats:
    """Rows with all their mass on their first most probable token."""
    claimed = np.zeros_like(q)
    claimed[np.arange(len(q)), q.argmax(axis=-1)] = 1
    return claimed


def _emit(
    play: Play, p: Floats, q: Floats, rounds: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Accepted tokens of each round, and gamma + 1 tokens that each of them leads to."""
    drafted = np.stack(
        [draw(row[None], rng.random(rounds)) for row in q] or [np.empty(rounds, dtype=np.int64)],
        axis=-1,
    )[:, : len(q)]
    accepted, token = map(np.asarray, play.verify(p, q, drafted, rng=rng))
    emitted = np.stack([draw(row[None], rng.random(rounds)) for row in p], axis=-1)
    at = np.arange(len(p))
    emitted[:, :-1] = np.where(at[:-1] < accepted[:, None], drafted, emitted[:, :-1])
    emitted[np.arange(rounds), accepted] = token
    return accepted, emitted
