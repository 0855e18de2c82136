"""Rank acceptances of recursive rejection over rows of target and draft."""

from typing import NamedTuple

import numpy as np

from gammaplan.cli.simulated_rows import Source
from gammaplan.data.findings import finding
from gammaplan.errors import Finding
from gammaplan.model.arrays import Floats
from gammaplan.model.overlap import Drawn
from gammaplan.model.rejection import rank_acceptance

BLOCK = 2**20  # probabilities held at once, of each side


class Children(NamedTuple):
    """How many children a node has, whether one may repeat another, and where chance starts."""

    most: int
    replacement: bool
    seed: int


def ranks_of_rows(
    source: Source, drawn: Drawn, children: Children
) -> tuple[list[float], list[Finding]]:
    """The ranks, averaged over the positions, and how they were found.

    Raises
    ------
    InputError
        At the first row that is no distribution, or that cannot be read.
    """
    rng = np.random.default_rng(children.seed)
    total, exact = np.zeros(children.most), True
    step = max(1, BLOCK // source.vocab)
    for start in range(0, source.positions, step):
        rows = min(step, source.positions - start)
        for p, q in source.windows([start], rows + 1, drawn):  # a window's last row has no draft
            found = rank_acceptance(
                p[:rows], q[:rows], children.most, replacement=children.replacement, rng=rng
            )
            total += rows * found.ranks
            exact = exact and found.exact
    said = []
    if not exact:
        said.append(finding("ranks_drawn", positions=f"{source.positions:,}", seed=children.seed))
    return _within(total / source.positions), said


def _within(ranks: Floats) -> list[float]:
    """Ranks without the rounding that takes them below 0 or their sum above 1."""
    kept = np.clip(ranks, 0, 1)
    return [float(x) for x in kept / max(1.0, kept.sum())]
