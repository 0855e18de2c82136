"""The decode log: a mean length every interval, per rank, and never a count."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.sglang.rates import Fit, Printed
from gammaplan.engines.sglang.settings import Settings, from_text, remarks, simulated
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

MARKS = (
    b"accept len: ",
    b"ServerArgs(",
    b"server_args",
    b"--speculative-",
    b"SIMULATE_ACC_LEN",
    b"Decode batch",
)
MOST_WAITING = 4_096  # windows kept until the draft length is told
MOST_RANKS = 4_096  # ranks told apart in one input

_HEAD = re.compile(r"(?:\[([^\[\]]{1,80})\] )?Decode batch")
_LENGTH = re.compile(r"(?<!block )\baccept len: *([^\s,]*)(?=[,\s]|$)")
_RATE = re.compile(r"(?<!block )\baccept rate: *([^\s,]*)(?=[,\s]|$)")
_CAP = re.compile(r"\bcap len: *(\d{1,4}\.\d+)(?=[,\s]|$)")
_RUNNING = re.compile(r"#running-req: *(\d{1,9})(?!\d)")
_END = re.compile(r"#queue-req: *\d")  # the last field of every version
_DECIMAL = re.compile(r"\d{1,4}\.(\d{2,15})")
_RANK = re.compile(r"(?: [A-Z_]+\d+)+$")
_DP = re.compile(r"\b(?:ATTN_)?DP(\d+)\b")
_START = (
    "ServerArgs(",
    "server_args=",
    "server_args:",
    "launch_server",
    "sglang serve",
    "--speculative-algo",
)
_REQUEST = ("Receive: obj=", "Finish: obj=")


class Window(NamedTuple):
    """The figures of one line."""

    time: str
    rank: str
    running: int
    length: Printed
    rate: Printed | None
    cap: float | None


@dataclass
class Server:
    """What is known of the server behind one instance name."""

    group: Labels
    settings: Settings = field(default_factory=Settings)
    synthetic: bool = False
    ranks: dict[str, str] = field(default_factory=dict)  # data-parallel rank: who speaks for it
    fit: Fit = field(default_factory=Fit)
    definition: bool | None = None
    rated: bool = False
    waiting: list[Window] = field(default_factory=list)


def claims(line: bytes) -> bool:
    """A line of the scheduler."""
    return b"Decode batch" in line or b"#running-req" in line


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a line, weighted by its running requests; ranks that repeat a batch once."""
    servers: dict[str, Server] = {}
    told: set[str] = set()
    for item in _items(blocks, servers):
        if isinstance(item, Finding):
            if item.code in told:
                continue
            told.add(item.code)
        yield item
    ranks = [rank for s in servers.values() if len(s.ranks) > 1 for rank in s.ranks.values()]
    if ranks:
        names = ", ".join(ranks[:8]) + (", …" if len(ranks) > 8 else "")
        yield finding("multi_series", kind="ranks", names=names)


def _items(blocks: Iterator[Block], servers: dict[str, Server]) -> Iterator[Item]:
    for line in matching(blocks, MARKS):
        instance = line.instance or ""
        if instance not in servers and len(servers) >= MOST_RANKS:
            instance = ""
        group: Labels = {"container": instance} if instance else {}
        server = servers.setdefault(instance, Server(group))
        if any(word in line.text for word in _REQUEST):
            continue  # a prompt may say anything
        if "Decode batch" in line.text or "accept len: " in line.text:
            yield from _records(server, line)
        else:
            yield from _configured(server, line.text)
    for server in servers.values():
        yield from _settled(server)


def _configured(server: Server, text: str) -> Iterator[Item]:
    """Arguments of a start: what they change ends what was learnt before."""
    if setting := simulated(text):
        yield from _settled(server)
        server.synthetic = True
        yield finding("synthetic_acceptance", setting=setting)
    settings = from_text(text) if any(word in text for word in _START) else None
    if settings is None or settings == server.settings:
        return
    yield from _settled(server)
    server.settings = settings
    server.definition = None
    yield from remarks(settings)


def _records(server: Server, line: Line) -> Iterator[Item]:
    """The records of one line: several where processes wrote into each other's lines."""
    starts = [match.start() for match in _HEAD.finditer(line.text)] or [0]
    ends = [*starts[1:], len(line.text)]
    for start, end in zip(starts, ends, strict=True):
        text, whole = line.text[start:end], end == len(line.text) and line.whole
        if _irrelevant(text, whole=whole or not server.ranks):
            continue
        window = _parsed(text, line.time or "", whole=whole)
        if window is None:
            yield Dropped("a decode line", line.offset)
        elif isinstance(window, str):
            yield Dropped(f"a decode line with {window}", line.offset)
        elif isinstance(window, Finding):
            yield window
        else:
            yield from _ranked(server, window)


def _irrelevant(text: str, *, whole: bool) -> bool:
    """Whether a text is another line with the same words, or one without speculation."""
    ended = bool(_END.search(text))
    if "accept len: " not in text:
        return whole or ended
    return not ("Decode batch" in text or "#running-req" in text or ended)


