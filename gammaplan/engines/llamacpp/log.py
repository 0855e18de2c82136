"""llama-server's log: request lines, positions on lines of their own, totals since start."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.llamacpp import settings as setup
from gammaplan.engines.llamacpp.requests import Request
from gammaplan.engines.llamacpp.server import MOST_HELD, Server
from gammaplan.engines.llamacpp.settings import Settings
from gammaplan.engines.llamacpp.wording import (
    acceptance,
    position_rates,
    rising,
    slot_of,
    statistics,
)

MARKS = (
    b"draft acceptance",
    b"#gen tokens",
    b"acc per pos",
    b" accepted /",
    b"print_timing",
    b"total time",
    b"restore checkpoint",
    *setup.MARKS,
)
FORMAT_MARKS = (b"acc", *setup.MARKS)  # every line of a record has the first
TIMING_MARKS = (b"print_timing", *setup.MARKS)
MOST_SERVERS = 1_024

_OWN = re.compile(
    rb"draft acceptance(?: rate)?\s*[=:]|#gen tokens\s*=|acc per pos\s*="
    rb"|\d accepted\s*/\s*\d+ generated|draft tokens \(restore checkpoint\)"
)
_RATE = re.compile(r"draft acceptance(?: rate)?\s*[=:]")
_HEADLESS = re.compile(r"\d\s+accepted\s*/\s*\d+\s+generated\s*\)")
_CUT = re.compile(r"(?:\|\s*|^)(draft (?:a[a-z ]*)?)$")


def claims_timing(line: bytes) -> bool:
    """The timings of a request, which come before what it says of drafts."""
    return b"slot print_timing" in line


def claims(line: bytes) -> bool:
    """A request line, a statistics line, or one of their further lines."""
    return _OWN.search(line) is not None


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a request; totals by kind of draft where several were mixed in the requests."""
    log = Log()
    for line in matching(blocks, MARKS):
        yield from log.take(line)
        if log.full:
            yield from log.flush(final=False)
    yield from log.flush(final=True)


@dataclass
class Log:
    """The servers that write to one log, and what was said of their drafts."""

    servers: dict[str, Server] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    held: int = 0
    speculative: bool = False

    @property
    def full(self) -> bool:
        """Whether enough requests are held for their records to be made."""
        return self.held >= MOST_HELD

    def take(self, line: Line) -> Iterator[Item]:
        """One line of interest."""
        text = line.text
        server = self._server(line.instance or "")
        place = slot_of(text)
        if place is not None and "print_timing" in text:
            server.timing(*place, timed="total time" in text or _eval_time(text))
        if _RATE.search(text) or _HEADLESS.search(text):
            yield from self._request(server, line)
        elif "#gen tokens" in text:
            yield from self._statistics(server, line)
        elif "acc per pos" in text:
            yield from _positions(server, line)
        elif "restore checkpoint" in text:
            server.replayed |= "accepted" in text
        elif "total time" in text and place is None and server.last[0] in server.slots:
            server.timing(*server.last, timed=True)
        elif not line.whole and "print_timing" in text and _CUT.search(text):
            server.told(None)
            yield Dropped("a draft acceptance line", line.offset)
        else:
            yield from self.settings.see(text)

    def _server(self, instance: str) -> Server:
        if instance not in self.servers and len(self.servers) >= MOST_SERVERS:
            instance = next(iter(self.servers))
        return self.servers.setdefault(instance, Server())

    def _request(self, server: Server, line: Line) -> Iterator[Item]:
        self.speculative = True
        told = acceptance(line) if _RATE.search(line.text) else "a draft acceptance line"
        if not isinstance(told, str) and told.rates and rising(told.rates):
            told = "a request whose positions rise"
        place = slot_of(line.text)
        if place is not None:
            server.timing(*place, timed=True)
        if isinstance(told, str):
            server.told(None)
            yield Dropped(told, line.offset)
            return
        self.held += 1
        if told.undefined:
            yield finding("nan_rate", records="a request")
        server.told(Request.of(place[1] if place else server.last[1] or f"{self.held}", told))

    def _statistics(self, server: Server, line: Line) -> Iterator[Item]:
        self.speculative = True
        told = statistics(line)
        if isinstance(told, str):
            yield Dropped(told, line.offset)
        else:
            server.count(*told)

    def flush(self, *, final: bool) -> Iterator[Item]:
        """The records of every server; a port is a label where there are several."""
        self.held = 0
        busy = [name for name, server in self.servers.items() if server.requests or server.totals]
        for name, server in self.servers.items():
            key = "port" if name.isdecimal() else "container"
            if name and (key == "container" or len(busy) > 1):
                server.labels = {key: name}
            yield from server.flush(self.settings, final=final)
        if not final:
            return
        if not self.speculative and self.settings.gamma is None and not self.settings.kinds:
            yield finding("no_spec_data", hint=" (requests, and none that drafted anything)")
            return
        if len(busy) > 1:
            yield finding("multi_series", kind="servers", names=", ".join(busy[:8]))
        empty = sum(server.empty for server in self.servers.values())
        if empty:
            yield finding("zero_drafts", records=f"{empty} request{'s' * (empty > 1)}")


def _eval_time(text: str) -> bool:
    return " eval time" in text and "prompt eval time" not in text


def _positions(server: Server, line: Line) -> Iterator[Item]:
    """Positions that belong to the request its slot told last."""
    place = slot_of(line.text)
    request = server.latest.pop(place[0] if place else server.last[0], None)
    rates = position_rates(line.text)
    if isinstance(rates, str) or (rates and rising(rates)):
        yield Dropped("the positions of a request", line.offset)
    elif request is not None and rates and (place is None or place[1] == request.task):
        request.rates = request.rates or rates
