"""Whether emitted sequences have the target's law: a test whose cells are equal by construction."""

from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.drawing import Integers

MOST_CELLS = 128  # of one group of positions; more cells see a small difference less well
PER_CELL = 20  # rounds that a cell must expect
TOGETHER = 7  # positions whose joint law is tested; longer drafts are tested in groups


class Goodness(NamedTuple):
    """A likelihood-ratio test: G², its degrees of freedom, and P(at least this G²)."""

    statistic: float
    df: int
    p_value: float


class Losslessness:
    """A test that sequences of tokens are drawn from their rows of target probabilities.

    Notes
    -----
    By Rosenblatt's transform each token x at position i becomes
    ``u_i = P(tokens before x) + V p_i(x)``, V uniform, under any order of the
    vocabulary. Sequences have the law of the rows exactly if ``u_1, u_2, ...``
    are independent and uniform [1]_, so a grid over the unit cube has cells of
    equal probability: none is sparse, none needs pooling, and rounds over
    different rows share one table. Tokens are ordered by p / q, since a rule
    that favours the draft moves mass along that order.

    G² is divided by Williams' ``1 + (cells + 1) / (6 rounds)`` [2]_, which
    makes its mean that of the chi-square law to the second order.

    References
    ----------
    .. [1] M. Rosenblatt, "Remarks on a multivariate transformation," Ann.
       Math. Statist. 23, 1952.
    .. [2] D. A. Williams, "Improved likelihood ratio tests for complete
       contingency tables," Biometrika 63, 1976.
    """

    def __init__(self, positions: int, rounds: int) -> None:
        limit = min(MOST_CELLS, rounds // PER_CELL)
        together = min(TOGETHER, limit.bit_length() - 1)
        parts = -(-positions // together) if together > 0 else 0
        self._groups = np.array_split(np.arange(positions), parts) if parts else []
        self._bins = [int(limit ** (1 / len(group)) + 1e-9) for group in self._groups]
        self._tables = [
            np.zeros(bins ** len(group), dtype=np.int64)
            for bins, group in zip(self._bins, self._groups, strict=True)
        ]

    def add(self, uniforms: Floats) -> None:
        """Count some rounds: their transformed tokens, shape ``(rounds, positions)``."""
        for i, (bins, group) in enumerate(zip(self._bins, self._groups, strict=True)):
            digits = (uniforms[:, group] * bins).astype(np.int64)
            cells = np.minimum(digits, bins - 1) @ bins ** np.arange(len(group))
            self._tables[i] += np.bincount(cells, minlength=len(self._tables[i]))

    def result(self) -> Goodness | None:
        """The test; None if there were too few rounds for two cells."""
        if not self._tables:
            return None
        from scipy.special import chdtrc, xlogy

        statistic, df = 0.0, 0
        for table in self._tables:
            rounds, cells = int(table.sum()), len(table)
            expected = rounds / cells
            g2 = 2 * float(xlogy(table, table / expected).sum())
            statistic += max(0.0, g2) / (1 + (cells + 1) / (6 * rounds))
            df += cells - 1
        return Goodness(statistic, df, float(chdtrc(df, statistic)))


def transformed(tokens: Integers, p: Floats, order: Integers, v: Floats) -> Floats:
    """Rosenblatt's transform of tokens of one row.

    Parameters
    ----------
    tokens : ndarray of int, shape ``(rounds,)``
        The tokens.
    p : ndarray of float, shape ``(vocabulary,)``
        The probabilities that they should have.
    order : ndarray of int, shape ``(vocabulary,)``
        The vocabulary in the order of the transform.
    v : ndarray of float, shape ``(rounds,)``
        Uniforms that spread a token over its own probability. [0 to 1]

    Returns
    -------
    ndarray of float64, shape ``(rounds,)``
        Uniform on [0, 1] if the tokens have the law `p`.

    Examples
    --------
    >>> transformed(np.array([0, 1]), np.array([0.25, 0.75]), np.array([1, 0]), np.full(2, 0.5))
    array([0.875, 0.375])
    """
    before = np.empty_like(p)
    ahead = p[order].cumsum()
    before[order] = ahead - p[order]
    return np.asarray((before[tokens] + v * p[tokens]) / ahead[-1])


def favoured_order(p: Floats, q: Floats) -> Integers:
    """The vocabulary by falling p / q: first what a draft gives too rarely."""
    ratio = np.divide(q, p, out=np.full_like(p, np.inf), where=p > 0)
    return ratio.argsort(kind="stable")
