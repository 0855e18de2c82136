"""The answer of cost: a cost from timings alone, or from the runs of each set-up."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gammaplan.cli.flags import RunFlags, TimeFlags
from gammaplan.cli.inputs import read_documents
from gammaplan.cli.runmade import WAYS_TO_A_RUN
from gammaplan.cli.setups import Answered, Setup, setups_of, whose
from gammaplan.cli.subjects import unknown_method
from gammaplan.cli.timings import Timings, account, timings_of
from gammaplan.data.findings import finding
from gammaplan.documents.evidence import fills
from gammaplan.documents.writing import cost_shape
from gammaplan.errors import Finding
from gammaplan.model.calibration import DEFAULT, calibrate
from gammaplan.model.cost import LinearCost
from gammaplan.model.costing import FittedCost, fitted_cost, pooled_costs
from gammaplan.model.runs import Run, run_noise

if TYPE_CHECKING:
    from gammaplan.shapes.planning import CostResult, CostTerm, TextbookCost

VERIFIED = "(--verify-ms ÷ --target-ms − 1) ÷ γ"
SLOPE = "slope of tokens per round ÷ speedup"


class Asked(NamedTuple):
    """The command line of a cost."""

    files: Sequence[str]
    times: TimeFlags
    gamma: int | None
    runs: RunFlags
    method: str | None
    pick: Sequence[str] | None


def answered(asked: Asked) -> Answered:
    """The cost that a command line asks for."""
    done = _from_runs(asked) if asked.runs.any else _from_times(asked)
    account(asked.times, done.inputs, done.sources)
    for name, value in (("gamma", asked.gamma), ("method", asked.method)):
        if value is None and name in done.inputs:
            continue
        done.inputs[name], done.sources[name] = value, "default" if value is None else "flag"
    return done


def _from_times(asked: Asked) -> Answered:
    needing_a_run = {
        "evidence": asked.files,
        "--baseline-tps": asked.runs.baseline_tps,
        "--baseline-ms": asked.runs.baseline_ms,
        "--method": asked.method,
        "--pick": asked.pick,
    }
    if stray := next((name for name, value in needing_a_run.items() if value), None):
        raise typer.BadParameter(f"{stray} needs a run beside it: {WAYS_TO_A_RUN}")
    _target_is_used(asked.times, "--draft-ms or --draft-round-ms")
    timings = timings_of(asked.times, asked.gamma)
    if timings.c is None and timings.verify is not None:
        raise typer.BadParameter("--verify-ms needs --draft-ms or --draft-round-ms, or a run")
    if timings.c is None:
        raise typer.BadParameter(
            f"nothing was measured; give --target-ms with --draft-ms, or a run: {WAYS_TO_A_RUN}"
        )
    made = LinearCost(timings.c, 0.0, timings.verify_slope or 0.0)
    shape = cost_shape(made, kind="measured", source="timings")
    if asked.times.c is not None or asked.times.speed_ratio is not None:
        shape = cost_shape(made, kind="given", source=timings.c_source)
    unmeasured = "not measured: 0"
    result: CostResult = {
        "costs": [shape],
        "curves": [],
        "textbook": {"c": made.c, "source": timings.c_source},
        "terms": [
            {"name": "c", "value": made.c, "source": timings.c_source},
            {"name": "overhead", "value": 0.0, "source": unmeasured},
            {
                "name": "verify_slope",
                "value": made.verify_slope,
                "source": unmeasured if timings.verify is None else VERIFIED,
            },
        ],
        "rows": [
            {
                "gamma": g,
                "round_cost": float(made.round_cost(g)),
                "fitted": float(made.round_cost(g)),
                "residual": 0.0,
                "textbook": 1 + made.c * g,
            }
            for g in ([asked.gamma] if asked.gamma else [])
        ],
    }
    return Answered(result, {}, {}, list(timings.findings))


def _target_is_used(times: TimeFlags, ways: str) -> None:
    parts = (times.draft_ms, times.draft_round_ms, times.verify_ms)
    if times.target_ms is not None and all(part is None for part in parts):
        raise typer.BadParameter(f"--target-ms needs {ways} beside it")


def _from_runs(asked: Asked) -> Answered:
    documents = read_documents(asked.files)
    if only := [d for d in fills(documents, "cost") if d not in fills(documents, "acceptance")]:
        raise typer.BadParameter(f"{only[0].source} is a cost already, and brings no acceptance")
    _target_is_used(asked.times, "--draft-ms, --draft-round-ms or --verify-ms")
    many = setups_of(documents, asked.runs, alpha=None, gamma=asked.gamma, pick=asked.pick)
    lengths = {run.gamma for setup in many.setups for run in setup.runs}
    timings = timings_of(asked.times, asked.gamma or (min(lengths) if len(lengths) == 1 else None))
    runs = [run for setup in many.setups for run in setup.runs]
    if asked.method is not None and all(run.tokens() is not None for run in runs):
        raise typer.BadParameter(
            "--method chooses the prior of runs without an acceptance figure, and each has one; "
            "leave it out"
        )
    findings = [*many.findings, *timings.findings, *unknown_method(asked.method)]
    parts = []
    for setup in many.setups:
        part, said = _of_setup(setup, timings, asked.method)
        parts.append(part)
        findings += whose(said, setup, many)
    result: Mapping[str, Any] = parts[0]
    if len(parts) > 1:
        labels = [dict(setup.labels) for setup in many.setups]
        groups = [{"labels": own, **part} for own, part in zip(labels, parts, strict=True)]
        result = {"groups": groups}
        if all(set(own) == {"batch"} for own in labels):  # evidence: one entry a batch
            result = {"costs": [part["costs"][0] for part in parts], "groups": groups}
    sources = {name: many.sources[name] for name in many.inputs}
    for name in ("c", "overhead", "verify_slope"):
        many.inputs.pop(name, None)
        sources.pop(name, None)
    return Answered(result, many.inputs, sources, list(dict.fromkeys(findings)))


def _of_setup(
    setup: Setup, timings: Timings, method: str | None
) -> "tuple[CostResult, list[Finding]]":
    found = []
    unsaid = sorted({run.gamma for run in setup.runs if run.tokens() is None})
    if unsaid:
        found.append(finding("acceptance_assumed", lengths=", ".join(map(str, unsaid))))
    costs = run_costs(setup.runs, method)
    fit = fitted_cost(costs, c=timings.c, verify_slope=timings.verify_slope)
    shape = cost_shape(
        fit.cost, kind="fitted", source=f"lengths measured: {len(costs)}", labels=setup.labels
    )
    worst = 0.0 if fit.curved else max(abs(r) for r in fit.residuals)
    shape["worst_residual"] = worst if len(costs) > 1 else None
    published = DEFAULT.choose(method)[1].run_noise
    if (shown := run_noise(setup.runs, published).run) > published:
        shape["run_noise"] = shown
    if len(costs) < 3 and not fit.timed:
        found.append(finding("line_from_prior", lengths=len(costs)))
    textbook: TextbookCost
    if timings.c is not None:
        textbook = {"c": timings.c, "source": timings.c_source}
    else:
        ratio = sum(max(t - 1, 0.0) / g for g, t in costs.items()) / len(costs)
        textbook = {"c": ratio, "source": "(round cost − 1) ÷ γ, all of it taken as drafting"}
    return {
        "costs": [shape],
        "curves": [],
        "textbook": textbook,
        "terms": _terms(fit, timings),
        "rows": [
            {
                "gamma": g,
                "round_cost": t,
                "fitted": t if fit.curved else float(fit.line.round_cost(g)),
                "residual": 0.0 if fit.curved else r,
                "textbook": 1 + textbook["c"] * g,
            }
            for g, t, r in zip(fit.gammas, fit.round_costs, fit.residuals, strict=True)
        ],
    }, found


def run_costs(runs: Sequence[Run], method: str | None) -> dict[int, float]:
    """What a round of each measured length costs; tokens that no run says come from the prior."""
    unsaid = {run.gamma for run in runs if run.tokens() is None}
    law = calibrate(runs, method=method).acceptance if unsaid else None
    tokens = {g: float(law.expected_tokens(g)) for g in unsaid} if law else {}
    return pooled_costs(runs, tokens)


def _terms(fit: FittedCost, timings: Timings) -> "list[CostTerm]":
    if fit.curved:
        return [
            {
                "name": "round_cost",
                "value": t,
                "source": f"tokens per round ÷ speedup at γ {g}: no line fits",
            }
            for g, t in zip(fit.gammas, fit.round_costs, strict=True)
        ]
    pulled = "runs, pulled to 0.1 ± 0.1"
    if len(fit.gammas) < 3:
        pulled = "runs and a prior of 0.1 ± 0.1"
    if fit.timed:
        pulled = "what the runs leave beside the timings"
    drafted, verified = timings.c_source, VERIFIED
    if timings.c is None:
        drafted = f"{SLOPE}: drafting and verification together"
        drafted = drafted if timings.verify is None else f"{SLOPE}, less verification"
    if timings.verify is None:
        verified = "not timed, and the timed draft takes all of the slope: 0"
        verified = verified if fit.timed else f"{SLOPE}, less c"
    terms: list[CostTerm] = [
        {"name": "c", "value": fit.line.c, "source": drafted},
        {"name": "overhead", "value": fit.line.overhead, "source": pulled},
    ]
    if timings.c is not None or timings.verify is not None:
        slope = fit.line.verify_slope
        terms.append({"name": "verify_slope", "value": slope, "source": verified})
    return terms
