"""gammaplan report: an answer as one HTML page, to send to somebody."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gammaplan.cli import options as o

OutputFile = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The page to write; - is stdout.",
        show_default=False,
        rich_help_panel=o.OUTPUT,
    ),
]


def report(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A document of plan, optimum, table or explain (--json); - is stdin.",
            show_default=False,
        ),
    ],
    output: OutputFile,
) -> None:
    """Have an answer: one page to send, with its curve to play with and what it rests on.

    The page is one file that needs no network: the answer, the speedup over
    the draft length with sliders, every length, the evidence, the settings.

        gammaplan report plan.json -o report.html

        gammaplan plan --alpha 0.8 --c 0.1 --json | gammaplan report - -o report.html
    """
    from gammaplan.cli.inputs import opened
    from gammaplan.cli.pages import page_of
    from gammaplan.cli.wholefile import write_whole
    from gammaplan.documents.reading import NotADocument, read_json
    from gammaplan.engines.lines import named
    from gammaplan.errors import InputError

    name = named(file)
    try:
        with opened(file) as stream:
            document = read_json(stream, name)
        page = page_of(document, name, None if file == "-" else Path(file).name)
    except NotADocument as error:
        told = "report takes what plan --json prints, and plan reads reports of engines"
        raise InputError(f"{error}; {told}") from None
    if output == "-":
        sys.stdout.write(page)
    else:
        write_whole(output, page)
