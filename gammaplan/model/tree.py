"""Draft trees: the best shape for a number of nodes, and the tokens that it is expected to give."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, numbers
from gammaplan.results import Plain, Result

MOST_NODES = 1_000_000
MOST_BY_RECURRENCE = 4_096  # its time grows with the square
SUM_SLACK = 1e-9  # ranks that sum above 1 by less are taken as rounded

Node: TypeAlias = tuple[float, int, int]  # path probability, parent, child number (first: 0)


class _TreeFields(NamedTuple):
    parents: tuple[int, ...]
    ranks: tuple[int, ...]


class Tree(Result, _TreeFields):
    """A draft tree, breadth first; node 0 is the root, whose token is certain.

    `parents` [node] and `ranks` [child number, first 0] are those of nodes 1, 2, ...; children
    of a node fill its ranks from the first.
    """

    __slots__ = ()

    @classmethod
    def from_children(cls, children: Sequence[int]) -> "Tree":
        """The tree whose nodes have these numbers of children, breadth first."""
        parents: list[int] = []
        ranks: list[int] = []
        for node, many in enumerate(children):
            parents += [node] * many
            ranks += range(many)
        if len(parents) != len(children) - 1 or any(p > i for i, p in enumerate(parents)):
            raise DomainError("children must describe one tree, breadth first, the root included")
        return cls(tuple(parents), tuple(ranks))

    @property
    def nodes(self) -> int:
        """Drafted nodes, the root not counted."""
        return len(self.parents)

    @property
    def levels(self) -> tuple[int, ...]:
        """The level of every node, the root's 0 included."""
        found = [0]
        for parent in self.parents:
            found.append(found[parent] + 1)
        return tuple(found)

    @property
    def depth(self) -> int:
        """The number of draft passes: the longest path. [tokens]"""
        return self.levels[-1]

    @property
    def width(self) -> int:
        """The most children that a node has."""
        return max(self.ranks, default=-1) + 1

    @property
    def children(self) -> tuple[int, ...]:
        """How many children every node has, breadth first."""
        return tuple(np.bincount(self.parents, minlength=self.nodes + 1).tolist())

    @property
    def rows(self) -> list[Plain]:
        """One for each node, the root included; `rank` counts from its first sibling."""
        columns = ((None, *self.parents), (None, *self.ranks), self.levels, self.children)
        names = ("node", "parent", "rank", "level", "children")
        nodes = zip(range(self.nodes + 1), *columns, strict=True)
        return [dict(zip(names, node, strict=True)) for node in nodes]

    def path_probabilities(self, ranks: ArrayLike) -> Floats:
        """P(the path to a node is accepted), of every node, the root's 1 included.

        Parameters
        ----------
        ranks : array_like of float, shape ``(k,)`` or ``(depth, k)``
            See `optimal_tree`.

        Raises
        ------
        DomainError
            If the tree is wider, or deeper, than `ranks` describes.
        """
        known = Ranks.of(ranks)
        for what, has, most in (
            ("deep", self.depth, known.depth),
            ("wide", self.width, known.rows.shape[1]),
        ):
            if has > most:
                raise DomainError(f"ranks must reach as {what} as the tree, {has}, got {most:g}")
        found, levels = [1.0], self.levels
        for node, (parent, rank) in enumerate(zip(self.parents, self.ranks, strict=True), 1):
            found.append(found[parent] * float(known.row(levels[node])[rank]))
        return np.asarray(found)

    def expected_tokens(self, ranks: ArrayLike) -> float:
        """Tokens per round, the bonus token counted: the sum of the path probabilities.

        Examples
        --------
        >>> round(Tree.from_children([2, 1, 0, 0]).expected_tokens([0.6, 0.2]), 2)
        2.16
        """
        return float(self.path_probabilities(ranks).sum())


class Ranks(NamedTuple):
    """P(the i-th child is the accepted one | its parent was), within bounds on depth and width.

    `rows` has one row for every level (``depth`` of them), or a single one that holds for all.
    """

    rows: Floats
    depth: float

    @classmethod
    def of(
        cls, ranks: ArrayLike, *, max_depth: int | None = None, max_width: int | None = None
    ) -> "Ranks":
        """`ranks` and bounds, checked."""
        given = numbers("ranks", ranks)
        if given.ndim not in (1, 2) or not given.size:
            raise DomainError(
                "ranks must be one vector of at least one rank, or one a level, got the shape "
                f"{given.shape}"
            )
        if not (given.min() >= 0 and given.max() <= 1):
            raise DomainError(f"ranks must be in [0, 1], got {given.min():g} to {given.max():g}")
        if (total := float(given.sum(axis=-1).max())) > 1 + SUM_SLACK:
            raise DomainError(f"ranks must sum to at most 1: one child is accepted, got {total:g}")
        for name, bound in (("max_depth", max_depth), ("max_width", max_width)):
            if bound is not None and bound < 1:
                raise DomainError(f"{name} must be at least 1, got {bound}")
        if given.ndim == 2 and max_depth is not None and max_depth > len(given):
            raise DomainError(
                f"ranks must have a vector for each of max_depth {max_depth} levels, "
                f"got {len(given)}"
            )
        limit = np.inf if max_depth is None else max_depth
        if given.ndim == 1:
            return cls(given[None, :max_width], limit)
        depth = int(min(len(given), limit))
        return cls(given[:depth, :max_width], depth)

    def row(self, level: int) -> Floats:
        """The ranks of the children that stand on this level, the first being 1."""
        row: Floats = self.rows[min(level, len(self.rows)) - 1]
        return row

    @property
    def fall(self) -> bool:
        """Whether no rank exceeds its elder sibling's, so that best-first is exact."""
        return bool((np.diff(self.rows, axis=1) <= 0).all())

    def reach(self, budget: int) -> int:
        """`most_nodes` of a budget that can be planned for; DomainError for others."""
        most = MOST_NODES if self.fall else MOST_BY_RECURRENCE
        if not 0 <= budget <= most:
            why = "" if self.fall else ", where a rank exceeds its elder sibling's"
            raise DomainError(f"budget must be 0 to {most:,} nodes{why}, got {budget:,}")
        return self.most_nodes(budget)

    def most_nodes(self, budget: int) -> int:
        """The nodes of the largest tree of at most `budget` that the bounds allow."""
        width = self.rows.shape[1]
        nodes, level, depth = 0, 1, 0
        while nodes < budget and depth < self.depth:
            level, depth = level * width, depth + 1
            if width == 1 and self.depth >= budget:
                return budget
            nodes += level
        return min(nodes, budget)


