"""From ranks and a cost to the result of `tree`."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.documents.writing import finite, whole
from gammaplan.engines.treesettings import medusa_choices, sglang
from gammaplan.errors import Finding
from gammaplan.model.tree import Ranks, Tree
from gammaplan.model.treecost import TreeCost
from gammaplan.model.treeplan import Bounds, Sized, best_chain, best_trees, tree_of
from gammaplan.model.treeshapes import Shaped, shapes

if TYPE_CHECKING:
    from gammaplan.cli.rankfiles import Vectors
    from gammaplan.model.decision import Decision
    from gammaplan.shapes.tree import ChainShape, RivalShape, TreeResult, TreeRow, Verdict

SEARCHED = 256  # nodes of the largest tree that is tried where no budget is given
COMPARED = 4_096  # nodes of the largest tree that other shapes are drawn for
SHOWN_PATHS = 4_096  # nodes of the largest tree whose Medusa choices are written out
EVEN = 1e-9  # relative difference of two speedups that is none


class Grown(NamedTuple):
    """The result of `tree`, and what its reader should know."""

    result: "TreeResult"
    findings: list[Finding]


def grown(
    vectors: "Vectors", cost: TreeCost | None, budget: Sequence[int] | None, bounds: Bounds
) -> Grown:
    """The best tree of the budget, or of all that were tried, and what stands beside it.

    Raises
    ------
    DomainError
        If ranks, budget or bounds leave their domains.
    """
    ranks = vectors[0] if len(vectors) == 1 else vectors
    known = Ranks.of(ranks, max_depth=bounds.max_depth, max_width=bounds.max_width)
    asked = list(range(SEARCHED + 1)) if budget is None else sorted(set(budget))
    most = known.reach(asked[-1])
    found = []
    if asked[-1] > most and budget is not None:
        found.append(finding("tree_smaller", budget=f"{asked[-1]:,}", most=f"{most:,}"))
    sizes = sorted({min(size, most) for size in asked})
    searched = range(known.most_nodes(SEARCHED) + 1) if cost else ()
    sized = best_trees(ranks, cost or TreeCost(0.0), [*sizes, *searched], bounds)
    rows = [one for one in sized if one.nodes in sizes]
    best = max(sized, key=_speed) if cost else None
    chosen = max(rows, key=_speed) if cost else rows[-1]
    ends = (sized[-1].nodes, SEARCHED)
    if best and 0 < best.nodes < known.most_nodes(best.nodes + 1) and best.nodes in ends:
        found.append(finding("tree_at_limit", nodes=best.nodes))
    if cost and cost.most_nodes is not None and cost.most_nodes < sizes[-1]:
        found.append(finding("passes_unknown", tokens=cost.most_nodes + 1, nodes=cost.most_nodes))
    tree = tree_of(ranks, chosen, bounds)
    chain = best_chain(ranks, cost, bounds.max_depth) if cost else None
    verdict, gain = _verdict(chosen, tree, chain) if cost else (None, None)
    rivals = _rivals(ranks, chosen, cost, bounds)
    fixed = next((r for r in rivals if r["name"] == "topk_steps"), None)
    settings = {}
    if fixed and fixed["steps"] and fixed["width"]:
        settings["sglang"] = sglang(fixed["steps"], fixed["width"], chosen.nodes)
    if 0 < chosen.nodes <= SHOWN_PATHS:
        settings["medusa"] = medusa_choices(tree)
    result: TreeResult = {
        "expected_tokens": chosen.expected_tokens,
        "depth": tree.depth,
        "nodes": tree.nodes,
        "width": tree.width,
        "children": list(tree.children),
        "parents": list(tree.parents),
        "path_probabilities": tree.path_probabilities(ranks).tolist(),
        "round_cost": finite(chosen.round_cost) if cost else None,
        "speedup": finite(chosen.speedup) if cost else None,
        "method": "best_first" if known.fall else "recurrence",
        "verdict": verdict,
        "gain": gain,
        "chain": _chain(chain) if chain else None,
        "best": _row(best, cost, best) if best else None,
        "rows": [_row(one, cost, chosen) for one in rows],
        "shapes": rivals,
        "settings": settings,
        "settings_loss": fixed["loss"] if fixed else None,
        "ranks": vectors,
        "cost": {
            "c": cost.c,
            "overhead": cost.overhead,
            "verify_slope": cost.verify_slope,
            "passes": [[float(n), t] for n, t in zip(*_timed(cost), strict=True)],
        }
        if cost
        else None,
    }
    return Grown(result, found)


def _timed(cost: TreeCost) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return (cost.passes.tokens, cost.passes.ms) if cost.passes else ((), ())


def _speed(sized: Sized) -> float:
    """The speedup; nothing where it is not known."""
    return -math.inf if math.isnan(sized.speedup) else sized.speedup


def _verdict(
    chosen: Sized, tree: Tree, chain: "Decision | None"
) -> "tuple[Verdict | None, float | None]":
    """What is the fastest, and by which share the tree is faster than the best without it."""
    if math.isnan(chosen.speedup) or chain is None:
        return None, None
    other = chain.speedup
    gain = None if math.isinf(other) else chosen.speedup / other - 1
    if chosen.speedup > other * (1 + EVEN) and tree.width > 1:
        return "tree", gain
    return ("chain" if max(other, chosen.speedup) > 1 else "plain"), gain


def _chain(decision: "Decision") -> "ChainShape":
    return {
        "gamma": whole(decision.gamma),
        "expected_tokens": finite(decision.expected_tokens),
        "speedup": finite(decision.speedup),
    }


def _row(sized: Sized, cost: TreeCost | None, chosen: Sized | None) -> "TreeRow":
    return {
        "nodes": sized.nodes,
        "depth": sized.depth,
        "expected_tokens": sized.expected_tokens,
        "round_cost": finite(sized.round_cost) if cost else None,
        "speedup": finite(sized.speedup) if cost else None,
        "best": sized is chosen,
    }


def _rivals(
    ranks: "Vectors | list[float]", chosen: Sized, cost: TreeCost | None, bounds: Bounds
) -> "list[RivalShape]":
    """Other shapes of as many nodes, each at its own best width and steps."""
    if not 0 < chosen.nodes <= COMPARED:
        return []

    def value(shaped: Shaped) -> float:
        tokens = shaped.tree.expected_tokens(ranks)
        passes = float(cost.round_cost(_passes(shaped), chosen.nodes)) if cost else 1.0
        return tokens if math.isnan(passes) else tokens / passes

    ours = chosen.expected_tokens if not cost or math.isnan(chosen.speedup) else chosen.speedup
    return [
        _rival(shaped, ranks, cost, 1 - value(shaped) / ours)
        for shaped in shapes(ranks, chosen.nodes, value, bounds)
    ]


def _passes(shaped: Shaped) -> int:
    return shaped.steps or shaped.tree.depth


def _rival(
    shaped: Shaped, ranks: "Vectors | list[float]", cost: TreeCost | None, loss: float
) -> "RivalShape":
    tokens, nodes = shaped.tree.expected_tokens(ranks), shaped.tree.nodes
    passes = float(cost.round_cost(_passes(shaped), nodes)) if cost else math.nan
    return {
        "name": shaped.name,
        "width": shaped.width,
        "steps": shaped.steps,
        "depth": shaped.tree.depth,
        "expected_tokens": tokens,
        "round_cost": finite(passes),
        "speedup": finite(tokens / passes),
        "loss": max(0.0, loss),
    }
