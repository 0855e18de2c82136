"""Rounds that were played out, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console

from gammaplan.report.grids import print_grid
from gammaplan.report.words import bar, console, named, parts, percent, plain, say

if TYPE_CHECKING:
    from gammaplan.shapes.simulate import RuleShape, SimulatedRow, SimulateResult

WIDTH = 24  # cells of a bar
NARROW = 6  # a shorter bar is left out
FIGURES = 44  # cells of the figures beside it
ROWS = 24  # rows of the table; the rest is summed up in one


def print_simulation(result: SimulateResult, inputs: Mapping[str, object]) -> None:
    """Tokens per round beside the formula, or rules beside what they should emit."""
    out = console()
    for part in parts(result):
        if part.get("labels"):
            say(out, named(part["labels"]), style="bold")
        (_print_rules if part["rules"] else _print_law)(out, part)


def _print_law(out: Console, part: SimulateResult) -> None:
    alpha = part["acceptance"] and part["acceptance"]["alpha"]
    given = f"γ {part['gamma']}" if alpha is None else f"α {plain(alpha)}, γ {part['gamma']}"
    error, expected = part["standard_error"], part["expected_tokens"]
    spread = "" if error is None else f" ± {error:.4f}"
    say(
        out,
        f"{part['measured_tokens']:.4f}{spread} tokens per round ({given}); "
        f"the formula says {expected:.4f}.",
        style="bold",
    )
    out.print()
    _print_histogram(out, part["rows"])
    out.print()
    apart = ""
    if error and expected is not None:
        off = abs(part["measured_tokens"] - expected) / error
        apart = f", {off:.1f} standard errors from the formula"
    say(
        out,
        f"{part['rounds']:,} rounds from seed {part['seed']}{apart}. Every verified token drew a "
        "random number of its own; none came from the formula.",
    )


def _print_rules(out: Console, part: SimulateResult) -> None:
    rules = part["rules"]
    say(out, _verdict(rules, out.width), style="bold")
    out.print()
    heads, lines = ("rule", "α", "tokens per round", "formula", "p", "output"), []
    for rule in rules:
        error, expected = rule["standard_error"], rule["expected_tokens"]
        tokens = f"{rule['measured_tokens']:.4f}"
        tokens += "" if error is None else f" ± {error:.4f}"
        figures = [rule["name"], _number(rule["alpha"]), tokens, _number(expected)]
        lines.append([*figures, _p_value(rule["p_value"]), _output(rule)])
    print_grid(out, heads, lines, left=[0], prose=True)
    out.print()
    say(
        out,
        f"{part['rounds']:,} rounds a rule from seed {part['seed']}, γ {part['gamma']}, over "
        f"{part['windows']:,} stretch{'es' * (part['windows'] != 1)} of rows. p: how often an "
        "exact rule would look this wrong by chance; below 0.0001 a rule is called lossy.",
    )


def _verdict(rules: list[RuleShape], width: int) -> str:
    """Which rules are lossless and which are not, in one line; where it is long, the first."""
    groups: dict[str, list[str]] = {}
    for rule in sorted(rules, key=lambda rule: not rule["exact"]):
        groups.setdefault(_group(rule), []).append(rule["name"])
    told = [f"{group}: {', '.join(names)}." for group, names in groups.items()]
    line = " ".join(told)
    if len(line) > width and next(iter(groups)) == "Lossless":
        return f"{told[0]} The others are lossy."
    return line


def _group(rule: RuleShape) -> str:
    if rule["lossless"] is None:
        return "Not tested"
    if not rule["lossless"]:
        return "Lossy"
    return "Lossless" if rule["exact"] else "Lossy, not seen here"


def _output(rule: RuleShape) -> str:
    """What the rule does to the output, by design and by the test."""
    if rule["lossless"] is None:
        return "not tested"
    if rule["exact"]:
        return "the target's" if rule["lossless"] else "not the target's, and should be"
    return "lossy, not seen" if rule["lossless"] else "lossy"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 1e-16" if value < 1e-16 else f"{value:.2g}"


def _print_histogram(out: Console, rows: list[SimulatedRow]) -> None:
    shown = rows if len(rows) <= ROWS else rows[: ROWS - 1]
    lines = [(f"{row['accepted']}", [row]) for row in shown]
    if len(shown) < len(rows):
        rest = rows[len(shown) :]
        lines.append((f"{rest[0]['accepted']}..{rest[-1]['accepted']}", rest))
    heads = ["accepted", "rounds", "share", "formula"]
    cells = min(WIDTH, out.width - FIGURES)
    drawn = cells >= NARROW
    figures = [[name, *_figures(some), *[bar(_share(some), cells)] * drawn] for name, some in lines]
    print_grid(out, heads + [""] * drawn, figures, left=[len(heads)])


def _figures(rows: list[SimulatedRow]) -> list[str]:
    expected = sum(row["expected_share"] for row in rows)
    rounds = sum(row["rounds"] for row in rows)
    return [f"{rounds:,}", percent(_share(rows), 2), percent(expected, 2)]


def _share(rows: list[SimulatedRow]) -> float:
    return sum(row["share"] for row in rows)
