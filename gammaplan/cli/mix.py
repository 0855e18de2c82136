"""Workloads under one draft in one plan: those of --mix."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import typer

from gammaplan.cli.drafts import RUN, distinct, numbers, one_case, pairs, runs_of
from gammaplan.cli.evidence import gather_from
from gammaplan.cli.flags import NO_COST
from gammaplan.cli.inputs import read_documents
from gammaplan.cli.subjects import Given, Subject, calibrated_spread, law_spreads, priors
from gammaplan.documents.evidence import Evidence, fills
from gammaplan.documents.writing import acceptance_shape, cost_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Acceptance
from gammaplan.model.calibration import calibrate
from gammaplan.model.cost import Cost
from gammaplan.model.planning import Spread
from gammaplan.model.runs import speedups
from gammaplan.model.workloads import harmonic, mixed_acceptance, mixed_spread, shared_cost

SHARES_OFF = 1e-6  # by how much shares may miss 1: figures are rounded
WORKLOAD = ("name", "share", "evidence", "alpha", *RUN)


def mixed(texts: Sequence[str], shared: Given) -> Subject:
    """The workloads of --mix as one law of acceptance: time per token adds up."""
    if shared.alpha is not None or fills(shared.documents, "acceptance"):
        raise typer.BadParameter(
            "--mix brings the acceptance of each workload; leave out --alpha and other evidence "
            "of acceptance"
        )
    if shared.runs:
        raise typer.BadParameter("--mix and a run exclude each other; make the run a cost first")
    if shared.textbook:
        raise typer.BadParameter("--textbook is of one α, and --mix of several; leave one out")
    parts = [_workload(text, shared) for text in texts]
    distinct([part.name for part in parts], "--mix")
    total = sum(part.share for part in parts)
    if abs(total - 1) > SHARES_OFF:
        raise typer.BadParameter(f"the shares of --mix must add up to 1, got {total:g}")
    laws = [part.law for part in parts]
    shares = [part.share / total for part in parts]
    law = mixed_acceptance(laws, shares)
    shape = acceptance_shape(law)
    if all(one.observed_to is None for one in laws):
        shape["observed_to"] = None
    shape["alpha"] = None
    price = _shared_price(parts, shared)
    prior = priors(shared.method)
    cases = gather_from(
        shared.documents,
        alpha=None,
        cost=shared.cost,
        pick=shared.pick,
        law=Evidence("mix", {}, acceptance=law, acceptance_shape=shape),
        prior=lambda slot: price if slot == "cost" and price else prior(slot),
    )
    cases.findings += [f for part in parts for f in part.findings]
    cases.note("alpha", None, "mix")
    subject = Subject("", cases, shared)
    subject.workloads = [(p.name, s, p.law) for p, s in zip(parts, shares, strict=True)]
    own = [part.spreads for part in parts]
    subject.mix = mixed_spread(laws, shares, own) if any(own) else None
    subject.priced = all(part.cost for part in parts)
    subject.measured = harmonic([part.measured for part in parts], shares)
    return subject


class Workload(NamedTuple):
    """One workload of a mix; `cost` and `measured` are of its runs, where it has any."""

    name: str
    share: float
    law: Acceptance
    spreads: list[Spread]
    findings: list[Finding]
    cost: Cost | None = None
    measured: Mapping[int, float] = MappingProxyType({})


def _workload(text: str, shared: Given) -> Workload:
    found = pairs(text, "--mix", WORKLOAD)
    given = numbers(found, "--mix")
    ways = ["evidence" in found, "alpha" in found, any(key in found for key in RUN)]
    if "share" not in given or sum(ways) != 1:
        raise typer.BadParameter(
            "--mix needs name, share, and one of evidence, alpha or a run (runs=FILE, or its "
            f"figures) of each workload, got {text}"
        )
    name, share = found["name"], given["share"]
    runs, said = runs_of(found, "--mix")
    if runs:
        fit = calibrate(runs, method=shared.method)
        own = [calibrated_spread(fit)]
        return Workload(name, share, fit.acceptance, own, said, fit.cost, speedups(runs))
    cases = gather_from(
        read_documents([found["evidence"]] if "evidence" in found else []),
        alpha=given.get("alpha"),
        cost=NO_COST,
        pick=shared.pick if "evidence" in found else None,
        cost_needed=False,
    )
    one_case(Subject(name, cases, shared), "--mix")
    case = cases.cases[0]
    own = law_spreads(case, shared.method)
    return Workload(name, share, case.acceptance, own, cases.findings)


def _shared_price(parts: Sequence[Workload], shared: Given) -> Evidence | None:
    """The cost that the runs of the workloads have measured: one draft, so one cost."""
    costs = [part.cost for part in parts if part.cost]
    if not costs:
        return None
    if shared.cost.any or fills(shared.documents, "cost"):
        raise typer.BadParameter(
            "the runs of --mix state what a round costs; leave out --c and its like and evidence "
            "of a cost"
        )
    cost = shared_cost(costs)
    return Evidence("runs", {}, cost=cost, cost_shape=cost_shape(cost, kind="fitted"))
