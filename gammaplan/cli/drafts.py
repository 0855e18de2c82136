"""Drafts side by side in one plan: those of --candidate, or a file each."""

from collections.abc import Callable, Sequence

import typer

from gammaplan.cli import values
from gammaplan.cli.flags import NO_COST, CostFlags, RunFlags
from gammaplan.cli.inputs import read_documents
from gammaplan.cli.runs import gather_runs
from gammaplan.cli.subjects import Given, Subject, gathered, unknown_method
from gammaplan.documents.evidence import fills
from gammaplan.errors import Finding
from gammaplan.model.runs import Run
from gammaplan.report.plain import printable

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
    *("pooled_rate", "mean_length", "survival", "drafted_per_round", "runs"),
)
CANDIDATE = ("name", "evidence", "cost", "alpha", *CostFlags._fields, "method", *RUN)


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
    if fills(shared.documents, "acceptance") or (shared.alpha is not None):
        raise typer.BadParameter(
            "--candidate brings the acceptance of each draft; leave out --alpha and other evidence "
            "of acceptance"
        )
    if shared.runs:
        raise typer.BadParameter("--candidate and a run exclude each other; plan the run alone")
    found = [_draft(text, shared) for text in texts]
    distinct([s.name for s in found], "--candidate")
    return found


def _draft(text: str, shared: Given) -> Subject:
    found = pairs(text, "--candidate", CANDIDATE)
    given = numbers(found, "--candidate")
    own = CostFlags(*(given.get(name) for name in CostFlags._fields))
    if "cost" in found and own.any:
        raise typer.BadParameter(f"--candidate gives cost={found['cost']} and c as well; give one")
    files = [found[key] for key in ("evidence", "cost") if key in found]
    documents = read_documents(list(dict.fromkeys(files)))
    priced = bool(fills(documents, "cost"))
    cost = own if own.any or priced else shared.cost
    if not (cost.any or priced):
        documents += shared.documents
    runs, said = runs_of(found, "--candidate")
    if runs and not (own.any or "cost" in found):
        documents = [d for d in documents if d not in shared.documents]
        cost = NO_COST  # what all share is for the drafts without a run
    own_given = shared._replace(documents=documents, alpha=given.get("alpha"), cost=cost, runs=runs)
    if "method" in found:
        own_given = own_given._replace(method=found["method"])
    subject = gathered(found["name"], own_given)
    subject.cases.findings += said
    if "method" in found:
        subject.cases.findings += unknown_method(found["method"])
    one_case(subject, "--candidate")
    return subject


def runs_of(found: dict[str, str], option: str) -> tuple[tuple[Run, ...], list[Finding]]:
    """The runs of a draft or a workload, from its own keys and its file, and what they warn of."""
    figures = ",".join(f"{key}={found[key]}" for key in RUN[:-1] if key in found)
    files = [found["runs"]] if "runs" in found else []
    if not (figures or files):
        return (), []

    name = found["name"]
    try:
        measured = gather_runs(RunFlags(run=[figures] if figures else None, runs=files))
    except typer.BadParameter as error:
        said = error.message.replace(f"--run {figures}", "its run")
        raise typer.BadParameter(f"{option} {name}: {said}") from None
    if len(measured.batches) > 1:
        raise typer.BadParameter(f"{option} {name}: its runs have several batches; keep one")
    return measured.batches[0].runs, [f._replace(origin=name) for f in measured.findings]


def one_case(subject: Subject, option: str) -> None:
    """Raise unless the set-up is one."""
    if len(subject.cases.cases) > 1:
        raise typer.BadParameter(
            f"{option} {subject.name} holds several groups; choose one with --pick KEY=VALUE"
        )


def distinct(names: Sequence[str], option: str) -> None:
    """Raise if a name is used twice."""
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise typer.BadParameter(f"{option} names {twice} twice")


def by_file(shared: Given) -> list[Subject] | None:
    """Drafts where two files fill one slot, named by file; None where none do."""
    filled = {slot: fills(shared.documents, slot) for slot in ("acceptance", "cost")}
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
    distinct([document.source for document in filled[many[0]]], "the command line")
    others = [d for d in shared.documents if d not in filled[many[0]]]
    subjects = []
    for document in filled[many[0]]:
        subject = gathered(
            printable(document.source), shared._replace(documents=[document, *others])
        )
        one_case(subject, document.source)
        subjects.append(subject)
    return subjects
