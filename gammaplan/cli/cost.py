"""gammaplan cost: what a round costs, from timings or from runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values
from gammaplan.cli.batchoptions import Batches, Block, VerifyCurve

if TYPE_CHECKING:
    from gammaplan.cli.output import Output
    from gammaplan.cli.runs import Measurements, RunFlags
    from gammaplan.errors import Finding
    from gammaplan.model.costing import FittedCost
    from gammaplan.shapes.planning import CostResult, CostTerm, TextbookCost


def cost(
    files: o.Files = None,
    target_ms: o.TargetMs = None,
    draft_ms: o.DraftMs = None,
    verify_ms: Annotated[
        float | None,
        typer.Option(
            "--verify-ms",
            metavar="MS",
            parser=values.positive,
            help="The target pass that verified γ drafted tokens, with --gamma.",
            rich_help_panel=o.COST,
        ),
    ] = None,
    gamma: o.RunGamma = None,
    baseline_tps: o.BaselineTps = None,
    spec_tps: o.SpecTps = None,
    baseline_ms: o.BaselineMs = None,
    spec_ms: o.SpecMs = None,
    speedup: o.Speedup = None,
    pooled_rate: o.PooledRate = None,
    mean_length: o.MeanLength = None,
    survival: o.Survival = None,
    drafted_per_round: o.DraftedPerRound = None,
    run: o.RunOption = None,
    runs: o.RunsFiles = None,
    verify_curve: VerifyCurve = None,
    batch: Batches = None,
    block: Block = None,
    method: o.Method = None,
    pick: o.Pick = None,
    format: o.Format = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    strict: o.Strict = False,
) -> None:
    """Have timings or runs: what a round costs, and where each term came from.

    The answer is evidence for `optimum`, `table`, `plan` and `ceiling`. A
    verify curve holds timed target passes by the tokens in them: llama-bench,
    llama-batched-bench, or CSV with tokens, ms and, for a surface, batch.

        gammaplan cost --target-ms 14.1 --draft-ms 1.8 --verify-ms 18.5 --gamma 4

        gammaplan cost --gamma 5 --speedup 1.45 --pooled-rate 0.55 --run gamma=2,speedup=1.4

        gammaplan cost --verify-curve bench.json --draft-ms 1.8
    """
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.runs import RunFlags, batch_of, gather_runs, known_of

    out = Output.of(format, json, quiet, strict)
    flags = RunFlags(
        gamma,
        baseline_tps,
        spec_tps,
        baseline_ms,
        spec_ms,
        speedup,
        pooled_rate,
        mean_length,
        survival,
        drafted_per_round,
        run,
        runs,
    )
    if verify_curve or batch or block:
        curves = CurveFlags(files, verify_curve, batch, block, method, pick)
        _from_curves(curves, flags, (target_ms, draft_ms, verify_ms), out)
        return
    _timings_agree(target_ms, draft_ms, verify_ms, gamma)
    known = known_of(files)
    if known.cost is not None and known.law is None:
        raise typer.BadParameter(f"{known.cost.source} is a cost already, and brings no acceptance")
    findings = known.findings
    law = known.law.acceptance if known.law else None
    measured = gather_runs(flags, law, batch=batch_of(pick)) if flags.any else None
    if measured is None and target_ms is None:
        from gammaplan.cli.runs import WAYS_TO_A_RUN

        raise typer.BadParameter(
            f"nothing was measured; give --target-ms with --draft-ms, or a run: {WAYS_TO_A_RUN}"
        )
    inputs: dict[str, object] = dict(measured.inputs) if measured else {}
    sources = dict(measured.sources) if measured else {}
    timings = {"target_ms": target_ms, "draft_ms": draft_ms, "verify_ms": verify_ms}
    timings |= {} if measured else {"gamma": gamma}
    for name, value in {**timings, "method": method}.items():
        inputs[name], sources[name] = value, "default" if value is None else "flag"
    c = draft_ms / target_ms if target_ms and draft_ms is not None else None
    if measured:
        result, found = _from_runs(measured, c, method)
        findings = [*findings, *measured.findings, *found]
    else:
        assert target_ms is not None
        result, found = _from_timings(target_ms, draft_ms or 0.0, verify_ms, gamma)
        findings = [*findings, *found]
    show(
        "cost",
        inputs=inputs,
        sources=sources,
        result=result,
        findings=findings,
        out=out,
        render=_render,
    )


class CurveFlags(NamedTuple):
    """The options of a verify curve."""

    files: Sequence[str] | None
    paths: Sequence[str] | None
    batches: Sequence[int] | None
    block: int | None
    method: str | None
    pick: Sequence[str] | None


def _from_curves(
    curves: CurveFlags,
    flags: "RunFlags",
    timings: tuple[float | None, float | None, float | None],
    out: "Output",
) -> None:
    """The cost of timed passes, printed."""
    from gammaplan.cli.output import show
    from gammaplan.cli.verifying import drafting_of, verified

    target_ms, draft_ms, verify_ms = timings
    if not curves.paths:
        name = "--batch" if curves.batches else "--block"
        raise typer.BadParameter(f"{name} needs --verify-curve: timed passes of the target")
    if curves.files or flags.any or flags.gamma is not None or verify_ms is not None:
        raise typer.BadParameter(
            "--verify-curve states every round cost; leave out runs, evidence, --gamma and "
            "--verify-ms"
        )
    drafting = drafting_of(curves.method, draft_ms, curves.block)
    result, found = verified(
        curves.paths, drafting, target_ms=target_ms, batches=curves.batches, pick=curves.pick
    )
    given = {
        "target_ms": target_ms,
        "draft_ms": draft_ms,
        "method": curves.method,
        "block": curves.block,
        "batch": list(curves.batches) if curves.batches else None,
    }
    files = ", ".join(f"evidence:{path}" for path in curves.paths)
    show(
        "cost",
        inputs={"verify_curve": list(curves.paths), **given},
        sources={"verify_curve": files}
        | {name: "default" if value is None else "flag" for name, value in given.items()},
        result=result,
        findings=found,
        out=out,
        render=_render,
    )


def _timings_agree(
    target: float | None, draft: float | None, verify: float | None, gamma: int | None
) -> None:
    if (target is None) != (draft is None):
        there, missing = ("--draft-ms", "--target-ms")
        if draft is None:
            there, missing = missing, there
        raise typer.BadParameter(f"{there} needs {missing} beside it")
    if verify is not None and target is None:
        raise typer.BadParameter("--verify-ms needs --target-ms and --draft-ms beside it")
    if verify is not None and not gamma:
        raise typer.BadParameter("--verify-ms needs --gamma, the drafted tokens that it verified")


def _from_timings(
    target: float, draft: float, verify: float | None, gamma: int | None
) -> "tuple[CostResult, list[Finding]]":
    from gammaplan.data.findings import finding
    from gammaplan.documents.writing import cost_shape
    from gammaplan.model.costing import timed_cost

    made = timed_cost(target, draft, verify_ms=verify, gamma=gamma)
    terms: list[CostTerm] = [
        {"name": "c", "value": made.c, "source": "--draft-ms ÷ --target-ms"},
        {"name": "overhead", "value": 0.0, "source": "not measured: 0"},
    ]
    found = []
    if verify is None:
        source = "not measured: 0"
    else:
        source = "(--verify-ms ÷ --target-ms − 1) ÷ γ"
        if verify < target:
            found.append(finding("verify_below_target", verify=verify, target=target))
    terms.append({"name": "verify_slope", "value": made.verify_slope, "source": source})
    if made.c >= 1:
        found.append(finding("looks_inverse", c=f"{made.c:g}"))
    shape = cost_shape(made, kind="measured", source="timings")
    rows = [] if gamma is None else [gamma]
    return {
        "costs": [shape],
        "curves": [],
        "textbook": {"c": made.c, "source": "--draft-ms ÷ --target-ms"},
        "terms": terms,
        "rows": [
            {
                "gamma": g,
                "round_cost": float(made.round_cost(g)),
                "fitted": float(made.round_cost(g)),
                "residual": 0.0,
                "textbook": 1 + made.c * g,
            }
            for g in rows
        ],
    }, found


def _from_runs(
    measured: "Measurements", c: float | None, method: str | None
) -> "tuple[CostResult, list[Finding]]":
    from gammaplan.data.findings import finding
    from gammaplan.documents.writing import cost_shape
    from gammaplan.model.calibration import calibrate
    from gammaplan.model.costing import fitted_cost, pooled_costs

    found = []
    unsaid = sorted({r.gamma for r in measured.runs if r.tokens() is None})
    tokens = {}
    if unsaid:
        law = calibrate(measured.runs, method=method).acceptance
        tokens = {g: float(law.expected_tokens(g)) for g in unsaid}
        found.append(finding("acceptance_assumed", lengths=", ".join(map(str, unsaid))))
    costs = pooled_costs(measured.runs, tokens)
    fit = fitted_cost(costs, c=c)
    shape = cost_shape(fit.cost, kind="fitted", source=f"{len(costs)} measured length(s)")
    worst = 0.0 if fit.curved else max(abs(r) for r in fit.residuals)
    shape["worst_residual"] = worst if len(costs) > 1 else None
    if len(costs) < 3:
        found.append(finding("line_from_prior", lengths=len(costs)))
    textbook: TextbookCost
    if c is not None:
        textbook = {"c": c, "source": "--draft-ms ÷ --target-ms"}
    else:
        ratio = sum(max(t - 1, 0.0) / g for g, t in costs.items()) / len(costs)
        textbook = {"c": ratio, "source": "(round cost − 1) ÷ γ, all of it taken as drafting"}
    return {
        "costs": [shape],
        "curves": [],
        "textbook": textbook,
        "terms": _terms(fit, c),
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


def _terms(fit: "FittedCost", c: float | None) -> "list[CostTerm]":
    if fit.curved:
        return [
            {
                "name": "round_cost",
                "value": t,
                "source": f"tokens per round ÷ speedup at γ {g}: no line fits",
            }
            for g, t in zip(fit.gammas, fit.round_costs, strict=True)
        ]
    pulled = " and a prior of 0.1 ± 0.1" if len(fit.gammas) < 3 else ", pulled to 0.1 ± 0.1"
    slope = "slope of tokens per round ÷ speedup"
    terms: list[CostTerm] = [
        {
            "name": "c",
            "value": fit.line.c,
            "source": f"{slope}: drafting and verification together"
            if c is None
            else "--draft-ms ÷ --target-ms",
        },
        {"name": "overhead", "value": fit.line.overhead, "source": f"runs{pulled}"},
    ]
    if c is not None:
        rest = {"value": fit.line.verify_slope, "source": f"{slope}, less c"}
        terms.append({"name": "verify_slope", **rest})  # type: ignore[typeddict-item]
    return terms


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.cost import print_cost

    return print_cost
