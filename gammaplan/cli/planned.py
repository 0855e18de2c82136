"""The answer of plan: which set-ups there are, the plan of each, the best of them, the gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search
from gammaplan.cli.evidence import Case, Cases
from gammaplan.cli.flags import CostFlags, RunFlags
from gammaplan.cli.inputs import has_batches, read_documents
from gammaplan.cli.planning import Times, plan_of
from gammaplan.cli.subjects import FITTED, Given, Subject, gathered, unknown_method
from gammaplan.data.findings import finding
from gammaplan.documents.writing import finite
from gammaplan.model.planning import told_apart

if TYPE_CHECKING:
    from gammaplan.cli.runs import Measurements
    from gammaplan.documents.evidence import Document
    from gammaplan.shapes.planning import DraftShape, PlanResult


class Asked(NamedTuple):
    """The command line of a plan."""

    files: Sequence[str]
    alpha: float | None
    cost: CostFlags
    runs: RunFlags
    pick: Sequence[str] | None
    gamma: int | None
    max_gamma: int | None
    tolerance: float | None
    method: str | None
    textbook: bool
    candidates: Sequence[str]
    mix: Sequence[str]
    prefill_ms: float | None
    output_tokens: int | None
    require_speedup: float | None
    in_band: int | None
    batches: Sequence[int] | None = None
    hit_rate: float | None = None
    prior_engine: str | None = None
    method_from: str = "flag"


class Planned(NamedTuple):
    """The answer, the account of its inputs, the gates that failed, and what drafts.

    `by_range` are the speedups of each length from 0 on in each range of a schedule.
    """

    result: dict[str, Any]
    cases: Cases
    failed: list[str]
    method: str | None
    by_range: Sequence[Sequence[float]] = ()


def planned(asked: Asked) -> Planned:
    """The plan that a command line asks for."""
    documents = read_documents(asked.files)
    asked = _with_method(asked, documents)
    alone = not (asked.candidates or asked.mix)
    priced = asked.cost.ratio is not None  # by a flag: the evidence's costs by batch do not count
    if asked.batches or (alone and not priced and has_batches(documents, asked.pick)):
        from gammaplan.cli.scheduled import scheduled

        return scheduled(asked, documents)
    measured, asked = _measured(asked, documents)
    plain = measured.batches[0].baseline_tps if measured else asked.runs.plain_tps
    times = Times(plain, asked.prefill_ms, asked.output_tokens)
    times.check()
    subjects, several = _subjects(asked, measured, documents)
    search = Search(asked.max_gamma, asked.tolerance, asked.gamma)
    answers = [plan_of(subject, search, times) for subject in subjects]
    tolerance = DEFAULT_TOLERANCE if asked.tolerance is None else asked.tolerance
    if several:
        named = [(s.name, parts[0]) for s, (parts, _) in zip(subjects, answers, strict=True)]
        best = ranked(named, tolerance)
        chosen = next(s for s in subjects if s.name == best["drafts"][0]["name"])
        parts, result = [best], dict(best)
        for other in subjects:
            said = [f._replace(origin=f.origin or other.name) for f in other.cases.findings]
            other.cases.findings = said
        rest = [f for s in subjects if s is not chosen for f in s.cases.findings]
        chosen.cases.findings += [f for f in rest if f not in chosen.cases.findings]
        if len({c.cost_shape["kind"] for s in subjects for c in s.cases.cases if c.cost_shape}) > 1:
            from gammaplan.cli.scheduling import kinds_mixed

            chosen.cases.findings += kinds_mixed(c for s in subjects for c in s.cases.cases)
    else:
        chosen, (parts, result) = subjects[0], answers[0]
    account(chosen.cases, asked, measured)
    failed = [f for part in parts for f in gates(part, asked.require_speedup, asked.in_band)]
    return Planned(result, chosen.cases, failed, chosen.given.method)


def _with_method(asked: Asked, documents: Sequence[Document]) -> Asked:
    """The command line with what drafts: as it says, else as its evidence does with one voice."""
    known = {d.method: d.source for d in documents if d.method is not None}
    if asked.method is not None or len(known) != 1:
        return asked
    ((method, source),) = known.items()
    return asked._replace(method=method, method_from=f"evidence:{source}")


def _measured(asked: Asked, documents: Sequence[Document]) -> tuple[Measurements | None, Asked]:
    """The runs of the command line, and the command line without a choice of their batch.

    None, and nothing loaded, where no option states any.
    """
    if not asked.runs.any:
        return None, asked
    from gammaplan.cli.runs import gather_runs
    from gammaplan.documents.evidence import length_in_use

    gamma = length_in_use(documents) if asked.gamma is None else asked.gamma
    measured = gather_runs(asked.runs, gamma, pick=asked.pick)
    if measured.pick and not (asked.files or asked.candidates or asked.mix):
        raise typer.BadParameter(
            f"--pick {measured.pick[0]} matches nothing: a run has only its batch"
        )
    if len(measured.batches) > 1:
        sizes = [f"{batch.labels['batch']:g}" for batch in measured.batches]
        said = finding("several_batches", batches=", ".join(sizes), batch=sizes[0])
        measured.findings.append(said)
    return measured, asked._replace(pick=measured.pick)


def _subjects(
    asked: Asked, measured: Measurements | None, documents: Sequence[Document]
) -> tuple[list[Subject], bool]:
    """What is planned, and whether it is drafts to compare."""
    given = Given(
        documents,
        asked.alpha,
        asked.cost,
        measured.batches[0].runs if measured else (),
        asked.method,
        asked.textbook,
        asked.pick,
        asked.hit_rate,
        asked.prior_engine,
    )
    if not (asked.candidates or asked.mix):
        if len(given.documents) > 1:
            from gammaplan.cli.drafts import by_file

            if found := by_file(given):
                return found, True
        return [gathered("", given)], False
    if asked.candidates and asked.mix:
        raise typer.BadParameter("--candidate and --mix exclude each other; compare one at a time")
    if asked.candidates:
        from gammaplan.cli.drafts import drafts

        return drafts(asked.candidates, given), True
    if asked.hit_rate is not None:
        raise typer.BadParameter("--hit-rate is for one workload; leave out --mix")
    from gammaplan.cli.mix import mixed

    return [mixed(asked.mix, given)], False


def account(cases: Cases, asked: Asked, measured: Measurements | None) -> None:
    """Record the options of a plan, and the runs that it rests on."""
    cases.note_gamma(asked.gamma)
    if measured:
        for name, value in measured.inputs.items():
            cases.note(name, value, measured.sources[name])
        cases.findings += measured.findings
    else:
        for name, value in asked.runs.baseline.items():
            cases.note(name, value, "flag")
    cases.note("method", asked.method, asked.method_from if asked.method else "default")
    if asked.runs.any or any(map(_rests_on_prior, cases.cases)):
        cases.findings += unknown_method(asked.method)
    for name in ("hit_rate", "prior_engine"):
        if (value := getattr(asked, name)) is not None:
            cases.note(name, value, "flag")
    cases.note_option("textbook", asked.textbook or None, False)
    for name, texts in (("candidate", asked.candidates), ("mix", asked.mix)):
        if texts:
            cases.note(name, list(texts), "flag")
    for name in ("prefill_ms", "output_tokens"):
        if (value := getattr(asked, name)) is not None:
            cases.note(name, value, "flag")


def _rests_on_prior(case: Case) -> bool:
    """Whether a prior stands for a figure, or for how far off a measured cost is."""
    kinds = (case.acceptance_shape.get("kind"), case.cost_shape and case.cost_shape["kind"])
    return any(kind in ("prior", *FITTED) for kind in kinds)


def ranked(named: Sequence[tuple[str, PlanResult]], tolerance: float) -> PlanResult:
    """The plan of the fastest draft, with all of them in `drafts`."""

    def speed(part: PlanResult) -> float:
        return math.inf if part["speedup"] is None else part["speedup"]

    order = sorted(named, key=lambda pair: -speed(pair[1]))
    first = _at_best(order[0][1])
    drafts: list[DraftShape] = []
    for i, (name, part) in enumerate(order):
        fast, low, high = _at_best(part)
        drafts.append(
            {
                "name": name,
                "gamma": part["gamma"],
                "speedup": finite(fast),
                "low": low,
                "high": high,
                "tied": i == 0 or not told_apart(first, (fast, low, high), tolerance),
                "rows": part["rows"],
            }
        )
    best = order[0][1]
    best["drafts"] = drafts
    return best


def _at_best(part: PlanResult) -> tuple[float, float | None, float | None]:
    row = next((row for row in part["rows"] if row["best"]), None)
    speed = math.inf if part["speedup"] is None else part["speedup"]
    return (speed, None, None) if row is None else (speed, row["low"], row["high"])


def gates(part: PlanResult, speedup: float | None, gamma: int | None) -> list[str]:
    """The gates that fail; a speedup is required of the lowest end of the intervals."""
    failed = []
    fast, low, _ = _at_best(part)
    span = part["interval"]
    ends = [e for e in (low, span["speedup_low"] if span else None) if e is not None]
    if speedup is not None and min([fast, *ends]) < speedup:
        least = f", {min(ends):.4g}× at the interval's lower end" if ends else ""
        failed.append(f"--require-speedup {speedup:g}: the best is {fast:.4g}×{least}")
    band = part["band"]
    if gamma is not None and not _in_band(part, gamma):
        run = (
            "there is no band, longer drafts are always faster"
            if band["low"] is None
            else f"the band is {band['low']} "
            + ("and longer" if band["high"] is None else f"to {band['high']}")
        )
        failed.append(f"--require-gamma-in-band {gamma}: {run}")
    return failed


def _in_band(part: PlanResult, gamma: int) -> bool:
    band = part["band"]
    if gamma == 0 and band["plain"]:
        return True
    low, high = band["low"], band["high"]
    return low is not None and low <= gamma and (high is None or gamma <= high)
