"""What a round costs: the line to quote, where each term came from, and the lengths measured."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from gammaplan.report.words import percent, plain, say, say_each
from gammaplan.shapes.planning import CostResult

NAMES = {"c": "c", "overhead": "overhead", "verify_slope": "verify slope", "round_cost": "round"}


def print_cost(result: CostResult, inputs: Mapping[str, object]) -> None:
    """The cost, that of each group, of each curve of timed passes, or the estimate."""
    if "estimate" in result:
        from gammaplan.report.estimate import print_estimate

        print_estimate(result)
    elif result.get("curves"):
        from gammaplan.report.curves import print_curves

        print_curves(result)
    else:
        say_each(result, _print_one)


def _print_one(out: Console, result: CostResult) -> None:
    """The cost in one line, its terms, then each measured length beside the textbook's."""
    say(out, headline(result), style="bold")
    for term in result["terms"]:
        if term["name"] != "round_cost":
            say(out, f"{NAMES[term['name']]} {plain(term['value'])}: {term['source']}.")
    textbook = result["textbook"]
    if textbook:
        say(out, f"Textbook: 1 + {plain(textbook['c'])}·γ ({textbook['source']}).")
    if result["rows"]:
        out.print()
        out.print(_table(result))


def headline(result: CostResult) -> str:
    """The answer in one line that can be quoted."""
    cost = result["costs"][0]
    if cost["table"]:
        ends = cost["table"][0]["gamma"], cost["table"][-1]["gamma"]
        return f"A round costs what was measured at γ {ends[0]} to {ends[1]}: no line fits."
    slope = (cost["c"] or 0) + (cost["verify_slope"] or 0)
    text = f"A round costs {plain(1 + (cost['overhead'] or 0))} + {plain(slope)}·γ target passes"
    worst = cost["worst_residual"]
    return f"{text}, within {percent(worst)} of every run." if worst is not None else f"{text}."


def _table(result: CostResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("γ", "round cost", "fitted", "off", "textbook"):
        table.add_column(name, justify="right")
    for row in result["rows"]:
        table.add_row(
            str(row["gamma"]),
            f"{row['round_cost']:.3f}",
            f"{row['fitted']:.3f}",
            f"{100 * row['residual']:+.1f} %",
            "-" if row["textbook"] is None else f"{row['textbook']:.3f}",
        )
    return table
