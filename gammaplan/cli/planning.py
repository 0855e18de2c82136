"""The plan of one set-up: a decision a case, its predictions, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search, answer
from gammaplan.cli.subjects import FITTED
from gammaplan.documents.writing import finite, whole
from gammaplan.model.curve import curve
from gammaplan.model.decision import decide
from gammaplan.model.planning import (
    LEVEL,
    Predicted,
    always_within,
    end_to_end,
    lengths_shown,
    next_runs,
    predicted,
)
from gammaplan.report.plain import printable

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.cli.subjects import Given, Subject
    from gammaplan.model.runs import Run
    from gammaplan.shapes.answers import OptimumResult
    from gammaplan.shapes.parts import AcceptanceShape, CostShape
    from gammaplan.shapes.planning import (
        ApartShape,
        AssumptionShape,
        EndToEndShape,
        NarrowShape,
        PlanResult,
        PlanRow,
        WorkloadShape,
    )

# Which option sets an assumption of a calibration.
OPTIONS = {
    "alpha": "--alpha",
    "c": "--c",
    "alpha_first": "--pooled-rate",
    "decay": "--survival",
    "cost_of_one": "--run",
    "cost_power": "--run",
}
UNUSED = "not used, priors by engine predicted worse"
HARMONIC = "tokens, harmonic: time per token adds up"


class Times(NamedTuple):
    """What turns speedups into times: the plain speed, and a whole request."""

    baseline_tps: float | None = None
    prefill_ms: float | None = None
    output_tokens: int | None = None

    def check(self) -> None:
        """Raise unless a request is stated whole."""
        if (self.prefill_ms is None) != (self.output_tokens is None):
            there, missing = "--prefill-ms", "--output-tokens"
            if self.prefill_ms is None:
                there, missing = missing, there
            raise typer.BadParameter(f"{there} needs {missing} beside it")
        if self.prefill_ms is not None and self.baseline_tps is None:
            raise typer.BadParameter(
                "--prefill-ms needs --baseline-tps (or --baseline-ms): the plain speed"
            )


def plan_of(
    subject: Subject, search: Search, times: Times
) -> tuple[list[PlanResult], dict[str, Any]]:
    """The plan of every case of one subject, and the whole as one result."""

    def shape(case: Case, optimum: OptimumResult) -> PlanResult:
        return _part(subject, case, optimum, search, times)

    result, _ = answer(subject.cases, search, require_speedup=None, in_band=None, shape=shape)
    parts: list[PlanResult] = result.get("groups") or [result]
    return parts, result


def _part(
    subject: Subject, case: Case, optimum: OptimumResult, search: Search, times: Times
) -> PlanResult:
    runs = subject.given.runs
    best, band = optimum["gamma"], optimum["band"]
    lengths = lengths_shown(best, band["high"], {run.gamma for run in runs}, search.max_gamma)
    spreads = subject.spreads(case)
    ahead = predicted(case.acceptance, case.cost, lengths, spreads)
    kinds = {case.acceptance_shape.get("kind"), case.cost_shape and case.cost_shape["kind"]}
    unknown = "prior" in kinds
    return {
        **optimum,
        "rows": _rows(case, optimum, ahead, runs, times),
        "prediction": {"level": LEVEL, "covers": _covers(subject, case)} if spreads else None,
        "always_within": _always_within(case, search, lengths),
        "end_to_end": _end_to_end(optimum["speedup"], times),
        "next_runs": [
            {"gamma": g, "why": why}
            for g, why in next_runs(
                best, ahead, {run.gamma for run in runs}, search.max_gamma, unknown=unknown
            )
        ],
        "narrows": _narrows(subject, case, ahead, best),
        "assumptions": _assumptions(subject, case, optimum, search),
        "schedule": [],
        "batches": [],
        "crossover": None,
        "drafts": [],
        "workloads": _workloads(subject, case, best, search),
        "gamma_per_workload": _apart(subject, case, optimum["speedup"], search),
        "settings": {},
        "checks": {},
    }


def _rows(
    case: Case, optimum: OptimumResult, ahead: Predicted, runs: Sequence[Run], times: Times
) -> list[PlanRow]:
    band = optimum["band"]
    low, high = band["low"], band["high"]
    gaps = [range(gap["low"], gap["high"] + 1) for gap in band["gaps"]]
    rows: list[PlanRow] = []
    for point in curve(case.acceptance, case.cost, ahead.gammas).rows():
        gamma, tokens, cost, _ = point
        speed, below, above = ahead.at(gamma)
        tps = None if times.baseline_tps is None else finite(speed * times.baseline_tps)
        rows.append(
            {
                "gamma": gamma,
                "speedup": finite(speed),
                "low": finite(below),
                "high": finite(above),
                "expected_tokens": tokens,
                "round_cost": finite(cost),
                "measured": _measured(runs, gamma),
                "in_band": low is not None
                and low <= gamma
                and (high is None or gamma <= high)
                and not any(gamma in gap for gap in gaps),
                "best": gamma == optimum["gamma"],
                "tps": tps,
                "ms_per_token": 1e3 / tps if tps else None,
            }
        )
    return rows


def _measured(runs: Sequence[Run], gamma: int) -> float | None:
    """The geometric mean of the speedups measured at a length."""
    logs = [math.log(run.speedup) for run in runs if run.gamma == gamma]
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def _covers(subject: Subject, case: Case) -> list[str]:
    if id(case) in subject.calibrations:
        return ["acceptance", "cost", "run"]
    covers = []
    known = case.acceptance_shape
    if known.get("kind") == "prior" or known["interval"] or subject.mix:
        covers.append("acceptance")
    if case.cost_shape and case.cost_shape["kind"] == "prior":
        covers += ["cost", "run"]
    elif case.cost_shape and case.cost_shape["kind"] in FITTED:
        covers.append("run")
    return covers


def _always_within(case: Case, search: Search, lengths: Sequence[int]) -> list[int]:
    span, alpha = case.acceptance_shape["interval"], case.acceptance_shape["alpha"]
    if span is None or alpha is None:
        return []
    tolerance = DEFAULT_TOLERANCE if search.tolerance is None else search.tolerance
    return always_within(
        case.acceptance,
        case.cost,
        (span["low"], span["high"]),
        lengths,
        alpha=alpha,
        tolerance=tolerance,
        max_gamma=search.max_gamma,
    )


def _end_to_end(speed: float | None, times: Times) -> EndToEndShape | None:
    if times.prefill_ms is None or times.output_tokens is None or times.baseline_tps is None:
        return None
    token, fast = 1e3 / times.baseline_tps, math.inf if speed is None else speed
    whole_ = times.prefill_ms + times.output_tokens * token
    gain = end_to_end(fast, token, times.prefill_ms, times.output_tokens)
    return {
        "speedup": gain,
        "output_tokens": times.output_tokens,
        "prefill_ms": times.prefill_ms,
        "plain_ms": whole_,
        "total_ms": whole_ / gain,
    }


def _narrows(
    subject: Subject, case: Case, ahead: Predicted, best: int | None
) -> NarrowShape | None:
    """The one figure that would narrow the prediction most, where a prior stands for one."""
    at = best or min(3, int(ahead.gammas[-1]))
    if at not in ahead.gammas:
        return None
    if (found := subject.calibrations.get(id(case))) is not None:
        return _narrows_runs(subject, found, ahead, at)
    cost_is_prior = bool(case.cost_shape and case.cost_shape["kind"] == "prior")
    law_is_prior = case.acceptance_shape.get("kind") == "prior"
    if not (cost_is_prior or law_is_prior):
        return None
    figure = ("round_cost", "--c") if cost_is_prior else ("acceptance", "--alpha")
    from gammaplan.model.unmeasured import measured_spread

    spreads = subject.spreads(case)
    kept = [
        *(spreads[:-1] if cost_is_prior else spreads[1:]),
        measured_spread(subject.given.method),
    ]
    then = predicted(case.acceptance, case.cost, [at], kept)
    return {
        "figure": figure[0],
        "option": figure[1],
        "width": _width(ahead, at),
        "then": _width(then, at),
    }


def _narrows_runs(
    subject: Subject,
    found: Any,
    ahead: Predicted,
    at: int,  # Any: a calibration, loaded when needed
) -> NarrowShape | None:
    from dataclasses import replace

    from gammaplan.model.calibration import calibrate
    from gammaplan.model.prediction import spread

    runs = list(subject.given.runs)
    if subject.given.documents or subject.given.alpha is not None:
        return None  # the evidence is that figure
    if found.measured is None or any(r.tokens() is not None or r.survival for r in runs):
        return None
    tokens = found.acceptance.expected_tokens([run.gamma for run in runs])
    known = [replace(r, mean_length=float(t)) for r, t in zip(runs, tokens, strict=True)]
    then = calibrate(known, method=subject.given.method)
    measured = then.measured
    if measured is None:
        return None
    narrow = predicted(
        found.acceptance, found.cost, [at], [lambda gammas: (spread(measured, gammas),) * 2]
    )
    return {
        "figure": "mean_length",
        "option": "--mean-length",
        "width": _width(ahead, at),
        "then": _width(narrow, at),
    }


def _width(ahead: Predicted, gamma: int) -> float:
    speed, low, high = ahead.at(gamma)
    return 0.0 if low is None or high is None else (high - low) / speed


def _assumptions(
    subject: Subject, case: Case, optimum: OptimumResult, search: Search
) -> list[AssumptionShape]:
    """Every number that the answer rests on, where it comes from and which option sets it."""
    found: list[AssumptionShape] = []

    def add(name: str, value: float | None, source: str, option: str | None) -> None:
        said = printable(source)
        found.append({"name": name, "value": finite(value), "source": said, "option": option})

    sources, law, cost = subject.cases.sources, case.acceptance_shape, case.cost_shape
    calibration = subject.calibrations.get(id(case))
    if calibration is not None:
        for item in calibration.assumptions:
            add(item.name, item.value, item.source, OPTIONS.get(item.name))
    else:
        if law.get("kind") == "prior":
            add("alpha_first", law["survival"][0], "prior", "--alpha")
        elif subject.workloads:
            add("alpha", None, "each workload", "--mix")
        else:
            add("alpha", law["alpha"], sources["alpha"], "--alpha")
        if cost and cost["kind"] == "prior":
            add("cost_of_one", cost["table"][0]["round_cost"] - 1, "prior", "--c")
        elif cost and cost["table"]:
            add("round_cost", None, sources["c"], "--c")
        elif cost:
            add("c", cost["c"], sources["c"], "--c")
            add("overhead", cost["overhead"], sources["overhead"], "--overhead")
            add("verify_slope", cost["verify_slope"], sources["verify_slope"], "--verify-slope")
    for name, value, source in _said_with(subject.given, law, cost, calibration is not None):
        add(name, value, source, f"--{name.replace('_', '-')}")
    reached, best = case.acceptance.observed_to, optimum["gamma"]
    if reached is not None and law["beyond"] is not None and (best is None or best >= reached):
        add("beyond", law["beyond"], f"past position {reached}", None)
    if search.max_gamma is not None:
        add("max_gamma", search.max_gamma, "flag", "--max-gamma")
    return found


def _said_with(
    given: Given, law: AcceptanceShape, cost: CostShape | None, calibrated: bool
) -> Iterator[tuple[str, float | None, str]]:
    """The options that choose a prior or mix in plain rounds: name, value, source."""
    rests_on_prior = "prior" in (law.get("kind"), cost and cost["kind"])
    if given.method is not None and (rests_on_prior or (calibrated and not given.textbook)):
        yield "method", None, f"{given.method}: the prior of its family"
    if given.prior_engine is not None:
        yield "prior_engine", None, f"{given.prior_engine}: {UNUSED}"
    if given.hit_rate is not None:
        yield "hit_rate", given.hit_rate, "flag"


def _workloads(
    subject: Subject, case: Case, best: int | None, search: Search
) -> list[WorkloadShape]:
    found: list[WorkloadShape] = []
    for name, share, law in subject.workloads:
        own = decide(law, case.cost, max_gamma=search.max_gamma)
        at = math.inf if best is None else best
        there = float(curve(law, case.cost, min(at, 2.0**40)).speedup)
        found.append(
            {
                "name": name,
                "share": share,
                "gamma": whole(own.gamma),
                "speedup": finite(own.speedup),
                "speedup_at_mix": finite(there),
            }
        )
    return found


def _apart(subject: Subject, case: Case, speed: float | None, search: Search) -> ApartShape | None:
    """The speedup with the best length for each workload, against the best for the mix."""
    if not subject.workloads:
        return None
    time = math.fsum(
        share / decide(law, case.cost, max_gamma=search.max_gamma).speedup
        for _, share, law in subject.workloads
    )
    each = 1 / time if time else math.inf
    gain = each / speed - 1 if speed else None
    return {
        "weighting": HARMONIC,
        "speedup": finite(each),
        "gain": None if gain is None else max(0.0, gain),
    }
