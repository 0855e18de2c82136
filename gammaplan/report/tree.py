"""The best draft tree drawn, beside the best chain and other shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Drawn

from gammaplan.report.words import console, percent, plain, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.tree import RivalShape, TreeResult

DRAWN = 40  # nodes drawn at most
INDENT = 4  # columns that a level takes
ROWS = 24  # rows of the curve shown at most
NAMES = {
    "chain": "chain",
    "balanced": "balanced, {width} children a node",
    "topk_steps": "{width} children a step, {steps} steps (EAGLE)",
    "greedy": "greedy (Medusa)",
}


def print_tree(result: TreeResult, inputs: Mapping[str, object]) -> None:
    """The answer, the tree, other shapes, the curve, the settings."""
    out = console()
    say(out, headline(result), style="bold")
    for line in reasons(result):
        say(out, line)
    if result["nodes"]:
        out.print()
        _draw(out, result)
    if result["shapes"]:
        out.print()
        say(out, f"Other shapes of {count(result['nodes'], 'node')}:")
        out.print(_shapes(result))
    if len(result["rows"]) > 1:
        out.print()
        out.print(_curve(result))
        hidden = len(result["rows"]) - len(list(_shown(result)))
        if hidden:
            say(out, f"{hidden} more rows are in --format csv.")
    for what, text in settings(result):
        out.print()
        say(out, what)
        out.print(text, soft_wrap=True)  # one line, to paste


def headline(result: TreeResult) -> str:
    """The answer in one line that can be quoted."""
    chain, nodes, gain = result["chain"], result["nodes"], result["gain"]
    size = f"{count(nodes, 'node')} on {count(result['depth'], 'level')}"
    if result["speedup"] is None or chain is None:
        why = ": what a round costs is not known" if result["cost"] else ""
        return f"The best tree of {size} gives {result['expected_tokens']:.4g} tokens a round{why}."
    length = f"of {chain['gamma']}" if chain["gamma"] is not None else "without end"
    if result["verdict"] == "tree":
        if chain["gamma"] == 0:
            return f"A tree pays where no chain does: {times(result['speedup'])} with {size}."
        return (
            f"A tree beats the chain by {percent(gain)}: {times(result['speedup'])} with {size}, "
            f"{times(chain['speedup'])} with a chain {length}."
        )
    if result["verdict"] == "plain":
        if not nodes:
            return "Do not speculate: neither a tree nor a chain is faster than plain decoding."
        return (
            f"Do not speculate: {size} give {times(result['speedup'])}, and no chain is faster "
            "than plain decoding."
        )
    if chain["gamma"] is None:
        return f"A chain is best, and the longer the faster, towards {times(chain['speedup'])}."
    if not nodes:
        gives = times(chain["speedup"])
        return f"Without nodes nothing is drafted; a chain {length} gives {gives}."
    if gain is None or gain > -5e-4:
        return f"A chain is best: {times(chain['speedup'])} with a chain {length}."
    return (
        f"A chain {length} is {percent(-gain / (1 + gain))} faster than the tree: "
        f"{times(chain['speedup'])}, and {times(result['speedup'])} with {size}."
    )


def reasons(result: TreeResult) -> Iterator[str]:
    """What the tree gives, how it was found, and the best size for the cost."""
    how = {
        "best_first": "best-first: ranks fall, so the largest path probabilities are a tree",
        "recurrence": "the recurrence over children and nodes: some rank exceeds its elder "
        "sibling's",
    }
    tokens = f"{result['expected_tokens']:.4f} tokens a round"
    if result["round_cost"] is not None:
        tokens += f", which costs {result['round_cost']:.4g} plain passes"
    if result["nodes"]:
        yield f"Tree: {tokens}. Found by {how[result['method']]}."
    chain, best = result["chain"], result["best"]
    if chain is not None and chain["gamma"]:
        yield f"Chain: {chain['expected_tokens']:.4f} tokens a round of {chain['gamma']}."
    if best is not None and best["speedup"] is not None and best["nodes"] != result["nodes"]:
        if best["nodes"]:
            size = f"{count(best['nodes'], 'node')} on {count(best['depth'], 'level')}"
            more = ""
            if chain is not None and chain["speedup"] is not None:
                gain = best["speedup"] / chain["speedup"] - 1
                more = f", {percent(abs(gain))} {'above' if gain > 0 else 'below'} the chain"
            yield f"The best tree for this cost has {size}: {times(best['speedup'])}{more}."
        else:
            yield "For this cost no tree of any size is faster than plain decoding."


def _draw(out: Console, result: TreeResult) -> None:
    """The first levels, each node with its path probability; what is left out is counted."""
    paths, parents = result["path_probabilities"], result["parents"]
    levels = [0]
    for parent in parents:
        levels.append(levels[parent] + 1)
    shown = _drawn(levels, (out.width - 20) // INDENT)
    below = [0] * len(levels)  # hidden descendants
    for node in range(len(levels) - 1, 0, -1):
        below[parents[node - 1]] += below[node] + (node >= shown)
    root = Drawn(Text("1 the last token", style="bold"), guide_style="dim")
    made = [root]
    number = [0] * len(levels)
    for node in range(1, shown):
        parent = parents[node - 1]
        label = Text(f"{paths[node]:.4f}")
        if below[node] and not any(p == node for p in parents[node - 1 : shown - 1]):
            label.append(f"  … {below[node]:,} below", style="dim")
        number[parent] += 1
        made.append(made[parent].add(label))
    out.print(root)
    if shown < len(levels):
        first, last = levels[shown], levels[-1]
        where = f" of level {last}" if first == last else f" of levels {first} to {last}"
        say(out, f"{count(len(levels) - shown, 'node')}{where} not shown; --json has all.")


def _drawn(levels: list[int], deepest: int) -> int:
    """How many nodes are drawn, the root included: whole levels, or the start of the first."""
    end = next((i for i, level in enumerate(levels) if level > deepest), len(levels))
    if end - 1 <= DRAWN:
        return end
    whole = levels.index(levels[DRAWN + 1])  # where the level that does not fit begins
    return whole if whole > DRAWN // 4 else DRAWN + 1


def _shapes(result: TreeResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("", "tokens", "levels", *(["speedup"] if result["cost"] else []), "loss"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=bool(name))
    ours = ["* this tree", f"{result['expected_tokens']:.4f}", str(result["depth"])]
    if result["cost"]:
        ours.append("-" if result["speedup"] is None else times(result["speedup"]))
    table.add_row(*map(Text, ours), "")
    for rival in result["shapes"]:
        row = [f"  {shape_name(rival)}", f"{rival['expected_tokens']:.4f}", str(rival["depth"])]
        if result["cost"]:
            row.append("-" if rival["speedup"] is None else times(rival["speedup"]))
        table.add_row(*map(Text, row), percent(rival["loss"]))
    return table


def shape_name(rival: RivalShape) -> str:
    """What a shape is called."""
    if rival["name"] == "topk_steps" and rival["width"] == 1:
        return f"a chain of {count(rival['depth'], 'step')} (EAGLE)"
    return NAMES[rival["name"]].format(width=rival["width"], steps=rival["steps"])


def _shown(result: TreeResult) -> Iterator[int]:
    """The rows that are shown: evenly spread, the first, the last and the best among them."""
    last = len(result["rows"]) - 1
    step = -(-(last + 1) // ROWS)
    for i, row in enumerate(result["rows"]):
        if i % step == 0 or i == last or row["best"]:
            yield i


def _curve(result: TreeResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    priced = result["cost"] is not None
    for name in ("", "nodes", "levels", "tokens", *(["round cost", "speedup"] if priced else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for i in _shown(result):
        row = result["rows"][i]
        cells = ["*" if row["best"] else " ", str(row["nodes"]), str(row["depth"])]
        cells.append(f"{row['expected_tokens']:.4f}")
        if priced:
            known = row["round_cost"] is not None
            cells += [plain(row["round_cost"]), times(row["speedup"])] if known else ["-", "-"]
        table.add_row(*cells, style="bold" if row["best"] else None)
    return table


def settings(result: TreeResult) -> Iterator[tuple[str, str]]:
    """Which engine, and what makes it draft the tree."""
    if "sglang" in result["settings"]:
        loss = result["settings_loss"] or 0.0
        lost = "the same" if loss < 5e-4 else f"{percent(loss)} less"
        yield f"SGLang, the nearest that it can draft ({lost}):", result["settings"]["sglang"]
    if "medusa" in result["settings"] and result["nodes"] <= DRAWN:
        yield "Medusa choices:", result["settings"]["medusa"]


def count(number: int, thing: str) -> str:
    """A number of things, one of them without an s."""
    return f"{number:,} {thing}{'s' * (number != 1)}"
