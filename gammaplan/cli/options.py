"""Every option that more than one command has, once."""

from typing import Annotated

import typer

from gammaplan.cli import values

MODEL, COST, OUTPUT, RUNS = "Acceptance", "Cost", "Output", "Measured runs"

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Evidence: gammaplan JSON that knows acceptance or cost; - is stdin.",
        show_default=False,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        "-a",
        metavar="P",
        parser=values.fraction,
        help="Probability that a drafted token is accepted: a fraction, or 80% with its sign.",
        rich_help_panel=MODEL,
    ),
]
GammaInUse = Annotated[
    int | None,
    typer.Option(
        "--gamma",
        "-g",
        metavar="N",
        parser=values.length,
        help="The draft length in use today.",
        rich_help_panel=MODEL,
    ),
]
GammaRows = Annotated[
    values.Lengths | None,
    typer.Option(
        "--gamma",
        "-g",
        metavar="LIST",
        parser=values.lengths,
        help="The draft lengths to show: 4, 1,2,4 or 1..12.",
        show_default="1..12",
        rich_help_panel=MODEL,
    ),
]
MaxGamma = Annotated[
    int | None,
    typer.Option(
        "--max-gamma",
        metavar="N",
        parser=values.length,
        help="The longest draft to consider.",
        show_default="no limit",
        rich_help_panel=MODEL,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="SHARE",
        parser=values.tolerance,
        help="What the band may lose of the best speedup: 0.03 or 3%.",
        show_default="3%",
        rich_help_panel=MODEL,
    ),
]
Pick = Annotated[
    list[str] | None,
    typer.Option(
        "--pick",
        metavar="KEY=VALUE",
        help="Choose one group, row or cost of the evidence, by its label.",
        rich_help_panel=MODEL,
    ),
]
C = Annotated[
    float | None,
    typer.Option(
        "--c",
        "-c",
        metavar="RATIO",
        parser=values.non_negative,
        help="One draft pass ÷ one target pass.",
        rich_help_panel=COST,
    ),
]
SpeedRatio = Annotated[
    float | None,
    typer.Option(
        "--speed-ratio",
        metavar="RATIO",
        parser=values.positive,
        help="One target pass ÷ one draft pass, instead of --c.",
        rich_help_panel=COST,
    ),
]
DraftMs = Annotated[
    float | None,
    typer.Option(
        "--draft-ms",
        metavar="MS",
        parser=values.non_negative,
        help="One draft pass, with --target-ms instead of --c.",
        rich_help_panel=COST,
    ),
]
TargetMs = Annotated[
    float | None,
    typer.Option(
        "--target-ms",
        metavar="MS",
        parser=values.positive,
        help="One plain target pass, with --draft-ms.",
        rich_help_panel=COST,
    ),
]
DraftRoundMs = Annotated[
    float | None,
    typer.Option(
        "--draft-round-ms",
        metavar="MS",
        parser=values.non_negative,
        help="All drafting of one round of γ tokens, instead of --draft-ms.",
        rich_help_panel=COST,
    ),
]
VerifyMs = Annotated[
    float | None,
    typer.Option(
        "--verify-ms",
        metavar="MS",
        parser=values.positive,
        help="The target pass that verified γ drafted tokens, with --target-ms.",
        rich_help_panel=COST,
    ),
]
Overhead = Annotated[
    float | None,
    typer.Option(
        "--overhead",
        metavar="PASSES",
        parser=values.non_negative,
        help="What a round costs more as soon as it drafts, in target passes.",
        show_default="0",
        rich_help_panel=COST,
    ),
]
VerifySlope = Annotated[
    float | None,
    typer.Option(
        "--verify-slope",
        metavar="PASSES",
        parser=values.non_negative,
        help="What one more verified token adds to a target pass.",
        show_default="0",
        rich_help_panel=COST,
    ),
]
RunGamma = Annotated[
    int | None,
    typer.Option(
        "--gamma",
        "-g",
        metavar="N",
        parser=values.length,
        help="The draft length of the run.",
        rich_help_panel=RUNS,
    ),
]
BaselineTps = Annotated[
    float | None,
    typer.Option(
        "--baseline-tps",
        metavar="TPS",
        parser=values.positive,
        help="Tokens per second without speculation.",
        rich_help_panel=RUNS,
    ),
]
SpecTps = Annotated[
    float | None,
    typer.Option(
        "--spec-tps",
        metavar="TPS",
        parser=values.positive,
        help="Tokens per second with it.",
        rich_help_panel=RUNS,
    ),
]
BaselineMs = Annotated[
    float | None,
    typer.Option(
        "--baseline-ms",
        metavar="MS",
        parser=values.positive,
        help="Time per token (or per run) without speculation.",
        rich_help_panel=RUNS,
    ),
]
SpecMs = Annotated[
    float | None,
    typer.Option(
        "--spec-ms",
        metavar="MS",
        parser=values.positive,
        help="The same with it.",
        rich_help_panel=RUNS,
    ),
]
Speedup = Annotated[
    float | None,
    typer.Option(
        "--speedup",
        metavar="X",
        parser=values.positive,
        help="Speed with ÷ without speculation, instead of two speeds.",
        rich_help_panel=RUNS,
    ),
]
PooledRate = Annotated[
    float | None,
    typer.Option(
        "--pooled-rate",
        metavar="P",
        parser=values.fraction,
        help="Accepted ÷ drafted: what engines print as acceptance rate.",
        rich_help_panel=RUNS,
    ),
]
MeanLength = Annotated[
    float | None,
    typer.Option(
        "--mean-length",
        metavar="X",
        parser=values.number,
        help="Tokens per round with the bonus token.",
        rich_help_panel=RUNS,
    ),
]
Survival = Annotated[
    values.Numbers | None,
    typer.Option(
        "--survival",
        metavar="LIST",
        parser=values.fractions,
        help="Share of rounds that accepted 1, 2, … tokens.",
        rich_help_panel=RUNS,
    ),
]
DraftedPerRound = Annotated[
    float | None,
    typer.Option(
        "--drafted-per-round",
        metavar="X",
        parser=values.positive,
        help="Mean drafted tokens per round, where drafts stop early.",
        rich_help_panel=RUNS,
    ),
]
RunOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="KEY=VALUE,…",
        help="One more run: gamma=3,speedup=1.4,survival=0.8/0.6/0.4.",
        rich_help_panel=RUNS,
    ),
]
RunsFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--runs",
        metavar="FILE",
        help="Runs in CSV or JSON lines, or SGLang's or vLLM's benchmark JSON.",
        rich_help_panel=RUNS,
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="What drafts: eagle3, mtp, dflash, draft-model; chooses the prior.",
        rich_help_panel=RUNS,
    ),
]
RequireSpeedup = Annotated[
    float | None,
    typer.Option(
        "--require-speedup",
        metavar="X",
        parser=values.positive,
        help="Exit 3 unless the best speedup is at least X.",
        rich_help_panel=OUTPUT,
    ),
]
RequireGammaInBand = Annotated[
    int | None,
    typer.Option(
        "--require-gamma-in-band",
        metavar="N",
        parser=values.length,
        help="Exit 3 unless draft length N is within the tolerance.",
        rich_help_panel=OUTPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="table|json|csv|markdown",
        parser=values.choice("table", "json", "csv", "markdown"),
        help="How to print the answer.",
        show_default="table",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Short for --format json.", rich_help_panel=OUTPUT)
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        parser=values.plot_file,
        help="Draw the answer into a .svg, .png or .pdf; - draws in the terminal.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No findings on stderr.", rich_help_panel=OUTPUT),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Exit 3 on any finding of level warning or above.", rich_help_panel=OUTPUT
    ),
]
