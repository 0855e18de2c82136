"""How a target accepts drafted tokens: one class a rule.

A rule is two functions of the distributions p of the target and q of the draft,
both over the last axis. `accepted` is the probability that a token is drafted
and accepted; its sum is alpha. `replacement` is what a refused token is drawn
from, up to a factor. A rule is lossless if the two add up to p.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.sampling import Reals


class Rule(Protocol):
    """A rule of verification, seen at one position."""

    name: ClassVar[str]
    lossless: ClassVar[bool]

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """P(a token is drafted and accepted), for every token."""

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """What a refused token is drawn from, up to a factor."""


@dataclass(frozen=True)
class Residual:
    """Accept with probability min(1, p/q), else draw from the residual.

    Leviathan et al. 2023 (arXiv:2211.17192), Chen et al. 2023 (arXiv:2302.01318).
    """

    name: ClassVar[str] = "residual"
    lossless: ClassVar[bool] = True

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """``min(p, q)``."""
        return np.minimum(p, q)

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """``max(0, p - q)``."""
        return np.maximum(p - q, 0)


@dataclass(frozen=True)
class Block(Residual):
    """Verify the draft as a block: at its first token as the residual rule, later never worse.

    Sun et al. 2024 (arXiv:2403.10444). Past the first token its acceptance hangs
    on the whole draft, so that no alpha of one position describes it.
    """

    name: ClassVar[str] = "block"


@dataclass(frozen=True)
class GreedyDraft:
    """The draft proposes its most probable token; accept it with probability p."""

    name: ClassVar[str] = "greedy_draft"
    lossless: ClassVar[bool] = True

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """P at the draft's first argmax, 0 elsewhere."""
        return p * _top(q)

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """P without that token."""
        return p * (1 - _top(q))


@dataclass(frozen=True)
class ExactMatch:
    """Target and draft draw on their own; accept where they drew the same."""

    name: ClassVar[str] = "exact_match"
    lossless: ClassVar[bool] = True

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """``p q``."""
        return p * q

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """``p (1 - q)``: the target's own draw."""
        return p * (1 - q)


@dataclass(frozen=True)
class Argmax:
    """Accept the draft's most probable token if it is the target's as well.

    Exact for greedy decoding only, where p has all its mass on one token.
    """

    name: ClassVar[str] = "argmax"
    lossless: ClassVar[bool] = False

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """1 at a shared argmax."""
        return _top(p) * _top(q)

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """The target's argmax."""
        return _top(p)


@dataclass(frozen=True)
class Typical:
    """Accept a token that the target finds typical enough: p >= min(epsilon, delta e^-H(p)).

    Cai et al. 2024, Medusa (arXiv:2401.10774); the defaults are those of its code.
    A refused token is taken to be drawn from p.
    """

    epsilon: float = 0.3
    delta: float = 0.09
    name: ClassVar[str] = "typical"
    lossless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not 0 <= value <= 1:
                raise DomainError(f"{name} must be in [0, 1], got {value:g}")

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """Q where p reaches the threshold."""
        logs = np.log(p, out=np.zeros_like(p), where=p > 0)
        entropy = -(p * logs).sum(axis=-1, keepdims=True)
        floor = np.minimum(self.epsilon, self.delta * np.exp(-entropy))
        return np.asarray(q * (p >= floor))

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """P."""
        return p


@dataclass(frozen=True)
class Lenience:
    """Accept with probability min(1, p / (l q)): no token is emitted more often than p / l.

    Leviathan et al. 2023 (arXiv:2211.17192), appendix A.5.
    """

    lenience: float = 0.5
    name: ClassVar[str] = "lenience"
    lossless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.lenience <= 1:
            raise DomainError(f"lenience must be in (0, 1] (1 is exact), got {self.lenience:g}")

    def accepted(self, p: Reals, q: Reals) -> Reals:
        """``min(p / l, q)``."""
        return np.asarray(np.minimum(p / self.lenience, q))

    def replacement(self, p: Reals, q: Reals) -> Reals:
        """``max(0, p - l q)``."""
        return np.asarray(np.maximum(p - self.lenience * q, 0))


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Residual(),
        Block(),
        GreedyDraft(),
        ExactMatch(),
        Argmax(),
        Typical(),
        Lenience(),
    )
}


def distortion(rule: Rule, p: Reals, q: Reals) -> Reals:
    """Total variation between what a rule emits at one position and p, shape ``(...)``."""
    accepted, rest = rule.accepted(p, q), rule.replacement(p, q)
    total = rest.sum(axis=-1, keepdims=True)
    refused = np.maximum(1 - accepted.sum(axis=-1, keepdims=True), 0)
    emitted = accepted + refused * rest / np.where(total > 0, total, 1)
    return np.asarray(np.abs(emitted - p).sum(axis=-1) / 2)


def _top(x: Reals) -> Reals:
    """1 at the first largest of each row, 0 elsewhere."""
    out = np.zeros_like(x)
    np.put_along_axis(out, x.argmax(axis=-1, keepdims=True), 1, axis=-1)
    return out
