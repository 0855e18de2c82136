"""gammaplan optimum: the best draft length, why, and what would help most."""

from typing import Any

from gammaplan.cli import options as o
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped


@grouped
def optimum(
    files: o.Files = None,
    alpha: o.Alpha = None,
    gamma: o.GammaInUse = None,
    max_gamma: o.MaxGamma = None,
    tolerance: o.Tolerance = None,
    pick: o.Pick = None,
    cost: CostFlags = NO_COST,
    require_speedup: o.RequireSpeedup = None,
    require_gamma_in_band: o.RequireGammaInBand = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know α and c: the best draft length in one line, why, and what would help most.

    With --gamma, what moving from the length in use to the best would gain,
    beside what a better or a cheaper draft would.

        gammaplan optimum --alpha 0.8 --c 0.1 --gamma 4

        gammaplan convert --mean-length 4.739 --gamma 6 --json | gammaplan optimum - --c 0.05
    """
    from gammaplan.cli.deciding import Search, answer
    from gammaplan.cli.evidence import gather
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    cases = gather(files, alpha=alpha, cost=cost, pick=pick)
    cases.note_gamma(gamma)
    result, failed = answer(
        cases,
        Search(max_gamma, tolerance, gamma),
        require_speedup=require_speedup,
        in_band=require_gamma_in_band,
    )
    show(
        "optimum",
        inputs=cases.inputs,
        sources=cases.sources,
        result=result,
        findings=cases.findings,
        out=out,
        render=_render,
        failed_gates=failed,
    )


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.optimum import print_optimum

    return print_optimum
