"""Tokens per round, and the ceiling, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from gammaplan.report.words import console, named, parts, percent, plain, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.answers import CeilingResult, TokensResult


def print_tokens(result: TokensResult, inputs: Mapping[str, object]) -> None:
    """A row per draft length."""
    out = console()
    for part in parts(result):
        if part.get("labels"):
            say(out, named(part["labels"]), style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("γ", "E[tokens]", "accepted per round", "accepted ÷ drafted"):
            table.add_column(name, justify="right")
        for row in part["rows"]:
            figures = [str(row["gamma"]), f"{row['expected_tokens']:.4f}"]
            figures += [f"{row['accepted_per_round']:.4f}", percent(row["pooled_rate"])]
            table.add_row(*(Text(f) for f in figures))
        out.print(table)
        alpha = part["acceptance"]["alpha"]
        top = "no ceiling" if part["ceiling"] is None else f"the ceiling is {part['ceiling']:.4g}"
        say(out, f"α {plain(alpha)}: E[tokens] counts the bonus token; {top}.")


def print_ceiling(result: CeilingResult, inputs: Mapping[str, object]) -> None:
    """The ceiling in one line, and how near the best draft length comes."""
    out = console()
    for part in parts(result):
        if part.get("labels"):
            say(out, named(part["labels"]), style="bold")
        say(out, _ceiling_line(part), style="bold")
        if part["speedup"] is not None:
            share = part["share_of_ceiling"]
            of_it = "" if share is None else f", {percent(share, 0)} of it"
            say(out, f"The best draft length reaches {times(part['speedup'])}{of_it}.")


def _ceiling_line(result: CeilingResult) -> str:
    alpha = plain(result["acceptance"]["alpha"])
    if result["ceiling"] is None:
        return f"There is no ceiling: every drafted token is accepted (α {alpha})."
    return f"The ceiling is {times(result['ceiling'])}: no draft length is faster (α {alpha})."
