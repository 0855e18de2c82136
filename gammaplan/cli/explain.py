"""gammaplan explain: where the time of a round goes, and what would make it pay."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values

if TYPE_CHECKING:
    from gammaplan.cli.timings import Timings
    from gammaplan.errors import Finding
    from gammaplan.model.acceptance import Acceptance
    from gammaplan.model.breakdown import Round
    from gammaplan.model.cost import Cost
    from gammaplan.model.runs import Run
    from gammaplan.shapes.planning import ExplainResult


def explain(
    files: o.Files = None,
    alpha: o.Alpha = None,
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
    method: o.Method = None,
    pick: o.Pick = None,
    c: o.C = None,
    speed_ratio: o.SpeedRatio = None,
    draft_ms: o.DraftMs = None,
    target_ms: o.TargetMs = None,
    draft_round_ms: Annotated[
        float | None,
        typer.Option(
            "--draft-round-ms",
            metavar="MS",
            parser=values.non_negative,
            help="All drafting of one round, instead of --draft-ms.",
            rich_help_panel=o.COST,
        ),
    ] = None,
    verify_ms: Annotated[
        float | None,
        typer.Option(
            "--verify-ms",
            metavar="MS",
            parser=values.positive,
            help="The target pass that verifies the draft, with --target-ms.",
            rich_help_panel=o.COST,
        ),
    ] = None,
    goal: Annotated[
        float | None,
        typer.Option(
            "--goal",
            metavar="X",
            parser=values.positive,
            help="The speedup that is wanted.",
            show_default="1: to break even",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    max_gamma: o.MaxGamma = None,
    format: o.Format = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    strict: o.Strict = False,
) -> None:
    """Have a run: where a round's time goes, and what would make it pay.

    One target pass, drafting, extra verification and what nothing explains;
    the acceptance and the cost that it would take; and a verdict.

        gammaplan explain --gamma 5 --speedup 0.93 --pooled-rate 0.4 --c 0.11

        gammaplan explain --alpha 0.44 --gamma 5 --c 0.11 --goal 1.5
    """
    from gammaplan.cli.evidence import CostFlags
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.runs import RunFlags, batch_of, gather_runs, known_of
    from gammaplan.cli.timings import timings_of, with_evidence

    out = Output.of(format, json, quiet, strict)
    timings = timings_of(
        CostFlags(c, speed_ratio, draft_ms, None if draft_ms is None else target_ms, None, None),
        gamma,
        target_ms,
        draft_round_ms,
        verify_ms,
    )
    known = known_of(files)
    findings = known.findings
    law = known.law.acceptance if known.law else None
    if known.cost is not None and timings.c is None:
        timings = with_evidence(timings, known.cost, gamma, needed=known.law is None)
    if alpha is not None:
        from gammaplan.model.acceptance import Geometric

        law = Geometric(alpha)
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
    _one_figure(flags, alpha)
    spoken = speedup is not None or spec_tps is not None or spec_ms is not None
    inputs: dict[str, object] = {}
    sources: dict[str, str] = {}
    if spoken or run or runs:
        measured = gather_runs(flags, law, batch=batch_of(pick))
        findings += measured.findings
        inputs, sources = dict(measured.inputs), dict(measured.sources)
        shown = _in_use(measured.runs, gamma)
        result, found = _measured(measured.runs, shown, law, timings, method, max_gamma, goal or 1)
    else:
        if gamma is None or gamma == 0:
            raise typer.BadParameter("--gamma is missing: the draft length to explain")
        result, found = _foretold(flags, law, timings, max_gamma, goal or 1)
    given: dict[str, object] = {
        "alpha": alpha,
        "c": timings.c,
        "target_ms": target_ms,
        "draft_ms": draft_ms,
    }
    given |= {"draft_round_ms": draft_round_ms, "verify_ms": verify_ms, "method": method}
    given |= {"gamma": gamma, "max_gamma": max_gamma}
    for name, value in given.items():
        inputs[name], sources[name] = value, "default" if value is None else "flag"
    if c is None and timings.c is not None and known.cost is not None:
        sources["c"] = f"evidence:{known.cost.source}"
    if known.law is not None and alpha is None:
        sources["alpha"] = f"evidence:{known.law.source}"
        inputs["alpha"] = law.alpha if law is not None else None
    inputs["goal"], sources["goal"] = goal or 1, "default" if goal is None else "flag"
    show(
        "explain",
        inputs=inputs,
        sources=sources,
        result=result,
        findings=[*findings, *found],
        out=out,
        render=_render,
    )


def _one_figure(flags: Any, alpha: float | None) -> None:  # Any: RunFlags
    names = ("pooled_rate", "mean_length", "survival")
    given = [f"--{n.replace('_', '-')}" for n in names if getattr(flags, n) is not None]
    if alpha is not None and given:
        raise typer.BadParameter(f"acceptance was given by --alpha and by {given[0]}; give it once")


def _in_use(runs: "tuple[Run, ...]", gamma: int | None) -> "Run":
    """The run that is explained: that of --gamma, else the fastest."""
    same = [r for r in runs if r.gamma == gamma]
    if gamma is not None and not same:
        known = ", ".join(sorted({str(r.gamma) for r in runs}))
        raise typer.BadParameter(f"no run has γ {gamma}; the runs have γ {known}")
    return max(same or runs, key=lambda r: (r.speedup, -r.gamma))


def _measured(
    runs: "tuple[Run, ...]",
    run: "Run",
    law: "Acceptance | None",
    timings: "Timings",
    method: str | None,
    max_gamma: int | None,
    goal: float,
) -> "tuple[ExplainResult, list[Finding]]":
    from dataclasses import replace

    from gammaplan.data.findings import finding
    from gammaplan.model.breakdown import Round
    from gammaplan.model.calibration import calibrate

    found = []
    tokens, drafting = run.tokens(), timings.drafting(run.gamma)
    if tokens is None and drafting is not None:
        tokens = min(max(run.speedup * (1 + drafting), 1.0), run.gamma + 1.0)
        found.append(
            finding(
                "mean_length_from_cost",
                tokens=f"{tokens:.3g}",
                alpha=f"{_alpha(tokens, run.gamma):.2f}",
            )
        )
        runs = tuple(replace(r, mean_length=tokens) if r is run else r for r in runs)
    fit = calibrate(runs, method=method)
    if tokens is None:
        tokens = float(fit.acceptance.expected_tokens(run.gamma))
        found.append(finding("acceptance_assumed", lengths=run.gamma))
    part = Round(run.gamma, tokens, tokens / run.speedup, drafting, timings.verify)
    chosen = law if law is not None and law.observed_to is None else fit.acceptance
    return _result(part, chosen, fit.cost, timings, max_gamma, goal, measured=True), found


def _foretold(
    flags: Any,  # Any: RunFlags
    law: "Acceptance | None",
    timings: "Timings",
    max_gamma: int | None,
    goal: float,
) -> "tuple[ExplainResult, list[Finding]]":
    """Without a measured speedup: what the timed parts promise."""
    from gammaplan.model.acceptance import Geometric
    from gammaplan.model.breakdown import Round
    from gammaplan.model.cost import LinearCost
    from gammaplan.model.runs import Run

    if timings.c is None:
        raise typer.BadParameter(
            "neither a measured speed nor the cost of drafting was given; give --speedup, or two "
            "speeds, or --c, or --draft-ms with --target-ms"
        )
    gamma = flags.gamma
    if law is None:
        run = Run(
            gamma,
            1.0,
            mean_length=flags.mean_length,
            pooled_rate=flags.pooled_rate,
            survival=flags.survival,
            drafted_per_round=flags.drafted_per_round,
        )
        tokens = run.tokens()
        if tokens is None:
            raise typer.BadParameter(
                "acceptance is missing; give --alpha, --pooled-rate, --mean-length, --survival of "
                "every position, or evidence that knows acceptance"
            )
        law = Geometric(_alpha(tokens, gamma), gamma)
    tokens = float(law.expected_tokens(gamma))
    drafting = timings.drafting(gamma) or 0.0
    part = Round(gamma, tokens, 1 + drafting + (timings.verify or 0.0), drafting, timings.verify)
    cost = LinearCost(timings.c, 0.0, max(timings.verify or 0.0, 0.0) / gamma)
    return _result(part, law, cost, timings, max_gamma, goal, measured=False), []


def _alpha(tokens: float, gamma: int) -> float:
    from gammaplan.model.convert import alpha_from_mean_length

    return float(alpha_from_mean_length(tokens, gamma))


def _result(
    part: "Round",
    law: "Acceptance",
    cost: "Cost",
    timings: "Timings",
    max_gamma: int | None,
    goal: float,
    *,
    measured: bool,
) -> "ExplainResult":
    import math

    from gammaplan.documents.writing import acceptance_shape, cost_shape, finite, whole
    from gammaplan.model.breakdown import verdict
    from gammaplan.model.decision import decide

    best = decide(law, cost, max_gamma=max_gamma)
    ms = timings.target_ms
    return {
        "gamma": part.gamma,
        "mean_length": part.tokens,
        "alpha": _alpha(part.tokens, part.gamma),
        "round_cost": part.cost,
        "measured_speedup": part.speedup if measured else None,
        "timed_speedup": part.timed,
        "textbook_speedup": part.textbook,
        "parts": [
            {
                "name": name,
                "target_passes": value,
                "share": value / part.cost,
                "ms": value * ms if ms else None,
            }
            for name, value in part.parts
            if measured or name != "unexplained"
        ],
        "best": {"gamma": whole(best.gamma), "speedup": finite(best.speedup)},
        "needed": {
            "goal": goal,
            "alpha": part.needed_alpha(goal),
            "c": part.needed_c(goal),
        },
        "levers": [
            {"change": name, "speedup": value}
            for name, value in part.ceilings().items()
            if (measured or "unexplained" not in name) and math.isfinite(value)
        ],
        "verdict": verdict(part, best.gamma, best.speedup),
        "acceptance": acceptance_shape(law),
        "costs": [cost_shape(cost, kind="fitted" if measured else "given")],
    }


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.explain import print_explain

    return print_explain