def optimal_tree(
    ranks: ArrayLike, budget: int, *, max_depth: int | None = None, max_width: int | None = None
) -> Tree:
    """The draft tree of exactly `budget` nodes with the most expected tokens.

    Parameters
    ----------
    ranks : array_like of float, shape ``(k,)`` or ``(depth, k)``
        P(the i-th child is the accepted one, given that its parent was
        accepted): one vector for every level, or one a level. [0 to 1]
    budget : int, >= 0
        Drafted nodes, the root not counted.
    max_depth, max_width : int, >= 1, optional
        The most levels, and the most children of a node.

    Returns
    -------
    Tree
        Of the largest size that the bounds allow, where it is below `budget`.

    Raises
    ------
    DomainError
        If `ranks` is empty, leaves [0, 1] or sums above 1, or a bound is
        below its least.

    Notes
    -----
    The sum of path products is maximised. Where ranks never rise, the nodes
    of the largest products are closed under parents and elder siblings, so
    taking them one by one is exact, under every bound too. Where they rise,
    the recurrence of [1]_ Algorithm 1 is used, level by level where the depth
    is bounded.

    References
    ----------
    .. [1] Z. Chen et al., "Sequoia: scalable, robust, and hardware-aware
       speculative decoding," 2024. arXiv:2402.12374.

    Examples
    --------
    >>> best = optimal_tree([0.63, 0.11, 0.057, 0.022], 7)
    >>> best.depth, best.children
    (5, (2, 2, 0, 1, 0, 1, 1, 0))
    """
    known, nodes = _asked(ranks, budget, max_depth, max_width)
    if known.fall:
        return arranged(best_first(known, nodes))
    from gammaplan.model.recurrence import Recurrence

    return Tree.from_children(Recurrence(known.rows, min(known.depth, nodes), nodes).children())


def growth(
    ranks: ArrayLike, budget: int, *, max_depth: int | None = None, max_width: int | None = None
) -> Floats:
    """Expected tokens of the best trees of 0, 1, ... nodes, as far as the bounds allow.

    Parameters
    ----------
    ranks, budget, max_depth, max_width
        See `optimal_tree`.

    Returns
    -------
    ndarray of float64, shape ``(budget + 1,)`` or shorter
        By the number of drafted nodes. [tokens/round, bonus counted]

    Examples
    --------
    >>> growth([0.6, 0.2], 3).round(3)
    array([1.   , 1.6  , 1.96 , 2.176])
    """
    known, nodes = _asked(ranks, budget, max_depth, max_width)
    if known.fall:
        return np.cumsum([1.0, *(path for path, _, _ in best_first(known, nodes))])
    from gammaplan.model.recurrence import Recurrence

    return Recurrence(known.rows, min(known.depth, nodes), nodes).values[0]


def _asked(
    ranks: ArrayLike, budget: int, max_depth: int | None, max_width: int | None
) -> tuple[Ranks, int]:
    """What is known and how many nodes it allows; checked."""
    known = Ranks.of(ranks, max_depth=max_depth, max_width=max_width)
    return known, known.reach(budget)


def best_first(known: Ranks, nodes: int) -> Iterator[Node]:
    """The nodes by their path products, each after its parent and its elder siblings.

    A heap of at most one entry a node: taking one offers its first child and
    its next sibling. Where ranks fall these are the largest products there
    are; where they rise it is a greedy choice.
    """
    rows, width = known.rows.tolist(), known.rows.shape[1]
    heap = [(-rows[0][0], 0, 0, 1, 1.0)]
    for node in range(1, nodes + 1):
        path, parent, rank, level, above = heappop(heap)
        yield -path, parent, rank
        if rank + 1 < width:
            row = rows[min(level, len(rows)) - 1]
            heappush(heap, (-above * row[rank + 1], parent, rank + 1, level, above))
        if level < known.depth:
            row = rows[min(level + 1, len(rows)) - 1]
            heappush(heap, (path * row[0], node, 0, level + 1, -path))


def arranged(nodes: Iterable[Node]) -> Tree:
    """The tree of nodes that each come after their parent and elder siblings, breadth first."""
    children: list[list[int]] = [[]]
    for node, (_, parent, _) in enumerate(nodes, 1):
        children.append([])
        children[parent].append(node)
    order = [0]
    for node in order:  # grows while it is read: breadth first
        order += children[node]
    return Tree.from_children([len(children[node]) for node in order])
