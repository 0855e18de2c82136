"""How acceptance varies where there is no trace: the options of an assumed process."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import values

if TYPE_CHECKING:
    from gammaplan.model.processes import Process

PROCESS = "Assumed variation"
REQUESTS, TOKENS, SEED = 1_000, 1_000, 0

Spread = Annotated[
    float | None,
    typer.Option(
        "--spread",
        metavar="SD",
        parser=values.non_negative,
        help="How α differs between requests: the standard deviation of a Beta around it.",
        rich_help_panel=PROCESS,
    ),
]
Regimes = Annotated[
    values.Numbers | None,
    typer.Option(
        "--regimes",
        metavar="A,B",
        parser=values.fractions,
        help="Two states of the text and α in each, instead of --alpha.",
        rich_help_panel=PROCESS,
    ),
]
Dwell = Annotated[
    float | None,
    typer.Option(
        "--dwell",
        metavar="TOKENS",
        parser=values.positive,
        help="How long a state lasts on average, with --regimes.",
        rich_help_panel=PROCESS,
    ),
]
TokenSpread = Annotated[
    float | None,
    typer.Option(
        "--token-spread",
        metavar="SD",
        parser=values.positive,
        help="How acceptance differs from token to token, for drafts that show a confidence.",
        rich_help_panel=PROCESS,
    ),
]
Quality = Annotated[
    float | None,
    typer.Option(
        "--quality",
        metavar="SHARE",
        parser=values.fraction,
        help="Share of tokens whose confidence is their acceptance, with --token-spread.",
        show_default="1",
        rich_help_panel=PROCESS,
    ),
]
Requests = Annotated[
    int | None,
    typer.Option(
        "--requests",
        metavar="N",
        parser=values.length,
        help="How many requests are drawn.",
        show_default=f"{REQUESTS:,}",
        rich_help_panel=PROCESS,
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option(
        "--tokens",
        metavar="N",
        parser=values.length,
        help="Tokens of each request.",
        show_default=f"{TOKENS:,}",
        rich_help_panel=PROCESS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        parser=values.length,
        help="Where the drawn outcomes start.",
        show_default=str(SEED),
        rich_help_panel=PROCESS,
    ),
]


def process(alpha: float, varying: dict[str, Any]) -> "Process":
    """The process that the options describe around this α."""
    from gammaplan.model import processes

    kinds = [o for o in ("--spread", "--regimes", "--token-spread") if varying[o] is not None]
    if len(kinds) > 1:
        raise typer.BadParameter(f"{' and '.join(kinds)} exclude each other; give one")
    for option, with_ in (("--dwell", "--regimes"), ("--quality", "--token-spread")):
        if varying[option] is not None and varying[with_] is None:
            raise typer.BadParameter(f"{option} needs {with_} beside it")
    if varying["--regimes"] is not None:
        if varying["--dwell"] is None:
            raise typer.BadParameter("--regimes needs --dwell beside it")
        good, bad = varying["--regimes"]
        return processes.Regimes(good, bad, varying["--dwell"])
    if varying["--token-spread"] is not None:
        quality = varying["--quality"]
        return processes.Tokens(
            alpha, varying["--token-spread"], 1.0 if quality is None else quality
        )
    return processes.Requests(alpha, varying["--spread"] or 0.0)
