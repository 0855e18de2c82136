"""Whether emitted sequences have the target's law: counted in classes of tokens, and tested."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gammaplan.model.arrays import Floats
from gammaplan.model.drawing import Integers

MOST_CELLS = 128  # of one group of positions; more cells see a small difference less well
PER_CELL = 20  # rounds that a cell must expect; rarer cells are pooled
TOGETHER = 7  # positions whose joint law is tested; longer drafts are tested in groups
ROUNDING = 1e-9  # eigenvalues below this share of the largest are 0


class Goodness(NamedTuple):
    """Pearson's X², its degrees of freedom, and P(at least this X²).

    Infinite with probability 0 if something was emitted that never should be.
    """

    statistic: float
    df: int
    p_value: float


class Losslessness:
    """A test that sequences of tokens are drawn from the target's rows.

    At each position the vocabulary is cut into a few classes of about equal
    probability (`classes`); a cell is a class at every position, and its
    probability the product. Rounds over several windows of rows share one table
    of cells.

    Notes
    -----
    With ``n_w`` rounds over window w, whose cells have the probabilities
    ``pi_w``, the counts have mean ``e = sum_w n_w pi_w`` and covariance ``C =
    sum_w n_w (diag(pi_w) - pi_w pi_w')``. The statistic is ``(o - e)' C^- (o -
    e)``, chi-square with the rank of C as degrees of freedom; for one window it
    is Pearson's ``sum (o - e)^2 / e``. Cells that expect fewer than `PER_CELL`
    rounds are pooled, which looks at e alone and not at what was counted.
    """

    def __init__(self, positions: int, rounds: int) -> None:
        limit = min(MOST_CELLS, rounds // PER_CELL)
        together = min(TOGETHER, limit.bit_length() - 1)
        parts = -(-positions // together) if together > 0 else 0
        groups = np.array_split(np.arange(positions), parts) if parts else []
        self._tables = [_Table(group, limit) for group in groups]
        self._impossible = False

    def add(self, tokens: Integers, p: Floats, orders: list[Integers]) -> None:
        """Count some rounds over one window.

        Parameters
        ----------
        tokens : ndarray of int, shape ``(rounds, positions)``
            What was emitted.
        p : ndarray of float, shape ``(positions, vocabulary)``
            The target's rows.
        orders : list of ndarray of int, shape ``(vocabulary,)``
            For each position the order in which the vocabulary is cut.
        """
        self._impossible |= not p[np.arange(len(p)), tokens].all()
        for table in self._tables:
            table.add(tokens, p, orders)

    def result(self) -> Goodness | None:
        """The test; None if there were too few rounds for two cells."""
        if not self._tables:
            return None
        from scipy.special import chdtrc

        parts = [table.result() for table in self._tables]
        statistic, df = sum(part[0] for part in parts), sum(part[1] for part in parts)
        if self._impossible:
            return Goodness(math.inf, df, 0.0)
        return Goodness(statistic, df, float(chdtrc(df, statistic)) if df else 1.0)


class _Table:
    """The joint table of some positions."""

    def __init__(self, positions: Integers, limit: int) -> None:
        self._positions = positions
        self._cuts = int(limit ** (1 / len(positions)) + 1e-9)
        size = self._cuts ** len(positions)
        self._counted, self._expected = np.zeros(size, dtype=np.int64), np.zeros(size)
        self._squares, self._windows = np.zeros((size, size)), 0

    def add(self, tokens: Integers, p: Floats, orders: list[Integers]) -> None:
        cells, law = np.zeros(len(tokens), dtype=np.int64), np.ones(1)
        for i in self._positions:
            of_token = classes(p[i], orders[i], self._cuts)
            cells = cells * self._cuts + of_token[tokens[:, i]]
            share = np.bincount(of_token, weights=p[i], minlength=self._cuts)
            law = np.multiply.outer(law, share / share.sum()).ravel()
        self._counted += np.bincount(cells, minlength=len(law))
        self._expected += len(tokens) * law
        self._windows += 1
        self._squares += len(tokens) * np.multiply.outer(law, law)

    def result(self) -> tuple[float, int]:
        """X² and its degrees of freedom."""
        pool = _pooled(self._expected)
        size = int(pool.max()) + 1
        counted = np.bincount(pool, self._counted, size)
        expected = np.bincount(pool, self._expected, size)
        if self._windows == 1:
            real = expected > 0
            x2 = float(((counted - expected)[real] ** 2 / expected[real]).sum())
            return x2, int(np.count_nonzero(real)) - 1
        pairs = (pool[:, None] * size + pool).ravel()
        squares = np.bincount(pairs, self._squares.ravel(), size**2).reshape(size, size)
        sizes, axes = np.linalg.eigh(np.diag(expected) - squares)
        real = sizes > ROUNDING * max(1.0, float(sizes.max()))
        along = ((counted - expected) * axes.T).sum(axis=1)[real]
        return float((along**2 / sizes[real]).sum()), int(np.count_nonzero(real))


def _pooled(expected: Floats) -> Integers:
    """The pool of each cell: its own, or that of all cells that expect too few rounds."""
    rare = expected < PER_CELL
    pool = np.cumsum(~rare) - 1
    together = int(np.count_nonzero(~rare))
    if together and expected[rare].sum() < PER_CELL:  # too few even together
        together = int(pool[np.flatnonzero(~rare)[expected[~rare].argmin()]])
    pool[rare] = together
    return pool


def classes(p: Floats, order: Integers, cuts: int) -> NDArray[np.int64]:
    """The class of each token: the vocabulary in `order`, cut into parts of equal probability.

    A token is in the class in which the middle of its own probability lies.

    Examples
    --------
    >>> classes(np.array([0.5, 0.1, 0.2, 0.2]), np.array([3, 1, 0, 2]), 2)
    array([1, 0, 1, 0])
    """
    ordered = p[order]
    ahead = ordered.cumsum()
    middle = (ahead - ordered / 2) / ahead[-1]
    found = np.empty(len(p), dtype=np.int64)
    found[order] = np.minimum(middle * cuts, cuts - 1).astype(np.int64)
    return found


def favoured_order(p: Floats, q: Floats) -> Integers:
    """The vocabulary by falling p / q: first what a draft gives too rarely.

    A rule that favours the draft moves probability along this order.
    """
    ratio = np.divide(q, p, out=np.full_like(p, np.inf), where=p > 0)
    return ratio.argsort(kind="stable")
