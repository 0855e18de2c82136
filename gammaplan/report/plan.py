"""The plan in a terminal: one line to quote, every length in a row, what to measure next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.plan_words import after, assumed, headline, surroundings
from gammaplan.report.words import bar, say, say_each, times

if TYPE_CHECKING:
    from gammaplan.shapes.planning import PlanResult, PlanRow

NARROW = 52  # below this width the bar is left out
FIXED = 42  # what the other columns take
SPEED = 20  # what speeds in tokens take more
WIDEST_BAR = 26


def print_plan(result: PlanResult, inputs: Mapping[str, object]) -> None:
    """The plan, or the plan of each group."""
    say_each(result, _print_one)


def _print_one(out: Console, result: PlanResult) -> None:
    if result["schedule"]:
        from gammaplan.report.schedule import print_schedule

        print_schedule(out, result)
        out.print()
        say(out, f"At batch {result['costs'][0]['batch']}:")
    say(out, headline(result), style="" if result["schedule"] else "bold")
    if result["drafts"]:
        out.print()
        out.print(_drafts(result))
    if result["workloads"]:
        out.print()
        out.print(_workloads(result))
    out.print()
    out.print(_grid(result["rows"], out.width))
    say(out, _legend(result))
    for lines in (surroundings(result), after(result)):
        if lines:
            out.print()
        for line in lines:
            say(out, line)
    out.print()
    out.print(_assumptions(result))
    if result["settings"]:
        from gammaplan.report.schedule import print_settings

        print_settings(out, result)


def _assumptions(result: PlanResult) -> Table:
    table = _plain_table(("assumed", "left"), ("from", "left"), ("set by", "left"))
    for cells in assumed(result):
        table.add_row(*(Text(c, overflow="fold") for c in cells))
    return table


def _plain_table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name, side in columns:
        table.add_column(
            name, justify="left" if side == "left" else "right", no_wrap=side != "left"
        )
    return table


def _grid(rows: list[PlanRow], width: int) -> Table:
    timed = width >= FIXED + SPEED and any(row["tps"] is not None for row in rows)
    ranged = any(row["low"] is not None for row in rows)
    runs = any(row["measured"] is not None for row in rows)
    cells = min(WIDEST_BAR, width - FIXED - SPEED * timed)
    top = max((row["speedup"] or 0.0 for row in rows), default=1.0)
    columns = [("", "left"), ("γ", ""), ("speedup", "")]
    columns += [("80 % interval", "")] if ranged else []
    columns += [("measured", "")] if runs else []
    columns += [("tok/s", ""), ("ms/tok", "")] if timed else []
    table = _plain_table(*columns, ("", "left"))
    for row in rows:
        mark = "*" if row["best"] else "|" if row["in_band"] else " "
        style = "bold green" if row["best"] else "" if row["in_band"] else "dim"
        speed = row["speedup"]
        figures = [mark, str(row["gamma"]), "-" if speed is None else times(speed)]
        figures += [_range(row)] if ranged else []
        figures += [_measured(row)] if runs else []
        if timed:
            figures += ["-" if row["tps"] is None else f"{row['tps']:.1f}"]
            figures += ["-" if row["ms_per_token"] is None else f"{row['ms_per_token']:.2f}"]
        drawn = "" if speed is None or width < NARROW or not top else bar(speed / top, cells)
        table.add_row(*(Text(f) for f in (*figures, drawn)), style=style)
    return table


def _range(row: PlanRow) -> str:
    if row["low"] is None or row["high"] is None or row["gamma"] == 0:
        return ""
    return f"{row['low']:.2f}..{row['high']:.2f}"


def _measured(row: PlanRow) -> str:
    return "" if row["measured"] is None else f"o {times(row['measured'])}"


def _legend(result: PlanResult) -> str:
    text = "* best   | within the tolerance"
    if any(row["measured"] is not None for row in result["rows"]):
        text += "   o measured"
    return text


def _drafts(result: PlanResult) -> Table:
    ranged = any(d["low"] is not None for d in result["drafts"])
    columns = [("draft", "left"), ("γ", ""), ("speedup", "")]
    columns += [("80 % interval", "")] if ranged else []
    table = _plain_table(*columns, ("", "left"))
    for i, draft in enumerate(result["drafts"]):
        span = draft["low"], draft["high"]
        cells = [draft["name"], "∞" if draft["gamma"] is None else str(draft["gamma"])]
        cells += [times(draft["speedup"])]
        if ranged:
            cells += ["" if None in span else f"{span[0]:.2f}..{span[1]:.2f}"]
        said = "cannot be told apart from the first" if draft["tied"] and i else ""
        table.add_row(*(Text(c, overflow="fold") for c in (*cells, said)))
    return table


def _workloads(result: PlanResult) -> Table:
    table = _plain_table(
        ("workload", "left"), ("share", ""), ("its own γ", ""), ("speedup", ""), ("at the mix", "")
    )
    for work in result["workloads"]:
        own = "∞" if work["gamma"] is None else str(work["gamma"])
        cells = [work["name"], f"{100 * work['share']:.3g} %", own]
        cells += [times(work["speedup"]), times(work["speedup_at_mix"])]
        table.add_row(*(Text(c, overflow="fold") for c in cells))
    return table
