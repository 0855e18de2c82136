"""gammaplan watch: servers read on and on, and the draft length in use beside the best."""

from typing import Annotated

import typer

from gammaplan.cli import connection, values
from gammaplan.cli import options as o
from gammaplan.cli.flags import NO_COST, CostFlags, grouped
from gammaplan.cli.watchoptions import NO_SERVER, NO_WATCH, ServerFlags, WatchFlags


@grouped
def watch(
    servers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL",
            help="Metrics pages to watch; a file is evidence that knows a cost.",
            show_default=False,
        ),
    ] = None,
    flags: WatchFlags = NO_WATCH,
    server: ServerFlags = NO_SERVER,
    gamma: Annotated[
        int | None,
        typer.Option(
            "--gamma",
            "-g",
            metavar="N",
            parser=values.length,
            help="The draft length in use, where the counters do not say.",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    max_gamma: o.MaxGamma = None,
    tolerance: o.Tolerance = None,
    pick: o.Pick = None,
    cost: CostFlags = NO_COST,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="One JSON document a line, every interval.", rich_help_panel=o.OUTPUT
        ),
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Have a running server and c: α and the γ in use beside the best, as they change.

    A live view in a terminal, where q quits and s saves the evidence; elsewhere
    a line every interval. Restarts and gaps of the server are told.

        gammaplan watch http://localhost:8000/metrics --c 0.08

        gammaplan watch --prometheus https://prom:9090 --by model_name --c 0.08 --json
    """
    from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search
    from gammaplan.cli.fitting import Assumed
    from gammaplan.cli.output import NO_ANSWER
    from gammaplan.cli.watched import Watched
    from gammaplan.cli.watching import Plan, follow, output, priced, source_of
    from gammaplan.engines.addresses import is_address
    from gammaplan.engines.files import Asked
    from gammaplan.engines.lines import named

    urls = [name for name in servers or [] if is_address(name)]
    files = [name for name in servers or [] if not is_address(name)]
    every, window = flags.times
    live = connection.Live(
        prometheus=server.prometheus,
        token_file=server.bearer_token_file,
        ca_file=server.ca_file,
        timeout=server.timeout,
    )
    asked = Asked(by=server.by, access=live.access())
    source = source_of(urls, files, live, asked)
    account = priced(files, cost, pick)
    names = [named(url) for url in (urls or [server.prometheus or ""])]
    account.note("servers", names, "flag")
    account.note_option("every", flags.every, every)
    account.note_option("window", flags.window, window)
    for name, value in (("by", server.by), ("gamma", gamma), ("max_gamma", max_gamma)):
        account.note_option(name, value)
    account.note_option("tolerance", tolerance, DEFAULT_TOLERANCE)
    price = account.cases[0].cost
    state = Watched(price, Search(max_gamma, tolerance), Assumed(gamma), window)
    plan = Plan(names, every, window, flags.intervals, flags.save, flags.bell, quiet)
    with output(plan, state, account, json=json) as out:
        answered = follow(source, plan, state, out, server.by)
    if not answered:
        raise typer.Exit(NO_ANSWER)
