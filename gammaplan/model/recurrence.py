"""The best draft tree of every size where ranks rise: a recurrence over children and nodes."""

from collections.abc import Iterator

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Floats

MOST_SUMS = 2e10  # of the level by level recurrence: half a minute


class Recurrence:
    """The best tree of every size by the recurrence over children and nodes, level by level.

    ``T[b, n] = max_m T[b-1, n-m] + p_b F[m-1]``: n nodes under the first b
    children, m of them the b-th child and what is below it; ``F[n] = 1 +
    max_b T[b, n]`` on the level above.
    """

    def __init__(self, rows: Floats, depth: float, nodes: int) -> None:
        self.rows = rows
        self.nodes = nodes
        self.endless = len(rows) == 1 and depth >= nodes
        if self.endless:
            self.table, best = _level(rows[0], None, nodes)
            self.values = [best]
            return
        if depth * nodes * nodes * rows.shape[1] > MOST_SUMS:
            raise DomainError(
                "ranks that rise under a bound on depth need fewer nodes or levels: "
                f"{nodes:,} nodes on {depth:g} levels of {rows.shape[1]} children are too many"
            )
        self.values = [_leaf(nodes)]
        for level in range(int(depth), 0, -1):
            self.values.insert(0, _level(self._row(level), self.values[0], nodes)[1])

    @staticmethod
    def levels(ranks: Floats, nodes: int) -> Iterator[Floats]:
        """``F`` of trees of at most 1, 2, ... levels whose ranks are alike, without end."""
        below = _leaf(nodes)
        while True:
            below = _level(ranks, below, nodes)[1]
            yield below

    def _row(self, level: int) -> Floats:
        row: Floats = self.rows[min(level, len(self.rows)) - 1]
        return row

    def children(self) -> list[int]:
        """How many children each node of one best tree of all the nodes has, breadth first.

        A table is made anew for the level that is read off it: all of them would not fit.
        """
        children: list[int] = []
        sizes, level = [self.nodes], 1  # nodes below each node of the level above
        while any(sizes):
            ranks = self._row(level)
            below = self.values[0 if self.endless else level]
            table = self.table if self.endless else _level(ranks, below, self.nodes)[0]
            shares = [self._shares(table, ranks, below, size) for size in sizes]
            children += map(len, shares)
            sizes, level = [size for share in shares for size in share], level + 1
        return [*children, *(0 for _ in sizes)]

    @staticmethod
    def _shares(table: Floats, ranks: Floats, source: Floats, size: int) -> list[int]:
        """How many nodes lie below each child of a node with `size` of them below it."""
        shares = []
        for child in range(int(table[:, size].argmax()), 0, -1):
            counts = np.arange(1, size + 1)
            gains = source[counts - 1]
            with np.errstate(invalid="ignore"):
                value = table[child - 1, size - counts] + np.where(
                    np.isinf(gains), -np.inf, ranks[child - 1] * gains
                )
            many = int(counts[int(value.argmax())])
            shares.append(many - 1)
            size -= many
        return shares[::-1]


def _leaf(nodes: int) -> Floats:
    """``F`` of a node that may have no children: 1 with nothing below it."""
    alone = np.full(nodes + 1, -np.inf)
    alone[0] = 1.0
    return alone


def _level(ranks: Floats, below: Floats | None, nodes: int) -> tuple[Floats, Floats]:
    """``T`` of one level and ``F`` of the one above; without `below`, ``F`` is its own."""
    width = len(ranks)
    table = np.full((width + 1, nodes + 1), -np.inf)
    table[0, 0] = 1.0
    best = np.full(nodes + 1, -np.inf)
    best[0] = 1.0
    source = best if below is None else below
    gains = np.full((width, nodes), -np.inf)  # of m nodes, stored backwards
    scratch = np.empty((width, nodes))
    for n in range(1, nodes + 1):
        gain = source[n - 1]
        gains[:, nodes - n] = ranks * gain if gain > -np.inf else -np.inf
        sums = np.add(table[:-1, :n], gains[:, nodes - n :], out=scratch[:, :n])
        np.max(sums, axis=1, out=table[1:, n])
        best[n] = table[:, n].max()
    return table, best
