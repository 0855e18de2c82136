"""The cost of a round from what was measured: timings, one run, or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.cost_tables import TableCost
from gammaplan.model.runs import Run, by_length, pooled

FIXED, FIXED_SD = 1.1, 0.1  # the fixed part of a round before any run: 255 public sweeps
RELATIVE = 0.05  # standard error of one run's round cost, of which it is a share
CURVED = 0.03  # a line further than this from one of three or more lengths is not used
HUBER = 1.5  # standard errors past which a run counts less


@dataclass(frozen=True)
class FittedCost:
    """A cost, the round costs that it was made from, and what the line leaves over.

    `line` is the fixed part and the slope; `residuals` are relative, a length each; `timed` says
    that the slope is that of the timings, not of the runs.
    """

    cost: Cost
    gammas: tuple[int, ...]
    round_costs: tuple[float, ...]
    line: LinearCost
    residuals: tuple[float, ...]
    timed: bool = False

    @property
    def curved(self) -> bool:
        """Whether the table was kept because a line would not do."""
        return isinstance(self.cost, TableCost)


def pooled_costs(runs: Sequence[Run], tokens: Mapping[int, float]) -> dict[int, float]:
    """Round cost by draft length: tokens per round over the geometric mean of the speedups.

    `tokens` are those of lengths whose runs do not say.
    """
    every = {gamma: pooled(same) for gamma, same in by_length(runs).items()}
    return {g: (run.tokens() or tokens[g]) / run.speedup for g, run in every.items()}


def fitted_cost(
    costs: Mapping[int, float], *, c: float | None = None, verify_slope: float | None = None
) -> FittedCost:
    """A fixed part and a slope through round costs, or their table where a line will not do.

    Parameters
    ----------
    costs : mapping of int to float
        Plain target passes per round, by draft length.
    c, verify_slope : float, optional
        A timed draft pass, and the timed slope of verification. One of them is
        taken out of the slope, and the rest is the other; both are the slope.

    Notes
    -----
    Least squares in relative errors, the fixed part pulled towards 1.1 ± 0.1, so that a line
    through one or two lengths cannot go to zero; runs that lie apart count less (Huber). Where the
    timings are the slope, or exceed that of the runs, the fixed part is what they leave over (the
    median), and nothing is pulled.
    """
    gammas = np.array(sorted(costs), dtype=np.float64)
    values = np.array([costs[int(g)] for g in gammas])
    fixed, slope = _line(gammas, values)
    timed = (c or 0.0) + (verify_slope or 0.0)
    known = None not in (c, verify_slope) or timed > slope
    if known:
        fixed, slope = max(1.0, float(np.median(values - timed * gammas))), timed
    rest = slope - timed
    own = rest if c is None else c
    verify = slope - own if verify_slope is None else verify_slope
    line = LinearCost(own, max(fixed - 1, 0.0), verify)
    residuals = values / line.round_cost(gammas) - 1
    lengths = tuple(int(g) for g in gammas)
    curved = len(lengths) >= 3 and float(np.abs(residuals).max()) > CURVED
    table = TableCost(lengths, tuple(values.tolist())) if curved else None
    return FittedCost(
        table or line, lengths, tuple(values.tolist()), line, tuple(residuals.tolist()), known
    )


def _line(gammas: Floats, values: Floats) -> tuple[float, float]:
    weight = np.ones_like(values)
    fixed, slope = FIXED, 0.0
    for _ in range(30):
        scale = np.sqrt(weight) / (RELATIVE * values)
        left = np.column_stack([scale, scale * gammas])
        left = np.vstack([left, [1 / FIXED_SD, 0.0]])
        right = np.append(scale * values, FIXED / FIXED_SD)
        fixed, slope = (float(x) for x in np.linalg.lstsq(left, right, rcond=None)[0])
        if slope < 0:
            fixed, slope = float(left[:, 0] @ right / (left[:, 0] @ left[:, 0])), 0.0
        if fixed < 1:  # a round that drafts costs a target pass at least
            fixed = 1.0
            slope = max(0.0, float(scale * gammas @ (scale * (values - 1))))
            slope /= float(scale * gammas @ (scale * gammas))
        off = np.abs(values - fixed - slope * gammas) / (RELATIVE * values)
        weight = np.minimum(1.0, HUBER / np.maximum(off, 1e-12))
    return fixed, slope
