"""Policies of draft length beside the best fixed one: the verdict, a table, the bounds."""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from gammaplan.report.words import console, percent, plain, say, times
from gammaplan.shapes.adapt import AdaptResult, PolicyShape

LEGEND = "* advised   gap: to the clairvoyant, share closed   γ: drafts of one request"
NAMES = {
    "fixed_5": "fixed γ 5",
    "heuristic": "+2/−1 heuristic",
    "ema_tiers": "averaged tiers",
    "discounted": "discounted α",
    "own_alpha": "α of each request",
    "confidence_stop": "confidence stop",
    "p_min": "p-min",
    "product_stop": "product stop",
}
WHOSE = {
    "heuristic": "Transformers' schedule",
    "ema_tiers": "SGLang's adaptive steps",
    "confidence_stop": "Transformers' confidence threshold",
    "p_min": "llama.cpp's p-min",
}
LEVELS = "▁▂▃▄▅▆▇█"
MODELLED = 9  # what the share of modelled rounds takes more
FIXED = 62  # what the columns before the picture take
WIDEST, NARROWEST = 60, 8


def print_adapt(result: AdaptResult, inputs: Mapping[str, object]) -> None:
    """The verdict in a line, every policy in a row, what bounds them, and the switch."""
    out = console()
    say(out, headline(result), style="bold")
    out.print()
    out.print(_table(result, out.width))
    say(out, LEGEND)
    out.print()
    for line in notes(result):
        say(out, line)
    say(
        out,
        f"Measured on {result['tokens']:,} tokens of {result['requests']:,} request(s), the same "
        f"for every policy; seed {inputs['seed']}.",
    )


def headline(result: AdaptResult) -> str:
    """The answer in one line that can be quoted."""
    fixed = result["best_fixed"]
    against = f"fixed γ {fixed['gamma']} ({times(fixed['speedup'])})"
    if result["advised"]:
        best = next(p for p in result["policies"] if p["name"] == result["advised"])
        name, gain = NAMES[best["name"]], percent(best["gain"])
        return f"Worth it: {name} is {gain} faster than the best {against}."
    usable = [p for p in result["policies"] if p["name"] not in ("own_alpha", "fixed_5")]
    best = max(usable, key=lambda p: p["gain"])
    where = "ahead of" if best["gain"] > 0 else "behind"
    gain = percent(abs(best["gain"]))
    return f"Not worth it: {NAMES[best['name']]}, the best, is {gain} {where} {against}."


def _table(result: AdaptResult, width: int) -> Table:
    fixed, bounds = result["best_fixed"], result["bounds"]
    made_up = any(one["modelled"] for one in (fixed, *result["policies"]))
    cells = min(WIDEST, width - FIXED - MODELLED * made_up)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", width=1)
    table.add_column("policy", no_wrap=True)
    numbers = ["speedup", "gain", f"{100 * result['level']:g} % interval", "gap"]
    for name in numbers + ["modelled"] * made_up:
        table.add_column(name, justify="right", no_wrap=True)
    if cells >= NARROWEST:
        table.add_column("γ", no_wrap=True)
    top = max((n for p in result["policies"] for n in p["lengths"][:cells]), default=1)
    for policy in result["policies"]:
        chosen = policy["name"] == result["advised"]
        figures = ["*" if chosen else "", _title(policy), times(policy["speedup"])]
        figures += [_signed(policy["gain"]), _interval(policy)]
        closed = policy["gap_closed"]
        figures += ["-" if closed is None else f"{100 * closed:.0f} %"]
        figures += [_share(policy["modelled"])] if made_up else []
        figures += [picture(policy["lengths"][:cells], top)] if cells >= NARROWEST else []
        table.add_row(*map(Text, figures), style="bold green" if chosen else "")
    figures = ["", f"best fixed γ {fixed['gamma']}", times(fixed["speedup"]), "", "", ""]
    figures += [_share(fixed["modelled"])] * made_up
    table.add_row(*map(Text, figures), style="dim")
    for title, speed in (
        ("any that sees the past", bounds["causal"]),
        ("perfect confidence", bounds["perfect_confidence"]),
        ("clairvoyant", bounds["clairvoyant"]),
    ):
        if speed is not None:
            figures = ["", title, times(speed), _signed(speed / fixed["speedup"] - 1)]
            table.add_row(*map(Text, figures), style="dim")
    return table


def _title(policy: PolicyShape) -> str:
    return NAMES[policy["name"]] + ("" if policy["exact"] else "°")


def picture(lengths: list[int], top: int) -> str:
    """Draft lengths as a row of bars, the tallest being `top`; 0 is a dot."""
    return "".join("." if not n else LEVELS[min(7, 8 * (n - 1) // max(top, 1))] for n in lengths)


def _interval(policy: PolicyShape) -> str:
    low, high = policy["low"], policy["high"]
    return "" if low is None or high is None else f"{100 * low:+.1f}..{100 * high:+.1f}"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"


def notes(result: AdaptResult) -> list[str]:
    """How to switch it on, and what exactness asks for."""
    found = [_how(result)]
    if any(not p["exact"] for p in result["policies"]):
        found.append(
            "° drops a token after seeing it: exact only where the draft takes its most probable "
            "token, biased where it samples. The others verify every token that they drafted."
        )
    return found


def _how(result: AdaptResult) -> str:
    if not result["advised"]:
        return f"Keep γ at {result['best_fixed']['gamma']}."
    best = next(p for p in result["policies"] if p["name"] == result["advised"])
    shown = ", ".join(f"{key} {plain(value)}" for key, value in best["parameters"].items())
    if best["switches"]:
        switch = "; ".join(f"{engine}: {text}" for engine, text in best["switches"].items())
        return f"Switch it on with {switch} ({WHOSE[best['name']]})."
    text = f"No engine has a switch for it; its parameters: {shown}."
    near = [p for p in result["policies"] if p["switches"] and p["gain"] > 0]
    if near:
        one = max(near, key=lambda p: p["gain"])
        switch = "; ".join(f"{engine}: {text}" for engine, text in one["switches"].items())
        text += f" The nearest that has one gains {percent(one['gain'])}: {switch}."
    return text
