"""gammaplan ceiling: the speedup that no draft length can pass."""

from typing import TYPE_CHECKING, Any

from gammaplan.cli import options as o
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.shapes.answers import CeilingResult


@grouped
def ceiling(
    files: o.Files = None,
    alpha: o.Alpha = None,
    pick: o.Pick = None,
    cost: CostFlags = NO_COST,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know α: the speedup that no draft length can pass.

    1 ÷ (1 − α) for one chain of drafted tokens; with a cost also how near the
    best draft length comes to it.

        gammaplan ceiling --alpha 0.8

        gammaplan ceiling --alpha 0.8 --c 0.1
    """
    from gammaplan.cli.evidence import gather
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    cases = gather(files, alpha=alpha, cost=cost, pick=pick, cost_needed=False)
    parts = [_result(case, several=len(cases.cases) > 1) for case in cases.cases]
    show(
        "ceiling",
        inputs=cases.inputs,
        sources=cases.sources,
        result=parts[0] if len(parts) == 1 else {"groups": parts},
        findings=cases.findings,
        out=out,
        render=_render,
    )


def _result(case: "Case", *, several: bool) -> "CeilingResult":
    from gammaplan.documents.writing import finite
    from gammaplan.model.decision import decide

    top = finite(case.acceptance.ceiling)
    best = None
    if case.cost_shape is not None:
        best = finite(decide(case.acceptance, case.cost).speedup)
    result: CeilingResult = {
        "ceiling": top,
        "speedup": best,
        "share_of_ceiling": best / top if best and top else None,
        "acceptance": case.acceptance_shape,
    }
    return {"labels": dict(case.labels), **result} if several else result


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.tokens import print_ceiling

    return print_ceiling
