"""llama-server: started with gammaplan's own settings, asked and scraped; its log by request."""

import json
import shlex
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.live import engine
from benchmarks.live.design import CONTEXT, Cell, Draft, Setup, Way
from gammaplan.engines.settings.base import Wanted, settings

DONE = b"stop processing"  # the last line of a request
COMMON = (
    *("-np", "1", "-c", str(CONTEXT), "-b", "128", "-ub", "128"),
    *(
        "--metrics",
        "-fit",
        "off",
        "--cache-ram",
        "0",
        "--no-warmup",
        "--log-colors",
        "off",
        "-lv",
        "4",
    ),
)  # -lv 4 is the level of `acc per pos`


def command(way: Way, drafts: list[Draft]) -> list[str]:
    """The words after the program's name, as `gammaplan plan --engine llama.cpp` writes them."""
    draft = next(d for d in drafts if way in (d.plain, Way(d.name, way.gamma)))
    if not way.gamma:
        return ["-m", draft.target]
    wanted = Wanted(way.gamma, target=draft.target, draft=draft.model or "DRAFT")
    words = shlex.split(settings("llama.cpp", wanted, method=draft.method).text)[1:]
    for option, value in draft.more:
        if option in words:
            del words[(at := words.index(option)) : at + 2]
        words += [option, value]
    return words


class Server:
    """One way to serve, on a port of its own; what it logs goes to a file."""

    def __init__(self, cache: Path, setup: Setup, way: Way, folder: Path) -> None:
        """Start it; `ready` waits for it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.way = way
        self.log = folder / f"{way.name}.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        threads = str(setup.threads)
        words = [*command(way, setup.used()), *COMMON, "-t", threads, "-tb", threads]
        words += ["--port", str(self.port)]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [str(engine.program(cache, "llama-server")), *words],
                cwd=cache / "models",
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def ready(self, patience: float = 600) -> Self:
        """Wait until it answers."""
        end = time.monotonic() + patience
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                    return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{self.way.name} did not start: see {self.log}") from None
                time.sleep(0.1)

    def ask(self, cell: Cell, tokens: int, seed: int) -> tuple[dict[str, Any], bytes]:
        """One answer to a workload's prompt, and what the server logged of it."""
        begin = self.log.stat().st_size
        body = {
            "prompt": cell.prompt,
            "n_predict": tokens,
            "temperature": cell.temperature,
            "seed": seed,
            "ignore_eos": True,
            "cache_prompt": True,  # generation alone is timed
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/completion",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            told: dict[str, Any] = json.load(answer)
        end = time.monotonic() + 10
        while DONE not in (logged := self._since(begin)) or not logged.endswith(b"\n"):
            if time.monotonic() > end:
                raise RuntimeError(f"{self.log} does not say {DONE.decode()!r}")
            time.sleep(0.01)
        return told, logged

    def _since(self, begin: int) -> bytes:
        with self.log.open("rb") as file:
            file.seek(begin)
            return file.read()

    def metrics(self) -> bytes:
        """The page of /metrics."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as page:
            data: bytes = page.read()
        return data
