"""The options of watch: how it watches, and which servers."""

from typing import Annotated, NamedTuple

import typer

from gammaplan.cli import connection, values

WATCHING = "Watching"
EVERY, WINDOW, READINGS = 10.0, 300.0, 30  # seconds, and readings that a window has at least


class WatchFlags(NamedTuple):
    """How far apart readings are, what decides, when it ends and where evidence goes."""

    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="TIME",
            parser=values.duration,
            help="How far apart readings are: 10, 30s, 5m.",
            show_default="10 s",
            rich_help_panel=WATCHING,
        ),
    ] = None
    window: Annotated[
        float | None,
        typer.Option(
            "--window",
            metavar="TIME",
            parser=values.duration,
            help="How far back counts decide.",
            show_default="5m, at least 30 readings",
            rich_help_panel=WATCHING,
        ),
    ] = None
    intervals: Annotated[
        int | None,
        typer.Option(
            "--count",
            metavar="N",
            parser=values.count,
            help="End after so many intervals.",
            rich_help_panel=WATCHING,
        ),
    ] = None
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Where s, and the end of --count, save the evidence.",
            show_default="s alone, to gammaplan-watch-TIME.json",
            rich_help_panel=WATCHING,
        ),
    ] = None
    bell: Annotated[
        bool,
        typer.Option(
            "--bell",
            help="Ring the terminal's bell when a γ leaves its band.",
            rich_help_panel=WATCHING,
        ),
    ] = False

    @property
    def times(self) -> tuple[float, float]:
        """The interval and the window, defaults filled in. [seconds]"""
        every = EVERY if self.every is None else self.every
        window = max(WINDOW, READINGS * every) if self.window is None else self.window
        if window < every:
            raise typer.BadParameter(
                f"--window must be at least --every ({every:g} s), got {window:g} s"
            )
        return every, window


class ServerFlags(NamedTuple):
    """The servers that are not named by an argument, how they are asked, and what is told apart."""

    prometheus: Annotated[
        str | None,
        typer.Option(
            "--prometheus",
            metavar="URL",
            help="A Prometheus server: watch all engines that it scrapes.",
            rich_help_panel=connection.LIVE,
        ),
    ] = None
    bearer_token_file: connection.BearerTokenFile = None
    ca_file: connection.CaFile = None
    timeout: connection.Timeout = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="KEY",
            help="List groups by this label: engine, model_name, …",
            rich_help_panel=connection.LIVE,
        ),
    ] = None


NO_WATCH, NO_SERVER = WatchFlags(), ServerFlags()
