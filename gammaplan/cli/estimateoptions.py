"""The options of an estimate, before anything was measured: models, device, number formats."""

from typing import Annotated, NamedTuple

import typer

from gammaplan.cli import values
from gammaplan.data.formats import ACTIVATIONS, QUANTS

PANEL = "Estimate, from models and a device"

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="FILE",
        help="The target's config.json: estimate the cost from its shape.",
        rich_help_panel=PANEL,
    ),
]
Draft = Annotated[
    str | None,
    typer.Option(
        "--draft",
        metavar="FILE",
        help="The config.json of a draft that is a model of its own.",
        rich_help_panel=PANEL,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="The device: h100-sxm, rtx-4090, mi300x, …",
        rich_help_panel=PANEL,
    ),
]
Context = Annotated[
    int | None,
    typer.Option(
        "--context",
        metavar="N",
        parser=values.counted,
        help="Cached tokens of each sequence.",
        show_default="4096, or the model's",
        rich_help_panel=PANEL,
    ),
]
Dtype = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        metavar="|".join(ACTIVATIONS),
        parser=values.choice(*ACTIVATIONS),
        help="The format that is computed in.",
        show_default="that of the config, else bf16",
        rich_help_panel=PANEL,
    ),
]
Quant = Annotated[
    str | None,
    typer.Option(
        "--quant",
        metavar="NAME",
        parser=values.choice("none", *QUANTS),
        help="The format of the target's weights: fp8, int4, mxfp4, q4_0, …",
        show_default="the config's",
        rich_help_panel=PANEL,
    ),
]
KvDtype = Annotated[
    str | None,
    typer.Option(
        "--kv-dtype",
        metavar="bf16|fp16|fp8|int8",
        parser=values.choice("bf16", "fp16", "fp8", "int8"),
        help="The format of the cache.",
        show_default="that of --dtype",
        rich_help_panel=PANEL,
    ),
]
Tp = Annotated[
    int | None,
    typer.Option(
        "--tp",
        metavar="N",
        parser=values.counted,
        help="Devices that split every layer.",
        show_default="1",
        rich_help_panel=PANEL,
    ),
]
Parameters = Annotated[
    float | None,
    typer.Option(
        "--parameters",
        metavar="N",
        parser=values.between(1, 1e18),
        help="Parameters of a target of unknown architecture: 13e9.",
        rich_help_panel=PANEL,
    ),
]
Bandwidth = Annotated[
    float | None,
    typer.Option(
        "--bandwidth",
        metavar="GB/S",
        parser=values.between(1e-3, 1e9),
        help="Memory bandwidth, for any device.",
        rich_help_panel=PANEL,
    ),
]
Flops = Annotated[
    float | None,
    typer.Option(
        "--flops",
        metavar="TFLOPS",
        parser=values.between(1e-3, 1e9),
        help="Dense matrix speed, for any device.",
        rich_help_panel=PANEL,
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory",
        metavar="GB",
        parser=values.between(1e-3, 1e9),
        help="Memory, for any device.",
        rich_help_panel=PANEL,
    ),
]
Efficiency = Annotated[
    float | None,
    typer.Option(
        "--efficiency",
        metavar="SHARE",
        parser=values.fraction,
        help="Share of the stated speeds that is reached; --target-ms calibrates it.",
        show_default="0.7",
        rich_help_panel=PANEL,
    ),
]


class EstimateFlags(NamedTuple):
    """The options of an estimate."""

    target: Target = None
    draft: Draft = None
    device: Device = None
    context: Context = None
    dtype: Dtype = None
    quant: Quant = None
    kv_dtype: KvDtype = None
    tp: Tp = None
    parameters: Parameters = None
    bandwidth: Bandwidth = None
    flops: Flops = None
    memory: Memory = None
    efficiency: Efficiency = None

    @property
    def any(self) -> bool:
        """Whether any of them was given."""
        return any(value is not None for value in self)


NO_ESTIMATE = EstimateFlags()
