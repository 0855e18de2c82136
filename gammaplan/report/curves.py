"""Timed passes in a terminal: how their time grows with the tokens in them, and where it steps."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.words import bar, console, named, plain, say
from gammaplan.shapes.batches import CurveShape
from gammaplan.shapes.planning import CostResult, CostTerm

NARROW, FIXED, WIDEST_BAR = 52, 40, 30
MOST_SHOWN = 24


def print_curves(result: CostResult) -> None:
    """The costs in one line, then each curve with its steps marked."""
    out = console()
    say(out, headline(result), style="bold")
    first: dict[str, CostTerm] = {}
    for term in result["terms"]:
        if term["value"]:
            first.setdefault(term["name"], term)
    for term in first.values():
        name = {"draft": "The draft of a round", "reading": "Reading"}.get(term["name"], "c")
        say(out, f"{name} {plain(term['value'])} target passes: {term['source']}.")
    for curve in result["curves"]:
        out.print()
        _print_curve(out, curve)


def headline(result: CostResult) -> str:
    """The answer in one line that can be quoted."""
    costs = result["costs"]
    last = costs[0]["table"][-1]
    batches = sorted({cost["batch"] for cost in costs if cost["batch"] is not None})
    where = f" at batch {batches[0]}" if batches != [1] else ""
    more = f", and so on to batch {batches[-1]}" if len(batches) > 1 else ""
    steps = sum(len(c["steps"]) for c in result["curves"])
    climb = f"{steps} step(s)" if steps else "no steps"
    if len({curve["curve"] for curve in result["curves"]}) > 1:
        return f"{len(result['curves'])} curves of timed passes; {climb}."
    return (
        f"A round of γ {last['gamma']} costs {plain(last['round_cost'])} target passes{where}"
        f"{more}; {climb}."
    )


def _print_curve(out: Console, curve: CurveShape) -> None:
    said = {"curve": curve["curve"], "batch": curve["batch"], "context": curve["context"]}
    labels = {key: value for key, value in said.items() if value is not None}
    if labels:
        say(out, named(labels))
    timed = any(point["ms"] is not None for point in curve["points"])
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", width=1)
    related = all(point["relative"] is not None for point in curve["points"])
    for name in ("tokens", *(["ms"] if timed else []), *(["V(n)"] if related else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    lengths = [point["relative"] or point["ms"] or 0.0 for point in curve["points"]]
    top = max(lengths)
    cells = min(WIDEST_BAR, out.width - FIXED)
    steps = {step["tokens"] for step in curve["steps"]}
    for point, size in list(zip(curve["points"], lengths, strict=True))[:MOST_SHOWN]:
        step = point["tokens"] in steps
        figures = ["^" if step else "", f"{point['tokens']:,}"]
        if timed:
            figures.append("-" if point["ms"] is None else f"{point['ms']:.4g}")
        if point["relative"] is not None:
            figures.append(f"{point['relative']:.3f}")
        figures.append(bar(size / top, cells) if out.width >= NARROW else "")
        table.add_row(*(Text(f) for f in figures), style="" if step else "dim")
    out.print(table)
    if len(curve["points"]) > MOST_SHOWN:
        say(out, f"{len(curve['points']) - MOST_SHOWN} more in --json.")
    if steps:
        say(out, "^ a step: above the line between its neighbours")
