"""What a round costs, in plain target passes. Plain decoding costs exactly 1."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gammaplan.model.arrays import ArrayLike, Floats, non_negative


class Cost(Protocol):
    """A law of cost: all that a decision needs to know of the timings."""

    @property
    def max_gamma(self) -> int | None:
        """The longest draft whose cost is known; None where the law has no end."""

    def round_cost(self, gamma: ArrayLike) -> Floats:
        """Plain target passes per round; 1 at gamma = 0, NaN where nothing is known."""


@dataclass(frozen=True)
class LinearCost:
    """1 + overhead + (c + verify_slope) * gamma for gamma >= 1, and 1 for gamma = 0.

    Parameters
    ----------
    c : float, >= 0
        One draft pass. [target passes]
    overhead : float, >= 0
        What a round costs more as soon as anything is drafted. [target passes]
    verify_slope : float, >= 0
        What one more verified token adds to the target pass. [target passes]

    Examples
    --------
    >>> LinearCost(0.1, overhead=0.2).round_cost([0, 1, 4])
    array([1. , 1.3, 1.6])
    """

    c: float
    overhead: float = 0.0
    verify_slope: float = 0.0

    def __post_init__(self) -> None:
        for name in ("c", "overhead", "verify_slope"):
            non_negative(name, getattr(self, name))

    @property
    def max_gamma(self) -> None:
        """None: the line has no end."""

    @property
    def slope(self) -> float:
        """What one more drafted token costs. [target passes]"""
        return self.c + self.verify_slope

    def round_cost(self, gamma: ArrayLike) -> Floats:
        """Plain target passes per round of `gamma` drafted tokens."""
        return linear_cost(non_negative("gamma", gamma, finite=False), self.slope, self.overhead)


def linear_cost(gamma: Floats, slope: Floats | float, overhead: Floats | float) -> Floats:
    """``1 + overhead + slope * gamma``, and 1 at gamma = 0; a slope of 0 costs 0 for ever."""
    with np.errstate(invalid="ignore", over="ignore"):
        drafting = np.where(np.equal(slope, 0), 0.0, slope * gamma)
    return np.where(gamma == 0, 1.0, 1 + overhead + drafting)
