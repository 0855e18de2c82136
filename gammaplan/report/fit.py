"""What a report says of acceptance: α first, then what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.convert import by_c
from gammaplan.report.words import bar, console, joined, named, percent, say

if TYPE_CHECKING:
    from gammaplan.shapes.figures import FitFigures, FitResult, PeriodShape

BAR = 20
MOST_ROWS = 40
TICKS = "▁▂▃▄▅▆▇█"
METHODS = {
    "mle": "every refusal counted",
    "mean_length": "from the mean length, for i.i.d. acceptance",
    "nearly_full_drafts": "the middle of narrow bounds",
}


def print_fit(result: FitResult, inputs: Mapping[str, object]) -> None:
    """The pooled answer, or an answer for each group; the groups in a table."""
    out = console()
    groups = result["groups"]
    if result["pooled"] and _some(result):
        _print_one(out, result)
    elif not groups or not any(_some(g) for g in groups):
        say(out, "No acceptance data.", style="bold")
        return
    else:
        say(out, f"{len(groups)} groups that must not be added up:", style="bold")
    if result["period"]:
        say(out, _over(result["period"]))
    if len(groups) > 1 or (groups and inputs.get("by")):
        out.print()
        out.print(_groups(groups))
        if len(groups) > MOST_ROWS:
            say(out, f"… and {len(groups) - MOST_ROWS} more (--json has them all).")
    if not result["pooled"]:
        for group in groups[:4]:
            out.print()
            say(out, named(group["labels"]) or "unnamed", style="bold")
            _print_one(out, group)


def _some(figures: FitFigures) -> bool:
    keys = (figures["alpha"], figures["bounds"], figures["mean_length"], figures["pooled_rate"])
    return any(value is not None for value in keys)


def _print_one(out: Console, figures: FitFigures) -> None:
    say(out, headline(figures), style="bold")
    for line in _basis(figures):
        say(out, line)
    if figures["hazards"] or figures["survival"]:
        out.print()
        out.print(_positions(figures))
    if figures["gamma_by_c"]:
        out.print()
        say(out, f"Best γ by c: {by_c(figures['gamma_by_c'])}.")
    if spark := _sparkline(figures["trend"]):
        say(out, f"α over time: {spark}")


def headline(figures: FitFigures) -> str:
    """α, its bounds, or what there is instead, in one line."""
    at = f" at γ {figures['gamma']}" if figures["gamma"] else ""
    interval, bounds, alpha = figures["interval"], figures["bounds"], figures["alpha"]
    if alpha is not None:
        text = f"α = {alpha:.4f}"
        if interval:
            level = f"{100 * interval['level']:g} %"
            text += f", {level} interval {interval['low']:.4f} to {interval['high']:.4f}"
        return text + at + "."
    if bounds is not None:
        return f"α is between {bounds['low']:.4f} and {bounds['high']:.4f}{at}: no point estimate."
    if figures["mean_length"] is not None:
        return f"{figures['mean_length']:.3f} tokens per round{at}; no α follows from it."
    return f"{percent(figures['pooled_rate'], 2)} of drafted tokens accepted{at}; no α follows."


def _basis(figures: FitFigures) -> list[str]:
    lines = []
    counts = figures["counts"]
    if figures["alpha"] is not None:
        interval = figures["interval"]
        how = METHODS[figures["method"]] + (f"; interval {interval['method']}" if interval else "")
        lines.append(f"How: {how}.")
    if counts:
        figures_ = (
            (counts["rounds"], "rounds"),
            (counts["drafted"], "drafted"),
            (counts["accepted"], "accepted"),
            (counts["rejections"], "rounds refused a token"),
        )
        told = [f"{count:,} {word}" for count, word in figures_ if count is not None]
        lines.append(f"Counted: {', '.join(told)}.")
    if figures["mean_length"] is not None and figures["alpha"] is not None:
        text = f"{figures['mean_length']:.4f} tokens per round, bonus counted"
        if figures["pooled_rate"] is not None:
            text += f"; accepted ÷ drafted {percent(figures['pooled_rate'], 2)}, which is not α"
        lines.append(text + ".")
    test = figures["constancy"]
    if test:
        words = {
            "constant": "One α describes every position",
            "rising": "Acceptance rises with position",
            "falling": "Acceptance falls with position",
            "uneven": "Acceptance is uneven over the positions",
        }[test["direction"]]
        lines.append(
            f"{words} (G² {test['statistic']:.2f}, df {test['df']}, p {test['p_value']:.2g})."
        )
    return lines


def _over(period: PeriodShape) -> str:
    """Between which samples the answer holds."""
    of = f" of {period['processes']:,} processes" if period["processes"] > 1 else ""
    return f"Between {period['start']} and {period['end']}, {period['scrapes']:,} scrapes{of}."


def _positions(figures: FitFigures) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("position", "given all before", "all so far"):
        table.add_column(name, justify="right")
    table.add_column("")
    hazards: Sequence[float | None] = figures["hazards"] or [None] * len(figures["survival"])
    for i, (hazard, survival) in enumerate(zip(hazards, figures["survival"], strict=False), 1):
        given = "-" if hazard is None else f"{hazard:.3f}"
        table.add_row(str(i), given, f"{survival:.3f}", Text(bar(survival, BAR)))
    return table


def _groups(groups: Sequence[FitFigures]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("group", overflow="fold")
    for name in ("γ", "rounds", "α", "interval or bounds", "tokens per round"):
        table.add_column(name, justify="right")
    for group in groups[:MOST_ROWS]:
        counts, span = group["counts"], group["interval"] or group["bounds"]
        alpha, length = group["alpha"], group["mean_length"]
        rounds = counts["rounds"] if counts else None
        table.add_row(
            Text(named(group["labels"]) or "unnamed"),
            "-" if group["gamma"] is None else str(group["gamma"]),
            "-" if rounds is None else f"{rounds:,}",
            "-" if alpha is None else f"{alpha:.4f}",
            "-" if span is None else f"{span['low']:.3f}..{span['high']:.3f}",
            "-" if length is None else f"{length:.3f}",
        )
    return table


def _sparkline(trend: Sequence[float | None]) -> str:
    """α of consecutive stretches, where it moves steadily or far enough to see."""
    known = [a for a in trend if a is not None]
    if len(known) < 4 or max(known) - min(known) < 0.02:
        return ""
    low, span = min(known), max(known) - min(known)
    ticks = "".join(" " if a is None else TICKS[min(7, int(8 * (a - low) / span))] for a in trend)
    return f"{ticks}  {joined([known[0]])} to {joined([known[-1]])}"
