"""gammaplan sweep: a map of the best draft length over α and c."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values
from gammaplan.cli.flags import AS_TABLE, OutputFlags, grouped
from gammaplan.cli.values import Numbers

if TYPE_CHECKING:
    from gammaplan.shapes.answers import SweepResult

DEFAULT_ALPHA, DEFAULT_C = "0.5..0.95:0.05", "0.01,0.02,0.05,0.1,0.2"


@grouped
def sweep(
    alpha: Annotated[
        Numbers | None,
        typer.Option(
            "--alpha",
            "-a",
            metavar="LIST",
            parser=values.fractions,
            help="The rows: 0.7,0.8 or 0.5..0.9:0.05.",
            show_default=DEFAULT_ALPHA,
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    c: Annotated[
        Numbers | None,
        typer.Option(
            "--c",
            "-c",
            metavar="LIST",
            parser=values.costs,
            help="The columns: 0.01,0.1 or 0.05..0.2:0.05.",
            show_default=DEFAULT_C,
            rich_help_panel=o.COST,
        ),
    ] = None,
    max_gamma: o.MaxGamma = None,
    tolerance: o.Tolerance = None,
    overhead: o.Overhead = None,
    verify_slope: o.VerifySlope = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know a range of α and c: a map of the best draft length.

    A row per α, a column per c: the best γ and its speedup.

        gammaplan sweep --alpha 0.5..0.95:0.05 --c 0.01,0.02,0.05,0.1,0.2

        gammaplan sweep --alpha 0.8 --c 0.01..0.2:0.01 --format csv
    """
    from gammaplan.cli.deciding import DEFAULT_TOLERANCE
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.output import Output, show
    from gammaplan.data.findings import finding

    out = Output.of(*output)
    alphas = alpha or values.fractions(DEFAULT_ALPHA)
    costs = c or values.costs(DEFAULT_C)
    if len(alphas) * len(costs) > values.MAX_ROWS:
        raise typer.BadParameter(
            f"--alpha and --c must span at most {values.MAX_ROWS:,} pairs, "
            f"got {len(alphas)} × {len(costs)}"
        )
    account = Cases([])
    account.note("alpha", list(alphas), "flag" if alpha else "default")
    account.note("c", list(costs), "flag" if c else "default")
    account.note_option("overhead", overhead, 0.0)
    account.note_option("verify_slope", verify_slope, 0.0)
    account.note_option("max_gamma", max_gamma)
    account.note_option("tolerance", tolerance, DEFAULT_TOLERANCE)
    if max(costs) >= 1:
        account.findings.append(finding("looks_inverse", c=f"{max(costs):g}"))
    result = sweep_result(
        alphas,
        costs,
        overhead=overhead or 0.0,
        verify_slope=verify_slope or 0.0,
        max_gamma=max_gamma,
        tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
    )
    if any(row["gamma"] is None for row in result["rows"]):
        account.findings.append(finding("unbounded", supremum="the speedup shown"))
    show(
        "sweep",
        inputs=account.inputs,
        sources=account.sources,
        result=result,
        findings=account.findings,
        out=out,
        render=_render,
    )


def sweep_result(
    alphas: Numbers,
    costs: Numbers,
    *,
    overhead: float,
    verify_slope: float,
    max_gamma: int | None,
    tolerance: float,
) -> "SweepResult":
    """A row per pair, α by α; the whole grid at once."""
    import numpy as np

    from gammaplan.documents.writing import finite, whole
    from gammaplan.model.acceptance import ceiling
    from gammaplan.model.band import limited_gamma, linear_band
    from gammaplan.model.curve import linear_speedup
    from gammaplan.model.optimum import stationary_gamma

    a, c = (grid.ravel() for grid in np.meshgrid(alphas, costs, indexing="ij"))
    slope, fixed = c + verify_slope, np.asarray(overhead)
    limit = np.asarray(np.inf if max_gamma is None else float(max_gamma))
    best = limited_gamma(a, slope, fixed, limit)
    real = np.minimum(stationary_gamma(a, slope, overhead=fixed), limit)
    real = np.where(linear_speedup(a, real, slope, fixed) > 1, real, 0)
    real = np.where(np.isinf(best), np.nan, real)
    low, high = linear_band(a, slope, fixed, np.asarray(tolerance), limit)
    speed = linear_speedup(a, best, slope, fixed)
    columns = (a, c, best, speed, real, low, high, np.asarray(ceiling(a)))
    return {
        "rows": [
            {
                "alpha": alpha,
                "c": cost,
                "gamma": whole(gamma),
                "speedup": finite(speedup),
                "gamma_continuous": finite(continuous),
                "band_low": whole(first),
                "band_high": whole(last),
                "ceiling": finite(top),
            }
            for alpha, cost, gamma, speedup, continuous, first, last, top in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
    }


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.sweep import print_sweep

    return print_sweep
