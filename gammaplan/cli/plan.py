"""gammaplan plan: from reports, timings and runs to the draft length to use."""

from typing import Annotated, Any

import typer

from gammaplan.cli import batchoptions as b
from gammaplan.cli import options as o
from gammaplan.cli import values
from gammaplan.cli.flags import (
    AS_TABLE,
    NO_COST,
    NO_RUNS,
    CostFlags,
    OutputFlags,
    RunFlags,
    grouped,
)

PLAN = "Plan"

Candidate = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        metavar="KEY=VALUE,…",
        help="A draft to compare: name=eagle3,evidence=fit_a.json,c=0.05. Repeat it.",
        rich_help_panel=PLAN,
    ),
]
Mix = Annotated[
    list[str] | None,
    typer.Option(
        "--mix",
        metavar="KEY=VALUE,…",
        help="A workload and its share of the tokens: name=code,share=0.6,evidence=fit.json.",
        rich_help_panel=PLAN,
    ),
]
PrefillMs = Annotated[
    float | None,
    typer.Option(
        "--prefill-ms",
        metavar="MS",
        parser=values.non_negative,
        help="The prefill of a request, which speculation cannot touch.",
        rich_help_panel=PLAN,
    ),
]
OutputTokens = Annotated[
    int | None,
    typer.Option(
        "--output-tokens",
        metavar="N",
        parser=values.length,
        help="The tokens that a request generates, with --prefill-ms.",
        rich_help_panel=PLAN,
    ),
]

Textbook = Annotated[
    bool,
    typer.Option(
        "--textbook",
        help="One α and a round cost of 1 + cγ, without priors, for comparison.",
        rich_help_panel=PLAN,
    ),
]


@grouped
def plan(
    files: o.Files = None,
    alpha: o.Alpha = None,
    gamma: o.GammaInUse = None,
    max_gamma: o.MaxGamma = None,
    tolerance: o.Tolerance = None,
    pick: o.Pick = None,
    cost: CostFlags = NO_COST,
    runs: RunFlags = NO_RUNS,
    batch: b.Batches = None,
    hit_rate: b.HitRate = None,
    method: o.Method = None,
    textbook: Textbook = False,
    candidate: Candidate = None,
    mix: Mix = None,
    prefill_ms: PrefillMs = None,
    output_tokens: OutputTokens = None,
    engine: b.Engines = None,
    target: b.TargetName = None,
    draft: b.DraftName = None,
    mtp_layers: b.MtpLayers = None,
    prior_engine: b.PriorEngine = None,
    require_speedup: o.RequireSpeedup = None,
    require_gamma_in_band: o.RequireGammaInBand = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have reports, timings or runs: the draft length to use, and what to measure next.

    A predicted speedup for every length with the interval that a run would
    fall in, the lengths that are nearly as good, and every assumption. What
    nobody gave is taken from public measurements, and said.

        gammaplan plan --gamma 5 --baseline-tps 41.6 --spec-tps 60.3 --pooled-rate 0.55

        gammaplan plan fit.json --c 0.08 --engine vllm

        gammaplan plan fit.json surface.json --batch 1,2,4,8,16,32,64
    """
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.planned import Asked, planned

    out = Output.of(*output)
    done = planned(
        Asked(
            files=files or [],
            alpha=alpha,
            cost=cost,
            runs=runs,
            pick=pick,
            gamma=gamma,
            max_gamma=max_gamma,
            tolerance=tolerance,
            method=method,
            textbook=textbook,
            candidates=candidate or [],
            mix=mix or [],
            prefill_ms=prefill_ms,
            output_tokens=output_tokens,
            require_speedup=require_speedup,
            in_band=require_gamma_in_band,
            batches=batch,
            hit_rate=hit_rate,
            prior_engine=prior_engine,
        )
    )
    if engine:
        from gammaplan.cli.settings import EngineFlags, add_settings

        add_settings(
            done.result,
            done.cases,
            EngineFlags(engine, done.method, target, draft, mtp_layers, max_gamma),
            done.by_range,
        )
    elif (name := first_given(target=target, draft=draft, mtp_layers=mtp_layers)) is not None:
        raise typer.BadParameter(f"{name} needs --engine, whose settings it goes into")
    show(
        "plan",
        inputs=done.cases.inputs,
        sources=done.cases.sources,
        result=done.result,
        findings=done.cases.findings,
        out=out,
        render=_render,
        failed_gates=done.failed,
    )


def first_given(**options: object) -> str | None:
    """The first of these options that was given, as it is written."""
    given = (name for name, value in options.items() if value is not None)
    return next((f"--{name.replace('_', '-')}" for name in given), None)


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.plan import print_plan

    return print_plan
