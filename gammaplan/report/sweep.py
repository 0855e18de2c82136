"""The best draft length over α and c, as a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from gammaplan.report.words import console, plain, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.answers import SweepResult, SweepRow

CELL = 13  # what one column of the map takes
SHADES = ((1.0, "dim"), (1.5, ""), (2.5, "cyan"), (4.0, "green"), (float("inf"), "bold green"))


def print_sweep(result: SweepResult, inputs: Mapping[str, object]) -> None:
    """A row per α, a column per c; as many columns at a time as the width holds."""
    out = console()
    alphas = list(dict.fromkeys(row["alpha"] for row in result["rows"]))
    costs = list(dict.fromkeys(row["c"] for row in result["rows"]))
    cells = {(row["alpha"], row["c"]): row for row in result["rows"]}
    say(out, "The best γ and its speedup, by α (down) and c (across).", style="bold")
    at_once = max(1, (out.width - 8) // CELL)
    for first in range(0, len(costs), at_once):
        out.print()
        out.print(_map(cells, alphas, costs[first : first + at_once]))
    out.print()
    say(out, "0 plain: do not speculate there. ∞: longer is always faster.")


def _map(
    cells: Mapping[tuple[float, float], SweepRow], alphas: list[float], costs: list[float]
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("α \\ c", justify="right", style="bold")
    for c in costs:
        table.add_column(plain(c), justify="right", no_wrap=True)
    for alpha in alphas:
        table.add_row(Text(plain(alpha)), *(_cell(cells[alpha, c]) for c in costs))
    return table


def _cell(row: SweepRow) -> Text:
    if row["gamma"] == 0:
        return Text("0   plain", style="dim")
    speed = row["speedup"]
    style = "bold green" if speed is None else next(s for top, s in SHADES if speed <= top)
    gamma = "∞" if row["gamma"] is None else str(row["gamma"])
    return Text(f"{gamma} {times(speed):>7}", style=style)
