"""From inputs to the result of a fit: used by fit, and by every command that takes a report."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gammaplan.data.findings import finding
from gammaplan.documents.writing import acceptance_shape, counts_shape, interval_shape
from gammaplan.engines.files import Input, together
from gammaplan.engines.groups import MOST_LISTED, Collected, Group, clusters_of, may_pool, sparse
from gammaplan.engines.times import utc
from gammaplan.errors import DomainError, Finding
from gammaplan.model.estimate import Counts
from gammaplan.model.estimation import Estimate, estimate
from gammaplan.model.reported import gamma_by_c
from gammaplan.shapes.figures import FitFigures, FitResult, PeriodShape
from gammaplan.shapes.parts import GammaByC

FEW_ROUNDS = 30
FEWEST_BLOCKS_SHOWN = 4
BY_CLUSTER = ("mle", "mean_length")  # methods whose interval may be that of the clusters
PRINTED = 0.005  # what rounding adds to a printed length


class Assumed(NamedTuple):
    """What the user says of the drafts that the inputs do not."""

    gamma: int | None = None
    full_drafts: bool = False
    level: float = 0.95


class Fitted(NamedTuple):
    """The result of a fit and what there is to say about it."""

    result: FitResult
    findings: list[Finding]


def fitted(inputs: Sequence[Input], assumed: Assumed) -> Fitted:
    """The figures of every group and, where they may be added up, of all together."""
    said = together(inputs)
    stated = assumed.gamma is not None
    findings = [f for f in said.findings if not (stated and f.code == "gamma_assumed")]
    groups = [_stated(g, assumed) for g in said.told()]
    pooled = may_pool(groups)
    listed = list(said.listed.values())
    apart = any(g.repeated for g in listed)  # in no group, and listed beside them
    shown = groups + listed if apart else listed or groups
    parts = [_figures([_stated(g, assumed)], assumed, named=True) for g in shown]
    whole = _figures(groups if pooled else [], assumed, named=False)
    for figures in [whole] if pooled else parts:
        findings += _figure_findings(figures, assumed)
    findings += _group_findings(groups, said, assumed, pooled=pooled)
    if any(f["interval"] and f["method"] in BY_CLUSTER for f in ([whole] if pooled else parts)):
        findings += sparse(groups)
    read = [i for i in inputs if not i.failure]
    engine, form = _one({i.engine for i in read}), _one({i.format for i in read})
    result: FitResult = {
        **whole,
        "period": _period(inputs),
        "pooled": pooled,
        "groups": parts,
        "engine": engine,
        "format": form,
    }
    return Fitted(result, _once(findings))


def _period(inputs: Sequence[Input]) -> PeriodShape | None:
    """Between which samples the counters of all inputs were differenced."""
    known = [i.period for i in inputs if i.period]
    if not known:
        return None
    return {
        "start": utc(min(p.start for p in known)),
        "end": utc(max(p.end for p in known)),
        "scrapes": sum(p.scrapes for p in known),
        "processes": sum(p.processes for p in known),
    }


def _one(names: set[str | None]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _once(findings: Sequence[Finding]) -> list[Finding]:
    return list({(f.code, f.origin): f for f in reversed(findings)}.values())[::-1]


def _stated(group: Group, assumed: Assumed) -> Group:
    """The group with the draft length that the user states, where it has none of its own."""
    if assumed.gamma is None:
        return group
    group = group.restated(assumed.gamma)
    total = group.total
    if total.gamma == assumed.gamma:
        return group
    longest = _longest(total, group.mean_length)
    if longest > assumed.gamma:
        raise DomainError(
            f"--gamma states the longest draft, and the input has drafts of {longest} tokens, "
            f"got {assumed.gamma}"
        )
    if total.gamma is not None and not assumed.full_drafts:
        return group
    return replace(group, counts=replace(total, gamma=assumed.gamma), pairs={})


def _longest(counts: Counts, mean_length: float | None) -> int:
    """The least that the longest draft can have been."""
    known = [counts.gamma or 0, len(counts.accepted_at_least or ()), int(bool(counts.drafted))]
    if counts.rounds:
        known.append(-(-max(counts.drafted or 0, counts.accepted or 0) // counts.rounds))
    if mean_length is not None:
        known.append(math.ceil(mean_length - 1 - PRINTED))
    return max(known)


def _figures(groups: Sequence[Group], assumed: Assumed, *, named: bool) -> FitFigures:
    """The figures of groups that add up; of none, an empty set of them."""
    usable = bool(groups) and not any(g.tree or g.unusable for g in groups)
    total = _added(groups)
    length = _average(groups)
    found = _estimate(groups, total, length, assumed) if usable else None
    counts = found.counts if found else total
    law = found.acceptance if found else None
    rate = counts.pooled_rate
    if rate is None and groups:
        rate = groups[0].rate
    figures: FitFigures = {
        "alpha": found.alpha if found else None,
        "method": found.method if found else "none",
        "interval": interval_shape(found.interval) if found and found.interval else None,
        "bounds": {"low": found.bounds[0], "high": found.bounds[1]}
        if found and found.bounds
        else None,
        "gamma": counts.gamma,
        "mean_length": counts.mean_length if length is None else length,
        "pooled_rate": rate,
        "hazards": list(counts.hazards or ()),
        "survival": list(counts.survival or ()),
        "counts": counts_shape(counts) if counts != Counts(gamma=counts.gamma) else None,
        "constancy": None,
        "gamma_by_c": _by_c(counts, found),
        "trend": _trend(groups),
        "acceptance": acceptance_shape(law, counts=counts) if law else None,
    }
    if found and found.constancy and found.constancy.df:
        test = found.constancy
        figures["constancy"] = {
            "statistic": test.statistic,
            "df": test.df,
            "p_value": test.p_value,
            "direction": test.direction,
        }
    if figures["acceptance"] and found:
        figures["acceptance"]["interval"] = figures["interval"]
        figures["acceptance"]["bounds"] = figures["bounds"]
        figures["acceptance"]["alpha"] = found.alpha
    if named:
        figures["labels"] = dict(groups[0].labels)
    _add_idle(figures, counts, sum(g.idle for g in groups))
    return figures


def _add_idle(figures: FitFigures, counts: Counts, idle: int) -> None:
    """Rounds that drafted nothing, in the tokens per round; they say nothing of alpha."""
    if not idle or counts.rounds is None or figures["counts"] is None:
        return
    every = replace(counts, rounds=counts.rounds + idle)
    figures["counts"]["rounds"] = every.rounds
    figures["mean_length"] = every.mean_length


def _added(groups: Sequence[Group]) -> Counts:
    totals = [g.total for g in groups]
    return sum(totals[1:], totals[0]) if totals else Counts()


def _average(groups: Sequence[Group]) -> float | None:
    total = sum(g.weighted[0] for g in groups)
    weight = sum(g.weighted[1] for g in groups)
    return total / weight if weight else None


def _estimate(
    groups: Sequence[Group], total: Counts, length: float | None, assumed: Assumed
) -> Estimate:
    counted = total.drafted is not None or total.rounds is not None
    full = assumed.full_drafts and counted
    known = total.rejections is not None
    clusters = clusters_of(groups, by_trials=known)
    return estimate(
        total, level=assumed.level, full_drafts=full, mean_length=length, clusters=clusters
    )


def _by_c(counts: Counts, found: Estimate | None) -> list[GammaByC]:
    """Which length is best for which c, as far as positions were measured."""
    if found is None or found.acceptance is None or not counts.gamma:
        return []
    law = found.acceptance
    measured = counts.per_position if counts.hazards else None
    if measured is not None and measured.observed_to == counts.gamma:
        law = measured
    rows = gamma_by_c(law, counts.gamma)
    return [{"gamma": g, "c_low": low, "c_high": high} for g, low, high in rows]


def _trend(groups: Sequence[Group]) -> list[float | None]:
    """One alpha a block, in order, for one group whose records are consecutive."""
    if len(groups) != 1:
        return []
    rows = groups[0].sums.trials.array()
    if len(rows) < FEWEST_BLOCKS_SHOWN:
        return []
    with np.errstate(invalid="ignore"):
        return [None if np.isnan(a) else float(a) for a in rows[:, 0] / rows[:, 1]]


def _figure_findings(figures: FitFigures, assumed: Assumed) -> list[Finding]:
    """What the figures of one group make worth saying."""
    found: list[Finding] = []
    counts, bounds, gamma = figures["counts"], figures["bounds"], figures["gamma"]
    rounds = counts["rounds"] if counts else None
    drafted = counts["drafted"] if counts else None
    if counts and counts["accepted"] == 0 and drafted:
        found.append(finding("zero_accepted", drafted=f"{drafted:,}"))
    if rounds and 0 < rounds < FEW_ROUNDS:
        found.append(finding("few_drafts", rounds=rounds))
    longest = gamma or (len(counts["drafted_at_least"] or ()) if counts else 0)
    if rounds and drafted and longest and drafted < rounds * longest:
        mean = f"{drafted / rounds:.2f}"
        found.append(finding("variable_draft_length", mean=mean, gamma=longest))
    elif rounds and drafted and not longest and drafted % rounds and figures["method"] != "none":
        mean = f"{drafted / rounds:.2f}"
        found.append(finding("variable_draft_length", mean=mean, gamma="an unknown length"))
    if figures["method"] == "nearly_full_drafts" and bounds:
        low, high = (f"{bounds[end]:.4f}" for end in ("low", "high"))
        found.append(finding("nearly_full_drafts", low=low, high=high))
    known = drafted or figures["pooled_rate"] is not None or figures["mean_length"] is not None
    open_ = rounds is None or (figures["method"] == "bounds" and not longest)
    if figures["alpha"] is None and gamma is None and open_ and known:
        found.append(finding("gamma_unknown"))
    if assumed.full_drafts:
        found.append(finding("full_drafts_asserted"))
    test, law = figures["constancy"], figures["acceptance"]
    if test and law and test["direction"] != "constant":
        model = {
            "per_position": "the measured positions",
            "beta_geometric": "a mixture of rounds",
            "geometric": "one α",
        }[law["model"]]
        how = {"rising": "rises", "falling": "falls", "uneven": "is uneven"}[test["direction"]]
        p_value = f"{test['p_value']:.2g}"
        found.append(finding("alpha_not_constant", direction=how, p_value=p_value, model=model))
    return found


def _group_findings(
    groups: Sequence[Group], said: Collected, assumed: Assumed, *, pooled: bool
) -> list[Finding]:
    found: list[Finding] = []
    other = {g.total.gamma for g in groups} - {None, assumed.gamma}
    if assumed.gamma and other:
        lengths = " and ".join(map(str, sorted(g for g in other if g)))
        found.append(finding("gamma_known", stated=assumed.gamma, gammas=lengths))
    if not groups and said.empty:
        found.append(finding("zero_drafts", records=f"{said.empty} record(s)"))
    if len(groups) > 1:
        gammas = {g.total.gamma for g in groups}
        names = "; ".join(_name(g) for g in groups[:4]) + ("; …" if len(groups) > 4 else "")
        if len(gammas) > 1 or len({g.labels.get("type") for g in groups}) > 1:
            known = [str(g) for g in sorted(g for g in gammas if g is not None)]
            shown = " and ".join([*known, "unknown"] if None in gammas else known)
            found.append(finding("mixed_gamma", gammas=shown))
        found.append(finding("multi_series", kind="groups", names=names))
        if not pooled:
            found.append(finding("not_pooled"))
    if len(said.listed) >= MOST_LISTED:
        found.append(finding("many_groups", limit=f"{MOST_LISTED:,}"))
    return found


def _name(group: Group) -> str:
    labels = ", ".join(f"{k}={v}" for k, v in group.labels.items())
    gamma = group.total.gamma
    return (labels or "unnamed") + (f", γ {gamma}" if gamma else "")
