"""Round costs that are no line: a block drafted at once, a table, a curve through a few points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, non_negative, numbers
from gammaplan.model.cost import linear_cost


@dataclass(frozen=True)
class BlockCost:
    """A draft made in one pass, whatever its length, up to a block.

    Parameters
    ----------
    draft : float, >= 0
        The one pass that drafts the whole block (Medusa heads, block
        diffusion, parallel heads). [target passes]
    block : int, >= 1
        The longest draft. [tokens]
    verify_slope : float, >= 0
        What one more verified token adds to the target pass. [target passes]

    Notes
    -----
    ``1 + draft + verify_slope * gamma`` for 1 <= gamma <= block; no longer
    draft exists, so its cost is unknown (NaN).

    Examples
    --------
    >>> BlockCost(0.3, 3, verify_slope=0.1).round_cost([0, 1, 3, 4])
    array([1. , 1.4, 1.6, nan])
    """

    draft: float
    block: int
    verify_slope: float = 0.0

    def __post_init__(self) -> None:
        for name in ("draft", "verify_slope"):
            non_negative(name, getattr(self, name))
        if self.block < 1 or self.block != int(self.block):
            raise DomainError(f"block must be a whole number of at least 1, got {self.block:g}")

    @property
    def max_gamma(self) -> int:
        """The longest draft."""
        return self.block

    def round_cost(self, gamma: ArrayLike) -> Floats:
        """Plain target passes per round of `gamma` drafted tokens."""
        n = non_negative("gamma", gamma, finite=False)
        return np.where(n <= self.block, linear_cost(n, self.verify_slope, self.draft), np.nan)


@dataclass(frozen=True)
class TableCost:
    """Round costs measured at some draft lengths.

    Parameters
    ----------
    gammas : sequence of int, increasing, >= 1
        Draft lengths that were measured. [tokens]
    round_costs : sequence of float, > 0
        What a round of that length costs. [target passes]

    Notes
    -----
    Linear between neighbours, and unknown (NaN) outside the measured lengths:
    costs have cliffs, and a line drawn past the last point would hide them.

    Examples
    --------
    >>> TableCost((1, 3), (1.2, 1.6)).round_cost([0, 1, 2, 3, 4])
    array([1. , 1.2, 1.4, 1.6, nan])
    """

    gammas: Sequence[int]
    round_costs: Sequence[float]

    def __post_init__(self) -> None:
        if not self.gammas or len(self.gammas) != len(self.round_costs):
            raise DomainError(
                "a cost table needs one round cost for each of one or more draft lengths, "
                f"got {len(self.gammas)} lengths and {len(self.round_costs)} costs"
            )
        lengths = numbers("gammas", self.gammas)
        if lengths[0] < 1 or (np.diff(lengths) <= 0).any():
            raise DomainError(f"gammas must increase from at least 1, got {list(self.gammas)}")
        costs = non_negative("round_costs", self.round_costs)
        if not costs.min() > 0:
            raise DomainError(f"round_costs must be positive, got {costs.min():g}")
        object.__setattr__(self, "gammas", tuple(int(g) for g in self.gammas))
        object.__setattr__(self, "round_costs", tuple(costs.tolist()))

    @property
    def max_gamma(self) -> int:
        """The last draft length that was measured."""
        return self.gammas[-1]

    def round_cost(self, gamma: ArrayLike) -> Floats:
        """Plain target passes per round of `gamma` drafted tokens."""
        n = non_negative("gamma", gamma, finite=False)
        between = np.interp(n, self.gammas, self.round_costs, left=np.nan, right=np.nan)
        return np.where(n == 0, 1.0, between)


@dataclass(frozen=True)
class PowerCost:
    r"""A smooth round cost, and measured lengths at what they cost.

    ``T(gamma) = f_gamma * (1 + scale * D(gamma) ** power)``, and 1 at gamma = 0.

    Parameters
    ----------
    scale, power : float, > 0
        Extra cost of one drafted token, and how it grows with the length. [target passes]
    keep : float, in (0, 1]
        P(a draft goes on after a token): ``D(gamma) = 1 + keep + ... + keep ** (gamma - 1)``.
    steps : tuple of (gamma, factor)
        What measured lengths cost relative to the smooth curve.

    Examples
    --------
    >>> PowerCost(0.4, 1.0, steps=((2, 1.1),)).round_cost([0, 1, 2])
    array([1.  , 1.4 , 1.98])
    """

    scale: float
    power: float
    keep: float = 1.0
    steps: tuple[tuple[int, float], ...] = ()

    @property
    def max_gamma(self) -> None:
        """None: the smooth curve has no end."""

    def round_cost(self, gamma: ArrayLike) -> Floats:
        """Plain target passes per round of `gamma` drafted tokens."""
        n = non_negative("gamma", gamma, finite=False)
        drafted = drafted_tokens(np.maximum(n, 1), self.keep)
        smooth = 1 + self.scale * drafted**self.power
        for length, factor in self.steps:
            smooth = np.where(n == length, smooth * factor, smooth)
        return np.where(n == 0, 1.0, smooth)


def drafted_tokens(gamma: ArrayLike, keep: float) -> Floats:
    """Tokens drafted in a round of `gamma` where a draft goes on with probability `keep`."""
    n = np.asarray(gamma, dtype=np.float64)
    return n if keep >= 1 else np.asarray((1 - keep**n) / (1 - keep))
