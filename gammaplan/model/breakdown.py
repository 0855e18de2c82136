"""Where the time of a round goes, and what would have to change for it to pay."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gammaplan.model.convert import alpha_from_mean_length

Verdict: TypeAlias = Literal[
    "baseline_suspect",
    "pays",
    "pays_wrong_gamma",
    "wrong_gamma",
    "acceptance_too_low",
    "draft_too_slow",
    "verification_too_slow",
    "overhead_too_high",
    "round_too_slow",
]
PartName: TypeAlias = Literal["target", "draft", "verify", "overhead", "unexplained"]
NEAR = 0.03  # a speedup that is within 3 % of the best is the best: repeats move by as much
CHEAP = 0.98  # a round that costs less than this of a plain pass points to a wrong baseline


@dataclass(frozen=True)
class Round:
    """One measured round, in plain target passes; None where nothing says.

    Parameters
    ----------
    gamma : int
        Draft length.
    tokens : float
        Tokens per round, the bonus token counted.
    cost : float
        What the whole round costs: tokens over the measured speedup, or the sum of the timed parts.
    draft, verify, overhead : float, optional
        Drafting of the round, what its verification costs beyond a plain pass, and a fixed part
        that was given.
    drafted : float, optional
        Tokens really drafted in a round, where drafts stop early; `gamma` otherwise.
    """

    gamma: int
    tokens: float
    cost: float
    draft: float | None = None
    verify: float | None = None
    overhead: float | None = None
    drafted: float | None = None

    @property
    def drafts(self) -> float:
        """Tokens drafted in a round."""
        return self.gamma if self.drafted is None else self.drafted

    @property
    def c(self) -> float | None:
        """One draft pass, where drafting is known. [target passes]"""
        return None if self.draft is None else self.draft / self.drafts

    @property
    def parts(self) -> list[tuple[PartName, float]]:
        """The parts that are known and the rest; they add up to `cost`."""
        given: list[tuple[PartName, float | None]] = [
            ("target", 1.0),
            ("draft", self.draft),
            ("verify", self.verify),
            ("overhead", self.overhead),
        ]
        known = [(name, part) for name, part in given if part is not None]
        return [*known, ("unexplained", self.cost - math.fsum(p for _, p in known))]

    @property
    def speedup(self) -> float:
        """Tokens per round over its cost."""
        return self.tokens / self.cost

    @property
    def textbook(self) -> float | None:
        """The speedup if drafting were all that a round adds."""
        return None if self.draft is None else self.tokens / (1 + self.draft)

    @property
    def timed(self) -> float | None:
        """The speedup if the timed parts were all: without the unexplained."""
        if self.draft is None or self.verify is None:
            return None
        return self.tokens / (1 + self.draft + self.verify + (self.overhead or 0.0))

    def needed_alpha(self, goal: float) -> float | None:
        """The alpha at which this round would reach `goal`; None where none does."""
        tokens = goal * self.cost
        if tokens > self.gamma + 1:
            return None
        return float(alpha_from_mean_length(max(tokens, 1.0), self.gamma))

    def needed_c(self, goal: float) -> float | None:
        """The draft pass at which it would; without a timed draft all extra cost is taken as it."""
        other = 0.0 if self.draft is None else self.cost - 1 - self.draft
        c = (self.tokens / goal - 1 - other) / self.drafts
        return c if c >= 0 else None

    def ceilings(self) -> dict[str, float]:
        """The speedup at this length with one thing perfect."""
        tops = {"every token accepted": (self.gamma + 1) / self.cost}
        for name, part in self.parts[1:]:
            if 0 < part < self.cost:
                tops[f"no {name}"] = self.tokens / (self.cost - part)
        return tops


def verdict(measured: Round, best_gamma: float, best_speedup: float) -> Verdict:
    """The one word for it: whether it pays, and what stands in the way."""
    speed = measured.speedup
    if measured.cost < CHEAP:
        return "baseline_suspect"
    if speed >= 1 and best_speedup <= speed * (1 + NEAR):
        return "pays"
    if best_gamma > 0 and best_speedup > 1 + NEAR:
        return "pays_wrong_gamma" if speed >= 1 else "wrong_gamma"
    if speed >= 1:
        return "pays"
    if measured.tokens <= 1 + NEAR:
        return "acceptance_too_low"
    extra = {name: part for name, part in measured.parts[1:] if part > 0}
    if not extra or measured.textbook is None:
        return "round_too_slow"
    worst = max(extra, key=lambda name: extra[name])
    if measured.timed is None and worst == "unexplained":
        return "round_too_slow"
    return _TOO_MUCH[worst]


_TOO_MUCH: dict[PartName, Verdict] = {
    "draft": "draft_too_slow",
    "verify": "verification_too_slow",
    "overhead": "overhead_too_high",
    "unexplained": "overhead_too_high",
}
