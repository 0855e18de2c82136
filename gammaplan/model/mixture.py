"""Acceptance as a mixture: every round draws its own alpha, so hazards rise with position."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Law, LawName, LawParameters
from gammaplan.model.arrays import ArrayLike, Floats, non_negative

DIRECT = 65_536  # positions of a mixture that are multiplied and summed one by one


@dataclass(frozen=True)
class BetaGeometric(Law):
    """A mixture over rounds: each round draws its own alpha from Beta(p, q).

    Parameters
    ----------
    p, q : float, > 0
        The Beta's parameters: hazards are ``(p + i - 1) / (p + q + i - 1)`` and
        rise with position, since the rounds that got so far are the easy ones.

    Notes
    -----
    Survival is ``E[a**i] = B(p + i, q) / B(p, q)``, never below ``E[a]**i``
    (Jensen). It telescopes: ``E(gamma) = (p + q - 1 - (p + q + gamma) *
    s_(gamma + 1)) / (q - 1)``, used where the sum would be long.

    Examples
    --------
    >>> law = BetaGeometric(2.8, 1.2)
    >>> round(law.alpha, 3), law.expected_tokens([1, 5]).round(4)
    (0.7, array([1.7 , 3.31]))
    """

    p: float
    q: float
    observed_to: int | None = None
    model: ClassVar[LawName] = "beta_geometric"
    beyond: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not (self.p > 0 and self.q > 0 and math.isfinite(self.p + self.q)):
            raise DomainError(f"p and q must be greater than 0, got {self.p:g} and {self.q:g}")

    @property
    def parameters(self) -> LawParameters:
        """P and q."""
        return {"p": self.p, "q": self.q}

    @property
    def alpha(self) -> float:
        """The mean of the Beta: the acceptance of the first drafted token."""
        return self.p / (self.p + self.q)

    @property
    def ceiling(self) -> float:
        """1 + the sum of all survival: ``(p + q - 1) / (q - 1)``, infinite for q <= 1."""
        return (self.p + self.q - 1) / (self.q - 1) if self.q > 1 else math.inf

    def survival(self, gamma: ArrayLike) -> Floats:
        """``E[alpha ** gamma]``."""
        n = non_negative("gamma", gamma, finite=False)
        near = np.minimum(n, DIRECT)
        last = int(near.max(initial=0))
        steps = np.log1p(-self.q / (self.p + self.q + np.arange(last)))
        inside = np.exp(np.concatenate([[0.0], np.cumsum(steps)])[near.astype(int)])
        return np.asarray(inside * self._ratio(n) / self._ratio(near))

    def _ratio(self, n: Floats) -> Floats:
        """``gamma(p + n) / gamma(p + q + n)`` to a constant, where it is used: past `DIRECT`."""
        q, z = self.q, self.p + np.maximum(n, DIRECT) + (self.q - 1) / 2
        return np.where(n < DIRECT, 1.0, (z / DIRECT) ** -q * (1 + q * (q * q - 1) / (24 * z * z)))

    def expected_tokens(self, gamma: ArrayLike) -> Floats:
        """``1 + s_1 + ... + s_gamma``, for whole `gamma`."""
        n = non_negative("gamma", gamma, finite=False)
        near = np.minimum(n, DIRECT)
        summed = np.cumsum(self.survival(np.arange(int(near.max(initial=0)) + 1)))
        if not (n > DIRECT).any():
            return np.asarray(summed[near.astype(int)])
        if self.q == 1:
            far = 1 + self.p * np.log(n)  # good enough for a law that is fitted to data
        else:
            with np.errstate(invalid="ignore"):
                grown = np.where(np.isinf(n), 0.0, (self.p + self.q + n) * self.survival(n + 1))
            far = ((self.p + self.q - 1) - grown) / (self.q - 1)
        far = np.where(np.isinf(n), self.ceiling, far)
        return np.where(n > DIRECT, far, summed[near.astype(int)])

    def raised(self, step: float) -> "BetaGeometric":
        """The same spread ``p + q`` with a mean moved by `step`, within (0, 1)."""
        total = self.p + self.q
        mean = min(1 - 1e-9, max(1e-9, self.alpha + step))
        return BetaGeometric(mean * total, (1 - mean) * total, self.observed_to)
