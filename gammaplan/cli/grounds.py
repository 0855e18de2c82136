"""What a plan rests on: every assumption, and the figure that would narrow it most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gammaplan.documents.writing import finite
from gammaplan.model.planning import Predicted, predicted
from gammaplan.report.plain import printable

if TYPE_CHECKING:
    from gammaplan.cli.deciding import Search
    from gammaplan.cli.evidence import Case
    from gammaplan.cli.subjects import Given, Subject
    from gammaplan.model.calibration import Calibration
    from gammaplan.shapes.answers import OptimumResult
    from gammaplan.shapes.parts import AcceptanceShape, CostShape
    from gammaplan.shapes.planning import AssumptionShape, NarrowShape

UNUSED = "not used, priors by engine predicted worse"
WORTH = 0.98  # × the width of an interval: what leaves more of it narrows nothing
# Which option sets an assumption of a calibration.
OPTIONS = {
    "alpha": "--alpha",
    "c": "--c",
    "alpha_first": "--pooled-rate",
    "decay": "--survival",
    "cost_of_one": "--run",
    "cost_power": "--run",
    "run_noise": "--runs",
}


def assumptions(
    subject: Subject, case: Case, optimum: OptimumResult, search: Search
) -> list[AssumptionShape]:
    """Every number that the answer rests on, where it comes from and which option sets it."""
    found: list[AssumptionShape] = []

    def add(name: str, value: float | None, source: str, option: str | None) -> None:
        said = printable(source)
        found.append({"name": name, "value": finite(value), "source": said, "option": option})

    given = case.of_hits or case
    sources, law, cost = subject.cases.sources, given.acceptance_shape, given.cost_shape
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
            measured = sources["c"] == "runs"
            add("round_cost", None, sources["c"], "--mix" if measured else "--c")
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


def narrows(subject: Subject, case: Case, ahead: Predicted, best: int | None) -> NarrowShape | None:
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
    subject: Subject, found: Calibration, ahead: Predicted, at: int
) -> NarrowShape | None:
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
    width, then_width = _width(ahead, at), _width(narrow, at)
    if then_width > WORTH * width:
        return None
    return {
        "figure": "mean_length",
        "option": "--mean-length",
        "width": width,
        "then": then_width,
    }


def _width(ahead: Predicted, gamma: int) -> float:
    speed, low, high = ahead.at(gamma)
    return 0.0 if low is None or high is None else (high - low) / speed
