"""Ollama: a line a request from its MLX runner, and the lines of the llama-server it runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, LogFormat, Record, Word
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.llamacpp import log as llama
from gammaplan.model.estimate import Counts

NAME = "ollama"
ALIASES: tuple[str, ...] = ()
WORDS = (
    Word("acceptance", "pooled_rate"),
    Word("avg_accepted", "accepted_per_round"),
)
MARK, START = b"speculative decode stats", b"source=llama_server.go"
MARKS = (MARK, *llama.MARKS)
MOST_HELD = 20_000  # requests kept before their records are made
HALF = 0.005  # half a unit of the last printed digit

_OWN = re.compile(rb"speculative decode stats\\?\"? +iterations=")
_FIGURE = {
    name: re.compile(rf"\b{name}=\"?(\d{{1,15}})(?=[\s\"])")
    for name in ("iterations", "drafted", "accepted", "max_draft")
}
_SHARE = re.compile(r"\bacceptance=\"?(\d\.\d\d)(?!\d)")
_TIME = re.compile(r"\btime=\"?(\S+?)\"?(?:\s|$)")


def claims(line: bytes) -> bool:
    """A request of the MLX runner."""
    return _OWN.search(line) is not None


@dataclass(slots=True)
class Request:
    """A finished request of the MLX runner."""

    name: str
    labels: Labels
    iterations: int
    drafted: int
    accepted: int
    longest: int


@dataclass
class Runner:
    """The MLX runner's requests that are no records yet."""

    requests: list[Request] = field(default_factory=list)
    seen: int = 0
    empty: int = 0
    depth: int | None = None  # of every draft so far; 0 where it varied

    def take(self, line: Line) -> Iterator[Item]:
        """One line of a request."""
        self.seen += 1
        request = _request(line, self.seen)
        if isinstance(request, str):
            yield Dropped(request, line.offset)
        else:
            self.requests.append(request)
        if len(self.requests) >= MOST_HELD:
            yield from self.flush()

    def flush(self) -> Iterator[Item]:
        """The records of what is held: of one draft length, if all drafts had it."""
        held, self.requests = self.requests, []
        for r in held:
            if r.drafted:
                full = r.longest if r.drafted == r.iterations * r.longest else 0
                self.depth = full if self.depth in (None, full) else 0
        for request in held:
            yield from self._record(request)

    def _record(self, request: Request) -> Iterator[Item]:
        counts = Counts(
            request.iterations, request.drafted, request.accepted, gamma=self.depth or None
        )
        time = request.name if ":" in request.name else ""
        if not request.drafted:
            self.empty += 1
            counts = replace(counts, gamma=None)
        elif not self.depth:
            mean = f"{request.drafted / request.iterations:.2f}"
            yield finding("variable_draft_length", mean=mean, gamma=request.longest)
        yield Record(counts, request.labels, "request", request.name, time=time)

    def close(self) -> Iterator[Item]:
        """What is left, and what there is to say of it."""
        yield from self.flush()
        if self.seen:
            yield finding("length_excludes_bonus")
        if self.empty:
            yield finding("zero_drafts", records=f"{self.empty} request{'s' * (self.empty > 1)}")


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """Both runners of one server; their requests are kept apart where both spoke."""
    runner, server = Runner(), llama.Log()
    mark = MARK.decode()
    for line in matching(blocks, MARKS):
        if mark in line.text:
            yield from runner.take(line)
            continue
        yield from server.take(line)
        if server.full:
            yield from server.flush(final=False)
    yield from runner.close()
    if server.speculative or not runner.seen:
        yield from server.flush(final=True)


def _request(line: Line, number: int) -> Request | str:
    """The figures of a line, or why they cannot be used."""
    text = line.text + " " if line.whole else line.text  # a last figure may be cut
    found = {name: figure.search(text) for name, figure in _FIGURE.items()}
    values = {name: int(match[1]) for name, match in found.items() if match}
    ended = line.whole or line.text.endswith('"')
    if not ended or len(values) < len(found) - ("max_draft" not in values):
        return "a speculative decode stats line"
    iterations, drafted, accepted = (values[k] for k in ("iterations", "drafted", "accepted"))
    longest = values.get("max_draft", 0)
    if accepted > drafted or (longest and drafted > iterations * longest):
        return f"a request with {accepted} accepted of {drafted} tokens in {iterations} iterations"
    share = _SHARE.search(text)
    if share and drafted and abs(accepted / drafted - float(share[1])) > HALF + 1e-9:
        return f"a request whose acceptance is not {accepted} of {drafted}"
    if drafted and not iterations:
        return f"a request with {drafted} drafted tokens in no iteration"
    time = _TIME.search(text)
    name = time[1] if time else line.time or f"{number}"
    labels: Labels = {"container": line.instance} if line.instance else {}
    return Request(name, labels, iterations, drafted, accepted, longest)


FORMATS = (
    LogFormat("ollama-log", (MARK,), read, claims),
    LogFormat("ollama-log", (START,), read),
)
