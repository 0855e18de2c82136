"""The answer of explain: the round of each set-up, measured or foretold, taken apart."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from gammaplan.cli.evidence import Case, gather_from
from gammaplan.cli.flags import CostFlags
from gammaplan.cli.inputs import read_documents
from gammaplan.cli.rounds import Asked, Curves, Known, alpha_of, known_of, result_of, textbook_of
from gammaplan.cli.setups import Answered, Setup, setups_of, whose
from gammaplan.cli.subjects import law_spreads, priors, unknown_method
from gammaplan.cli.timings import Timings, account, timings_of
from gammaplan.data.findings import finding
from gammaplan.documents.evidence import Document, Evidence, fills, length_in_use
from gammaplan.documents.writing import acceptance_shape, cost_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.breakdown import NEAR, Round
from gammaplan.model.calibration import calibrate
from gammaplan.model.positions import PerPosition
from gammaplan.model.runs import Run, by_length, pooled

if TYPE_CHECKING:
    from gammaplan.shapes.parts import Labels
    from gammaplan.shapes.planning import ExplainResult


def explained(asked: Asked) -> Answered:
    """What a command line asks to be explained."""
    if asked.gamma == 0:
        raise typer.BadParameter("--gamma must be at least 1: a plain round has no parts, got 0")
    documents = read_documents(asked.files)
    gamma = asked.gamma if asked.gamma is not None else length_in_use(documents)
    timings = timings_of(asked.times, gamma)
    if timings.verify is not None and asked.verify_slope is not None:
        raise typer.BadParameter("verification was given by --verify-ms and by --verify-slope")
    named = asked.runs.accepted
    if asked.alpha is not None and named:
        raise typer.BadParameter(f"acceptance was given by --alpha and by {named[0]}; give it once")
    measured = asked.runs.fast or bool(asked.runs.run or asked.runs.runs)
    answer = _measured if measured else _foretold
    done = answer(asked, documents, timings)
    account(asked.times, done.inputs, done.sources)
    used = {"method": asked.method, "gamma": asked.gamma, "max_gamma": asked.max_gamma}
    for name, value in used.items():
        if value is not None or name not in done.inputs:
            done.inputs[name], done.sources[name] = value, "default" if value is None else "flag"
    found = [*done.findings, *timings.findings, *unknown_method(asked.method)]
    return done._replace(findings=list(dict.fromkeys(found)))


def _joined(parts: "Sequence[tuple[Labels, ExplainResult]]") -> Mapping[str, Any]:
    if len(parts) == 1:
        return parts[0][1]
    return {"groups": [{"labels": dict(labels), **part} for labels, part in parts]}


def _measured(asked: Asked, documents: Sequence[Document], timings: Timings) -> Answered:
    prices, laws = fills(documents, "cost"), fills(documents, "acceptance")
    many = setups_of(documents, asked.runs, alpha=asked.alpha, gamma=asked.gamma, pick=asked.pick)
    with_it = [s for s in many.setups if asked.gamma in (None, *(run.gamma for run in s.runs))]
    if not with_it:
        known = sorted({run.gamma for setup in many.setups for run in setup.runs})
        listed = ", ".join(map(str, known))
        raise typer.BadParameter(f"no run has γ {asked.gamma}; the runs have γ {listed}")
    found = list(many.findings)
    for setup in many.setups:
        if setup not in with_it:
            why = f"none has γ {asked.gamma}"
            found.append(finding("batch_left_out", batch=setup.labels.get("batch"), why=why))
    tables = [p for p in prices if p not in laws]
    parts = []
    for setup in with_it:
        known_ = known_of(asked, timings, setup.case)
        if tables and known_.c is None:
            raise typer.BadParameter(
                f"{tables[0].source} states whole rounds, and so do the runs; give one of them, "
                "or --c"
            )
        part, said = _of_setup(setup, known_, timings, asked)
        parts.append((setup.labels, part))
        found += whose(said, setup, many)
    _account_costs(many.inputs, many.sources, asked, timings, parts)
    return Answered(_joined(parts), many.inputs, many.sources, found)


def _in_use(runs: Sequence[Run], gamma: int | None) -> Run:
    """The run that is explained: that of --gamma, else the fastest; of repeats their mean."""
    every = {length: pooled(same) for length, same in by_length(runs).items()}
    if gamma in every:
        return every[gamma]
    return max(every.values(), key=lambda run: (run.speedup, -run.gamma))


def _of_setup(
    setup: Setup, known: Known, timings: Timings, asked: Asked
) -> "tuple[ExplainResult, list[Finding]]":
    found = []
    run, runs = _in_use(setup.runs, asked.gamma), setup.runs
    tokens, drafted = run.tokens(), run.drafted()
    draft, verify = known.draft(drafted), known.verifying(drafted)
    passes = 1 + (draft or 0.0) + (verify or 0.0) + (known.overhead or 0.0)
    if tokens is None and draft is not None:
        tokens = min(max(run.speedup * passes, 1.0), run.gamma + 1.0)
        alpha = f"{alpha_of(tokens, run.gamma):.2f}"
        found.append(finding("mean_length_from_cost", tokens=f"{tokens:.3g}", alpha=alpha))
        runs = tuple(replace(r, mean_length=tokens) if r.gamma == run.gamma else r for r in runs)
    fit = calibrate(runs, method=asked.method)
    if tokens is None:
        tokens = float(fit.acceptance.expected_tokens(run.gamma))
        found.append(finding("acceptance_assumed", lengths=run.gamma))
    law, given = fit.acceptance, setup.case.acceptance
    chosen = given if setup.accepted and given.observed_to is None else law
    part = Round(run.gamma, tokens, tokens / run.speedup, draft, verify, known.overhead, drafted)
    if passes > part.cost * (1 + NEAR) and passes > 1:
        said = finding("parts_exceed_round", parts=f"{passes:.3g}", cost=f"{part.cost:.3g}")
        found.append(said)
    shape = cost_shape(fit.cost, kind="fitted", source="runs", labels=setup.labels)
    textbook = textbook_of(part, known.kind, asked.method, [])
    curves = Curves(chosen, acceptance_shape(chosen), fit.cost, shape)
    return result_of(part, curves, textbook, timings, asked, measured=True), found


def _foretold(asked: Asked, documents: Sequence[Document], timings: Timings) -> Answered:
    """Without a measured speed: what the parts that are known promise."""
    if asked.runs.baseline:
        name = next(iter(asked.runs.baseline)).replace("_", "-")
        raise typer.BadParameter(f"--{name} needs the speed with speculation beside it")
    law = _stated_law(asked, documents)
    slope = timings.verify_slope if asked.verify_slope is None else asked.verify_slope
    cases = gather_from(
        documents,
        alpha=asked.alpha,
        cost=CostFlags(c=timings.c, overhead=asked.overhead, verify_slope=slope),
        pick=asked.pick,
        law=law,
        prior=priors(asked.method),
    )
    parts = []
    for case in cases.cases:
        gamma = case.gamma if asked.gamma is None else asked.gamma
        if not gamma:
            raise typer.BadParameter("--gamma is missing: the draft length to explain")
        parts.append((case.labels, _of_case(case, gamma, timings, asked)))
    shapes = [(part["acceptance"], part["costs"][0]) for _, part in parts]
    on_prior = any("prior" in (law.get("kind"), cost["kind"]) for law, cost in shapes)
    if asked.method is not None and not on_prior:
        raise typer.BadParameter(
            "--method chooses a prior, and acceptance and cost are both given; leave it out"
        )
    cases.note_gamma(asked.gamma)
    _account_costs(cases.inputs, cases.sources, asked, timings, parts)
    return Answered(_joined(parts), cases.inputs, cases.sources, cases.findings)


def _stated_law(asked: Asked, documents: Sequence[Document]) -> Evidence | None:
    """The acceptance that options state as a run's figure."""
    named = asked.runs.accepted
    if not named:
        return None
    if asked.gamma is None:
        raise typer.BadParameter(f"--gamma is missing: the draft length of {named[0]}")
    if laws := fills(documents, "acceptance"):
        raise typer.BadParameter(
            f"acceptance is given by {named[0]} and once more by {laws[0].source}; give it once"
        )
    flags = asked.runs
    run = Run(
        asked.gamma,
        1.0,
        mean_length=flags.mean_length,
        pooled_rate=flags.pooled_rate,
        survival=flags.survival,
        drafted_per_round=flags.drafted_per_round,
    )
    law: Acceptance
    if run.survival:
        law = PerPosition.from_survival(run.survival)
    elif (tokens := run.tokens()) is not None:
        law = Geometric(alpha_of(tokens, asked.gamma), asked.gamma)
    else:
        raise typer.BadParameter(f"{named[0]} needs --pooled-rate, --mean-length or --survival")
    return Evidence("flag", {}, acceptance=law, acceptance_shape=acceptance_shape(law))


