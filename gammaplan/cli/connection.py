"""Live servers on the command line: the options that name them, and the readings they give."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gammaplan.cli import values

if TYPE_CHECKING:
    from gammaplan.engines.addresses import Access
    from gammaplan.engines.files import Asked, Input

LIVE = "Live servers"
RANGE = 3600.0  # seconds
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        metavar="TIME",
        parser=values.duration,
        help="Read each URL twice, this far apart (30, 5m), and fit the difference.",
        show_default=False,
        rich_help_panel=LIVE,
    ),
]
Prometheus = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL",
        help="A Prometheus server: fit what all engines that it scrapes counted.",
        rich_help_panel=LIVE,
    ),
]
Range = Annotated[
    float | None,
    typer.Option(
        "--range",
        metavar="TIME",
        parser=values.duration,
        help="How far back to look with --prometheus: 30m, 6h, 2d.",
        show_default="1h",
        rich_help_panel=LIVE,
    ),
]
BearerTokenFile = Annotated[
    str | None,
    typer.Option(
        "--bearer-token-file",
        metavar="FILE",
        help="A file with the token to send; without one, logins are those of ~/.netrc.",
        rich_help_panel=LIVE,
    ),
]
CaFile = Annotated[
    str | None,
    typer.Option(
        "--ca-file",
        metavar="FILE",
        help="Certificates of the authorities to trust for https (PEM).",
        show_default="the system's",
        rich_help_panel=LIVE,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="TIME",
        parser=values.duration,
        help="How long one answer of a server may take.",
        show_default="30 s",
        rich_help_panel=LIVE,
    ),
]


class Live(NamedTuple):
    """What the options say of live servers."""

    every: float | None = None
    prometheus: str | None = None
    range: float | None = None
    token_file: str | None = None
    ca_file: str | None = None
    timeout: float | None = None

    def access(self) -> "Access":
        """How servers are asked."""
        from gammaplan.engines.addresses import PATIENCE, Access

        return Access(self.token_file, self.ca_file, self.timeout or PATIENCE)

    def check(self, paths: Sequence[str], asked: "Asked", before: str | None) -> None:
        """Raise BadParameter where these options do not go with each other or with the inputs."""
        from gammaplan.engines.addresses import is_address

        addresses = [p for p in [*paths, before or "", self.prometheus or ""] if is_address(p)]
        if self.prometheus is not None:
            if paths or before:
                raise typer.BadParameter("--prometheus is an input of its own; leave files out")
            if not is_address(self.prometheus):
                raise typer.BadParameter(f"--prometheus must be a URL, got {self.prometheus}")
            if self.every is not None or asked.since or asked.until:
                raise typer.BadParameter(
                    "--prometheus goes with --range, not with --every, --since or --until"
                )
            if asked.by is not None and not LABEL.fullmatch(asked.by):
                raise typer.BadParameter(
                    "--by must be the name of a label (letters, digits and _, no digit first), "
                    f"got {asked.by or 'nothing'}"
                )
        elif self.range is not None:
            raise typer.BadParameter("--range needs --prometheus")
        if self.every is not None and (before or not all(p in addresses for p in paths)):
            raise typer.BadParameter(
                "--every reads servers twice: every input must be a URL, without --before"
            )
        for name, value in (
            ("--bearer-token-file", self.token_file),
            ("--ca-file", self.ca_file),
            ("--timeout", self.timeout),
        ):
            if value is not None and not addresses:
                raise typer.BadParameter(f"{name} is for servers, and no URL was given")

    def inputs(self, paths: Sequence[str], asked: "Asked") -> "list[Input] | None":
        """The readings of live servers, where these options ask for differences."""
        if self.prometheus is not None:
            from gammaplan.engines.server import collect_fleet

            return collect_fleet(self.prometheus, self.range or RANGE, asked=asked)
        if self.every is not None:
            from gammaplan.engines.live import collect_gains

            return collect_gains(paths, wait=_waiting(self.every), asked=asked)
        return None


def _waiting(seconds: float) -> Callable[[], None]:
    """What waits for some time; a bar tells how long where somebody watches."""
    import sys
    import time

    def wait() -> None:
        if not sys.stderr.isatty():
            time.sleep(seconds)
            return
        from gammaplan.cli.progress import countdown

        countdown(seconds)

    return wait
