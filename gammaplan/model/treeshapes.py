"""Draft trees by rule: balanced, of fixed width and steps, and greedy; to compare and to set."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from gammaplan.model.arrays import ArrayLike
from gammaplan.model.tree import Ranks, Tree, arranged, best_first
from gammaplan.model.treeplan import ANY, Bounds

MOST_TOPK = 16  # children a step that are tried


ShapeName: TypeAlias = Literal["chain", "balanced", "topk_steps", "greedy"]


class Shaped(NamedTuple):
    """A tree made by a rule: the rule's name, its width and steps where it has them, the tree."""

    name: ShapeName
    tree: Tree
    width: int | None = None
    steps: int | None = None


def chain(nodes: int) -> Tree:
    """Every node the only child of the one before it."""
    return Tree(tuple(range(nodes)), (0,) * nodes)


def balanced(nodes: int, width: int) -> Tree:
    """Every node with `width` children, level by level, until `nodes` are used.

    Examples
    --------
    >>> balanced(5, 2).children
    (2, 2, 1, 0, 0, 0)
    """
    full, rest = divmod(nodes, width)
    children = [width] * full + ([rest] if rest else [])
    return Tree.from_children(children + [0] * (nodes + 1 - len(children)))


def greedy(ranks: ArrayLike, nodes: int, bounds: Bounds = ANY) -> Tree:
    """Medusa's tree: node by node the largest product among first children and next siblings.

    It is the best tree where ranks fall, and may not be where they rise.

    References
    ----------
    T. Cai et al., "Medusa: simple LLM inference acceleration framework with
    multiple decoding heads," 2024. arXiv:2401.10774.
    """
    known = Ranks.of(ranks, max_depth=bounds.max_depth, max_width=bounds.max_width)
    return arranged(best_first(known, known.most_nodes(nodes)))


def by_steps(known: Ranks, nodes: int, width: int) -> Iterator[tuple[int, Tree]]:
    """EAGLE's trees by their draft steps: those that draft as many as `nodes`.

    Each step drafts `width` children of each of the `width` best nodes of the
    level before it; of all that were drafted the best `nodes` are verified.
    Nodes are ordered by what the draft expects of them, the product of ranks
    that never rise. More steps than the last one given change nothing.

    References
    ----------
    Y. Li et al., "EAGLE-2: faster inference of language models with dynamic
    draft trees," 2024. arXiv:2406.16858.

    Examples
    --------
    >>> for steps, tree in by_steps(Ranks.of([0.6, 0.2, 0.1]), 4, 2):
    ...     print(steps, tree.children)
    2 (2, 2, 0, 0, 0)
    3 (2, 1, 0, 1, 0)
    4 (2, 1, 0, 1, 0)
    """
    width = min(width, known.rows.shape[1])
    scores, above, numbers = np.ones(1), np.zeros(1, dtype=int), np.zeros(1, dtype=int)
    front = np.zeros(1, dtype=int)
    for level in range(1, int(min(known.depth, nodes)) + 1):
        expected = np.minimum.accumulate(known.row(level)[:width])
        drafted = (scores[front][:, None] * expected).ravel()
        first = len(scores)
        scores = np.concatenate([scores, drafted])
        above = np.concatenate([above, np.repeat(front, width)])
        numbers = np.concatenate([numbers, np.tile(np.arange(width), len(front))])
        front = first + np.sort(np.argsort(-drafted, kind="stable")[:width])
        if len(scores) > nodes:
            # Stable: where products tie, parents and elder siblings stand first and stay.
            kept = np.sort(np.argsort(-scores, kind="stable")[: nodes + 1])
            parents = np.searchsorted(kept, above[kept[1:]])
            yield level, Tree(tuple(parents.tolist()), tuple(numbers[kept[1:]].tolist()))
            if kept[-1] < first:
                return


def shapes(
    ranks: ArrayLike, nodes: int, score: Callable[[Shaped], float], bounds: Bounds = ANY
) -> list[Shaped]:
    """A tree of `nodes` by each rule that can have as many within the bounds.

    Where a rule leaves the width or the steps open, those of the best `score`
    are taken, the smallest of equals.
    """
    known = Ranks.of(ranks, max_depth=bounds.max_depth, max_width=bounds.max_width)
    if not nodes:
        return []
    found = []
    if nodes <= known.depth:
        found.append(Shaped("chain", chain(nodes), 1, nodes))
    widths = range(2, min(known.rows.shape[1], nodes) + 1)
    even = [Shaped("balanced", balanced(nodes, k), k) for k in widths]
    found += _best([s for s in even if s.tree.depth <= known.depth], score)
    found += _best(
        [
            Shaped("topk_steps", tree, k, steps)
            for k in (1, *widths[: MOST_TOPK - 1])
            for steps, tree in by_steps(known, nodes, k)
        ],
        score,
    )
    if (tree := greedy(ranks, nodes, bounds)).nodes == nodes:
        found.append(Shaped("greedy", tree))
    return found


def _best(made: list[Shaped], score: Callable[[Shaped], float]) -> list[Shaped]:
    return [max(made, key=score)] if made else []
