"""The acceptance probability from distributions, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.grids import print_grid
from gammaplan.report.words import bar, console, percent, plain, say

if TYPE_CHECKING:
    from gammaplan.shapes.alpha import AlphaResult, AlphaRow

CURVE = 24  # cells of the curve
NARROW = 6  # fewer cells are left out
SPREAD = 23  # cells of the histogram without its bars
SETTINGS = {
    "temperature": "T",
    "draft_temperature": "draft T",
    "top_k": "top-k",
    "draft_top_k": "draft top-k",
    "top_p": "top-p",
    "draft_top_p": "draft top-p",
    "min_p": "min-p",
    "draft_min_p": "draft min-p",
}
RULES = {
    "residual": "accept with probability min(1, p/q); needs q of each drafted token",
    "block": "the same at γ 1; longer drafts keep more: see simulate; needs q",
    "greedy_draft": "the draft's argmax, accepted with probability p; needs no q",
    "exact_match": "both draw on their own; needs no q",
    "argmax": "the draft's argmax if it is the target's: exact for greedy decoding alone",
    "typical": "tokens that the target finds typical enough (Medusa's settings)",
    "lenience": "accept with probability min(1, p/(l q)): no token above p/l",
}


def print_alpha(result: AlphaResult, inputs: Mapping[str, object]) -> None:
    """One answer and what is behind it, or a sweep and its curve."""
    out = console()
    rows = result["rows"]
    if len(rows) == 1:
        _print_one(out, rows[0])
    else:
        _print_sweep(out, rows)
    if inputs["rules"]:
        out.print()
        if len(rows) == 1:
            _print_rules(out, rows[0])
        else:
            _print_rules_by_row(out, rows)
    out.print()
    steps = ", ".join(step.replace("_", "-") for step in result["order"])
    say(out, f"{_over(result)}; vocabulary {result['vocab']:,}; in the order {steps}.")


def _over(result: AlphaResult) -> str:
    positions = result["positions"]
    over = "1 position" if positions == 1 else f"{positions:,} positions"
    if result["sequences"] is not None:
        over += f" of {result['sequences']:,} sequences"
    return over


def _print_one(out: Console, row: AlphaRow) -> None:
    say(out, f"α {row['alpha']:.4f}{_interval(row)} at {settings(row)}.", style="bold")
    out.print()
    table = _table("", "share", "")
    facts = {
        "total variation, 1 − α": row["tv"],
        "same argmax (α at temperature 0)": row["argmax_agreement"],
        "draft mass where the target has none": row["draft_mass_outside_target"],
        "target mass where the draft has none": row["target_mass_outside_draft"],
    }
    for name, share in facts.items():
        table.add_row(Text(name), Text(_share(share)))
    out.print(table)
    if row["positions"] > 1:
        out.print()
        _print_spread(out, row)
    out.print()
    out.print(_tokens(row))


def _print_spread(out: Console, row: AlphaRow) -> None:
    """How alpha is spread over the positions, and where it is worst."""
    most = max(row["histogram"])
    table = _table("α", "positions", "")
    parts = len(row["histogram"])
    cells = min(CURVE, max(0, out.width - SPREAD))
    for i, count in enumerate(row["histogram"]):
        span = f"{i / parts:.1f} to {(i + 1) / parts:.1f}"
        table.add_row(Text(span), Text(f"{count:,}"), Text(bar(count / most, cells)))
    out.print(table)
    quantiles = ", ".join(f"{q['alpha']:.3f}" for q in row["quantiles"])
    shares = ", ".join(f"{100 * q['share']:g}" for q in row["quantiles"])
    say(out, f"α does not exceed {quantiles} at {shares} % of the positions.")
    worst = ", ".join(f"{w['position']} ({w['alpha']:.3f})" for w in row["worst"])
    say(out, f"Worst at positions {worst}, counted from 0.")


def _tokens(row: AlphaRow) -> Table:
    real = row["positions"] > 1
    table = _table("γ", "E[tokens] at the mean α", *["along the positions"] * real)
    for tokens in row["expected_tokens"]:
        along = tokens["by_sequence"]
        cells = [str(tokens["gamma"]), f"{tokens['by_mean']:.3f}"]
        cells += ["-" if along is None else f"{along:.3f}"] * real
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _print_sweep(out: Console, rows: Sequence[AlphaRow]) -> None:
    varied = varying(rows)
    say(out, course(rows, varied), style="bold")
    out.print()
    _print_grid(out, rows, varied)


def course(rows: Sequence[AlphaRow], varied: Sequence[str]) -> str:
    """How alpha goes through the sweep, in one sentence."""
    first, last = rows[0], rows[-1]
    low = min(rows, key=lambda row: row["alpha"])
    high = max(rows, key=lambda row: row["alpha"])
    if low["alpha"] == high["alpha"]:
        return f"α is {low['alpha']:.4f} in every row."
    said = (
        f"α goes from {first['alpha']:.4f} at {settings(first, varied)} to {last['alpha']:.4f} "
        f"at {settings(last, varied)}"
    )
    between = [
        f"{name} {row['alpha']:.4f} at {settings(row, varied)}"
        for name, row in (("lowest", low), ("highest", high))
        if row["alpha"] not in (first["alpha"], last["alpha"])
    ]
    return f"{'; '.join([said, *between])}."


def varying(rows: Sequence[AlphaRow]) -> list[str]:
    """The settings that differ between rows."""
    names = [n for n in SETTINGS if len({row["labels"].get(n) for row in rows}) > 1]
    return names or ["temperature"]


def _print_grid(out: Console, rows: Sequence[AlphaRow], varied: Sequence[str]) -> None:
    low, high = (end(row["alpha"] for row in rows) for end in (min, max))
    several = any(row["interval"] for row in rows)
    names = ["α", "± ", "same argmax", "q outside p", "p outside q"]
    heads = [*(SETTINGS[n] for n in varied), *(n.strip() for n in names if n != "± " or several)]
    room = out.width - 10 * len(varied) - (60 if several else 50)
    if room >= NARROW:
        heads += [f"{low:.3f} … {high:.3f}"]
    lines = []
    for row in rows:
        cells = [_value(row, name) for name in varied]
        cells += [f"{row['alpha']:.4f}"]
        if several:
            cells += [_half_width(row)]
        cells += [_share(row["argmax_agreement"])]
        cells += [_share(row["draft_mass_outside_target"])]
        cells += [_share(row["target_mass_outside_draft"])]
        if room >= NARROW:
            cells += [_dot(row["alpha"], low, high, min(CURVE, room))]
        lines.append(cells)
    left = [len(heads) - 1] if room >= NARROW else []
    print_grid(out, heads, lines, keys=len(varied), left=left)


def _dot(alpha: float, low: float, high: float, cells: int) -> str:
    """A point on the line from the lowest alpha to the highest."""
    at = round((cells - 1) * (alpha - low) / (high - low)) if high > low else 0
    return "·" * at + "●"


def _print_rules(out: Console, row: AlphaRow) -> None:
    lines = []
    for name, rule in row["rules"].items():
        off = "-" if rule["distortion"] is None else percent(rule["distortion"], 2)
        lossless = "yes" if rule["lossless"] else "no"
        lines.append([name.replace("_", " "), f"{rule['alpha']:.4f}", lossless, off, RULES[name]])
    print_grid(out, ("rule", "α", "lossless", "off p by", ""), lines, left=[0], prose=True)


def _print_rules_by_row(out: Console, rows: Sequence[AlphaRow]) -> None:
    varied = varying(rows)
    names = [name for name in rows[0]["rules"] if name != "block"]  # it repeats the residual α
    lossless = {name: rows[0]["rules"][name]["lossless"] for name in names}
    heads = [name.replace("_", " ") + "!" * (not lossless[name]) for name in names]
    lines = [
        [_value(row, name) for name in varied]
        + [f"{row['rules'][name]['alpha']:.4f}" for name in names]
        for row in rows
    ]
    print_grid(out, [*(SETTINGS[n] for n in varied), *heads], lines, keys=len(varied))
    say(out, "α by rule; ! changes what is emitted")


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if not i or not head else "right")
    return table


def settings(row: AlphaRow, names: Sequence[str] | None = None) -> str:
    """The settings of a row in words: all that it is labelled with, or those named."""
    chosen = names or list(row["labels"])
    return ", ".join(
        f"{name.replace('_', ' ') if name.endswith('temperature') else SETTINGS[name]} "
        f"{_value(row, name)}"
        for name in chosen
    )


def _value(row: AlphaRow, name: str) -> str:
    value = row["labels"].get(name)
    return plain(value) if isinstance(value, int | float) else "-"


def _interval(row: AlphaRow) -> str:
    interval = row["interval"]
    if interval is None:
        return ""
    level = f"{100 * interval['level']:g} %"
    return f" ({level}: {interval['low']:.4f} to {interval['high']:.4f})"


def _half_width(row: AlphaRow) -> str:
    interval = row["interval"]
    return "-" if interval is None else f"{(interval['high'] - interval['low']) / 2:.4f}"


def _share(share: float) -> str:
    return percent(share) if share == 0 or share >= 0.0005 else f"{100 * share:.1g} %"
