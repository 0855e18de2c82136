"""What a picture shows beyond the document: curves of the laws that a result states."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gammaplan.cli.values import Lengths

if TYPE_CHECKING:
    from gammaplan.shapes.answers import TableRow
    from gammaplan.shapes.parts import CountsShape

SHOWN, MOST_SHOWN = 12, 48  # lengths of a curve: at least to this one, in so many steps
CEILING_SHOWN = 24

Result = Mapping[str, Any]  # Any: results of several commands


def _speedups(part: Result, inputs: Result) -> Result:
    """The speedup of every length to beyond the best, from the laws that the result states."""
    use = part["in_use"]
    marked = [use["gamma"]] if use else []
    return {"rows": _table_rows(part, _shown(part["gamma"] or 0, *marked)), "optimum": part}


def _explained(part: Result, inputs: Result) -> Result:
    """The calibrated curve on which a run lies."""
    best = {"gamma": part["best"]["gamma"], "speedup": part["best"]["speedup"]}
    longest = max(best["gamma"] or 0, part["gamma"])
    stated = {**part, **best, "band": {"low": None, "high": None}}
    marked = best["gamma"] or 0, part["gamma"]
    return {"rows": _table_rows(stated, _shown(longest, *marked))}


def _table_rows(part: Result, lengths: Lengths) -> "list[TableRow]":
    """The rows of `table` for the laws and the best that a result states."""
    from gammaplan.cli.evidence import Case
    from gammaplan.cli.table import table_result
    from gammaplan.documents.reading import acceptance_from, cost_from

    law, cost = part["acceptance"], part["costs"][0]
    case = Case({}, acceptance_from(law), law, cost_from(cost), cost)
    optimum: Any = part  # Any: as far as table_result reads it
    return table_result(case, optimum, lengths)["rows"]


def _shown(longest: int, *marked: int) -> Lengths:
    """Lengths to beyond the longest that matters, with those that are marked among them."""
    last = max(SHOWN, 2 * longest)
    within = [gamma for gamma in (longest, *marked) if gamma <= last]
    return Lengths(sorted({*range(0, last + 1, -(-last // MOST_SHOWN)), *within}))


def _tokens(part: Result, inputs: Result) -> Result:
    """The tokens per round that rise to the ceiling."""
    from gammaplan.documents.reading import acceptance_from

    lengths = list(range(CEILING_SHOWN + 1))
    expected = acceptance_from(part["acceptance"]).expected_tokens(lengths).tolist()
    pairs = zip(lengths, expected, strict=True)
    return {"rows": [{"gamma": gamma, "expected_tokens": total} for gamma, total in pairs]}


def _costs(part: Result, inputs: Result) -> Result:
    """Each cost as a table of lengths, a line that the document states too."""
    from gammaplan.documents.reading import cost_from

    longest = max((row["gamma"] for row in part["rows"]), default=0)
    lengths = list(_shown(longest))
    tables = []
    for cost in part["costs"]:
        totals = [] if cost["table"] else cost_from(cost).round_cost(lengths).tolist()
        line = [{"gamma": g, "round_cost": t} for g, t in zip(lengths, totals, strict=False)]
        tables.append(cost["table"] or line)
    return {"tables": tables}


def _hazards(part: Result, inputs: Result) -> Result:
    """The interval of each position's acceptance."""
    counts: CountsShape | None = part["counts"]
    reached = counts and counts["accepted_at_least"]
    if not counts or not reached or not part["hazards"]:
        return {"hazard_intervals": []}
    from gammaplan.model.intervals import clopper_pearson

    found: list[dict[str, float] | None] = []
    for i, (accepted, hazard) in enumerate(zip(reached, part["hazards"], strict=True)):
        trials = round(accepted / hazard) if hazard else _tried(counts, i)
        span = clopper_pearson(accepted, trials - accepted, inputs["level"]) if trials else None
        found.append({"low": span.low, "high": span.high} if span else None)
    return {"hazard_intervals": found}


def _tried(counts: "CountsShape", i: int) -> int | None:
    """How many rounds reached position i and drafted it, if every round drafted as far."""
    drafted, reached = counts["drafted_at_least"], counts["accepted_at_least"]
    if not drafted or not reached or drafted[i] != counts["rounds"]:
        return None
    return reached[i - 1] if i else counts["rounds"]


ADDED: Mapping[str, Callable[[Result, Result], Result]] = {
    "optimum": _speedups,
    "ceiling": _tokens,
    "fit": _hazards,
    "cost": _costs,
    "explain": _explained,
}


def with_curves(command: str, result: Result, inputs: Result) -> Result:
    """The result, each part of it with the curve that its picture shows and it does not hold."""
    add = ADDED.get(command)
    if add is None:
        return result
    if "groups" in result and "pooled" not in result:
        return {**result, "groups": [{**part, **add(part, inputs)} for part in result["groups"]]}
    return {**result, **add(result, inputs)}
