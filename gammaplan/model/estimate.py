"""Counts of rounds, drafted and accepted tokens, and what they say about alpha."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gammaplan.errors import DomainError
from gammaplan.model.positions import PerPosition
from gammaplan.results import Result

NARROW = 0.02  # bounds closer than this are as good as a point: their middle


@dataclass(frozen=True)
class Counts(Result):
    """What was counted over some rounds; None where the source does not say.

    Counts add: shards, windows, ranks and machines merge in any order, and a
    figure that one side lacks is lacking in the sum.

    Attributes
    ----------
    rounds : int or None
        Rounds that drafted at least one token.
    drafted, accepted : int or None
        Draft tokens verified, and accepted as a prefix (the bonus token is
        neither). [tokens]
    accepted_at_least, drafted_at_least : tuple of int or None
        Rounds that accepted, or drafted, at least i tokens; i = 1..gamma.
    full_accepts : int or None
        Rounds whose whole draft was accepted.
    rejections : int or None
        Rounds that refused a drafted token.
    gamma : int or None
        The longest draft. [tokens]
    tried : tuple of int or None
        Rounds that drafted position i and had accepted all before it: what the
        hazard of position i is a share of, where drafts vary in length.

    Examples
    --------
    >>> counts = Counts.from_histogram([39, 1, 0, 3])
    >>> counts.rounds, counts.accepted, counts.rejections, counts.alpha
    (43, 10, 40, 0.2)
    """

    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_at_least: tuple[int, ...] | None = None
    drafted_at_least: tuple[int, ...] | None = None
    full_accepts: int | None = None
    rejections: int | None = None
    gamma: int | None = None
    tried: tuple[int, ...] | None = None

    @classmethod
    def from_histogram(cls, histogram: Sequence[int]) -> "Counts":
        """Counts of rounds with exactly 0, 1, ..., gamma accepted, every draft full."""
        if len(histogram) < 2 or min(histogram) < 0 or not any(histogram):
            raise DomainError(
                "a histogram needs the rounds with exactly 0, 1, ... accepted, "
                f"some of them more than 0 and none negative, got {list(histogram)}"
            )
        gamma, rounds = len(histogram) - 1, sum(histogram)
        return cls.full(rounds, [sum(histogram[i:]) for i in range(1, gamma + 1)])

    @classmethod
    def full(cls, rounds: int, accepted_at_least: Sequence[int]) -> "Counts":
        """Counts of rounds that all drafted one length, from survival in rounds."""
        at_least, gamma = tuple(accepted_at_least), len(accepted_at_least)
        return cls(
            rounds=rounds,
            drafted=rounds * gamma,
            accepted=sum(at_least),
            accepted_at_least=at_least,
            drafted_at_least=(rounds,) * gamma,
            full_accepts=at_least[-1],
            rejections=rounds - at_least[-1],
            gamma=gamma,
        )

    @classmethod
    def from_rounds(
        cls, drafted: Sequence[int], accepted: Sequence[int], gamma: int | None = None
    ) -> "Counts":
        """Counts of rounds told one by one; empty drafts are left out."""
        if len(drafted) != len(accepted):
            raise DomainError("every round needs its drafted and its accepted tokens")
        pairs: dict[tuple[int, int], int] = {}
        for pair in zip(drafted, accepted, strict=True):
            pairs[pair] = pairs.get(pair, 0) + 1
        return cls.from_pairs(pairs, gamma)

    @classmethod
    def from_pairs(cls, pairs: Mapping[tuple[int, int], int], gamma: int | None = None) -> "Counts":
        """Counts of how many rounds drafted d and accepted a; empty drafts are left out.

        Without `gamma` the draft length is known only if all drafts are as long.
        """
        told = [(d, a, n) for (d, a), n in pairs.items() if d]
        if any(not 0 <= a <= d for d, a, _ in told):
            raise DomainError("a round accepts at least 0 and at most its drafted tokens")
        longest = max([gamma or 0, *(d for d, _, _ in told)])
        positions = range(1, longest + 1)
        if gamma is None and len({d for d, _, _ in told}) == 1:
            gamma = longest
        return cls(
            rounds=sum(n for _, _, n in told),
            drafted=sum(d * n for d, _, n in told),
            accepted=sum(a * n for _, a, n in told),
            accepted_at_least=tuple(sum(n for _, a, n in told if a >= i) for i in positions),
            drafted_at_least=tuple(sum(n for d, _, n in told if d >= i) for i in positions),
            full_accepts=sum(n for d, a, n in told if a == d),
            rejections=sum(n for d, a, n in told if a < d),
            gamma=gamma or None,
            tried=tuple(sum(n for d, a, n in told if a >= i - 1 and d >= i) for i in positions),
        )

    def __add__(self, other: "Counts") -> "Counts":
        if not isinstance(other, Counts):
            return NotImplemented
        return Counts(
            rounds=_sum(self.rounds, other.rounds),
            drafted=_sum(self.drafted, other.drafted),
            accepted=_sum(self.accepted, other.accepted),
            accepted_at_least=_sums(self.accepted_at_least, other.accepted_at_least),
            drafted_at_least=_sums(self.drafted_at_least, other.drafted_at_least),
            full_accepts=_sum(self.full_accepts, other.full_accepts),
            rejections=_sum(self.rejections, other.rejections),
            gamma=None
            if self.gamma is None or other.gamma is None
            else max(self.gamma, other.gamma),
            tried=_sums(self.at_risk, other.at_risk),
        )

    @property
    def full_drafts(self) -> bool:
        """Whether every draft is known to have had `gamma` tokens."""
        if self.rounds is None or self.drafted is None or self.gamma is None:
            return False
        return self.drafted == self.rounds * self.gamma > 0

    @property
    def at_risk(self) -> tuple[int, ...] | None:
        """`tried`, or what it follows to be where every draft was full."""
        if self.tried is not None or self.accepted_at_least is None or self.rounds is None:
            return self.tried
        return (self.rounds, *self.accepted_at_least[:-1]) if self.full_drafts else None

    @property
    def alpha(self) -> float | None:
        """The maximum-likelihood estimate ``A / (A + R)``; None where R is not known."""
        if self.accepted is None or self.rejections is None:
            return None
        trials = self.accepted + self.rejections
        return self.accepted / trials if trials else None

    @property
    def pooled_rate(self) -> float | None:
        """Accepted over drafted tokens: not alpha. [0 to 1]"""
        return _ratio(self.accepted, self.drafted)

    @property
    def mean_length(self) -> float | None:
        """Tokens per round, the bonus token counted. [1 to gamma + 1]"""
        accepted = _ratio(self.accepted, self.rounds)
        return None if accepted is None else 1 + accepted

    @property
    def survival(self) -> tuple[float, ...] | None:
        """Share of rounds that accepted at least i tokens, i = 1..gamma. [0 to 1]"""
        if not self.accepted_at_least or not self.rounds:
            return None
        return tuple(c / self.rounds for c in self.accepted_at_least)

    @property
    def hazards(self) -> tuple[float | None, ...] | None:
        """P(position i accepted, given 1..i-1 were); None where it was never reached."""
        if self.accepted_at_least is None or self.at_risk is None or not self.rounds:
            return None
        pairs = zip(self.accepted_at_least, self.at_risk, strict=True)
        return tuple(_ratio(c, n) for c, n in pairs)

    @property
    def per_position(self) -> PerPosition | None:
        """The measured law of acceptance, up to the last position that was reached."""
        known = [h for h in self.hazards or () if h is not None]
        return PerPosition(tuple(known)) if known else None


def _ratio(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _sums(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if a is None or b is None:
        return None
    return tuple(x + y for x, y in zip_longest(a, b, fillvalue=0))


def alpha_bounds(
    accepted: float,
    *,
    drafted: float | None = None,
    rounds: float | None = None,
    gamma: float | None = None,
    full_accepts: float | None = None,
) -> tuple[float, float]:
    """The alphas that counts without refusals allow: A / (A + R) over the possible R.

    Parameters
    ----------
    accepted, drafted : float
        Draft tokens accepted as a prefix, and drafted. [tokens]
    rounds : float, optional
        Rounds; empty drafts among them do no harm.
    gamma : float, optional
        The longest draft. [tokens]
    full_accepts : float, optional
        Rounds that accepted all of a longest draft.

    Returns
    -------
    low, high : float
        Every order of the same counts has its estimate between them. [0 to 1]

    Notes
    -----
    A refusal wastes 1 to gamma drafted tokens and nothing else wastes any, so
    ``(D - A) / gamma <= R <= D - A``; a round that neither refused nor
    accepted gamma tokens lacks at least one of gamma, and ``N gamma - D`` are
    lacking in all. Counts give whole refusals, so their bounds are rounded;
    figures per round (``rounds`` = 1) are not.

    Examples
    --------
    >>> [round(a, 4) for a in alpha_bounds(167, drafted=259, rounds=87, gamma=3, full_accepts=42)]
    [0.7877, 0.7952]
    """
    least, most = rejection_bounds(
        accepted, drafted=drafted, rounds=rounds, gamma=gamma, full_accepts=full_accepts
    )
    if accepted == 0:
        return (0.0, 0.0) if most > 0 else (0.0, 1.0)
    return accepted / (accepted + most), accepted / (accepted + least)


def rejection_bounds(
    accepted: float,
    *,
    drafted: float | None = None,
    rounds: float | None = None,
    gamma: float | None = None,
    full_accepts: float | None = None,
) -> tuple[float, float]:
    """The fewest and the most refusals that the counts allow; see `alpha_bounds`."""
    whole = all(isinstance(x, int) for x in (accepted, drafted, rounds) if x is not None)
    least, most = [0.0], [math.inf]
    if drafted is not None:
        wasted = drafted - accepted
        most.append(wasted)
        if whole and wasted > 0:
            least.append(1)
        if gamma:
            least.append(math.ceil(wasted / gamma) if whole else wasted / gamma)
    if rounds is not None:
        most.append(rounds)
        if full_accepts is not None:
            most.append(rounds - full_accepts)
            if drafted is not None and gamma:
                least.append(rounds - full_accepts - (rounds * gamma - drafted))
    return max(least), min(most)