def _parsed(text: str, time: str, *, whole: bool) -> Window | Finding | str | None:
    """One record; what is wrong with it; None where it is cut."""
    length, running, rate = _LENGTH.search(text), _RUNNING.search(text), _RATE.search(text)
    if length is None or running is None or not (whole or _END.search(text)):
        return None
    head = _HEAD.match(text)
    stamp = (head[1] if head else None) or time
    rank = _RANK.search(stamp)
    stamp, rank_name = (stamp[: rank.start()], rank[0].strip()) if rank else (stamp, "")
    at = f"the window at {stamp}" if stamp else "a window"
    values = [match[1].lstrip("-") for match in (length, rate) if match]
    if "nan" in values:
        return finding("nan_rate", records=at)
    shown = [_printed(value) for value in values]
    if None in shown or ("accept rate" in text and rate is None):
        return None
    mean, share = shown[0], shown[1] if rate else None
    assert mean is not None
    if mean.value == 0:
        return finding("zero_drafts", records=at)
    if mean.value < 1 - mean.half:
        return f"a mean length of {mean.value:g}, and a round yields at least 1 token"
    if share is not None and share.value > 1 + share.half:
        return f"an accept rate of {share.value:g}"
    cap = _CAP.search(text)
    return Window(stamp, rank_name, int(running[1]), mean, share, float(cap[1]) if cap else None)


def _printed(text: str) -> Printed | None:
    match = _DECIMAL.fullmatch(text)
    return Printed(float(text), 0.5 * 10.0 ** -len(match[1])) if match else None


def _ranked(server: Server, window: Window) -> Iterator[Item]:
    """The window, unless another rank of the same batch has told it."""
    dp = _DP.search(window.rank)
    batch = dp[1] if dp else ""
    if batch not in server.ranks and len(server.ranks) < MOST_RANKS:
        server.ranks[batch] = window.rank
    if server.ranks.get(batch, window.rank) != window.rank:
        yield finding("duplicate_rank")
        return
    yield from _placed(server, window)


def _placed(server: Server, window: Window) -> Iterator[Item]:
    """The window with its draft length, now or as soon as the rates tell it."""
    settings = server.settings
    if settings.tree or (settings.gamma and not settings.adaptive):
        yield from _known(server, window)
        return
    if window.rate is None:
        yield from _flushed(server)
        yield from _one(server, window, None)
        return
    fit = server.fit.narrowed(window.length, window.rate)
    if not fit.possible:  # another draft length from here on
        yield from _settled(server)
        start = Fit().only(definition=server.definition)
        fit = start.narrowed(window.length, window.rate)
        if not fit.possible:
            yield finding("impossible", what=_unexplained(window))
            yield from _one(server, window, None)
            return
    server.fit = fit
    server.waiting.append(window)
    if fit.gamma is not None or len(server.waiting) >= MOST_WAITING:
        yield from _flushed(server)


def _known(server: Server, window: Window) -> Iterator[Item]:
    """The window of a server whose arguments tell the draft length."""
    gamma = server.settings.gamma
    if gamma is not None and window.length.value > gamma + 1 + window.length.half + 1e-9:
        yield Dropped(
            f"a window with a mean length of {window.length.value:g}, "
            f"and drafts have at most {gamma} tokens"
        )
        return
    if window.rate is not None and gamma is not None and not server.settings.tree:
        within = Fit((gamma, gamma), (gamma, gamma)) if not server.rated else server.fit
        server.rated = True
        server.fit = within.narrowed(window.length, window.rate)
    yield from _one(server, window, gamma)


def _settled(server: Server) -> Iterator[Item]:
    """The end of a stretch with one draft length: what waits, and what its rates meant."""
    yield from _flushed(server)
    if server.rated:
        if server.fit.definition is False:
            yield finding("rate_includes_bonus")
        elif not server.fit.possible:
            what = f"the accept rates fit no definition with {server.settings.gamma} drafted tokens"
            yield finding("impossible", what=what)
    server.fit, server.rated = Fit().only(definition=server.definition), False


def _flushed(server: Server) -> Iterator[Item]:
    """The windows that waited for their draft length."""
    if not server.waiting:
        return
    gamma, definition = server.fit.gamma, server.fit.definition
    if gamma is not None and definition is not None:
        server.definition = definition
        if definition is False:
            yield finding("rate_includes_bonus")
    waiting, server.waiting = server.waiting, []
    for window in waiting:
        yield from _one(server, window, gamma)


def _one(server: Server, window: Window, gamma: int | None) -> Iterator[Item]:
    """The record of a window, and what it lacks."""
    settings = server.settings
    group = dict(server.group)
    if settings.model:
        group["model_name"] = settings.model
    weight = float(settings.interval * max(1, window.running))
    yield Record(
        Counts(gamma=gamma),
        group,
        "window",
        window.time,
        {"rank": window.rank} if window.rank else {},
        average=(window.length.value, weight),
        tree=settings.tree,
        unusable=server.synthetic,
    )
    yield finding("interval_average_only")
    if gamma is not None and window.cap and window.cap < gamma:
        yield finding("variable_draft_length", mean=f"{window.cap:g}", gamma=gamma)


def _unexplained(window: Window) -> str:
    rate = window.rate.value if window.rate else math.nan
    return f"length {window.length.value:g} and rate {rate:g} fit no draft length"
