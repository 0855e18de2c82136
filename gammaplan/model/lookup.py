"""A draft that is looked up may find nothing: the rounds that draft, mixed with plain ones."""

import numpy as np

from gammaplan.model.acceptance import Acceptance
from gammaplan.model.arrays import Floats, fraction
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.cost_tables import TableCost
from gammaplan.model.planning import Spread
from gammaplan.model.positions import PerPosition

POSITIONS = 128  # of a law and of a cost that are written out


def misses_spread(spread: Spread, law: Acceptance, hit_rate: float) -> Spread:
    """The spread of ln tokens of an average round, from that of the rounds that draft.

    To first order: the share of the tokens that those rounds bring.
    """

    def spread_of_all(gammas: Floats) -> tuple[Floats, Floats]:
        tokens = np.asarray(law.expected_tokens(gammas))
        share = hit_rate * tokens / (1 + hit_rate * (tokens - 1))
        low, high = spread(gammas)
        return low * share, high * share

    return spread_of_all


def with_misses(law: Acceptance, cost: Cost, hit_rate: float) -> tuple[PerPosition, Cost]:
    """Acceptance and cost of an average round where only a share of the rounds drafts.

    Parameters
    ----------
    law : Acceptance
        Of the rounds that draft.
    cost : Cost
        Of the same.
    hit_rate : float, in [0, 1]
        Their share; every other round is one plain pass and emits one token.

    Returns
    -------
    (PerPosition, Cost)
        ``1 + h * sum s_i`` tokens and ``1 + h * (T - 1)`` passes a round.

    Examples
    --------
    >>> from gammaplan import Geometric, LinearCost
    >>> law, cost = with_misses(Geometric(0.5), LinearCost(0.1), 0.5)
    >>> law.expected_tokens([0, 1, 2]).tolist(), cost.round_cost([0, 1, 2]).tolist()
    ([1.0, 1.25, 1.375], [1.0, 1.05, 1.1])
    """
    share = float(fraction("hit_rate", hit_rate))
    last = min(law.observed_to or POSITIONS, POSITIONS)
    survival = np.asarray(law.survival(np.arange(0.0, last + 2)))
    with np.errstate(invalid="ignore", divide="ignore"):
        hazards = np.nan_to_num(survival[1:] / survival[:-1])
    hazards[0] *= share
    beyond = float(hazards[-1]) if law.beyond is None else law.beyond
    mixed = PerPosition(tuple(hazards[:-1].tolist()), beyond, law.observed_to)
    if isinstance(cost, LinearCost):
        parts = (cost.c, cost.overhead, cost.verify_slope)
        return mixed, LinearCost(*(share * part for part in parts))
    lengths = np.arange(1, POSITIONS + 1)
    passes = cost.round_cost(lengths)
    known = np.isfinite(passes)
    return mixed, TableCost(lengths[known].tolist(), (1 + share * (passes[known] - 1)).tolist())
