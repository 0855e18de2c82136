"""gammaplan table: every draft length and its speedup."""

from typing import TYPE_CHECKING, Any

from gammaplan.cli import options as o
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped
from gammaplan.cli.values import Lengths

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.shapes.answers import OptimumResult, TableResult, TableRow


@grouped
def table(
    files: o.Files = None,
    alpha: o.Alpha = None,
    gamma: o.GammaRows = None,
    max_gamma: o.MaxGamma = None,
    tolerance: o.Tolerance = None,
    pick: o.Pick = None,
    cost: CostFlags = NO_COST,
    require_speedup: o.RequireSpeedup = None,
    require_gamma_in_band: o.RequireGammaInBand = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know α and c: every draft length, its speedup, and how flat the peak is.

    A bar beside each row shows the share of the best speedup; the best row
    and the band within the tolerance are marked.

        gammaplan table --alpha 0.8 --c 0.1

        gammaplan table --alpha 0.9 --c 0.02 --gamma 1..24
    """
    from gammaplan.cli.deciding import Search, answer
    from gammaplan.cli.evidence import gather
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    rows = gamma or Lengths(range(1, 13))
    cases = gather(files, alpha=alpha, cost=cost, pick=pick)
    cases.note("gamma", list(rows), "flag" if gamma else "default")
    search = Search(max_gamma, tolerance)

    def shape(case: "Case", optimum: "OptimumResult") -> "TableResult":
        return table_result(case, optimum, rows)

    result, failed = answer(
        cases, search, require_speedup=require_speedup, in_band=require_gamma_in_band, shape=shape
    )
    show(
        "table",
        inputs=cases.inputs,
        sources=cases.sources,
        result=result,
        findings=cases.findings,
        out=out,
        render=_render,
        failed_gates=failed,
    )


def table_result(case: "Case", optimum: "OptimumResult", lengths: Lengths) -> "TableResult":
    """The curve of one case over the lengths asked for, beside its optimum."""
    from gammaplan.model.curve import curve

    best, band = optimum["speedup"], optimum["band"]
    low, high = band["low"], band["high"]
    rows: list[TableRow] = [
        {
            "gamma": row["gamma"],
            "expected_tokens": row["expected_tokens"],
            "round_cost": row["round_cost"],
            "speedup": row["speedup"],
            "relative": row["speedup"] / best if best and row["speedup"] is not None else None,
            "in_band": low is not None
            and low <= row["gamma"]
            and (high is None or row["gamma"] <= high),
            "best": row["gamma"] == optimum["gamma"],
        }
        for row in curve(case.acceptance, case.cost, lengths).rows
    ]
    return {
        "rows": rows,
        "optimum": optimum,
        "acceptance": optimum["acceptance"],
        "costs": optimum["costs"],
    }


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.table import print_table

    return print_table
