"""Acceptance measured position by position, and what is taken to hold past the last of them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import (
    Law,
    LawName,
    LawParameters,
    censored_alpha,
    geometric_sum,
    within,
)
from gammaplan.model.arrays import ArrayLike, Floats, fraction, non_negative


@dataclass(frozen=True)
class PerPosition(Law):
    """Acceptance measured position by position.

    Parameters
    ----------
    hazards : sequence of float
        ``b_i``: P(position i is accepted, given that 1..i-1 were). [0 to 1]
        NaN where no draft ever reached the position: it counts as 0.
    beyond : float, optional
        The hazard of every later position; without it the smaller of the last
        measured hazard and the censored estimate `alpha`. [0 to 1]
    measured_to : int, optional
        The last position that was measured, where later hazards are modelled;
        without it the last of `hazards`.

    Notes
    -----
    Survival is ``s_i = b_1 ... b_i``, tokens per round are ``1 + s_1 + ... +
    s_gamma`` for any acceptance process. Past the last measured position
    survival falls geometrically by `beyond`.

    Examples
    --------
    >>> law = PerPosition.from_survival([0.8, 0.4, 0.2])
    >>> law.hazards, law.beyond
    ((0.8, 0.5, 0.5), 0.5)
    >>> law.expected_tokens([1, 3, 4])
    array([1.8, 2.4, 2.5])
    """

    hazards: tuple[float, ...]
    beyond: float = math.nan
    measured_to: int | None = None
    model: ClassVar[LawName] = "per_position"

    def __post_init__(self) -> None:
        hazards = tuple(0.0 if math.isnan(h) else float(h) for h in self.hazards)
        if not hazards:
            raise DomainError("hazards must name at least one position, got none")
        fraction("hazards", hazards)
        if self.measured_to is not None and not 1 <= self.measured_to <= len(hazards):
            raise DomainError(
                f"measured_to must be a position from 1 to {len(hazards)}, got {self.measured_to}"
            )
        object.__setattr__(self, "hazards", hazards)
        beyond = min(hazards[-1], self.alpha) if math.isnan(self.beyond) else self.beyond
        object.__setattr__(self, "beyond", float(fraction("beyond", beyond)))

    @classmethod
    def from_survival(cls, survival: ArrayLike) -> "PerPosition":
        """The law with these ``s_i``, non-increasing, each in [0, 1]."""
        s = fraction("survival", np.atleast_1d(np.asarray(survival)))
        before = np.concatenate([[1.0], s[:-1]])
        if (rises := np.flatnonzero(s > before)).size:
            i = int(rises[0])
            raise DomainError(
                f"survival must not rise with position, got {s[i]:g} after {before[i]:g} "
                f"at position {i + 1}"
            )
        with np.errstate(invalid="ignore"):
            return cls(tuple((s / before).tolist()))

    @property
    def parameters(self) -> LawParameters:
        """The hazards; `beyond` is told apart."""
        return {"hazards": list(self.hazards)}

    @cached_property
    def _survival(self) -> Floats:
        return np.multiply.accumulate(np.asarray(self.hazards, dtype=np.float64))

    @property
    def alpha(self) -> float:
        """The censored estimate over the measured positions: accepted / (accepted + rejected)."""
        return censored_alpha(self._survival[: self.observed_to])

    @property
    def observed_to(self) -> int:
        """The number of measured positions."""
        return len(self.hazards) if self.measured_to is None else self.measured_to

    @property
    def ceiling(self) -> float:
        """1 + the sum of survival, the part past the last position by its geometric law."""
        return float(self.expected_tokens(np.inf))

    def survival(self, gamma: ArrayLike) -> Floats:
        """Product of the hazards of positions 1..gamma, for whole `gamma`."""
        n = non_negative("gamma", gamma, finite=False)
        inside = np.minimum(n, len(self.hazards)).astype(np.int64)
        measured: Floats = np.concatenate([[1.0], self._survival])[inside]
        return np.asarray(measured * self.beyond ** (n - inside))

    def expected_tokens(self, gamma: ArrayLike) -> Floats:
        """1 + the sum of survival over positions 1..gamma, for whole `gamma`."""
        n = non_negative("gamma", gamma, finite=False)
        inside = np.minimum(n, len(self.hazards)).astype(np.int64)
        measured: Floats = 1 + np.concatenate([[0.0], np.cumsum(self._survival)])[inside]
        last, tail = self._survival[-1], self.beyond
        if last * tail == 0:
            return np.asarray(measured)
        return np.asarray(measured + last * tail * geometric_sum(np.asarray(tail), n - inside))

    def raised(self, step: float) -> "PerPosition":
        """Every hazard, measured and beyond, moved by `step`, within [0, 1]."""
        return PerPosition(
            tuple(within(h + step) for h in self.hazards),
            within(self.beyond + step),
            self.measured_to,
        )
