"""Where the time of a round goes, in one screen: the verdict, the parts, what would be needed."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from gammaplan.report.words import bar, percent, plain, say, say_each, times
from gammaplan.shapes.planning import ExplainResult

PARTS = {
    "target": "one target pass",
    "draft": "drafting",
    "verify": "extra verification",
    "overhead": "fixed overhead, as given",
    "unexplained": "unexplained overhead",
}
UNTIMED = "everything else (not timed)"
LEVERS = {
    "every token accepted": "every drafted token accepted",
    "no draft": "free drafting",
    "no verify": "verification as cheap as a plain pass",
    "no overhead": "no fixed overhead",
    "no unexplained": "no unexplained overhead",
}
VERDICTS = {
    "baseline_suspect": "a round seems cheaper than a plain pass, which cannot be: check the "
    "baseline",
    "pays": "it pays, and no other γ is clearly better",
    "pays_wrong_gamma": "it pays, and γ {best} should pay more, about {best_speedup}",
    "wrong_gamma": "it loses at this γ; γ {best} should pay, about {best_speedup}",
    "acceptance_too_low": "it loses: almost nothing is accepted",
    "draft_too_slow": "it loses: drafting costs more than it brings",
    "verification_too_slow": "it loses: verifying several tokens is too expensive",
    "overhead_too_high": "it loses: most of the extra time is neither drafting nor verification",
    "round_too_slow": "it loses: a round costs more than it brings; time its parts to see which",
}
WIDTH = 20


def print_explain(result: ExplainResult, inputs: Mapping[str, object]) -> None:
    """The explanation, or that of each group."""
    say_each(result, _print_one)


def _print_one(out: Console, result: ExplainResult) -> None:
    """The verdict in one line, the speeds, the parts of a round and what would be needed."""
    say(out, headline(result), style="bold")
    for line in reasons(result):
        say(out, line)
    out.print()
    out.print(_parts(result))
    if result["levers"] and not doubtful(result):
        out.print()
        out.print(_levers(result))


def reasons(result: ExplainResult) -> list[str]:
    """The speeds and, where the run can be believed, what would be needed: a line each."""
    if doubtful(result):
        return [_speeds(result)]
    return [_speeds(result), _best(result), _needed(result)]


def doubtful(result: ExplainResult) -> bool:
    """Whether the run itself cannot be right."""
    return result["verdict"] == "baseline_suspect"


def headline(result: ExplainResult) -> str:
    """The verdict in one sentence that can be quoted."""
    best = result["best"]
    longest = "without limit" if best["gamma"] is None else f"{best['gamma']}"
    text = VERDICTS[result["verdict"]].format(best=longest, best_speedup=times(best["speedup"]))
    speed = result["measured_speedup"]
    if speed is None:
        return f"γ {result['gamma']} promises {times(_promised(result))}: {text}."
    return f"γ {result['gamma']} runs at {times(speed)}: {text}."


def _promised(result: ExplainResult) -> float:
    return result["mean_length"] / result["round_cost"]


def _speeds(result: ExplainResult) -> str:
    text = f"A round emits {plain(result['mean_length'])} tokens (α {plain(result['alpha'], 3)}) "
    text += f"and costs {plain(result['round_cost'])} target passes."
    text += f" {_textbook(result)}"
    if result["timed_speedup"] is not None:
        text += f"; drafting and verification as timed, {times(result['timed_speedup'])}"
    if result["measured_speedup"] is not None:
        text += f"; measured, {times(result['measured_speedup'])}"
    return text + "."


def _textbook(result: ExplainResult) -> str:
    book, given = result["textbook"], []
    text = f"The textbook, 1 + cγ, promises {times(book['speedup'])}"
    if book["kind"] == "prior":
        given.append(f"c {plain(book['c'], 2)}, of public sweeps (--c replaces it)")
    if result["acceptance"].get("kind") == "prior":
        given.append(f"α {plain(result['alpha'], 3)}, of public sweeps (--alpha replaces it)")
    if book["low"] is not None and book["high"] is not None:
        text += f" (80 %: {times(book['low'])} to {times(book['high'])})"
    return f"{text} with {' and '.join(given)}" if given else text


def _best(result: ExplainResult) -> str:
    best = result["best"]
    if best["gamma"] == 0:
        return "Best γ for this cost: 0, do not speculate."
    if best["gamma"] is None:
        return "Best γ for this cost: the longer the better."
    return f"Best γ for this cost: {best['gamma']}, {times(best['speedup'])}."


def _needed(result: ExplainResult) -> str:
    needed, gamma = result["needed"], result["gamma"]
    what = "break even" if needed["goal"] == 1 else f"reach {times(needed['goal'])}"
    if needed["alpha"] is None and needed["c"] is None:
        return f"To {what} at γ {gamma}: neither acceptance nor a cheaper draft alone is enough."
    ways = []
    if needed["alpha"] is not None:
        ways.append(f"α of {plain(needed['alpha'], 3)}")
    if needed["c"] is not None:
        ways.append(f"c of {plain(needed['c'], 3)}")
    text = f"To {what} at γ {gamma} takes {' or '.join(ways)}"
    if needed["alpha"] is None:
        text += "; acceptance alone is not enough"
    if needed["c"] is None:
        text += "; a cheaper draft alone is not enough"
    return text + "."


def _parts(result: ExplainResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    timed = any(part["ms"] is not None for part in result["parts"])
    table.add_column("Where a round goes")
    for name in ("passes", "share", *(["ms"] if timed else [])):
        table.add_column(name, justify="right")
    table.add_column("", no_wrap=True)
    for part, name in zip(result["parts"], part_names(result), strict=True):
        cells = [name, f"{part['target_passes']:.3f}", percent(part["share"], 0)]
        cells += [f"{part['ms']:.2f}" if part["ms"] is not None else "-"] if timed else []
        table.add_row(*cells, bar(part["share"], WIDTH))
    return table


def part_names(result: ExplainResult) -> list[str]:
    """What the parts of a round are called, given which of them were timed."""
    known = {part["name"] for part in result["parts"]}
    rest = UNTIMED if "draft" not in known else "verification and overhead"
    names = PARTS if {"draft", "verify"} <= known else PARTS | {"unexplained": rest}
    return [names[part["name"]] for part in result["parts"]]


def _levers(result: ExplainResult) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"At most, at γ {result['gamma']}, with")
    table.add_column("speedup", justify="right")
    timed = {part["name"] for part in result["parts"]} >= {"draft", "verify"}
    for lever in result["levers"]:
        name = LEVERS[lever["change"]]
        if lever["change"] == "no unexplained" and not timed:
            name = "a round as cheap as its known parts"
        table.add_row(name, times(lever["speedup"]))
    return table
