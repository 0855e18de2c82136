"""An estimate in a terminal: the line to quote, each pass by its parts, and what it rests on."""

from rich.console import Console
from rich.table import Table

from gammaplan.report.words import console, percent, plain, say
from gammaplan.shapes.estimates import EstimateShape, PartTimes
from gammaplan.shapes.planning import CostResult

MOST_BATCHES = 6
QUOTED = 4


def print_estimate(result: CostResult) -> None:
    """The costs in one line, the passes by their parts, then what the answer rests on."""
    out = console()
    estimate = result["estimate"]
    say(out, headline(result), style="bold")
    say(out, _turn(estimate))
    out.print()
    out.print(_table(estimate))
    say(out, "n: tokens of each sequence in a pass; * bound by computing, the rest by memory")
    out.print()
    _print_facts(out, estimate)


def headline(result: CostResult) -> str:
    """The answer in one line that can be quoted."""
    parts = []
    for cost in result["costs"][:3]:
        row = next((r for r in cost["table"] if r["gamma"] == QUOTED), cost["table"][-1])
        low, high = plain(row["low"], 3), plain(row["high"], 3)
        parts.append(f"{plain(row['round_cost'], 3)} ({low} to {high}) at batch {cost['batch']}")
    gamma = min(QUOTED, result["costs"][0]["table"][-1]["gamma"])
    return f"Estimated: a round of γ {gamma} costs {', '.join(parts)}, in plain target passes."


def _turn(estimate: EstimateShape) -> str:
    turn = estimate["turn"]
    text = (
        f"Up to {turn['weights']:,.0f} tokens in a pass (batch × n) reading the weights outlasts "
        "computing with them"
    )
    if turn["experts"] is None:
        return f"{text}, so more tokens cost little more."
    return (
        f"{text}; routed experts are read as tokens choose them, so more tokens cost more until "
        f"all are read, and turn at {turn['experts']:,.0f}."
    )


def _table(estimate: EstimateShape) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    routed = any(p["experts"]["memory"] for p in estimate["passes"])
    names = ("batch", "n", "ms", "V(n)", "weights", *(["experts"] if routed else []))
    for name in (*names, "attention", "overhead"):
        table.add_column(name, justify="right", no_wrap=True)
    batches = list(dict.fromkeys(p["batch"] for p in estimate["passes"]))[:MOST_BATCHES]
    for row in estimate["passes"]:
        if row["batch"] not in batches or row["tokens"] not in (1, 5, 9):
            continue
        figures = [f"{row['batch']:,}", f"{row['tokens']}", f"{row['ms']:.4g}"]
        figures += [f"{row['relative']:.3f}", _part(row["weights"])]
        figures += [_part(row["experts"])] if routed else []
        table.add_row(*figures, _part(row["attention"]), f"{row['overhead']:.3g}")
    return table


def _part(part: PartTimes) -> str:
    longer = max(part["memory"], part["compute"])
    return f"{longer:.3g}" + ("*" if part["compute"] > part["memory"] else " ")


def _print_facts(out: Console, estimate: EstimateShape) -> None:
    target, device = estimate["target"], estimate["device"]
    models = f"{target['name']}: {target['parameters'] / 1e9:.4g}e9 parameters"
    if target["active"] < 0.9 * target["parameters"]:
        models += f", {target['active'] / 1e9:.3g}e9 for one token"
    say(out, f"{models}, {target['kv_bytes'] / 1024:.4g} KiB of cache a token.")
    if estimate["draft"]:
        ms = estimate["drafting"][0]
        size = f"{estimate['draft']['parameters'] / 1e9:.3g}e9 parameters"
        say(out, f"{estimate['draft']['name']}: {size}, {ms['ms']:.3g} ms a pass.")
    many = f"{device['devices']} × " if device["devices"] > 1 else ""
    say(
        out,
        f"{many}{device['name']}: {device['bandwidth'] / 1e9:,.0f} GB/s, "
        f"{device['flops'] / 1e12:,.4g} TFLOPS, {device['memory'] / 1e9:,.4g} GB "
        f"({device['source']}).",
    )
    how = "by --target-ms" if estimate["calibrated"] else "--target-ms calibrates it"
    say(out, f"Efficiency {percent(estimate['efficiency'])} of both speeds ({how}).")
    for row in estimate["room"]:
        held = f"{row['weights'] / 1e9:.1f} + {row['cache'] / 1e9:.1f} GB"
        fits = "fit" if row["fits"] else "DO NOT FIT"
        say(out, f"Batch {row['batch']}: weights and cache {held} {fits} each device.")
