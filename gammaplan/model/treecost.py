"""What a round costs that drafts a tree: draft passes by its depth, verification by its nodes."""

from dataclasses import dataclass

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, non_negative
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.cost_tables import TableCost
from gammaplan.model.decision import SCAN_LIMIT
from gammaplan.model.passes import PassTimes


@dataclass(frozen=True)
class TreeCost:
    """``1 + overhead + c * depth + verify_slope * nodes``, or V(nodes + 1) for its 1 and slope.

    Parameters
    ----------
    c : float, >= 0
        One draft pass, which drafts a whole level. [target passes]
    overhead : float, >= 0
        What a round costs more as soon as anything is drafted. [target passes]
    verify_slope : float, >= 0
        What one more verified node adds to the target pass. [target passes]
    passes : PassTimes, optional
        V: timed target passes by the tokens in them, the root's included. The
        pass over one token, which they are divided by, must be among them.

    Notes
    -----
    V is linear between neighbours and unknown (NaN) past its last point. The
    root takes no draft pass: a tree of depth 1 is drafted in one.

    Examples
    --------
    >>> TreeCost(0.05, verify_slope=0.01).round_cost([0, 1, 3], [0, 4, 16])
    array([1.  , 1.09, 1.31])
    >>> timed = PassTimes((1, 4, 8), (10.0, 10.0, 12.0))
    >>> TreeCost(0.03, passes=timed).round_cost(3, [3, 5, 9]).round(2)
    array([1.09, 1.19,  nan])
    """

    c: float
    overhead: float = 0.0
    verify_slope: float = 0.0
    passes: PassTimes | None = None

    def __post_init__(self) -> None:
        for name in ("c", "overhead", "verify_slope"):
            non_negative(name, getattr(self, name))
        if self.passes is not None and self.passes.tokens[0] != 1:
            raise DomainError(
                f"timed passes must start with that over 1 token, got {self.passes.tokens[0]}"
            )
        if self.passes is not None and self.verify_slope:
            raise DomainError("a verify slope and timed passes contradict; give one of them")

    def round_cost(self, depth: ArrayLike, nodes: ArrayLike) -> Floats:
        """Plain target passes per round; 1 without nodes, NaN where V is not known."""
        levels, n = non_negative("depth", depth), non_negative("nodes", nodes)
        timed = self.passes
        verified = 1 + self.verify_slope * n if timed is None else timed.relative(n + 1)
        return np.where(n == 0, 1.0, verified + self.overhead + self.c * levels)

    @property
    def most_nodes(self) -> int | None:
        """The largest tree whose verification is known; None where there is no end."""
        return self.passes.tokens[-1] - 1 if self.passes else None

    def of_chains(self) -> Cost | None:
        """The same cost for chains; None where no length of draft has a known one."""
        if (longest := self.most_nodes) is None:
            return LinearCost(self.c, self.overhead, self.verify_slope)
        lengths = range(1, min(longest, SCAN_LIMIT) + 1)
        if not lengths:
            return None
        return TableCost(tuple(lengths), self.round_cost(lengths, lengths).tolist())
