"""Results of the model as documents: plain dictionaries, no NaN, no infinity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gammaplan import __version__
from gammaplan.errors import Finding
from gammaplan.model.cost import LinearCost

if TYPE_CHECKING:
    from gammaplan.model.acceptance import Acceptance
    from gammaplan.model.cost import Cost
    from gammaplan.model.decision import Band, Decision
    from gammaplan.model.estimate import Counts
    from gammaplan.model.intervals import Interval
    from gammaplan.model.levers import BreakEven, Lever
    from gammaplan.model.uncertainty import Uncertainty
    from gammaplan.shapes.answers import (
        AnswerIntervalShape,
        BandShape,
        BreakEvenShape,
        HelpShape,
        OptimumResult,
    )
    from gammaplan.shapes.parts import (
        AcceptanceShape,
        Change,
        CostKind,
        CostShape,
        CountsShape,
        IntervalShape,
        Labels,
    )

FITTED_LENGTHS = 32  # round costs written out for a fitted curve, or twice the longest run
IMPLIED_POSITIONS = 8  # survival shown for a law that was given, not measured


def finite(value: float | None) -> float | None:
    """`value`, or None where it is NaN or infinite: JSON has neither."""
    return None if value is None or not math.isfinite(value) else float(value)


def whole(value: float | None) -> int | None:
    """`value` as an int, or None where it is NaN or infinite."""
    return None if value is None or not math.isfinite(value) else int(value)


def document(
    command: str,
    *,
    inputs: Mapping[str, object],
    sources: Mapping[str, str],
    result: Mapping[str, object],
    findings: Iterable[Finding],
) -> dict[str, object]:
    """The envelope that every command prints (docs/json.md)."""
    return {
        "schema": f"gammaplan.{command}/1",
        "generator": f"gammaplan {__version__}",
        "inputs": dict(inputs),
        "sources": dict(sources),
        "result": dict(result),
        "warnings": [f.to_dict() for f in findings],
    }


def to_json(value: object) -> str:
    """One JSON document in ASCII; raises ValueError rather than write NaN or infinity."""
    import json

    return json.dumps(value, allow_nan=False, indent=2)


def acceptance_shape(law: Acceptance, *, counts: Counts | None = None) -> AcceptanceShape:
    """How drafts are accepted, as evidence for later commands."""
    shown = law.observed_to or IMPLIED_POSITIONS
    return {
        "model": law.model,
        "parameters": law.parameters,
        "alpha": law.alpha,
        "survival": law.survival(range(1, shown + 1)).tolist(),
        "observed_to": law.observed_to,
        "beyond": law.beyond,
        "counts": None if counts is None else counts_shape(counts),
        "interval": None,
        "bounds": None,
    }


def interval_shape(interval: Interval) -> IntervalShape:
    """A confidence interval and how it was made."""
    return {
        "level": interval.level,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
    }


def counts_shape(counts: Counts) -> CountsShape:
    """Counts as JSON; null where the source does not say."""
    return {
        "rounds": counts.rounds,
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "accepted_at_least": _listed(counts.accepted_at_least),
        "drafted_at_least": _listed(counts.drafted_at_least),
        "full_accepts": counts.full_accepts,
        "rejections": counts.rejections,
    }


def _listed(values: tuple[int, ...] | None) -> list[int] | None:
    return None if values is None else list(values)


def cost_shape(
    cost: Cost, *, kind: CostKind, source: str | None = None, labels: Labels | None = None
) -> CostShape:
    """What a round costs, as evidence for later commands."""
    linear = cost if isinstance(cost, LinearCost) else None
    labels = labels or {}
    return {
        "batch": _label(labels, "batch"),
        "context": _label(labels, "context"),
        "kind": kind,
        "c": linear.c if linear else None,
        "overhead": linear.overhead if linear else None,
        "verify_slope": linear.verify_slope if linear else None,
        "table": [{"gamma": gamma, "round_cost": passes} for gamma, passes in _rows(cost)],
        "source": source,
        "worst_residual": None,
    }


def _rows(cost: Cost) -> Iterable[tuple[int, float]]:
    if isinstance(cost, LinearCost):
        return ()
    from gammaplan.model.cost_tables import BlockCost, PowerCost, TableCost

    if isinstance(cost, BlockCost):
        return enumerate(cost.round_cost(range(1, cost.block + 1)).tolist(), 1)
    if isinstance(cost, TableCost):
        return zip(cost.gammas, cost.round_costs, strict=True)
    if isinstance(cost, PowerCost):
        last = max([FITTED_LENGTHS, *(2 * gamma for gamma, _ in cost.steps)])
        return enumerate(cost.round_cost(range(1, last + 1)).tolist(), 1)
    return ()


def _label(labels: Labels, key: str) -> int | None:
    value = labels.get(key)
    return value if isinstance(value, int) else None


def band_shape(band: Band) -> BandShape:
    """The band; `high` null where it never ends, both ends null where there is none."""
    return {
        "tolerance": band.tolerance,
        "low": whole(band.low),
        "high": whole(band.high),
        "plain": band.plain,
        "gaps": [{"low": int(first), "high": int(last)} for first, last in band.gaps],
    }


def break_even_shape(point: BreakEven) -> BreakEvenShape:
    """The break-even points of one draft length."""
    return {
        "at_gamma": int(point.gamma),
        "alpha": finite(point.alpha),
        "c": finite(point.c),
        "gamma": finite(point.last_gamma),
    }


_CHANGES: dict[str, Change] = {"gamma": "gamma", "alpha": "alpha + 0.05", "c": "c / 2"}


def help_shape(lever: Lever) -> HelpShape:
    """One lever and what it gains."""
    return {
        "change": _CHANGES[lever.change],
        "gamma": whole(lever.gamma),
        "speedup": finite(lever.speedup),
        "gain": finite(lever.gain),
        "best_gamma": whole(lever.best_gamma),
        "best_speedup": finite(lever.best_speedup),
    }


def optimum_result(
    decision: Decision,
    *,
    levers: Iterable[Lever],
    break_even: BreakEven,
    in_use: tuple[int, float] | None,
    uncertainty: Uncertainty | None,
    acceptance: AcceptanceShape,
    cost: CostShape,
) -> OptimumResult:
    """A decision with what surrounds it."""
    share = decision.speedup / decision.ceiling if math.isfinite(decision.ceiling) else None
    if math.isinf(decision.speedup):
        share = None
    return {
        "gamma": whole(decision.gamma),
        "speedup": finite(decision.speedup),
        "expected_tokens": finite(decision.expected_tokens),
        "gamma_continuous": finite(decision.gamma_continuous),
        "speedup_continuous": finite(decision.speedup_continuous),
        "band": band_shape(decision.band),
        "ceiling": finite(decision.ceiling),
        "share_of_ceiling": share,
        "unbounded": decision.unbounded,
        "break_even": break_even_shape(break_even),
        "c_range": {"low": decision.c_range[0], "high": finite(decision.c_range[1])}
        if decision.c_range
        else None,
        "helps": [help_shape(lever) for lever in levers],
        "in_use": {
            "gamma": in_use[0],
            "speedup": in_use[1],
            "loss": finite(1 - in_use[1] / decision.speedup),
        }
        if in_use
        else None,
        "interval": answer_interval(uncertainty, acceptance["interval"]),
        "robust": {"gamma": uncertainty.robust_gamma, "worst_regret": uncertainty.worst_regret}
        if uncertainty
        else None,
        "rounds_needed": uncertainty.rounds_needed if uncertainty else None,
        "acceptance": acceptance,
        "costs": [cost],
    }


def answer_interval(
    uncertainty: Uncertainty | None, interval: IntervalShape | None
) -> AnswerIntervalShape | None:
    """The best length and the speedup at the ends of the interval on alpha."""
    if uncertainty is None or interval is None:
        return None
    return {
        "level": interval["level"],
        "gamma_low": whole(uncertainty.gamma_low),
        "gamma_high": whole(uncertainty.gamma_high),
        "speedup_low": finite(uncertainty.speedup_low),
        "speedup_high": finite(uncertainty.speedup_high),
    }
