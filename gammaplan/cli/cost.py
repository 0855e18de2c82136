"""gammaplan cost: what a round costs, from timings, from runs, or from models and a device."""

from typing import Any

from gammaplan.cli import batchoptions as b
from gammaplan.cli import options as o
from gammaplan.cli.estimateoptions import NO_ESTIMATE, EstimateFlags
from gammaplan.cli.flags import (
    AS_TABLE,
    NO_RUNS,
    NO_TIMES,
    OutputFlags,
    RunFlags,
    TimeFlags,
    grouped,
)


@grouped
def cost(
    files: o.Files = None,
    times: TimeFlags = NO_TIMES,
    gamma: o.RunGamma = None,
    runs: RunFlags = NO_RUNS,
    verify_curve: b.VerifyCurve = None,
    draft_curve: b.DraftCurve = None,
    batch: b.Batches = None,
    block: b.Block = None,
    method: o.Method = None,
    estimate: EstimateFlags = NO_ESTIMATE,
    pick: o.Pick = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have timings or runs: what a round costs, and where each term came from.

    The answer is evidence for `optimum`, `table`, `plan` and `ceiling`. A
    verify curve holds timed target passes by the tokens in them: llama-bench,
    llama-batched-bench, or CSV with tokens, ms and, for a surface, batch.

        gammaplan cost --target-ms 14.1 --draft-ms 1.8 --verify-ms 18.5 --gamma 4

        gammaplan cost --gamma 5 --speedup 1.45 --pooled-rate 0.55 --run gamma=2,speedup=1.4

        gammaplan cost --verify-curve bench.json --draft-ms 1.8

    Before anything is measured, --target and --device estimate it from the
    target's config.json, with a range as wide as such estimates were off.

        gammaplan cost --target config.json --method eagle3 --device h100-sxm --batch 1,8,32
    """
    from gammaplan.cli.costs import Asked, answered
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    asked = Asked(files or [], times, gamma, runs, method, pick)
    curves = b.Curves(verify_curve or [], draft_curve, batch, block)
    if estimate.any:
        from gammaplan.cli.estimated import answered_by_shapes

        done = answered_by_shapes(asked, estimate, curves)
    elif any(curves):
        from gammaplan.cli.verifying import answered_by_curves

        done = answered_by_curves(asked, curves)
    else:
        done = answered(asked)
    show(
        "cost",
        inputs=done.inputs,
        sources=done.sources,
        result=done.result,
        findings=done.findings,
        out=out,
        render=_render,
    )


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.cost import print_cost

    return print_cost
