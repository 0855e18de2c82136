"""gammaplan explain: where the time of a round goes, and what would make it pay."""

from typing import Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values
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
def explain(
    files: o.Files = None,
    alpha: o.Alpha = None,
    gamma: o.RunGamma = None,
    runs: RunFlags = NO_RUNS,
    method: o.Method = None,
    pick: o.Pick = None,
    times: TimeFlags = NO_TIMES,
    overhead: o.Overhead = None,
    verify_slope: o.VerifySlope = None,
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
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have a run: where a round's time goes, and what would make it pay.

    One target pass, drafting, extra verification and what nothing explains;
    the acceptance and the cost that it would take; and a verdict.

        gammaplan explain --gamma 5 --speedup 0.93 --pooled-rate 0.4 --c 0.11

        gammaplan explain --alpha 0.44 --gamma 5 --c 0.11 --goal 1.5
    """
    from gammaplan.cli.explaining import explained
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.rounds import Asked

    out = Output.of(*output)
    asked = Asked(files or [], alpha, gamma, runs, method, pick, times, overhead, verify_slope)
    done = explained(asked._replace(goal=1.0 if goal is None else goal, max_gamma=max_gamma))
    done.inputs["goal"] = 1.0 if goal is None else goal
    done.sources["goal"] = "default" if goal is None else "flag"
    show(
        "explain",
        inputs=done.inputs,
        sources=done.sources,
        result=done.result,
        findings=done.findings,
        out=out,
        render=_render,
    )


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.explain import print_explain

    return print_explain
