"""Measured set-ups: the runs of each batch, with each law and cost that evidence brings to them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gammaplan.cli.evidence import Case, Cases, gather_from
from gammaplan.cli.flags import NO_COST, RunFlags
from gammaplan.cli.runs import Batch, gather_runs
from gammaplan.documents.evidence import Document, Evidence, fills, length_in_use
from gammaplan.documents.writing import acceptance_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Geometric
from gammaplan.model.cost import LinearCost
from gammaplan.model.runs import Run

if TYPE_CHECKING:
    from gammaplan.shapes.parts import Labels

FREE_LAW = Geometric(0.0)  # stands where an acceptance will be calibrated


class Answered(NamedTuple):
    """The answer of cost or explain, and the account of its inputs."""

    result: Mapping[str, Any]  # Any: one result, or groups of them
    inputs: dict[str, object]
    sources: dict[str, str]
    findings: list[Finding]


class Setup(NamedTuple):
    """The runs of one set-up; `case` is what evidence knows of it, `accepted` that it has a law."""

    labels: "Labels"
    runs: tuple[Run, ...]
    case: Case
    accepted: bool


class Setups(NamedTuple):
    """The set-ups of one command line, and the account of their inputs."""

    setups: list[Setup]
    inputs: dict[str, object]
    sources: dict[str, str]
    findings: list[Finding]


def unmeasured_case() -> Case:
    """A case whose acceptance and cost the runs are to say."""
    return Case({}, FREE_LAW, acceptance_shape(FREE_LAW), LinearCost(0.0), None)


def setups_of(
    documents: Sequence[Document],
    flags: RunFlags,
    *,
    alpha: float | None,
    gamma: int | None,
    pick: Sequence[str] | None,
) -> Setups:
    """The set-ups that runs and evidence make together."""
    in_use = length_in_use(documents) if gamma is None else gamma
    measured = gather_runs(flags, in_use, pick=pick)
    laws, prices = fills(documents, "acceptance"), fills(documents, "cost")
    accepted = alpha is not None or bool(laws)
    if accepted or prices:
        blank = unmeasured_case()
        law = Evidence("runs", {}, blank.acceptance, blank.acceptance_shape)
        cases = gather_from(
            documents,
            alpha=alpha,
            cost=NO_COST,
            pick=measured.pick,
            cost_needed=False,
            law=None if accepted else law,
        )
    else:
        cases = Cases([unmeasured_case()])
        if measured.pick:
            raise typer.BadParameter(
                f"--pick {measured.pick[0]} matches nothing: a run has only its batch"
            )
    cases.note_gamma(gamma)
    if accepted:
        given_once(
            [run for batch in measured.batches for run in batch.runs],
            "--alpha" if alpha is not None else laws[0].source,
        )
    else:
        says = any(run.says_acceptance for batch in measured.batches for run in batch.runs)
        cases.note("alpha", None, "runs" if says else "prior")
    found = [
        _setup(batch, case, accepted)
        for batch in measured.batches
        for case in cases.cases
        if case.labels.get("batch") in (None, batch.labels.get("batch"))
        or "batch" not in batch.labels
    ]
    if not found:
        raise typer.BadParameter("the batches of the runs are not those of the evidence")
    return Setups(
        found,
        cases.inputs | measured.inputs,
        cases.sources | measured.sources,
        [*cases.findings, *measured.findings],
    )


def _setup(batch: Batch, case: Case, accepted: bool) -> Setup:
    runs = tuple(run.accepting(case.acceptance) if accepted else run for run in batch.runs)
    return Setup({**case.labels, **batch.labels}, runs, case, accepted)


def given_once(runs: Sequence[Run], other: str) -> None:
    """Raise if every run brings the acceptance that `other` brings once more."""
    if runs and all(run.says_acceptance for run in runs):
        raise typer.BadParameter(
            f"acceptance is given by the run at γ {runs[0].gamma} and once more by {other}; "
            "give it once"
        )


def whose(findings: Sequence[Finding], setup: Setup, many: Setups) -> list[Finding]:
    """The findings of one set-up, with its labels where there are several."""
    if len(many.setups) < 2:
        return list(findings)
    origin = ", ".join(f"{key} {value}" for key, value in setup.labels.items())
    return [f._replace(origin=origin) for f in findings]
