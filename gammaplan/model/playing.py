"""Verification rules played over real rows, and whether what they emit is the target's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.blocks import block_kept
from gammaplan.model.drawing import Integers, draw
from gammaplan.model.losslessness import Goodness, Losslessness, favoured_order
from gammaplan.model.rounds import Verified
from gammaplan.model.rules import RULES, Lenience, Rule
from gammaplan.model.simulation import Tally, Told
from gammaplan.model.verification import (
    verify_block,
    verify_chain,
    verify_match,
    verify_typical,
)

TOKENS = 2**20  # tokens at a time
LENIENCE = Lenience.lenience


class Play(NamedTuple):
    """How a rule is played: what drafts and verifies, and whether its output should be p."""

    exact: bool
    verify: Callable[..., Verified]
    rule: Rule | None = None
    greedy: bool = False
    formula: Callable[[Floats, Floats], Floats | None] | None = None

    def alpha(self, p: Floats, q: Floats) -> Floats | None:
        """P(a token is drafted and accepted) for each row; None if it depends on the others."""
        if self.rule is None:
            return None
        return np.asarray(np.minimum(self.rule.accepted(p, q).sum(axis=-1), 1))

    def kept(self, p: Floats, q: Floats) -> Floats | None:
        """What each row adds to the tokens that a round keeps; None without a formula."""
        if (alpha := self.alpha(p, q)) is not None:
            return np.multiply.accumulate(alpha)
        return self.formula(p, q) if self.formula else None


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
        "block": Play(True, verify_block, formula=block_kept),
        "greedy_draft": Play(True, verify_chain, RULES["greedy_draft"], greedy=True),
        "exact_match": Play(True, matched, RULES["exact_match"]),
        "lenience": Play(lenience == 1, lenient, Lenience(lenience)),
        "typical": Play(False, typical, RULES["typical"]),
        "argmax": Play(False, argmax, RULES["argmax"], greedy=True),
    }


class Played(NamedTuple):
    """What one rule did over real rows.

    `alpha` is what its formula says of the same rows, on average, `survival`
    P(the first i tokens are accepted) for i = 1..gamma, `expected_tokens` those of
    a round; None where there is no formula. `goodness` is None for too few rounds
    to test.
    """

    tally: Tally
    alpha: float | None
    survival: Floats | None
    expected_tokens: float | None
    goodness: Goodness | None


def simulate_rules(
    chosen: Mapping[str, Play],
    windows: Iterable[tuple[Floats, Floats]],
    shares: Sequence[int],
    *,
    rng: np.random.Generator,
    told: Told | None = None,
) -> dict[str, Played]:
    """Rules over windows of rows, and the test that what each emits has the target's law.

    Parameters
    ----------
    chosen : mapping of str to Play
        The rules by their names.
    windows : iterable of (p, q)
        Target rows, shape ``(gamma + 1, vocabulary)``, and the draft's rows for
        the first gamma of these positions; looked at once, in order.
    shares : sequence of int
        Rounds of each window, at least 1.
    rng : numpy.random.Generator
        Where the uniforms come from.
    told : callable, optional
        Is told the number of rounds that a rule has played of each window.

    Returns
    -------
    dict of str to Played
        A stratum for each window.

    Notes
    -----
    Each round drafts, verifies, and then draws from the target what is
    missing of ``gamma + 1`` tokens. A rule is lossless if these sequences have
    the joint law of the target's rows, and only then.
    """
    games: dict[str, _Game] = {}
    for (p, q), share in zip(windows, shares, strict=True):
        order = _orders(p, q)
        for name, play in chosen.items():
            if name not in games:
                games[name] = _Game(play, len(p), sum(shares), rng)
            games[name].play(p, q, share, order)
            if told:
                told(share)
    return {name: game.result() for name, game in games.items()}


def shared_out(rounds: int, parts: int) -> list[int]:
    """`rounds` shared out evenly over at most so many parts, each at least 1.

    Examples
    --------
    >>> shared_out(7, 3), shared_out(2, 3)
    ([3, 2, 2], [1, 1])
    """
    parts = min(parts, rounds)
    return [rounds // parts + (i < rounds % parts) for i in range(parts)]


class _Game:
    """One rule, its tally and its test, window by window."""

    def __init__(self, play: Play, positions: int, rounds: int, rng: np.random.Generator) -> None:
        self._play, self._rng = play, rng
        self._test = Losslessness(positions, rounds)
        self._counts: list[Integers] = []
        self._alpha, self._kept = np.zeros(positions - 1), np.zeros(positions - 1)
        self._formula = True

    def play(self, p: Floats, q: Floats, rounds: int, orders: list[Integers]) -> None:
        if self._play.greedy:
            q = one_hot(q)
            orders = _orders(p, q)
        counts = np.zeros(len(p), dtype=np.int64)
        block = max(1, TOKENS // len(p))
        for start in range(0, rounds, block):
            accepted, emitted = _emit(self._play, p, q, min(block, rounds - start), self._rng)
            counts += np.bincount(accepted, minlength=len(p))
            self._test.add(emitted, p, orders)
        self._counts.append(counts)
        if (alpha := self._play.alpha(p[:-1], q)) is not None:
            self._alpha += rounds * alpha
        if self._formula and (kept := self._play.kept(p[:-1], q)) is not None:
            self._kept += rounds * kept
        else:
            self._formula = False

    def result(self) -> Played:
        tally = Tally(np.asarray(self._counts))
        kept = self._kept / tally.rounds
        expected = 1 + float(kept.sum()) if self._formula else None
        if self._play.rule is None or not self._alpha.size:
            return Played(tally, None, None, expected, self._test.result())
        alpha = float(self._alpha.mean()) / tally.rounds
        return Played(tally, alpha, kept, expected, self._test.result())


def _orders(p: Floats, q: Floats) -> list[Integers]:
    """The vocabulary at each position, as the test cuts it; the bonus token's by falling p."""
    favoured = [favoured_order(a, b) for a, b in zip(p, q, strict=False)]
    return [*favoured, (-p[-1]).argsort(kind="stable")]


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
