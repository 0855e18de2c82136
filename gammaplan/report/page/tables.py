"""The tables of a page, beside that of the draft lengths, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gammaplan.report.words import joined, percent, plain, times

if TYPE_CHECKING:
    from gammaplan.report.page.facts import Answer

Table = dict[str, Any]  # Any: what JSON holds
Result: TypeAlias = Any  # Any: the result of any command that makes a page
MODELS = {
    "geometric": "one α at every position",
    "per_position": "position by position",
    "beta_geometric": "an α that varies between rounds",
}
KINDS = {
    "given": "given",
    "measured": "measured round costs",
    "fitted": "fitted to runs",
    "estimated": "estimated, not measured",
    "prior": "of public measurements, not of this system",
}


def tables(command: str, result: Result) -> list[Table]:
    """The tables of this answer alone: a schedule, drafts, workloads, the parts of a round."""
    found = [*_explained(result)] if command == "explain" else []
    if command == "plan":
        found += [*_schedule(result), *_drafts(result), *_workloads(result)]
    if helps := result.get("optimum", result).get("helps"):
        found.append(_helps(helps))
    return found


def _table(title: str, names: str, rows: Iterable[Sequence[str]], note: str = "") -> Table:
    """A table; a column whose name ends in # holds numbers."""
    columns = [{"name": n.rstrip("#"), "number": n.endswith("#")} for n in names.split("|")]
    return {"title": title, "columns": columns, "rows": [list(r) for r in rows], "note": note}


def _gamma(value: int | None) -> str:
    return "∞" if value is None else str(value)


def _schedule(result: Result) -> list[Table]:
    from gammaplan.report.schedule import batches

    rows = [
        [batches(p), _gamma(p["gamma"]), times(p["speedup"]), percent(p["loss"])]
        for p in result["schedule"]
    ]
    names = "batch#|γ#|speedup#|loses at most#"
    note = "Speedup: the smallest of the planned batches in the range."
    return [_table("By batch size", names, rows, note)] if rows else []


def _drafts(result: Result) -> list[Table]:
    ranged = any(d["low"] is not None for d in result["drafts"])
    rows = [
        [
            d["name"],
            _gamma(d["gamma"]),
            times(d["speedup"]),
            *(["" if d["low"] is None else f"{d['low']:.2f} to {d['high']:.2f}"] if ranged else []),
            "cannot be told apart from the first" if d["tied"] and i else "",
        ]
        for i, d in enumerate(result["drafts"])
    ]
    names = f"draft|γ#|speedup#|{'80 % interval#|' * ranged}"
    return [_table("Drafts compared", names, rows)] if rows else []


def _workloads(result: Result) -> list[Table]:
    rows = [
        [
            w["name"],
            percent(w["share"], 0),
            _gamma(w["gamma"]),
            times(w["speedup"]),
            times(w["speedup_at_mix"]),
        ]
        for w in result["workloads"]
    ]
    names = "workload|share#|its own γ#|speedup#|at the mix's γ#"
    return [_table("Workloads", names, rows)] if rows else []


def _helps(helps: Sequence[Mapping[str, Any]]) -> Table:
    from gammaplan.report.optimum import CHANGES

    rows = [
        [
            CHANGES[h["change"]],
            _gamma(h["gamma"]),
            "–" if h["gain"] is None else f"{100 * h['gain']:+.1f} %",
            times(h["speedup"]),
        ]
        for h in helps
    ]
    return _table("What would help", "change|at γ#|gain#|speedup#", rows)


def _explained(result: Result) -> list[Table]:
    from gammaplan.report.explain import LEVERS, doubtful, part_names

    timed = any(p["ms"] is not None for p in result["parts"])
    parts = [
        [name, f"{p['target_passes']:.3f}", percent(p["share"], 0)]
        + ([plain(p["ms"]) if p["ms"] is not None else "–"] if timed else [])
        for p, name in zip(result["parts"], part_names(result), strict=True)
    ]
    found = [_table("Where a round goes", "part|passes#|share#" + "|ms#" * timed, parts)]
    if result["levers"] and not doubtful(result):
        rows = [[LEVERS[x["change"]], times(x["speedup"])] for x in result["levers"]]
        title = f"At most, at γ {result['gamma']}"
        found.append(_table(title, "with|speedup#", rows))
    return found


def evidence(answer: Answer) -> list[list[str]]:
    """What is known of acceptance and cost, a name and a sentence each."""
    shape, law, cost = answer.result["acceptance"], answer.law, answer.cost
    known = shape["observed_to"]
    measured = "" if known is None else f", measured to position {known}"
    found = [["Acceptance", MODELS[law.model] + measured], ["α", plain(law.alpha)]]
    if shape.get("kind"):
        found[0][1] += f"; {KINDS[shape['kind']]}"
    if span := shape["interval"]:
        level = f"{100 * span['level']:g} % interval"
        found.append([level, f"{span['low']:.4f} to {span['high']:.4f}, {span['method']}"])
    if bounds := shape["bounds"]:
        found.append(["Bounds", f"{bounds['low']:.4f} to {bounds['high']:.4f}, by counting"])
    if counts := shape["counts"]:
        names = ("rounds", "drafted", "accepted", "rejections")
        told = [f"{counts[n]:,} {n}" for n in names if counts[n] is not None]
        found.append(["Counted", ", ".join(told)])
    if shape["survival"]:
        found.append(["P(all accepted so far)", joined(shape["survival"][:32])])
    found.append(["Cost", f"{KINDS[cost['kind']]}: {_terms(cost)}"])
    if cost["source"] and cost["source"] not in KINDS[cost["kind"]]:
        found.append(["Source of the cost", cost["source"]])
    return found


def _terms(cost: Mapping[str, Any]) -> str:
    if cost["table"]:
        low, high = cost["table"][0]["gamma"], cost["table"][-1]["gamma"]
        return f"a round cost for each length from γ {low} to {high}"
    named = (("c", cost["c"]), ("overhead", cost["overhead"]), ("slope", cost["verify_slope"]))
    return ", ".join(f"{name} {plain(value)}" for name, value in named if value or name == "c")


def grounds(result: Result, document: Mapping[str, Any]) -> list[Table]:
    """The assumptions, and the inputs with where each came from."""
    found = []
    if result.get("assumptions"):
        from gammaplan.report.plan_words import assumed

        found.append(_table("Assumptions", "assumed|from|set by", assumed(result)))
    rows = [
        [name, _value(value), document["sources"].get(name, "").replace("evidence:", "evidence ")]
        for name, value in document["inputs"].items()
        if value is not None
    ]
    return [*found, _table("Inputs", "input|value|from", rows)] if rows else found


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_value(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value, 6) if isinstance(value, float) else str(value)
