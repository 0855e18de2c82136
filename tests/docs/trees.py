"""Trees against published figures, as docs/validation.md states it.

``python -m tests.docs.trees`` prints the tables anew.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import gammaplan as gp
from gammaplan.model.passes import PassTimes
from gammaplan.model.tree import Ranks
from gammaplan.model.treecost import TreeCost
from gammaplan.model.treeplan import best_trees
from gammaplan.model.treeshapes import by_steps

from ..support import column, rows

VECTOR = column(rows("published/sequoia_acceptance_vector"), "acceptance")
TIMED = PassTimes((1, 2, 4, 8, 16, 32), (10.0, 10.0, 10.0, 12.0, 14.0, 18.0))
DEMO = TreeCost(0.03, passes=TIMED)
CHAIN, NODES = 5, 25  # EAGLE's chain and tree, which its table does not state
EVEN = 0.005  # a predicted difference below this is none [tokens]


class Pair(NamedTuple):
    """A tree less the chain of the same draft, in tokens per round."""

    name: str
    predicted: float
    measured: float


def ranks_of(alpha: float) -> np.ndarray:
    """Sequoia's vector with another first rank; the others share what it leaves alike."""
    return np.append(alpha, VECTOR[1:] * (1 - alpha) / (1 - VECTOR[0]))


def sequoia() -> Iterator[str]:
    """The best tree of each of Sequoia's budgets, with and without a draft pass for the root."""
    found = best_trees(VECTOR, DEMO, [0, 1, 3, 7, 15, 31])
    for tree in found:
        charged = tree.expected_tokens / (tree.round_cost + DEMO.c * (tree.nodes > 0))
        yield (
            f"| {tree.nodes + 1} | {tree.nodes} | {tree.depth} | {tree.expected_tokens:.4f} "
            f"| {tree.speedup:.3f}× | {charged:.3f}× |"
        )


def eagle() -> list[Pair]:
    """EAGLE-1, Table 5: alpha from its chain, then the best tree."""
    pairs = []
    for row in rows("published/eagle1_table5_chain_vs_tree"):
        chain = float(row["tau_chain"])
        ranks = ranks_of(float(gp.alpha_from_mean_length(chain, CHAIN)))
        tree = gp.optimal_tree(ranks, NODES, max_depth=CHAIN).expected_tokens(ranks)
        pairs.append(Pair(row["target"], tree - chain, float(row["tau_tree"]) - chain))
    return pairs


def specbundle() -> list[tuple[Pair, float]]:
    """SpecBundle: the same draft and steps by topk; the pair in tokens, and its speed ratio."""
    table = rows("sweeps/specbundle_sglang")
    chains = {key(row): row for row in table if row["topk"] == "1"}
    found = []
    for row in table:
        if row["topk"] == "1" or (one := chains.get(key(row))) is None:
            continue
        steps, topk, nodes = (int(row[k]) for k in ("gamma", "topk", "num_draft_tokens"))
        length, tree = float(one["accept_length"]), float(row["accept_length"])
        ranks = ranks_of(float(gp.alpha_from_mean_length(length, steps)))
        shape = dict(by_steps(Ranks.of(ranks), nodes - 1, topk))
        made = shape.get(steps, shape[max(shape)])
        pair = Pair(f"{steps} steps, topk {topk}", made.expected_tokens(ranks) - length,
                    tree - length)  # fmt: skip
        speed = float(row["tokens_per_second"]) / float(one["tokens_per_second"])
        found.append((pair, speed))
    return found


def key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[k] for k in ("target", "benchmark", "draft", "batch_size", "gamma"))


def sign(difference: float) -> int:
    return 0 if abs(difference) < EVEN else int(np.sign(difference))


def lines() -> Iterator[str]:
    """The rows of the three tables."""
    yield from sequoia()
    yield ""
    for pair in eagle():
        right = "right" if sign(pair.predicted) == sign(pair.measured) else "**wrong**"
        yield f"| {pair.name} | +{pair.predicted:.2f} | +{pair.measured:.2f} | {right} |"
    yield ""
    by_shape: dict[str, list[tuple[Pair, float]]] = {}
    for pair, speed in specbundle():
        by_shape.setdefault(pair.name, []).append((pair, speed))
    for name, some in by_shape.items():
        signs = Counter(sign(pair.predicted) for pair, _ in some)
        more = sum(pair.measured > 0 for pair, _ in some)
        faster = sum(speed > 1 for _, speed in some)
        hits = sum(sign(pair.predicted) == int(np.sign(pair.measured)) for pair, _ in some)
        mean = np.mean([[pair.predicted, pair.measured] for pair, _ in some], axis=0)
        yield (
            f"| {name} | {len(some)} | {signs[1]} / {signs[0]} / {signs[-1]} | {more} | {faster} "
            f"| {hits} | {mean[0]:+.2f} | {mean[1]:+.2f} |"
        )


if __name__ == "__main__":
    print(*lines(), sep="\n")  # noqa: T201
