"""Verify rounds drawn from known acceptance probabilities, and their counts as plain sums."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from math import ceil
from typing import TypeVar

from .truth import Truth

Round = tuple[int, int]
"""Draft tokens proposed and draft tokens accepted in one verify step."""

T = TypeVar("T")


def draw_until(draw: Callable[[], T], accept: Callable[[T], bool], tries: int = 2000) -> T:
    """The first draw that `accept` takes; gives up loudly."""
    for _ in range(tries):
        value = draw()
        if accept(value):
            return value
    raise RuntimeError(f"no valid draw in {tries} tries")


def hazards(rng: random.Random, gamma: int, *, extreme: bool = True) -> tuple[float, ...]:
    """Acceptance probability by position: constant, falling or rising; seldom 0 or 1 throughout."""
    if extreme and rng.random() < 0.06:
        return (rng.choice((0.0, 1.0)),) * gamma
    alpha = rng.uniform(0.3, 0.93)
    drift = rng.choice((0.0, 0.0, -0.04, -0.02, 0.015))
    return tuple(min(0.98, max(0.05, alpha + drift * i)) for i in range(gamma))


def simulate(
    rng: random.Random,
    gamma: int,
    rounds: int,
    hazard: float | Sequence[float],
    *,
    short: float = 0.0,
    empty: float = 0.0,
) -> list[Round]:
    """Rounds of `gamma` tokens, a share `short` of them shorter and a share `empty` of none."""
    chances = [hazard] * gamma if isinstance(hazard, float) else list(hazard)
    return [_round(rng, _draft_length(rng, gamma, short, empty), chances) for _ in range(rounds)]


def simulate_lengths(
    rng: random.Random, lengths: Sequence[int], hazard: Sequence[float]
) -> list[Round]:
    """One round for each draft length given."""
    return [_round(rng, length, hazard) for length in lengths]


def _draft_length(rng: random.Random, gamma: int, short: float, empty: float) -> int:
    chance = rng.random()
    if chance < empty:
        return 0
    if chance < empty + short:
        return rng.randint(1, gamma)
    return gamma


def _round(rng: random.Random, drafted: int, chances: Sequence[float]) -> Round:
    for i in range(drafted):
        if rng.random() >= chances[i]:
            return drafted, i
    return drafted, drafted


@dataclass(frozen=True, slots=True)
class Counts:
    """Every count of engines.md section 1, summed over rounds that are known one by one."""

    rounds: int
    drafted: int
    accepted: int
    accepted_at_least: tuple[int, ...]
    drafted_at_least: tuple[int, ...]
    full_accepts: int
    rejections: int
    gamma: int

    @property
    def mean_length(self) -> float | None:
        """1 + A/N."""
        return 1 + self.accepted / self.rounds if self.rounds else None

    @property
    def truth(self) -> Truth:
        """All of it, for formats that tell every round."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return Truth(**values, mean_length=self.mean_length)

    def scaled(self, times: int) -> Counts:
        """The counts of the same rounds gone through `times` times."""
        return Counts(
            self.rounds * times,
            self.drafted * times,
            self.accepted * times,
            tuple(c * times for c in self.accepted_at_least),
            tuple(d * times for d in self.drafted_at_least),
            self.full_accepts * times,
            self.rejections * times,
            self.gamma,
        )

    def plus(self, other: Counts) -> Counts:
        """The counts of both pieces of work."""
        return Counts(
            self.rounds + other.rounds,
            self.drafted + other.drafted,
            self.accepted + other.accepted,
            tuple(map(sum, zip(self.accepted_at_least, other.accepted_at_least, strict=True))),
            tuple(map(sum, zip(self.drafted_at_least, other.drafted_at_least, strict=True))),
            self.full_accepts + other.full_accepts,
            self.rejections + other.rejections,
            self.gamma,
        )


def count(rounds: Sequence[Round], gamma: int | None = None) -> Counts:
    """The counts; rounds without a draft contribute nothing; gamma, or else the longest draft."""
    steps = [(d, a) for d, a in rounds if d]
    k = max([d for d, _ in steps], default=1) if gamma is None else gamma
    return Counts(
        rounds=len(steps),
        drafted=sum(d for d, _ in steps),
        accepted=sum(a for _, a in steps),
        accepted_at_least=tuple(sum(a >= i for _, a in steps) for i in range(1, k + 1)),
        drafted_at_least=tuple(sum(d >= i for d, _ in steps) for i in range(1, k + 1)),
        full_accepts=sum(a == d for d, a in steps),
        rejections=sum(a < d for d, a in steps),
        gamma=k,
    )


def histogram(rounds: Sequence[Round], length: int = 0) -> list[int]:
    """Steps by accepted drafts, index 0 first, at least `length` long."""
    size = max([length, *(a + 1 for _, a in rounds)])
    return [sum(a == i for _, a in rounds) for i in range(size)]


def told(counts: Counts, *, positions: bool) -> Truth:
    """What N, D, A, gamma and perhaps c_i determine.

    Full drafts (D = N gamma) give d_i, and with c_i the full acceptances and the rejections;
    drafts of varying length leave these open, except where counting leaves one value (section 1).
    """
    full = counts.drafted == counts.rounds * counts.gamma
    shown = positions or (full and counts.accepted == 0)
    known = Truth(
        rounds=counts.rounds,
        drafted=counts.drafted,
        accepted=counts.accepted,
        accepted_at_least=counts.accepted_at_least if shown else None,
        drafted_at_least=(counts.rounds,) * counts.gamma if full else None,
        full_accepts=counts.full_accepts if full and shown else None,
        gamma=counts.gamma,
        mean_length=counts.mean_length,
    )
    return settle(known, counts)


