"""gammaplan tokens: tokens per round for each draft length."""

from typing import TYPE_CHECKING, Any

from gammaplan.cli import options as o
from gammaplan.cli.flags import AS_TABLE, NO_COST, OutputFlags, grouped
from gammaplan.cli.values import Lengths

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.shapes.answers import TokensResult


@grouped
def tokens(
    files: o.Files = None,
    alpha: o.Alpha = None,
    gamma: o.GammaRows = None,
    pick: o.Pick = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know α: tokens per round for each draft length.

    With the bonus token (E[tokens]), without it, and as the share of drafted
    tokens that engines print as acceptance rate.

        gammaplan tokens --alpha 0.8 --gamma 1..8

        gammaplan tokens --alpha 0.8 --gamma 4 --json
    """
    from gammaplan.cli.evidence import gather
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    lengths = gamma or Lengths(range(1, 13))
    cases = gather(files, alpha=alpha, cost=NO_COST, pick=pick, cost_needed=False)
    cases.note("gamma", list(lengths), "flag" if gamma else "default")
    parts = [_result(case, lengths, several=len(cases.cases) > 1) for case in cases.cases]
    show(
        "tokens",
        inputs=cases.inputs,
        sources=cases.sources,
        result=parts[0] if len(parts) == 1 else {"groups": parts},
        findings=cases.findings,
        out=out,
        render=_render,
    )


def _result(case: "Case", lengths: Lengths, *, several: bool) -> "TokensResult":
    from gammaplan.documents.writing import finite

    law = case.acceptance
    expected = law.expected_tokens(lengths).tolist()
    result: TokensResult = {
        "ceiling": finite(law.ceiling),
        "rows": [
            {
                "gamma": gamma,
                "expected_tokens": total,
                "accepted_per_round": total - 1,
                "pooled_rate": (total - 1) / gamma if gamma else None,
            }
            for gamma, total in zip(lengths, expected, strict=True)
        ],
        "acceptance": case.acceptance_shape,
    }
    return {"labels": dict(case.labels), **result} if several else result


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.tokens import print_tokens

    return print_tokens
