"""The best draft tree: the recurrence and best-first against plain loops, and how they grow."""

import math

import numpy as np
from measure import call, extra_memory, ratio, report

from gammaplan.model.recurrence import Recurrence
from gammaplan.model.tree import Tree, optimal_tree

BUDGET, WIDTH, PAIRS = 1_024, 32, 15
MANY, FEW = 100_000, 10_000
FALLING = (0.63 * 0.37 ** np.arange(WIDTH)).tolist()
RISING = [*FALLING[1:], FALLING[0]]


def loops(ranks: list[float], nodes: int) -> list[float]:
    """Tokens of the best tree of each size, by the recurrence in plain Python."""
    never = -math.inf
    width = len(ranks)
    table = [[never] * (nodes + 1) for _ in range(width + 1)]
    best = [never] * (nodes + 1)
    table[0][0] = best[0] = 1.0
    for n in range(1, nodes + 1):
        for b in range(1, width + 1):
            p, above, top = ranks[b - 1], table[b - 1], never
            for m in range(1, n + 1):
                value = above[n - m] + p * best[m - 1]
                if value > top:  # noqa: PLR1730 a call would slow the rival
                    top = value
            table[b][n] = top
        best[n] = max(row[n] for row in table)
    return best


def recurrence(ranks: list[float], nodes: int) -> Recurrence:
    return Recurrence(np.array([ranks]), math.inf, nodes)


def check() -> None:
    """All three give the same tokens."""
    for ranks in (FALLING, RISING):
        slow = loops(ranks, 128)
        fast = recurrence(ranks, 128)
        assert np.allclose(fast.values[0], slow, rtol=1e-13)
        assert np.isclose(Tree.from_children(fast.children()).expected_tokens(ranks), slow[-1])
        assert np.isclose(optimal_tree(ranks, 128).expected_tokens(ranks), slow[-1])


def main() -> None:
    check()
    plain = call(lambda: loops(FALLING, BUDGET))
    report(
        "plain loops / recurrence, its tree included",
        ratio(plain, call(lambda: recurrence(FALLING, BUDGET).children()), pairs=PAIRS),
        at_least=25,
    )
    report(
        "plain loops / best-first, its tree included",
        ratio(plain, call(lambda: optimal_tree(FALLING, BUDGET)), pairs=PAIRS),
        at_least=500,
    )
    growth = MANY * math.log(MANY) / (FEW * math.log(FEW))
    report(
        f"best-first, {MANY:,} / {FEW:,} nodes; n log n is {growth:.3g}",
        ratio(
            call(lambda: optimal_tree(FALLING, MANY)),
            call(lambda: optimal_tree(FALLING, FEW)),
            pairs=PAIRS,
        ),
        at_most=1.5 * growth,
    )
    for nodes in (FEW, MANY):
        held = extra_memory(lambda nodes=nodes: optimal_tree(FALLING, nodes))
        print(f"{f'peak memory a node, {nodes:,} nodes':<58} {held / nodes:8.3g}  bytes")


if __name__ == "__main__":
    main()
