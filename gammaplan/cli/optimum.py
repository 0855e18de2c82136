"""gammaplan optimum: the best draft length, why, and what would help most."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gammaplan.cli import options as o
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped

if TYPE_CHECKING:
    from gammaplan.cli.deciding import Search
    from gammaplan.cli.evidence import Cases

SHOWN, MOST_SHOWN = 12, 48  # lengths of its picture: at least to this one, in so many steps


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
    search = Search(max_gamma, tolerance, gamma)
    result, failed = answer(
        cases,
        search,
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
        plotted=lambda: ("table", _curve(cases, search, result)),
        failed_gates=failed,
    )


def _curve(cases: "Cases", search: "Search", result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of lengths from 0 to beyond the best, for a picture of it."""
    from gammaplan.cli.deciding import answer
    from gammaplan.cli.table import table_result
    from gammaplan.cli.values import Lengths

    best = {part["gamma"] or 0 for part in result.get("groups", [result])}
    last = max(SHOWN, 2 * max(best))
    shown = sorted({*range(0, last + 1, -(-last // MOST_SHOWN)), *best})
    table, _ = answer(
        cases,
        search,
        require_speedup=None,
        in_band=None,
        shape=lambda case, optimum: table_result(case, optimum, Lengths(shown)),
    )
    return table


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.optimum import print_optimum

    return print_optimum
