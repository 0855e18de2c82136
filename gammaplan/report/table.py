"""Every draft length in a row: tokens, cost, speedup, and a bar that shows how flat the peak is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.optimum import headline, reasons
from gammaplan.report.words import bar, console, named, parts, percent, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.answers import TableResult, TableRow

NARROW = 52  # below this width the bar and the share are left out
FIXED = 45  # what the other columns take
WIDEST_BAR = 30


def print_table(result: TableResult, inputs: Mapping[str, object]) -> None:
    """The table, or the table of each group."""
    out = console()
    for i, part in enumerate(parts(result)):
        if i:
            out.print()
        if part.get("labels"):
            say(out, named(part["labels"]), style="bold")
        _print_one(out, part)


def _print_one(out: Console, result: TableResult) -> None:
    optimum = result["optimum"]
    say(out, headline(optimum), style="bold")
    out.print()
    out.print(_grid(result["rows"], out.width))
    shown = {row["gamma"] for row in result["rows"]}
    if optimum["gamma"] is not None and optimum["gamma"] not in shown:
        say(out, f"The best, γ = {optimum['gamma']}, lies outside the rows shown.")
    out.print()
    for line in reasons(optimum):
        say(out, line)


def _grid(rows: list[TableRow], width: int) -> Table:
    wide = width >= NARROW
    cells = min(WIDEST_BAR, width - FIXED - 2)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="left", width=1)
    for name in ("γ", "E[tokens]", "round cost", "speedup"):
        table.add_column(name, justify="right", no_wrap=True)
    if wide:
        table.add_column("of best", justify="right", no_wrap=True)
        table.add_column("")
    for row in rows:
        mark = "*" if row["best"] else "|" if row["in_band"] else " "
        style = "bold green" if row["best"] else "" if row["in_band"] else "dim"
        figures = [mark, str(row["gamma"]), f"{row['expected_tokens']:.3f}"]
        cost = row["round_cost"]
        figures += ["-" if cost is None else f"{cost:.2f}"]
        figures += ["-" if row["speedup"] is None else times(row["speedup"])]
        if wide:
            share = row["relative"]
            figures += [percent(share), "" if share is None else bar(share, cells)]
        table.add_row(*(Text(f) for f in figures), style=style)
    table.caption = "* best   | within the tolerance"
    table.caption_justify = "left"
    return table