def counters(rounds: Sequence[Round], gamma: int, *, positions: bool) -> Truth:
    """What the summed counters of the rounds determine."""
    return told(count(rounds, gamma), positions=positions)


def round_by_round(rounds: Sequence[Round]) -> tuple[Truth, list[str]]:
    """Every count and its finding; gamma only where all drafts are alike, empty ones left out."""
    lengths = {d for d, _ in rounds if d}
    total = count(rounds).truth
    if len(lengths) == 1:
        return total, []
    return replace(total, gamma=None), ["variable_draft_length"]


def totals(rounds: Sequence[Round], *, drafts: bool = False) -> Truth:
    """What D and A, or N, D and A determine where the draft length is neither told nor implied."""
    actual = count(rounds)
    known = Truth(drafted=actual.drafted, accepted=actual.accepted)
    if drafts:
        known = replace(known, rounds=actual.rounds, mean_length=actual.mean_length)
    return settle(known, actual)


def settle(known: Truth, actual: Counts) -> Truth:
    """Fill in the rejections where their bounds by counting coincide (section 1)."""
    low, high = rejection_bounds(known)
    assert low <= actual.rejections
    assert high is None or actual.rejections <= high
    return replace(known, rejections=low) if low == high else known


def rejection_bounds(known: Truth) -> tuple[int, int | None]:
    """R_low and R_high of section 1; a term with an unknown input is left out."""
    if known.drafted is None or known.accepted is None:
        return 0, known.rounds
    wasted = known.drafted - known.accepted
    low, high = [0, int(wasted > 0)], [wasted]
    if known.gamma is not None:
        low.append(ceil(wasted / known.gamma))
    if known.rounds is not None:
        high.append(known.rounds)
        if known.gamma is not None and known.accepted_at_least is not None:
            rest = known.rounds - known.accepted_at_least[known.gamma - 1]
            low.append(rest - (known.rounds * known.gamma - known.drafted))
            high.append(rest)
    return max(low), min(high)


def moment(length: float, gamma: int) -> float:
    """The root of a + a^2 + ... + a^gamma = L - 1, for full drafts: section 1."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if sum(middle**i for i in range(1, gamma + 1)) < length - 1:
            low = middle
        else:
            high = middle
    return high


def by_length(requests: Sequence[Sequence[Round]], gamma: int) -> Truth:
    """What N, D and A of each request determine when every draft was full.

    Alpha follows from the length, except where counting in each request leaves one R.
    """
    known = counters(joined(requests), gamma, positions=False)
    single = [rejection_bounds(counters(part, gamma, positions=False)) for part in requests]
    low, high = sum(x[0] for x in single), sum(x[1] or 0 for x in single)
    if low == high or known.rejections is not None or known.mean_length is None:
        return replace(known, rejections=count(joined(requests)).rejections)
    return replace(known, alpha=moment(known.mean_length, gamma))


def bounded(known: Truth, rounds: Sequence[Round]) -> Truth:
    """The same with the alpha of the rounds, which only bounds can be given for."""
    actual = count(rounds)
    if known.rejections is not None or not actual.accepted:
        return known
    return replace(known, hidden_alpha=actual.accepted / (actual.accepted + actual.rejections))


def recoverable(counts: Counts, length: str, rates: Sequence[str]) -> bool:
    """Whether N and c_i follow from A, D, a two-decimal length and printed rates (section 3.1)."""
    n, d, a, gamma = counts.rounds, counts.drafted, counts.accepted, counts.gamma
    if tuple(round(float(u) * n) for u in rates) != counts.accepted_at_least:
        return False
    if d % gamma == 0 and f"{1 + a / (d // gamma):.2f}" == length:
        return d // gamma == n
    gain, slack = float(length) - 1, 0.0051
    if gain <= slack:
        return False
    span = range(max(1, int(a / (gain + slack))), ceil(a / (gain - slack)) + 2)
    return [m for m in span if sum(round(float(u) * m) for u in rates) == a] == [n]


def joined(parts: Iterable[Sequence[Round]]) -> list[Round]:
    """The rounds of all parts in order."""
    return [step for part in parts for step in part]


def running(rounds: Sequence[Round]) -> list[Round]:
    """D and A summed up to and including each round."""
    drafted = accumulate(d for d, _ in rounds)
    return list(zip(drafted, accumulate(a for _, a in rounds), strict=True))


def in_parts(rng: random.Random, rounds: Sequence[Round], parts: int) -> list[list[Round]]:
    """The rounds in `parts` consecutive runs, none of them empty."""
    cuts = sorted(rng.sample(range(1, len(rounds)), parts - 1))
    return [list(rounds[i:j]) for i, j in zip([0, *cuts], [*cuts, len(rounds)], strict=True)]


def varies(rounds: Sequence[Round]) -> bool:
    """Whether the pooled D betrays drafts of varying length even without positions."""
    drafted = sum(d for d, _ in rounds)
    return bool(drafted) and drafted % len(rounds) != 0


def is_open(rounds: Sequence[Round]) -> bool:
    """Whether something was accepted and more than one token rejected, so that R stays open."""
    wasted = sum(d - a for d, a in rounds)
    return wasted > 1 and any(a for _, a in rounds)
