"""Several set-ups in one plan: drafts side by side, and workloads under one draft."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from gammaplan.cli import values
from gammaplan.cli.evidence import NO_COST, Case, Cases, CostFlags, gather_from
from gammaplan.cli.inputs import read_documents
from gammaplan.cli.subjects import Given, Subject, gathered, law_spreads, priors
from gammaplan.documents.evidence import Evidence
from gammaplan.documents.writing import acceptance_shape
from gammaplan.report.plain import printable

if TYPE_CHECKING:
    from gammaplan.model.runs import Run

SHARES_OFF = 1e-6  # by how much shares may miss 1: figures are rounded
NUMBERS: dict[str, Callable[[str], float]] = {
    "alpha": values.fraction,
    "share": values.fraction,
    "c": values.non_negative,
    "speed_ratio": values.positive,
    "draft_ms": values.non_negative,
    "target_ms": values.positive,
    "overhead": values.non_negative,
    "verify_slope": values.non_negative,
}
RUN = (
    *("gamma", "speedup", "baseline_tps", "spec_tps", "baseline_ms", "spec_ms"),
    *("pooled_rate", "mean_length", "survival", "drafted_per_round"),
)
CANDIDATE = ("name", "evidence", "cost", "alpha", *CostFlags._fields, "method", *RUN)
WORKLOAD = ("name", "share", "evidence", "alpha")


def pairs(text: str, option: str, known: Sequence[str]) -> dict[str, str]:
    """The key=value pairs of --candidate or --mix; a key that is not known is an error."""
    found: dict[str, str] = {}
    for item in text.split(","):
        key, equals, value = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key or not value.strip():
            raise typer.BadParameter(
                f"{option} must be key=value pairs like name=a,evidence=fit.json, got {text}"
            )
        if key not in known:
            raise typer.BadParameter(f"{option} has no key {key}; its keys are {', '.join(known)}")
        if key in found:
            raise typer.BadParameter(f"{option} gives {key} twice: {text}")
        found[key] = value.strip()
    if "name" not in found:
        raise typer.BadParameter(f"{option} needs a name=…, got {text}")
    return found | {"name": printable(found["name"])}


def numbers(found: dict[str, str], option: str) -> dict[str, float]:
    """The numeric pairs, each checked; an error names the option and the key."""
    parsed = {}
    for key, value in found.items():
        if key in NUMBERS:
            try:
                parsed[key] = NUMBERS[key](value)
            except typer.BadParameter as error:
                raise typer.BadParameter(f"{option} {key} {error.message}") from None
    return parsed


def drafts(texts: Sequence[str], shared: Given) -> list[Subject]:
    """The drafts of --candidate; what all share is the positional evidence and the cost flags."""
    if any(d.slot("acceptance", parts_first=False) for d in shared.documents) or (
        shared.alpha is not None
    ):
        raise typer.BadParameter(
            "--candidate brings the acceptance of each draft; leave out --alpha and other evidence "
            "of acceptance"
        )
    if shared.runs:
        raise typer.BadParameter("--candidate and a run exclude each other; plan the run alone")
    found = [_draft(text, shared) for text in texts]
    _distinct([s.name for s in found], "--candidate")
    return found


def _draft(text: str, shared: Given) -> Subject:
    found = pairs(text, "--candidate", CANDIDATE)
    given = numbers(found, "--candidate")
    own = CostFlags(*(given.get(name) for name in CostFlags._fields))
    if "cost" in found and own.any:
        raise typer.BadParameter(f"--candidate gives cost={found['cost']} and c as well; give one")
    files = [found[key] for key in ("evidence", "cost") if key in found]
    documents = read_documents(list(dict.fromkeys(files)))
    priced = any(d.slot("cost", parts_first=False) for d in documents)
    cost = own if own.any or priced else shared.cost
    if not (cost.any or priced):
        documents += shared.documents
    runs = _runs(found)
    if runs and not (own.any or "cost" in found):
        documents = [d for d in documents if d not in shared.documents]
        cost = NO_COST  # what all share is for the drafts without a run
    own_given = shared._replace(documents=documents, alpha=given.get("alpha"), cost=cost, runs=runs)
    if "method" in found:
        own_given = own_given._replace(method=found["method"])
    subject = gathered(found["name"], own_given)
    _one_case(subject, "--candidate")
    return subject


def _runs(found: dict[str, str]) -> "tuple[Run, ...]":
    """The run that a draft was measured in, from its own keys."""
    figures = [f"{key}={found[key]}" for key in RUN if key in found]
    if not figures:
        return ()
    from gammaplan.cli.runs import RunFlags, gather_runs

    try:
        return gather_runs(RunFlags(run=[",".join(figures)])).runs
    except typer.BadParameter as error:
        said = error.message.replace(f"--run {','.join(figures)}", "its run")
        raise typer.BadParameter(f"--candidate {found['name']}: {said}") from None


def _one_case(subject: Subject, option: str) -> None:
    if len(subject.cases.cases) > 1:
        raise typer.BadParameter(
            f"{option} {subject.name} holds several groups; choose one with --pick KEY=VALUE"
        )


def _distinct(names: Sequence[str], option: str) -> None:
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise typer.BadParameter(f"{option} names {twice} twice")


def mixed(texts: Sequence[str], shared: Given) -> Subject:
    """The workloads of --mix as one law of acceptance: time per token adds up."""
    from gammaplan.model.workloads import mixed_acceptance, mixed_spread

    if shared.alpha is not None or any(
        d.slot("acceptance", parts_first=False) for d in shared.documents
    ):
        raise typer.BadParameter(
            "--mix brings the acceptance of each workload; leave out --alpha and other evidence "
            "of acceptance"
        )
    if shared.runs:
        raise typer.BadParameter("--mix and a run exclude each other; make the run a cost first")
    parts = [_workload(text, shared) for text in texts]
    _distinct([name for name, _, _ in parts], "--mix")
    total = sum(share for _, share, _ in parts)
    if abs(total - 1) > SHARES_OFF:
        raise typer.BadParameter(f"the shares of --mix must add up to 1, got {total:g}")
    laws = [case.acceptance for _, _, (case, _) in parts]
    shares = [share / total for _, share, _ in parts]
    law = mixed_acceptance(laws, shares)
    shape = acceptance_shape(law)
    if all(one.observed_to is None for one in laws):
        shape["observed_to"] = None
    shape["alpha"] = None
    cases = gather_from(
        shared.documents,
        alpha=None,
        cost=shared.cost,
        pick=shared.pick,
        law=Evidence("mix", {}, acceptance=law, acceptance_shape=shape),
        prior=priors(shared.method),
    )
    for _, _, (_, said) in parts:
        cases.findings += said.findings
    cases.note("alpha", None, "mix")
    subject = Subject("", cases, shared)
    subject.workloads = [(n, s, one) for (n, _, _), s, one in zip(parts, shares, laws, strict=True)]
    own = [law_spreads(case, shared.method) for _, _, (case, _) in parts]
    subject.mix = mixed_spread(laws, shares, own) if any(own) else None
    return subject


def _workload(text: str, shared: Given) -> tuple[str, float, tuple[Case, Cases]]:
    found = pairs(text, "--mix", WORKLOAD)
    given = numbers(found, "--mix")
    if "share" not in given or ("evidence" in found) == ("alpha" in given):
        raise typer.BadParameter(
            f"--mix needs name, share, and evidence or alpha of each workload, got {text}"
        )
    cases = gather_from(
        read_documents([found["evidence"]] if "evidence" in found else []),
        alpha=given.get("alpha"),
        cost=NO_COST,
        pick=shared.pick if "evidence" in found else None,
        cost_needed=False,
    )
    _one_case(Subject(found["name"], cases, shared), "--mix")
    return found["name"], given["share"], (cases.cases[0], cases)


def by_file(shared: Given) -> list[Subject] | None:
    """Drafts where two files fill one slot, named by file; None where none do."""
    filled = {
        slot: [d for d in shared.documents if d.slot(slot, parts_first=False)]
        for slot in ("acceptance", "cost")
    }
    many = [slot for slot, found in filled.items() if len(found) > 1]
    if not many or (shared.alpha is not None and many == ["acceptance"]):
        return None
    if len(many) > 1 and filled["acceptance"] != filled["cost"]:
        raise typer.BadParameter(
            "several files bring acceptance and several bring a cost; say which belong together "
            "with --candidate name=…,evidence=…,cost=…"
        )
    if shared.runs:
        raise typer.BadParameter("several evidence files and a run: say which one the run is of")
    others = [d for d in shared.documents if d not in filled[many[0]]]
    subjects = []
    for document in filled[many[0]]:
        subject = gathered(
            printable(document.source), shared._replace(documents=[document, *others])
        )
        _one_case(subject, document.source)
        subjects.append(subject)
    return subjects
