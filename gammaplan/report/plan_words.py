"""The sentences of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gammaplan.report.words import lengths, percent, plain, times

if TYPE_CHECKING:
    from gammaplan.shapes.planning import PlanResult, PlanRow

WHY = {
    "prior": "a run there replaces the prior, for acceptance and cost at once",
    "best_unmeasured": "the best by prediction, and not measured",
    "interval": "its interval reaches above the best",
    "cliff": "costs have steps that only a run at that length sees",
    "could_pay": "the length that could still pay",
}
NAMES = {
    "alpha": "α",
    "alpha_first": "α of the first position",
    "decay": "fall of acceptance with position",
    "cost_of_one": "extra cost of one drafted token",
    "cost_power": "growth of the cost with γ",
    "run_noise": "noise of a run",
    "c": "c",
    "overhead": "overhead",
    "verify_slope": "verify slope",
    "round_cost": "round costs",
    "beyond": "α of later positions",
    "max_gamma": "longest draft",
    "hit_rate": "share of rounds that draft",
    "method": "prior by method",
    "prior_engine": "prior by engine",
}
FIGURES = {
    "round_cost": "what a round costs (--c, or a run)",
    "acceptance": "an acceptance figure (--alpha, or a report)",
    "mean_length": "an acceptance figure of the run (--mean-length or --pooled-rate)",
}


def headline(result: PlanResult) -> str:
    """The answer in one line that can be quoted."""
    gamma, speed = result["gamma"], result["speedup"]
    who = f" with {result['drafts'][0]['name']}" if result["drafts"] else ""
    who += " for the mix" if result["workloads"] else ""
    if gamma is None:
        top = "without limit" if speed is None else f"towards {times(speed)}"
        return f"No best γ{who}: longer drafts are always faster, {top}."
    band = lengths(result["band"]["low"], result["band"]["high"])
    if gamma == 0:
        return f"Use γ = 0{who}: do not speculate; no length is predicted to pay."
    row = _best(result)
    span = ""
    if row and row["low"] is not None and row["high"] is not None:
        span = f" (80 %: {row['low']:.2f} to {row['high']:.2f})"
    near = f"; γ {band} within {percent(result['band']['tolerance'], 0)}"
    return f"Use γ = {gamma}{who}: {times(speed)}{span}{near if band != str(gamma) else ''}."


def _best(result: PlanResult) -> PlanRow | None:
    return next((row for row in result["rows"] if row["best"]), None)


def surroundings(result: PlanResult) -> list[str]:
    """What surrounds the answer, a line each: times, drafts, workloads, intervals."""
    return [
        *_plain(result),
        *_speed(result),
        *_tied(result),
        *_mix(result),
        *_uncertain(result),
        *_in_use(result),
    ]


def after(result: PlanResult) -> list[str]:
    """What to measure next."""
    return [*_next(result), *_narrows(result)]


def _plain(result: PlanResult) -> list[str]:
    band = result["band"]
    if band["plain"] and result["gamma"]:
        return [f"γ 0 is within {percent(band['tolerance'], 0)} too: speculation hardly pays."]
    return []


def _speed(result: PlanResult) -> list[str]:
    found, row = [], _best(result)
    if row and row["tps"] is not None and row["ms_per_token"] is not None:
        found.append(f"{row['tps']:.4g} tokens/s, {row['ms_per_token']:.4g} ms per token.")
    end = result["end_to_end"]
    if end:
        found.append(
            f"End to end, {end['output_tokens']:,} tokens after {end['prefill_ms']:g} ms of "
            f"prefill: {times(end['speedup'])}, {end['total_ms']:,.0f} ms instead of "
            f"{end['plain_ms']:,.0f}."
        )
    return found


def _tied(result: PlanResult) -> list[str]:
    tied = [draft["name"] for draft in result["drafts"] if draft["tied"]]
    if len(result["drafts"]) < 2:
        return []
    if len(tied) < 2:
        margin = "the intervals"
        if all(draft["low"] is None for draft in result["drafts"]):
            margin = f"{percent(result['band']['tolerance'], 0)}, and no interval was given"
        return [f"{tied[0]} is ahead of the others by more than {margin}."]
    return [f"{', '.join(tied[:-1])} and {tied[-1]} cannot be told apart: measure both."]


def _mix(result: PlanResult) -> list[str]:
    each = result["gamma_per_workload"]
    if each is None:
        return []
    gain = "nothing" if not each["gain"] or each["gain"] < 5e-4 else percent(each["gain"])
    return [
        f"A γ for each workload would give {times(each['speedup'])}: it adds {gain}.",
        "Shares are of the tokens generated, so times per token add up (a harmonic mean).",
    ]


def _uncertain(result: PlanResult) -> list[str]:
    span, robust = result["interval"], result["robust"]
    if span is None or robust is None:
        return []
    found = [
        f"Over the {100 * span['level']:g} % interval on α the best is γ "
        f"{lengths(span['gamma_low'], span['gamma_high'])}; γ {robust['gamma']} never loses more "
        f"than {percent(robust['worst_regret'])}."
    ]
    if always := result["always_within"]:
        found.append(
            f"Within {percent(result['band']['tolerance'], 0)} over all of it: γ {_runs(always)}."
        )
    if needed := result["rounds_needed"]:
        found.append(f"About {needed:,} more rounds would tell the best from its neighbour.")
    return found


def _runs(values: list[int]) -> str:
    """Whole numbers with runs joined: 0, 3..5."""
    found: list[list[int]] = []
    for value in values:
        if found and value == found[-1][1] + 1:
            found[-1][1] = value
        else:
            found.append([value, value])
    return ", ".join(lengths(low, high) for low, high in found)


def _in_use(result: PlanResult) -> list[str]:
    use = result["in_use"]
    if use is None or use["loss"] is None or use["gamma"] == result["gamma"]:
        return []
    if use["loss"] < 5e-4:
        return [f"γ {use['gamma']}, in use, is as good."]
    return [
        f"γ {use['gamma']}, in use, is predicted at {times(use['speedup'])}, "
        f"{percent(use['loss'])} below the best."
    ]


def _next(result: PlanResult) -> list[str]:
    return [f"Next run: γ {run['gamma']}: {WHY[run['why']]}." for run in result["next_runs"]]


def _narrows(result: PlanResult) -> list[str]:
    found = result["narrows"]
    if found is None:
        return []
    return [
        f"What would narrow it most: {FIGURES[found['figure']]}; the interval shrinks from "
        f"{percent(found['width'], 0)} to {percent(found['then'], 0)} of the speedup."
    ]


def assumed(result: PlanResult) -> list[tuple[str, str, str]]:
    """Every assumption: what and how much, from where, and the option that sets it."""
    return [
        (
            NAMES.get(item["name"], item["name"])
            + ("" if item["value"] is None else f" {plain(item['value'])}"),
            item["source"],
            item["option"] or "",
        )
        for item in result["assumptions"]
    ]
