"""gammaplan fit: from what an engine reports to α, with an honest interval."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import connection, values
from gammaplan.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gammaplan.engines.files import Asked, Input

READ, GROUP = "What to read", "What to assume and how to group"


def fit(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Logs, metrics pages, responses or results, plain or compressed, or their URLs; "
            "- is stdin.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="FILE",
            help="An earlier metrics page of the same server: the difference is fitted.",
            rich_help_panel=READ,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Take the input to be of this engine: vllm, sglang, llama.cpp, …",
            show_default="recognised",
            rich_help_panel=READ,
        ),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="NAME",
            help="Take the input to be in this format (docs/engines.md lists them).",
            show_default="recognised",
            rich_help_panel=READ,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Leave out records before this time, as the log prints it.",
            rich_help_panel=READ,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="TIME",
            help="Leave out records from this time on.",
            rich_help_panel=READ,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            parser=values.length,
            help="Processes: for several files, or for one log of more than 512 MB.",
            show_default="1, for one large log the processors",
            rich_help_panel=READ,
        ),
    ] = None,
    every: connection.Every = None,
    prometheus: connection.Prometheus = None,
    range: connection.Range = None,
    bearer_token_file: connection.BearerTokenFile = None,
    ca_file: connection.CaFile = None,
    timeout: connection.Timeout = None,
    gamma: Annotated[
        int | None,
        typer.Option(
            "--gamma",
            "-g",
            metavar="N",
            parser=values.length,
            help="The longest draft, where the input does not say.",
            rich_help_panel=GROUP,
        ),
    ] = None,
    full_drafts: Annotated[
        bool,
        typer.Option(
            "--full-drafts",
            help="Assert that every draft had its full length.",
            rich_help_panel=GROUP,
        ),
    ] = False,
    level: Annotated[
        float | None,
        typer.Option(
            "--level",
            metavar="SHARE",
            parser=values.fraction,
            help="Confidence of the interval.",
            show_default="95%",
            rich_help_panel=GROUP,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="KEY",
            help="List figures by window, request, engine or another label.",
            rich_help_panel=GROUP,
        ),
    ] = None,
    format: o.Format = None,
    json: o.Json = False,
    plot: o.Plot = None,
    quiet: o.Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Which reader matched.", rich_help_panel=o.OUTPUT),
    ] = False,
    strict: o.Strict = False,
) -> None:
    """Have a log or a metrics page: α with an honest interval, and what it depends on.

    The engine and the format are recognised. Groups that must not be added up
    (models, containers, kinds of draft, draft lengths) are answered apart.

        gammaplan fit vllm.log

        gammaplan fit --before before.prom after.prom --json

        gammaplan fit http://localhost:8000/metrics --every 30

        gammaplan fit --prometheus https://prom:9090 --range 6h --by model_name
    """
    import sys

    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.fitting import Assumed, fitted
    from gammaplan.cli.output import Output, show
    from gammaplan.engines.files import Asked
    from gammaplan.engines.lines import named
    from gammaplan.engines.reading import Wanted
    from gammaplan.report.plain import printable

    out = Output.of(format, json, plot, quiet, strict)
    live = connection.Live(every, prometheus, range, bearer_token_file, ca_file, timeout)
    asked = Asked(Wanted(engine, input_format), by, since, until, live.access())
    live.check(files or [], asked, before)
    paths = [] if prometheus is not None else _paths(files, before)
    _known(engine, input_format)
    for name, text in (("--since", since), ("--until", until)):
        _time(name, text)
    share = 0.95 if level is None else level
    if not 0 < share < 1:
        raise typer.BadParameter(f"--level must be a fraction in (0, 1), got {share:g}")
    inputs = live.inputs(paths, asked) or _inputs(paths, before, asked, workers)
    if verbose:
        for one in inputs:
            what = f"{one.engine} {one.format}" if one.engine else "nothing recognised"
            lines = f"{one.name}: {what}, {one.said.records:,} records, {one.said.lost:,} dropped"
            sys.stderr.write(printable(lines) + "\n")
    listed(by, inputs)
    done = fitted(inputs, Assumed(gamma, full_drafts, share))
    account = Cases([], findings=done.findings)
    account.note("files", [named(p) for p in paths], "flag")
    account.note_option("before", before and named(before))
    account.note_option("every", every)
    account.note_option("prometheus", prometheus and named(prometheus))
    if prometheus is not None:
        account.note_option("range", range, connection.RANGE)
    for name, value in (("engine", engine), ("input_format", input_format)):
        account.note_option(name, value)
    account.note_option("gamma", gamma)
    account.note_option("full_drafts", full_drafts or None, default=False)
    account.note_option("level", level, 0.95)
    for name, value in (("by", by), ("since", since), ("until", until)):
        account.note_option(name, value)
    show(
        "fit",
        inputs=account.inputs,
        sources=account.sources,
        result=done.result,
        findings=account.findings,
        out=out,
        render=_render,
        answered=answered(done.result),
    )


def answered(result: Any) -> bool:  # Any: a FitResult
    """Whether there is an answer: an alpha, its bounds, or at least a mean length or a rate."""
    parts = [result, *result["groups"]]
    keys = ("alpha", "bounds", "mean_length", "pooled_rate")
    return any(part[key] is not None for part in parts for key in keys)


def _paths(files: "Sequence[str] | None", before: str | None) -> "list[str]":
    from gammaplan.engines.lines import named

    paths = list(files or [])
    if not paths:
        raise typer.BadParameter("a file or a URL is needed; - reads standard input")
    if [*paths, before].count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once, and was named twice")
    again = [p for i, p in enumerate(paths) if p in paths[:i]]
    if again:
        raise typer.BadParameter(f"{named(again[0])} was named twice, and would count twice")
    if before is not None and len(paths) != 1:
        raise typer.BadParameter(f"--before needs one later page, got {len(paths)} files")
    return paths


def _known(engine: str | None, input_format: str | None) -> None:
    from gammaplan.engines.base import engine_named, engines

    if engine is None and input_format is None:
        return
    chosen = engine_named(engine) if engine is not None else None
    if engine is not None and chosen is None:
        names = ", ".join(e.NAME for e in engines())
        raise typer.BadParameter(f"--engine must be one of {names}, got {engine}")
    every = (f.name for e in engines() for f in e.FORMATS if chosen in (None, e))
    forms = list(dict.fromkeys(every))
    if input_format is not None and input_format not in forms:
        raise typer.BadParameter(
            f"--input-format must be one of {', '.join(forms)}, got {input_format}"
        )


def _time(name: str, text: str | None) -> None:
    from gammaplan.engines.times import parse

    if text is not None and parse(text) is None:
        raise typer.BadParameter(
            f"{name} must be a time like 06-01 10:10:41, 2026-06-01 10:10 or 10:10, got {text}"
        )


def listed(by: str | None, inputs: "Sequence[Input]") -> None:
    """Raise BadParameter where the inputs have nothing that is called `by`."""
    keys = sorted({key for one in inputs for key in one.said.keys})
    if by is None or by in keys:
        return
    if keys and not any(one.said.listed for one in inputs):
        raise typer.BadParameter(f"--by must be one of {', '.join(keys)} for this input, got {by}")


def _inputs(
    paths: "Sequence[str]", before: str | None, asked: "Asked", workers: int | None
) -> "list[Input]":
    import os

    from gammaplan.cli.workers import pool
    from gammaplan.engines.files import collect_difference, collect_files, collect_shards
    from gammaplan.engines.shards import spans

    if before is not None:
        return [collect_difference(before, paths[0], asked=asked)]
    most = workers or os.cpu_count() or 1
    if len(paths) == 1 and (cuts := spans(paths[0], wanted=asked.wanted, most=most)):
        with pool(len(cuts)) as executor:
            return [collect_shards(paths[0], cuts, executor, asked=asked)]
    many = workers and workers > 1 and len(paths) > 1 and "-" not in paths
    with (
        pool(min(workers or 1, len(paths))) if many else nullcontext() as executor,
        _progress(paths) as progress,
    ):
        return collect_files(paths, asked=asked, executor=executor, progress=progress)


def _progress(paths: "Sequence[str]") -> Any:  # Any: a context of rich's, or none
    """A bar over the bytes read, where a person waits long enough to want one."""
    from gammaplan.cli.progress import bar_over, worth_a_bar

    return bar_over(paths) if worth_a_bar(paths) else nullcontext(lambda name, read: None)


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.fit import print_fit

    return print_fit
