"""A schedule over batch sizes and the settings of an engine, in a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.words import percent, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.batches import ScheduleShape
    from gammaplan.shapes.planning import PlanResult

CHECK = "with the acceptance of the plan simulated (what it writes is no answer)"


def print_schedule(out: Console, result: PlanResult) -> None:
    """The schedule in one line, its ranges, and where speculation stops to pay."""
    say(out, headline(result), style="bold")
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("batch", "γ", "speedup", "loses at most", "gains over the range before"):
        table.add_column(name, justify="right")
    for part in result["schedule"]:
        gain = "" if part["gain"] is None else percent(part["gain"])
        cells = [batches(part), str(part["gamma"]), times(part["speedup"])]
        table.add_row(*(Text(c) for c in (*cells, percent(part["loss"]), gain)))
    out.print(table)
    say(out, "speedup: the smallest of the planned batches in the range")
    say(out, crossover(result))


def headline(result: PlanResult) -> str:
    """The schedule in one line that can be quoted."""
    parts = result["schedule"]
    if len(parts) == 1:
        gamma = parts[0]["gamma"]
        if gamma == 0:
            return "Do not speculate at any batch size: no length pays."
        tolerance = percent(result["band"]["tolerance"], 0)
        return f"Use γ = {gamma} at every batch size: no batch loses more than {tolerance}."
    return "Use " + ", ".join(f"γ {p['gamma']} at batch {batches(p)}" for p in parts) + "."


def batches(part: ScheduleShape) -> str:
    """The batch sizes of a range: 1, 2..8, 16+."""
    low, high = part["batch_low"], part["batch_high"]
    if high is None:
        return f"{low}+"
    return f"{low}" if low == high else f"{low}..{high}"


def crossover(result: PlanResult) -> str:
    """Up to which batch size speculation pays."""
    point = result["crossover"]
    if point is None or (point["pays_to"] is None and point["loses_from"] is None):
        return ""
    if point["pays_to"] is None:
        return f"Speculation loses from the smallest planned batch on, {point['loses_from']}."
    if point["loses_from"] is None:
        return f"Speculation pays to the largest planned batch, {point['pays_to']}."
    return f"Speculation pays to batch {point['pays_to']} and loses from {point['loses_from']} on."


def print_settings(out: Console, result: PlanResult) -> None:
    """The settings to paste, unwrapped: a line that was broken could not be pasted."""
    for engine, text in result["settings"].items():
        out.print()
        say(out, f"Settings of {engine}:", style="bold")
        _verbatim(text)
    for engine, text in result["checks"].items():
        out.print()
        say(
            out,
            f"To check the speedup on {engine}, {CHECK}:",
        )
        _verbatim(text)


def _verbatim(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.write(text + "\n")
