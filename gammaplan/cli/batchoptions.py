"""The options about batch sizes and engines, of cost and plan."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from gammaplan.cli import values

BATCH, ENGINE = "Batch sizes", "Engine"

VerifyCurve = Annotated[
    list[str] | None,
    typer.Option(
        "--verify-curve",
        metavar="FILE",
        help="Timed target passes: llama-bench, batched-bench, or CSV of tokens and ms.",
        rich_help_panel=BATCH,
    ),
]
DraftCurve = Annotated[
    str | None,
    typer.Option(
        "--draft-curve",
        metavar="FILE",
        help="Timed passes of a draft that also reads what was verified, as in llama.cpp.",
        rich_help_panel=BATCH,
    ),
]
Batches = Annotated[
    values.Lengths | None,
    typer.Option(
        "--batch",
        metavar="LIST",
        parser=values.batches,
        help="Batch sizes: 1,2,4,8 or 1..16.",
        rich_help_panel=BATCH,
    ),
]
Block = Annotated[
    int | None,
    typer.Option(
        "--block",
        metavar="N",
        parser=values.counted,
        help="The tokens of a draft made in one pass, with --verify-curve.",
        rich_help_panel=BATCH,
    ),
]
HitRate = Annotated[
    float | None,
    typer.Option(
        "--hit-rate",
        metavar="P",
        parser=values.fraction,
        help="Share of rounds that draft anything, where a lookup may find nothing.",
        rich_help_panel=BATCH,
    ),
]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="NAME[@VERSION]",
        help="Print the settings of an engine, vllm or sglang@0.5.10. Repeat it.",
        rich_help_panel=ENGINE,
    ),
]
PriorEngine = Annotated[
    str | None,
    typer.Option(
        "--prior-engine",
        metavar="NAME",
        help="The engine that was measured; named with the assumptions.",
        rich_help_panel=ENGINE,
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="The target model in the settings.",
        show_default="TARGET",
        rich_help_panel=ENGINE,
    ),
]
DraftName = Annotated[
    str | None,
    typer.Option(
        "--draft",
        metavar="NAME",
        help="The draft model in the settings.",
        show_default="DRAFT",
        rich_help_panel=ENGINE,
    ),
]
MtpLayers = Annotated[
    int | None,
    typer.Option(
        "--mtp-layers",
        metavar="N",
        parser=values.counted,
        help="MTP layers of the target (n_predict), beyond which lengths are multiples.",
        rich_help_panel=ENGINE,
    ),
]


class Curves(NamedTuple):
    """The options of timed passes: files, batch sizes, the tokens of a block."""

    paths: Sequence[str]
    draft_path: str | None
    batches: Sequence[int] | None
    block: int | None