def _of_case(case: Case, gamma: int, timings: Timings, asked: Asked) -> "ExplainResult":
    assert case.cost_shape is not None  # gather_from() saw to it
    flags = asked.runs
    drafted = min(flags.drafted_per_round or gamma, gamma)
    tokens = float(case.acceptance.expected_tokens(gamma))
    if flags.mean_length is None and flags.pooled_rate is not None:
        tokens = 1 + flags.pooled_rate * drafted
    known = known_of(asked, timings, case)
    draft, verify = known.draft(drafted), known.verifying(drafted)
    if draft is None:
        passes = float(case.cost.round_cost(gamma))
        if not math.isfinite(passes):
            raise typer.BadParameter(f"the cost of a round of γ {gamma} is not known; give --c")
    else:
        passes = 1 + draft + (verify or 0.0) + (known.overhead or 0.0)
    part = Round(gamma, tokens, passes, draft, verify, known.overhead, drafted)
    textbook = textbook_of(part, known.kind, asked.method, law_spreads(case, asked.method))
    curves = Curves(case.acceptance, case.acceptance_shape, case.cost, case.cost_shape)
    return result_of(part, curves, textbook, timings, asked, measured=False)


def _account_costs(
    inputs: dict[str, object],
    sources: dict[str, str],
    asked: Asked,
    timings: Timings,
    parts: Sequence[tuple[object, "ExplainResult"]],
) -> None:
    """The c of the textbook and the parts that were given, and where they came from."""
    books = [part["textbook"] for _, part in parts]
    ratios, kinds = {book["c"] for book in books}, {book["kind"] for book in books}
    inputs["c"] = ratios.pop() if len(ratios) == 1 else None
    if timings.c is not None:
        sources["c"] = "flag"
    elif kinds == {"prior"}:
        sources["c"] = "prior"
    for name in ("overhead", "verify_slope"):
        if (value := getattr(asked, name)) is not None:
            inputs[name], sources[name] = value, "flag"
        elif name not in inputs:
            inputs[name], sources[name] = None, "default"
