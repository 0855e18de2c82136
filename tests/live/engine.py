"""A vLLM whose counters move at every scrape, which may restart, disappear and fail."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..servers import Answer, reply

ROUNDS = 400  # of each model between two scrapes


class Engine:
    """Models by name, each with its draft length and its alpha."""

    def __init__(self, models: dict[str, tuple[int, float]], seed: int = 0) -> None:
        self.models, self.rng = models, random.Random(seed)
        self.trouble: Answer | None = None  # what it answers instead
        self.scrapes = 0
        self.lock = threading.Lock()
        self.port = 0
        self._server: Any = None
        self.start_anew()

    def start_anew(self) -> None:
        """Counters as after a restart."""
        self.rows = {name: [0] * (gamma + 1) for name, (gamma, _) in self.models.items()}

    def step(self) -> None:
        for name, (_, alpha) in self.models.items():
            row, rounds = self.rows[name], ROUNDS
            row[0] += rounds
            for i in range(1, len(row)):
                rounds = sum(self.rng.random() < alpha for _ in range(rounds))
                row[i] += rounds

    def page(self) -> str:
        with self.lock:
            self.scrapes += 1
            self.step()
            return page_of(self.rows)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/metrics"

    def up(self) -> None:
        """Listen, at the same port as before."""
        engine = self

        class One(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if engine.trouble:
                    engine.trouble(self)
                else:
                    reply(self, engine.page().encode())

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that leaves early is no error of the server."""

        self._server = Quiet(("127.0.0.1", self.port), One)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def down(self) -> None:
        """Refuse connections."""
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def running(self) -> "Iterator[Engine]":
        self.up()
        try:
            yield self
        finally:
            self.down()


def page_of(rows: dict[str, list[int]]) -> str:
    """The counters of models: rounds, and rounds that accepted at least 1, 2, ... tokens."""
    lines = []
    for name, (rounds, *at_least) in rows.items():
        labels, metric = f'engine="0",model_name="{name}"', "vllm:spec_decode_num_"
        lines += [
            f"{metric}drafts_total{{{labels}}} {rounds}",
            f"{metric}draft_tokens_total{{{labels}}} {rounds * len(at_least)}",
            f"{metric}accepted_tokens_total{{{labels}}} {sum(at_least)}",
        ]
        for i, count in enumerate(at_least):
            where = f'{labels},position="{i}"'
            lines.append(f"{metric}accepted_tokens_per_pos_total{{{where}}} {count}")
    return "\n".join(lines) + "\n"
