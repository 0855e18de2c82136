"""The draft tree itself, its speedup over the number of nodes, and other shapes of its size."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.picture import (
    Axis,
    Edges,
    Line,
    Mark,
    Nodes,
    Panel,
    Picture,
    Points,
    Rule,
    fitted,
)
from gammaplan.report.pictures.parts import named_panel, speed_axis, upwards
from gammaplan.report.tree import count, headline, shape_name
from gammaplan.report.words import times
from gammaplan.shapes.tree import TreeResult

DRAWN = 256  # nodes drawn at most


def tree(result: TreeResult, inputs: Mapping[str, Any]) -> Picture:
    """Every node at its level; then what other sizes and other shapes would give."""
    panels, notes = [], []
    if result["nodes"]:
        panels.append(_drawn(result))
        notes.append("A number at a node is the probability that its whole path is accepted.")
        hidden = result["nodes"] - DRAWN
        if hidden > 0:
            notes.append(f"The last {hidden:,} nodes are not drawn.")
    if len(result["rows"]) > 1:
        panels.append(_sizes(result))
    if result["shapes"]:
        panels.append(_shapes(result))
    return Picture(headline(result), tuple(panels), tuple(notes))


def _drawn(result: TreeResult) -> Panel:
    parents = result["parents"][:DRAWN]
    x, level = placed(parents)
    leaves = max(x) + 1
    x = [(place + 0.5) / leaves for place in x]
    ends = [(x[p], level[p], x[i], level[i]) for i, p in enumerate(parents, 1)]
    paths = result["path_probabilities"][: len(x)]
    marks = (Edges(ends), Nodes(x, level, [f"{p:.2g}" for p in paths]))
    deepest = max(level)
    return Panel(
        None,
        Axis("level", deepest + 0.45, -0.3, whole=True),
        marks,
        height=max(0.5, min(1.6, 0.26 * (deepest + 1))),
    )


def placed(parents: Sequence[int]) -> tuple[list[float], list[int]]:
    """A place for every node: leaves side by side, a parent over the middle of its children."""
    count = len(parents) + 1
    children: list[list[int]] = [[] for _ in range(count)]
    level = [0] * count
    for node, parent in enumerate(parents, 1):
        children[parent].append(node)
        level[node] = level[parent] + 1
    x = [0.0] * count
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += reversed(children[node])
    leaves = 0
    for node in order:
        if not children[node]:
            x[node] = float(leaves)
            leaves += 1
    for node in reversed(order):
        if children[node]:
            x[node] = (x[children[node][0]] + x[children[node][-1]]) / 2
    return x, level


def _sizes(result: TreeResult) -> Panel:
    """The speedup of each size, or its tokens where there is no cost."""
    rows, priced = result["rows"], result["cost"] is not None
    at = [row["nodes"] for row in rows]
    values = [row["speedup"] if priced else row["expected_tokens"] for row in rows]
    marks: list[Mark] = []
    every = list(values)
    if priced:
        chain = result["chain"]
        if chain and chain["gamma"] != 0 and chain["speedup"] is not None:
            length = "∞" if chain["gamma"] is None else chain["gamma"]
            marks.append(
                Rule("y", chain["speedup"], f"chain of {length}: {times(chain['speedup'])}", 1)
            )
            every.append(chain["speedup"])
        best = result["best"]
        if best and best["nodes"] in at:
            marks.append(
                Rule(
                    "x", best["nodes"], f"best: {best['nodes']} nodes, {times(best['speedup'])}", 0
                )
            )
    marks.append(Line(at, values, "tree", 0))
    y = (
        upwards("speedup", "× plain decoding", every)
        if priced
        else upwards("tokens per round", "bonus token counted", every)
    )
    low, high = fitted([*map(float, at)], margin=0.02)
    return Panel(Axis("nodes of the tree", low, high, whole=True), y, tuple(marks))


def _shapes(result: TreeResult) -> Panel:
    """What other trees of as many nodes give."""
    priced = result["cost"] is not None
    key = "speedup" if priced else "expected_tokens"
    names, values = ["this tree"], [result["speedup" if priced else "expected_tokens"]]
    for rival in result["shapes"]:
        names.append(shape_name(rival))
        values.append(rival[key])  # type: ignore[literal-required] # one of two keys
    x = speed_axis(values) if priced else upwards("tokens per round", "", values)
    marks: list[Mark] = [Rule("x", 1.0, "plain decoding")] if priced else []
    marks.append(Points(values, list(range(len(names))), "", 0))
    heading = f"Shapes of {count(result['nodes'], 'node')}"
    return named_panel(names, x, marks, heading=heading)
