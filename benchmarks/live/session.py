"""Servers of several ways side by side, each idle while another answers; every answer a record."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.live.design import Cell, Setup, Way
from benchmarks.live.order import append, now
from benchmarks.live.serving import Server


class Session:
    """Running servers, and the folder that their logs and metrics go to.

    A session that was interrupted is gone on with by another one, whose servers count anew: the
    logs and metrics of each have a folder of their own, and agree with each other there.
    """

    def __init__(self, run: Path, step: str, servers: dict[Way, Server], folder: Path) -> None:
        """The servers are ready."""
        self.run = run
        self.step = step
        self.servers = servers
        self.folder = folder
        heads = run / "heads"
        heads.mkdir(exist_ok=True)
        for way, server in servers.items():
            (heads / f"{way.name}.log").write_bytes(server.log.read_bytes())

    def ask(
        self, way: Way, cell: Cell, tokens: int, seed: int, more: dict[str, Any]
    ) -> dict[str, Any]:
        """One request; its record is in the step's file when this returns."""
        started = now()
        told, logged = self.servers[way].ask(cell, tokens, seed)
        record = {
            "started": started,
            "draft": way.draft,
            "gamma": way.gamma,
            "cell": cell.name,
            "seed": seed,
            **more,
            "timings": told["timings"],
            "text": told["content"][:80],
            "log": logged.decode("utf-8", "replace"),
        }
        append(self.run / f"{self.step}.jsonl", record)
        return record


@contextlib.contextmanager
def session(
    cache: Path, setup: Setup, run: Path, step: str, ways: Iterable[Way]
) -> Iterator[Session]:
    """Start a server for each way, warm it, and at the end keep its page of metrics."""
    number = sum(1 for _ in run.glob(f"servers/{step}-*")) + 1
    folder = run / "servers" / f"{step}-{number}"
    with contextlib.ExitStack() as stack:
        servers = {}
        for way in ways:  # one by one: threads that start together wait for each other
            servers[way] = stack.enter_context(Server(cache, setup, way, folder))
            servers[way].ready()
        opened = Session(run, step, servers, folder)
        for server in servers.values():
            server.ask(setup.cells()[0], 8, 1)  # pages and caches are warm after it
        try:
            yield opened
        finally:
            for way, server in servers.items():
                with contextlib.suppress(OSError):
                    (folder / f"{way.name}.prom").write_bytes(server.metrics())


class Progress:
    """How far a step is, on stderr, at most every ten seconds."""

    def __init__(self, what: str, total: int) -> None:
        """Start the clock."""
        self.what, self.total = what, total
        self.begin = self.last = time.monotonic()
        self.done = 0

    def step(self) -> None:
        """One more."""
        self.done += 1
        at = time.monotonic()
        if at - self.last >= 10 or self.done == self.total:
            left = (at - self.begin) / self.done * (self.total - self.done)
            self.last = at
            print(
                f"  {self.what}: {self.done} of {self.total}, {left / 60:.1f} minutes left",
                file=sys.stderr,
                flush=True,
            )
