"""gammaplan cost: what a round costs, from timings or from runs."""

from typing import Any

from gammaplan.cli import options as o
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
    method: o.Method = None,
    pick: o.Pick = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have timings or runs: what a round costs, and where each term came from.

    The answer is evidence for `optimum`, `table`, `plan` and `ceiling`.

        gammaplan cost --target-ms 14.1 --draft-ms 1.8 --verify-ms 18.5 --gamma 4

        gammaplan cost --gamma 5 --speedup 1.45 --pooled-rate 0.55 --run gamma=2,speedup=1.4
    """
    from gammaplan.cli.costs import Asked, answered
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    done = answered(Asked(files or [], times, gamma, runs, method, pick))
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
