"""The best depth of a tree of each size for a cost, and the best chain beside it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.arrays import ArrayLike, Floats
from gammaplan.model.decision import Decision, decide
from gammaplan.model.positions import PerPosition
from gammaplan.model.recurrence import Recurrence
from gammaplan.model.tree import Ranks, Tree, growth, optimal_tree
from gammaplan.model.treecost import TreeCost

SAME = 1e-12  # relative difference of two speedups that rounding makes


class Sized(NamedTuple):
    """The best tree of a number of nodes: its depth, tokens per round, and what a round costs."""

    nodes: int
    depth: int
    expected_tokens: float
    round_cost: float

    @property
    def speedup(self) -> float:
        """Tokens per plain target pass; NaN where the cost is not known."""
        return self.expected_tokens / self.round_cost


class Bounds(NamedTuple):
    """What a tree may be."""

    max_depth: int | None = None
    max_width: int | None = None


ANY = Bounds()


def best_trees(
    ranks: ArrayLike, cost: TreeCost, sizes: Sequence[int], bounds: Bounds = ANY
) -> list[Sized]:
    """The best depth of a tree of each size, and its figures; sizes out of bounds are left out.

    Parameters
    ----------
    ranks : array_like of float, shape ``(k,)`` or ``(depth, k)``
        See `optimal_tree`.
    cost : TreeCost
        What a round costs.
    sizes : sequence of int, >= 0
        Drafted nodes.
    bounds : Bounds
        The most levels, and the most children of a node.

    Notes
    -----
    ``max_d F(n, d) / T(n, d)``: a shallower tree has fewer tokens and needs
    fewer draft passes. Depths are tried from 1 until ``F(n, inf) / T(n, d)``,
    which no deeper tree can pass, is below what was found.

    Examples
    --------
    >>> found = best_trees([0.6, 0.2], TreeCost(0.1), [3, 9])
    >>> [(tree.nodes, tree.depth, round(tree.speedup, 3)) for tree in found]
    [(3, 2, 1.8), (9, 3, 2.178)]
    """
    free = growth(ranks, max(sizes), max_depth=bounds.max_depth, max_width=bounds.max_width)
    nodes = np.array(sorted(n for n in set(sizes) if n < len(free)), dtype=int)
    tokens, depths = np.full(len(nodes), -np.inf), np.zeros(len(nodes), dtype=int)
    best = tokens
    for depth, found in _by_depth(ranks, len(free) - 1, bounds):
        reached = np.full(len(free), -np.inf)
        reached[: len(found)] = found
        speeds = reached[nodes] / _known(cost, depth, nodes)
        better = speeds > best * (1 + SAME)
        best, tokens, depths = (
            np.where(better, new, old)
            for new, old in ((speeds, best), (reached[nodes], tokens), (depth, depths))
        )
        if (free[nodes] / _known(cost, depth + 1, nodes) <= best * (1 + SAME)).all():
            break
    depths[nodes == 0] = 0
    passes = cost.round_cost(depths, nodes)
    columns = (nodes.tolist(), depths.tolist(), tokens.tolist(), passes.tolist())
    return [Sized(*row) for row in zip(*columns, strict=True)]


def _known(cost: TreeCost, depth: int, nodes: "np.ndarray[Any, np.dtype[np.int_]]") -> Floats:
    """What rounds cost; 1 where that is not known, so that tokens alone decide."""
    return np.nan_to_num(cost.round_cost(depth, nodes), nan=1.0)


def tree_of(ranks: ArrayLike, sized: Sized, bounds: Bounds = ANY) -> Tree:
    """The tree whose figures these are."""
    if not sized.nodes:
        return Tree((), ())
    return optimal_tree(ranks, sized.nodes, max_depth=sized.depth, max_width=bounds.max_width)


def _by_depth(ranks: ArrayLike, most: int, bounds: Bounds) -> Iterator[tuple[int, Floats]]:
    """(depth, expected tokens by nodes) of the best trees of at most that depth, from 1 on."""
    known = Ranks.of(ranks, max_depth=bounds.max_depth, max_width=bounds.max_width)
    deepest = int(min(known.depth, max(most, 1)))
    if known.fall or len(known.rows) > 1:
        for depth in range(1, deepest + 1):
            yield depth, growth(ranks, most, max_depth=depth, max_width=bounds.max_width)
        return
    for depth, found in enumerate(Recurrence.levels(known.rows[0], most), 1):
        if depth > deepest:
            return
        yield depth, found


def best_chain(ranks: ArrayLike, cost: TreeCost, max_depth: int | None = None) -> Decision | None:
    """The best chain of first children, at its own best length; None where no cost is known.

    Examples
    --------
    >>> best_chain([0.6, 0.2], TreeCost(0.1)).gamma
    3
    """
    known = Ranks.of(ranks, max_depth=max_depth)
    firsts = tuple(known.rows[:, 0].tolist())
    law: Acceptance = Geometric(firsts[0]) if len(firsts) == 1 else PerPosition(firsts, 0.0)
    if (price := cost.of_chains()) is None:
        return None
    limit = None if np.isinf(known.depth) else int(known.depth)
    return decide(law, price, max_gamma=limit)
