"""gammaplan tree: the best draft tree for a number of nodes, and whether it beats the chain."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import rowoptions as r
from gammaplan.cli import values
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped
from gammaplan.cli.values import Lengths

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.passtimes import Timed
    from gammaplan.model.treecost import TreeCost


@grouped
def tree(
    files: o.Files = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="LIST|FILE",
            help="P(the i-th child is accepted | its parent was): 0.63,0.11, or CSV or JSON of "
            "one vector, of one a level, or of Medusa's heads.",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    budget: Annotated[
        Lengths | None,
        typer.Option(
            "--budget",
            "-b",
            metavar="LIST",
            parser=values.lengths,
            help="Drafted nodes, the root not counted: 16 or 4..64.",
            show_default="the best up to 256",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            metavar="N",
            parser=values.length,
            help="The most levels: draft passes.",
            show_default="no limit",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    max_width: Annotated[
        int | None,
        typer.Option(
            "--max-width",
            metavar="N",
            parser=values.length,
            help="The most children of a node.",
            show_default="the ranks given",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    pick: o.Pick = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="FILE",
            help="Logits (positions, vocab) instead of --ranks: .npy, .npz or .safetensors.",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    draft: Annotated[
        str | None,
        typer.Option(
            "--draft",
            metavar="FILE",
            help="The draft's, at the same positions.",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    logits: r.LogitFlags = r.NO_LOGITS,
    children: Annotated[
        int | None,
        typer.Option(
            "--children",
            metavar="N",
            parser=values.count,
            help="Children that a node may have.",
            show_default="4",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    replacement: Annotated[
        bool,
        typer.Option(
            "--replacement",
            help="A child may repeat an elder sibling (SpecInfer); without, none does (Sequoia).",
            rich_help_panel=r.ROWS,
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            parser=values.length,
            help="Where chance starts, where sequences of rejected children are drawn.",
            show_default="0",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    samplers: r.SamplerFlags = r.AS_THEY_ARE,
    cost: CostFlags = NO_COST,
    verify_curve: Annotated[
        str | None,
        typer.Option(
            "--verify-curve",
            metavar="LIST|FILE",
            help="Timed target passes by the tokens in them, the root's too: 1:10,8:12, or a file "
            "as cost reads it; instead of --verify-slope.",
            rich_help_panel=o.COST,
        ),
    ] = None,
    require_speedup: o.RequireSpeedup = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know how often each child is accepted: the best draft tree, or a chain instead.

    A round drafts one level a pass and verifies all nodes in one pass of the
    target. Without a cost the tree is the one with the most tokens.

        gammaplan tree --ranks 0.63,0.11,0.057,0.022 --budget 16 --c 0.05 --verify-slope 0.01

        gammaplan tree --ranks 0.63,0.11,0.057 --draft-ms 0.3 --verify-curve 1:10,4:10,8:12,32:18
    """
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.growing import grown
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.passtimes import read_passes
    from gammaplan.cli.ranking import Drawing, Rows, ranked
    from gammaplan.data.findings import finding
    from gammaplan.model.treeplan import Bounds

    out = Output.of(*output)
    account = Cases([])
    rows = Rows(target, draft, logits)
    drawing = Drawing(
        (samplers.target, samplers.draft), samplers.order, children, replacement, seed
    )
    read = ranked(account, ranks, pick or (), rows, drawing)
    timed = read_passes(verify_curve, read.picks) if verify_curve is not None else None
    account.note("budget", list(budget) if budget else None, "flag" if budget else "default")
    account.note_option("max_depth", max_depth)
    account.note_option("max_width", max_width)
    price = _cost(account, files, cost, timed, timed.picks if timed else read.picks)
    account.note("verify_curve", verify_curve, "default" if verify_curve is None else "flag")
    if price is None and budget is None:
        raise typer.BadParameter(
            "--budget is missing: without a cost a larger tree always has more tokens; give "
            "--budget, or --c for the best size"
        )
    if read.heads:
        account.findings.append(finding("heads_as_independent"))
    found = grown(read.vectors, price, budget, Bounds(max_depth, max_width))
    speed = found.result["speedup"]
    failed = []
    if require_speedup is not None and (speed is None or speed < require_speedup):
        shown = "not known" if speed is None else f"{speed:.4g}×"
        failed.append(f"--require-speedup {require_speedup:g}: the best is {shown}")
    show(
        "tree",
        inputs=account.inputs,
        sources=account.sources,
        result=found.result,
        findings=[*account.findings, *found.findings],
        out=out,
        render=_render,
        failed_gates=failed,
    )


def _cost(
    account: "Cases",
    files: list[str] | None,
    flags: "CostFlags",
    timed: "Timed | None",
    pick: tuple[str, ...],
) -> "TreeCost | None":
    """The cost that flags and evidence state, noted in `account`; None where there is none."""
    from gammaplan.cli.evidence import gather
    from gammaplan.model.cost import LinearCost
    from gammaplan.model.treecost import TreeCost

    passes = timed.passes if timed else None
    if timed is not None:
        if flags.verify_slope is not None:
            raise typer.BadParameter(
                "--verify-slope and --verify-curve contradict; give one of them"
            )
        if flags.draft_ms is None and flags.c is None and flags.speed_ratio is None:
            flags = flags._replace(draft_ms=timed.draft_ms)
        if flags.draft_ms is not None and flags.target_ms is None:
            flags = flags._replace(target_ms=timed.passes.ms[0])
    if not files and not flags.any and timed is None:
        if pick:
            raise typer.BadParameter(f"--pick {pick[0]} chooses in no file that was given")
        for name in ("c", "overhead", "verify_slope"):
            account.note(name, None, "default")
        return None
    cases = gather(files, alpha=0.0, cost=flags, pick=pick)
    if len(cases.cases) > 1:
        raise typer.BadParameter(
            "the evidence has several costs, and a tree is planned for one; choose it with --pick"
        )
    price = cases.cases[0].cost
    if not isinstance(price, LinearCost):
        raise typer.BadParameter(
            "the evidence has a table of whole rounds, and a tree needs draft passes and "
            "verification apart; give --c with --verify-slope or --verify-curve"
        )
    for name in ("c", "overhead", "verify_slope"):
        account.note(name, cases.inputs[name], cases.sources[name])
    account.findings += cases.findings
    return TreeCost(price.c, price.overhead, 0.0 if timed else price.verify_slope, passes)


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.tree import print_tree

    return print_tree
