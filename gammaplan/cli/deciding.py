"""One decision a case: shared by the commands that look for the best draft length."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gammaplan.cli.evidence import Case, Cases
from gammaplan.documents.writing import optimum_result
from gammaplan.errors import Finding
from gammaplan.model.curve import curve
from gammaplan.model.decision import Band, Decision, decide
from gammaplan.model.levers import break_even, levers, reference_gamma

if TYPE_CHECKING:
    from gammaplan.model.uncertainty import Uncertainty
    from gammaplan.shapes.answers import OptimumResult

DEFAULT_TOLERANCE = 0.03


class Search(NamedTuple):
    """What a decision may consider, and the length in use today."""

    max_gamma: int | None
    tolerance: float | None
    in_use: int | None = None


def answer(
    cases: Cases,
    search: Search,
    *,
    require_speedup: float | None,
    in_band: int | None,
    shape: Callable[[Case, "OptimumResult"], Mapping[str, Any]] = lambda _, optimum: optimum,
) -> tuple[dict[str, Any], list[str]]:
    """The result of a command over its cases, and the gates that failed.

    One case answers at the top, several in `groups`, each in the form that
    `shape` gives it.
    """
    cases.note_option("max_gamma", search.max_gamma)
    cases.note_option("tolerance", search.tolerance, DEFAULT_TOLERANCE)
    tolerance = DEFAULT_TOLERANCE if search.tolerance is None else search.tolerance
    parts, failed = [], []
    for case in cases.cases:
        decision = decide(
            case.acceptance, case.cost, max_gamma=search.max_gamma, tolerance=tolerance
        )
        optimum = _optimum(case, decision, search)
        labels = {"labels": dict(case.labels)} if len(cases.cases) > 1 else {}
        parts.append({**labels, **shape(case, optimum)})
        cases.findings += _findings(case, decision)
        if search.in_use is not None and _in_use(case, search) is None:
            from gammaplan.data.findings import finding

            cases.findings.append(finding("in_use_unknown", gamma=search.in_use))
        failed += _gates(decision, optimum, require_speedup, in_band)
    return (parts[0] if len(parts) == 1 else {"groups": parts}), failed


def _optimum(case: Case, decision: Decision, search: Search) -> "OptimumResult":
    assert case.cost_shape is not None  # gather() saw to it
    law, cost = case.acceptance, case.cost
    use = _in_use(case, search)
    return optimum_result(
        decision,
        levers=levers(law, cost, decision, in_use=use, max_gamma=search.max_gamma),
        break_even=break_even(law, cost, reference_gamma(decision, use)),
        uncertainty=_uncertainty(case, decision, search),
        in_use=None if use is None else (use, float(curve(law, cost, use).speedup)),
        acceptance=case.acceptance_shape,
        cost=case.cost_shape,
    )


def _in_use(case: Case, search: Search) -> int | None:
    """The length in use, where its cost is known."""
    use = case.gamma if search.in_use is None else search.in_use
    known = use is None or math.isfinite(float(case.cost.round_cost(use)))
    return use if known else None


def _uncertainty(case: Case, decision: Decision, search: Search) -> "Uncertainty | None":
    """What the interval on alpha does to the answer, where the evidence brings one."""
    interval, counts = case.acceptance_shape["interval"], case.acceptance_shape["counts"]
    alpha = case.acceptance_shape["alpha"]
    if interval is None or alpha is None:
        return None
    from gammaplan.model.uncertainty import under_uncertainty

    return under_uncertainty(
        case.acceptance,
        case.cost,
        (interval["low"], interval["high"]),
        decision,
        alpha=alpha,
        rounds=counts["rounds"] if counts else None,
        max_gamma=search.max_gamma,
    )


def _findings(case: Case, decision: Decision) -> list[Finding]:
    if not (decision.unbounded or decision.extrapolated or decision.at_limit):
        return []
    from gammaplan.data.findings import finding

    found = []
    if decision.unbounded:
        top = "infinity" if math.isinf(decision.speedup) else f"{decision.speedup:.4g}×"
        found.append(finding("unbounded", supremum=top))
    if decision.extrapolated:
        beyond = case.acceptance_shape["beyond"]
        found.append(
            finding(
                "extrapolated",
                gamma="without limit" if decision.unbounded else int(decision.gamma),
                observed_to=case.acceptance.observed_to,
                beyond="the last" if beyond is None else f"{beyond:.4g}",
            )
        )
    if decision.at_limit:
        found.append(finding("search_limit", gamma=int(decision.gamma)))
    return found


def _band(band: Band) -> str:
    if math.isnan(band.low):
        return "there is no band, longer drafts are always faster"
    return (
        f"the band is {band.low:g} {'and longer' if math.isinf(band.high) else f'to {band.high:g}'}"
    )


def _gates(
    decision: Decision, optimum: "OptimumResult", speedup: float | None, length: int | None
) -> list[str]:
    """The gates that fail; a speedup is required of the interval's lower end, if there is one."""
    failed = []
    interval = optimum["interval"]
    low = interval["speedup_low"] if interval else None
    if (
        speedup is not None
        and min(decision.speedup, decision.speedup if low is None else low) < speedup
    ):
        least = "" if low is None else f", {low:.4g}× at the interval's lower end"
        failed.append(f"--require-speedup {speedup:g}: the best is {decision.speedup:.4g}×{least}")
    if length is not None and not (
        length in decision.band or (length == 0 and decision.band.plain)
    ):
        band = decision.band
        failed.append(f"--require-gamma-in-band {length}: {_band(band)}")
    return failed
