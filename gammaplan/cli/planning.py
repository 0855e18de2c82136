"""The plan of one set-up: a decision a case, its predictions, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search, answer
from gammaplan.cli.grounds import assumptions, narrows
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

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.cli.subjects import Subject
    from gammaplan.shapes.answers import OptimumResult
    from gammaplan.shapes.planning import (
        ApartShape,
        EndToEndShape,
        PlanResult,
        PlanRow,
        WorkloadShape,
    )

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
    measured = subject.measured
    best, band = optimum["gamma"], optimum["band"]
    lengths = lengths_shown(best, band["high"], measured, search.max_gamma)
    spreads = subject.spreads(case)
    ahead = predicted(case.acceptance, case.cost, lengths, spreads)
    kinds = {case.acceptance_shape.get("kind"), case.cost_shape and case.cost_shape["kind"]}
    unknown = "prior" in kinds
    return {
        **optimum,
        "rows": _rows(case, optimum, ahead, measured, times),
        "prediction": {"level": LEVEL, "covers": _covers(subject, case)} if spreads else None,
        "always_within": _always_within(case, search, lengths),
        "end_to_end": _end_to_end(optimum["speedup"], times),
        "next_runs": [
            {"gamma": g, "why": why}
            for g, why in next_runs(best, ahead, measured, search.max_gamma, unknown=unknown)
        ],
        "narrows": narrows(subject, case, ahead, best),
        "assumptions": assumptions(subject, case, optimum, search),
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
    case: Case,
    optimum: OptimumResult,
    ahead: Predicted,
    measured: Mapping[int, float],
    times: Times,
) -> list[PlanRow]:
    band = optimum["band"]
    low, high = band["low"], band["high"]
    gaps = [range(gap["low"], gap["high"] + 1) for gap in band["gaps"]]
    rows: list[PlanRow] = []
    for point in curve(case.acceptance, case.cost, ahead.gammas).rows:
        gamma = point["gamma"]
        speed, below, above = ahead.at(gamma)
        tps = None if times.baseline_tps is None else finite(speed * times.baseline_tps)
        rows.append(
            {
                "gamma": gamma,
                "speedup": finite(speed),
                "low": finite(below),
                "high": finite(above),
                "expected_tokens": point["expected_tokens"],
                "round_cost": point["round_cost"],
                "measured": measured.get(gamma),
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


def _covers(subject: Subject, case: Case) -> list[str]:
    if id(case) in subject.calibrations or subject.priced:
        return ["acceptance", "cost", "run"]
    covers = []
    known = (case.of_hits or case).acceptance_shape
    if known.get("kind") == "prior" or known["interval"] or subject.mix:
        covers.append("acceptance")
    if case.cost_shape and case.cost_shape["kind"] in ("prior", "estimated"):
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
