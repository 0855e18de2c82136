"""What a reported acceptance figure means, in our words and in every engine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.words import bar, console, joined, percent, plain, say

if TYPE_CHECKING:
    from gammaplan.shapes.figures import ConvertResult
    from gammaplan.shapes.parts import GammaByC

BAR = 20


class Word(Protocol):
    """An engine's word for one of our figures."""

    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def quantity(self) -> str: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


def print_convert(
    result: ConvertResult,
    inputs: Mapping[str, object],
    engines: Mapping[str, Sequence[Word]],
) -> None:
    """The answer, the other figures, the positions, which c each length is for, the engines."""
    out = console()
    say(out, headline(result), style="bold")
    if result.get("rows"):
        out.print()
        out.print(_by_gamma(result))
        say(out, "Give --gamma for one answer, and --drafted-per-round where drafts stop early.")
        return
    out.print()
    out.print(_figures(result))
    if result["hazards"]:
        out.print()
        out.print(_positions(result))
    if result["gamma_by_c"]:
        out.print()
        say(out, f"Best γ by c: {by_c(result['gamma_by_c'])}.")
    out.print()
    _print_engines(out, result, engines)


def headline(result: ConvertResult) -> str:
    """alpha, or what is known of it, in one line."""
    bounds, gamma = result["bounds"], result["gamma"]
    at = f" at γ {gamma}" if gamma else ""
    if result["alpha"] is None:
        if bounds is None:
            return f"α says nothing{at}: no token was drafted."
        certain = f"α is at least {plain(bounds['low'])}"
        if bounds["high"] < 1:
            certain = f"α is between {plain(bounds['low'])} and {plain(bounds['high'])}"
        return (
            f"{certain}{at}; which it is depends on the draft length."
            if not gamma
            else (f"{certain}{at}.")
        )
    text = f"α = {result['alpha']:.4f}{at}"
    if result["alpha_other"] is not None:
        text += f" (by the mean length alone {result['alpha_other']:.4f})"
    if bounds is not None:
        text += f"; certain without any assumption: α ≥ {plain(bounds['low'])}"
    return text + "."


def by_c(rows: Sequence[GammaByC]) -> str:
    """The best draft length as a function of c, the longest first."""
    parts = []
    for row in reversed(rows):
        if row["c_high"] is None:
            parts.append("0 from there on")
        else:
            longer = " or longer" if row["c_low"] is None else ""
            parts.append(f"{row['gamma']}{longer} below {row['c_high']:.3g}")
    return ", ".join(parts)


def _figures(result: ConvertResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column("", justify="left")
    table.add_column("", justify="right")
    for name, value in (
        ("tokens per round, bonus counted", result["mean_length"]),
        ("accepted per round, bonus not counted", result["accepted_per_round"]),
    ):
        table.add_row(name, "-" if value is None else f"{value:.4f}")
    table.add_row("accepted ÷ drafted (the printed rate)", percent(result["pooled_rate"], 2))
    return table


def _positions(result: ConvertResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("position", justify="right")
    table.add_column("given all before", justify="right")
    table.add_column("all so far", justify="right")
    table.add_column("")
    rows = zip(result["hazards"], result["survival"], strict=True)
    for i, (hazard, survival) in enumerate(rows, 1):
        given = "-" if hazard is None else f"{hazard:.3f}"
        table.add_row(str(i), given, f"{survival:.3f}", Text(bar(survival, BAR)))
    return table


def _by_gamma(result: ConvertResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("if γ was", "α is", "tokens per round"):
        table.add_column(name, justify="right")
    for row in result["rows"]:
        alpha, length = row["alpha"], row["mean_length"]
        table.add_row(
            str(row["gamma"]),
            "-" if alpha is None else f"{alpha:.4f}",
            "-" if length is None else f"{length:.4f}",
        )
    return table


MEANINGS = {
    "mean_length": "tokens per round",
    "accepted_per_round": "tokens per round less 1",
    "pooled_rate": "accepted ÷ drafted",
    "survival": "all so far, by position",
    "hazards": "given all before, by position",
    "rate_with_bonus": "tokens per round ÷ (γ + 1)",
}


def _print_engines(
    out: Console, result: ConvertResult, engines: Mapping[str, Sequence[Word]]
) -> None:
    """Each figure that engines print, its value here, and what they call it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("which is", max_width=18)  # leaves 45 for the longest name at 80
    table.add_column("here")
    table.add_column("what engines call it", overflow="fold")
    for quantity, meaning in MEANINGS.items():
        shown, called = "-", dict[str, list[str]]()
        for name, engine in engines.items():
            for word in engine:
                if word.quantity == quantity:
                    note = f" ({word.note})" if word.note else ""
                    called.setdefault(word.label + note, []).append(name)
                    shown = _shown(result["engines"][name][word.label])
        names = "\n".join(f"{', '.join(names)}: {label}" for label, names in called.items())
        if called:
            table.add_row(meaning, shown, Text(names))
    out.print(table)


def _shown(value: float | Sequence[float | None] | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, Sequence):
        return joined(value[:2]) + (" …" if len(value) > 2 else "")
    return f"{value:.4f}"
