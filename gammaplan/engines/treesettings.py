"""Draft trees as engines accept them."""

import json
import shlex

from gammaplan.model.tree import Tree


def sglang(steps: int, topk: int, nodes: int) -> str:
    """SGLang's server with a tree of a fixed number of children a step; it counts the root."""
    flags = {
        "--model-path": "TARGET",
        "--speculative-algorithm": "EAGLE3",
        "--speculative-draft-model-path": "DRAFT",
        "--speculative-num-steps": steps,
        "--speculative-eagle-topk": topk,
        "--speculative-num-draft-tokens": nodes + 1,
    }
    words = [str(word) for pair in flags.items() for word in pair]
    return shlex.join(["python3", "-m", "sglang.launch_server", *words])


def medusa_choices(tree: Tree) -> str:
    """Medusa's ``medusa_choices``: the path to every node, as numbers of children from 0.

    Examples
    --------
    >>> medusa_choices(Tree.from_children([2, 1, 0, 0]))
    '[[0], [1], [0, 0]]'
    """
    paths: list[list[int]] = [[]]
    for parent, number in zip(tree.parents, tree.ranks, strict=True):
        paths.append([*paths[parent], number])
    return json.dumps(paths[1:])
