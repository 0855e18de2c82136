"""The best draft length in one line, why, and what would help most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gammaplan.report.words import console, lengths, named, parts, percent, plain, say, times

if TYPE_CHECKING:
    from gammaplan.shapes.answers import OptimumResult
    from gammaplan.shapes.parts import CostShape

CHANGES = {
    "gamma": "move γ to the best",
    "alpha + 0.05": "raise α by 0.05",
    "c / 2": "halve c",
}


def print_optimum(result: OptimumResult, inputs: Mapping[str, object]) -> None:
    """The answer, or the answer of each group."""
    out = console()
    for i, part in enumerate(parts(result)):
        if i:
            out.print()
        if part.get("labels"):
            say(out, named(part["labels"]), style="bold")
        print_one(out, part)


def print_one(out: Console, result: OptimumResult) -> None:
    """One answer: the line to quote, why, and the levers."""
    say(out, headline(result), style="bold")
    for line in reasons(result):
        say(out, line)
    if result["helps"]:
        out.print()
        out.print(_levers(result))


def headline(result: OptimumResult) -> str:
    """The answer in one line that can be quoted."""
    given = _given(result)
    if result["unbounded"]:
        top = (
            "without limit" if result["speedup"] is None else f"towards {times(result['speedup'])}"
        )
        return f"No best γ: longer drafts are always faster, {top} ({given})."
    if result["gamma"] == 0:
        return f"γ = 0 is best: do not speculate ({given})."
    return f"γ = {result['gamma']} is best: {times(result['speedup'])} ({given})."


def _given(result: OptimumResult) -> str:
    law = result["acceptance"]
    if law["model"] == "geometric":
        acceptance = f"α {plain(law['alpha'])}"
    elif law["model"] == "beta_geometric":
        acceptance = f"a mixture fitted to {law['observed_to']} positions, α {plain(law['alpha'])}"
    else:
        acceptance = f"{law['observed_to']} measured positions, α {plain(law['alpha'])}"
    return f"{acceptance}, {priced(result['costs'][0])}"


def priced(cost: CostShape) -> str:
    """A cost in a few words."""
    if cost["table"]:
        how = "estimated" if cost["kind"] == "estimated" else "measured"
        return f"{len(cost['table'])} {how} round costs"
    price = f"c {plain(cost['c'])}"
    price += f", overhead {plain(cost['overhead'])}" if cost["overhead"] else ""
    price += f", verify slope {plain(cost['verify_slope'])}" if cost["verify_slope"] else ""
    return price


def reasons(result: OptimumResult) -> list[str]:
    """The band, the continuous optimum, the ceiling and the break-even points, a line each."""
    return [
        *_interval(result),
        *_band(result),
        *_in_use(result),
        *_continuous(result),
        *_ceiling(result),
        *_range(result),
        *_break_even(result),
    ]


def _band(result: OptimumResult) -> list[str]:
    band = result["band"]
    if band["low"] is None:
        return []
    text = f"Within {percent(band['tolerance'], 0)} of it: γ {lengths(band['low'], band['high'])}"
    if band["plain"] and band["low"] > 0:
        text += ", and γ 0, apart from them"
    return [text + "."]


def _interval(result: OptimumResult) -> list[str]:
    """The answer over the interval on α, and how much more data would settle it."""
    span, robust = result["interval"], result["robust"]
    if span is None or robust is None:
        return []
    level = f"{100 * span['level']:g} %"
    low, high = times(span["speedup_low"]), times(span["speedup_high"])
    lengths_ = lengths(span["gamma_low"], span["gamma_high"])
    text = f"Over the {level} interval on α: {low} to {high}, best γ {lengths_}; "
    text += f"γ {robust['gamma']} never loses more than {percent(robust['worst_regret'])}."
    needed = result["rounds_needed"]
    if needed:
        text += f" About {needed:,} more rounds would tell the best from its neighbour."
    return [text]


def _in_use(result: OptimumResult) -> list[str]:
    use = result["in_use"]
    if use is None:
        return []
    if use["loss"] is None:
        return [f"In use: γ {use['gamma']}, {times(use['speedup'])}."]
    lost = "nothing lost" if use["loss"] < 5e-4 else f"{percent(use['loss'])} below the best"
    return [f"In use: γ {use['gamma']}, {times(use['speedup'])}, {lost}."]


def _continuous(result: OptimumResult) -> list[str]:
    real = result["gamma_continuous"]
    if real is None:
        return []
    if real == 0:
        return ["Continuous optimum: at γ 0, the speedup only falls from there."]
    return [f"Continuous optimum: γ {real:.3f}, {times(result['speedup_continuous'])}."]


def _ceiling(result: OptimumResult) -> list[str]:
    if result["ceiling"] is None:
        why = "every drafted token is accepted"
        if result["acceptance"]["model"] == "beta_geometric":
            why = "the easiest rounds of the mixture accept almost everything"
        return [f"Ceiling: none, {why}."]
    return [
        f"Ceiling: {times(result['ceiling'])} with endless free drafts; "
        f"this is {percent(result['share_of_ceiling'], 0)} of it."
    ]


def _range(result: OptimumResult) -> list[str]:
    span = result["c_range"]
    if span is None:
        return []
    if span["high"] is None:
        return [f"It stays the best while c is at least {plain(span['low'])}."]
    return [f"It stays the best for c from {plain(span['low'])} to {plain(span['high'])}."]


def _break_even(result: OptimumResult) -> list[str]:
    point = result["break_even"]
    parts = []
    if point["alpha"] is not None:
        parts.append(f"α above {plain(point['alpha'])}")
    if point["c"] is not None:
        parts.append(f"c below {plain(point['c'])}")
    text = f"γ {point['at_gamma']} pays with {' or '.join(parts)}" if parts else ""
    if point["gamma"]:
        text += "; " if text else ""
        last = int(point["gamma"])
        text += f"drafts longer than {last:,} lose" if last else "every draft loses"
    return [f"Break-even: {text}."] if text else []


def _levers(result: OptimumResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("What would help", justify="left")
    table.add_column("gain", justify="right")
    table.add_column("speedup", justify="right")
    table.add_column("then the best", justify="left")
    for item in result["helps"]:
        gain = "-" if item["gain"] is None else f"{100 * item['gain']:+.1f} %"
        best = "longer and longer" if item["best_gamma"] is None else f"γ {item['best_gamma']}"
        then = "" if item["change"] == "gamma" else f"{best}, {times(item['best_speedup'])}"
        where = f" (at γ {item['gamma']})" if item["change"] != "gamma" else ""
        if item["change"] == "gamma" and item["gamma"] is not None:
            where = f" (γ {item['gamma']})"
        table.add_row(CHANGES[item["change"]] + where, gain, times(item["speedup"]), Text(then))
    return table
