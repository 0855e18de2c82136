"""Recognise what an input is, and read it: the one door to every engine's formats."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import chain, islice
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.addresses import OPEN, Access, is_address
from gammaplan.engines.base import (
    Dropped,
    Engine,
    ExpositionFormat,
    Format,
    Item,
    JsonFormat,
    LogFormat,
    Sample,
    engine_named,
    engines,
)
from gammaplan.engines.lines import Block, Blocks, is_log_line, named, open_stream
from gammaplan.engines.prometheus import HEAD, difference, latest, samples
from gammaplan.engines.values import values
from gammaplan.errors import Finding, InputError

HEADERS = re.compile(rb"\A(?:HTTP/[^\n]*\n)(?:[\w-]+:[^\n]*\n)*\r?\n")  # of a response
EVENTS = re.compile(rb"(?:(?::|event:|id:|retry:)[^\n]*\n\s*)*data: ?\{")
HEAD_LINES = 30
MOST_CONTEXT = 64  # settings lines kept from before the first record
MOST_LOOKED_AT = 200  # JSON values looked at to recognise their format


class Candidate(NamedTuple):
    """A format and the engine that prints it."""

    engine: Engine
    format: Format


class Wanted(NamedTuple):
    """What the user says the input is; None: recognise it."""

    engine: str | None = None
    format: str | None = None

    def candidates(self) -> list[Candidate]:
        """The formats that may be meant."""
        every = [Candidate(e, f) for e in engines() for f in e.FORMATS]
        if self.engine is not None:
            chosen = engine_named(self.engine)
            every = [c for c in every if c.engine is chosen]
        if self.format is not None:
            every = [c for c in every if c.format.name == self.format]
        return every


ANY = Wanted()


class Reading(NamedTuple):
    """What an input turned out to be, and its items (`engine` is None where nothing fitted)."""

    engine: str | None
    format: str | None
    items: Iterator[Item]
    stands_alone: bool = False


def read(
    path: str,
    *,
    wanted: Wanted = ANY,
    detail: bool = False,
    stream: BufferedReader | None = None,
    progress: Callable[[int], None] = lambda offset: None,
) -> Reading:
    """Recognise one input and read it; with `detail`, records keep their names.

    Items stream: nothing is read before they are asked for but what it takes
    to recognise the input. `stream` is the input where it is open already.
    """
    stream = stream or open_stream(path)
    known = wanted.candidates()
    kind = _kind(stream)
    if kind == "json":
        reading = _read_json(stream, known)
    elif kind == "exposition":
        reading = _read_exposition(stream, known)
    else:
        reading = _read_log(Blocks(stream, progress), known, detail=detail)
    return reading._replace(items=_closing(reading.items, stream))


def _closing(items: Iterator[Item], stream: BufferedReader) -> Iterator[Item]:
    """The items, and the stream closed when they end; standard input is left open."""
    try:
        yield from items
    finally:
        _close(stream)


def _close(stream: BufferedReader) -> None:
    if stream is not sys.stdin.buffer:
        stream.close()


class Scrape(NamedTuple):
    """What one metrics page had: its samples, what was noted, and whether all of it was there."""

    samples: list[Sample]
    noted: list[Finding | Dropped]
    whole: bool = True


def scraped(path: str, *, wanted: Wanted = ANY, access: Access = OPEN) -> Scrape:
    """The samples of a metrics page that engines want.

    Raises
    ------
    InputError
        If the input cannot be opened, or is no Prometheus text.
    """
    stream = open_stream(path, access)
    try:
        if _kind(stream) != "exposition":
            if is_address(path):
                raise InputError(f"{named(path)}: answers, but not with Prometheus text")
            raise InputError(
                f"{named(path)}: a difference needs Prometheus text on both sides, and this is not"
            )
        kept, noted = _wanted_samples(stream, wanted.candidates())
    finally:
        _close(stream)
    lost = any(isinstance(n, Finding) and n.code == "cut_input" for n in noted)
    return Scrape(kept, noted, not lost)


def read_difference(before: Scrape, after: Scrape, *, wanted: Wanted = ANY) -> Reading:
    """What the counters of two scrapes of the same processes gained between them."""
    known = wanted.candidates()
    noted = [
        Dropped(f"{n.what} of the earlier page") if isinstance(n, Dropped) else n
        for n in before.noted
    ] + after.noted
    gained = list(
        difference(before.samples, after.samples, settings=settings_of(known), whole=before.whole)
    )
    noted += [g for g in gained if isinstance(g, Finding)]
    return from_samples([g for g in gained if isinstance(g, Sample)], noted, known)


def settings_of(known: Iterable[Candidate]) -> set[str]:
    """The gauges that say how speculation is set up."""
    forms = (c.format for c in known)
    return {s for f in forms if isinstance(f, ExpositionFormat) for s in f.settings}


def families_of(known: Iterable[Candidate]) -> list[str]:
    """The substrings of the names of all samples that engines want."""
    forms = (c.format for c in known)
    return sorted(
        {f for form in forms if isinstance(form, ExpositionFormat) for f in form.families}
    )


def _kind(stream: BufferedReader) -> str:
    """Whether the input starts like JSON, like Prometheus text, or like lines of a log."""
    head = stream.peek(65536)[:65536]
    text = HEADERS.sub(b"", head, count=1).lstrip()
    first = text.partition(b"\n")[0]
    if text[:1] == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"[", b"]")):
        return "log" if is_log_line(first) else "json"
    if EVENTS.match(text):
        return "json"
    lines = [line for line in text.split(b"\n", HEAD_LINES)[:HEAD_LINES] if line.strip()]
    if len(lines) == 1 and not text.endswith(b"\n"):
        lines = [text]
    if lines and 2 * sum(bool(HEAD.match(line)) for line in lines) > len(lines):
        return "exposition"
    return "log"


def _nothing(hint: str = "") -> Reading:
    return Reading(None, None, iter([finding("no_spec_data", hint=hint)]))


def _read_json(stream: BufferedReader, known: list[Candidate]) -> Reading:
    """The format of the first value that one claims; what came before it is kept."""
    source = values(stream)
    before: list[Any] = []
    general: tuple[Engine, JsonFormat] | None = None
    for value in islice(source, MOST_LOOKED_AT):
        before.append(value)
        claim = None if isinstance(value, Dropped) else _claim(value, known, general is None)
        if claim is not None and not claim[1].general:
            break
        general = general or claim
    else:
        claim = general
    if claim is not None:
        engine, form = claim
        return Reading(engine.NAME, form.name, form.read(chain(before, source)))
    lost = [v for v in before if isinstance(v, Dropped)]
    return Reading(None, None, iter([*lost, finding("no_spec_data", hint="")]))


def _claim(
    value: Any, known: Iterable[Candidate], with_general: bool
) -> tuple[Engine, JsonFormat] | None:
    """The format that claims a value: of the general ones, which others may contain, the last."""
    formats = [(c.engine, c.format) for c in known if isinstance(c.format, JsonFormat)]
    wanted = (f for f in formats if with_general or not f[1].general)
    return next((f for f in sorted(wanted, key=lambda f: f[1].general) if f[1].claims(value)), None)


def _wanted_samples(
    stream: BufferedReader, known: Iterable[Candidate]
) -> tuple[list[Sample], list[Finding | Dropped]]:
    blocks = Blocks(stream)
    found = list(samples(blocks, families_of(known)))
    kept, again = latest(s for s in found if isinstance(s, Sample))
    noted = [*(f for f in found if not isinstance(f, Sample)), *_losses(blocks)]
    return kept, [*noted, *([finding("several_scrapes")] if again else [])]


def _read_exposition(stream: BufferedReader, known: list[Candidate]) -> Reading:
    kept, noted = _wanted_samples(stream, known)
    return from_samples(kept, noted, known)


def recognised(kept: Sequence[Sample], known: Iterable[Candidate]) -> Candidate | None:
    """The first format that these samples prove."""
    for candidate in known:
        form = candidate.format
        if isinstance(form, ExpositionFormat) and any(
            proof in s.name for s in kept for proof in form.proofs
        ):
            return candidate
    return None


def from_samples(
    kept: Sequence[Sample], noted: Iterable[Finding | Dropped], known: Iterable[Candidate]
) -> Reading:
    """The samples of one page, read by the format that they prove."""
    candidate = recognised(kept, known)
    if candidate is None:
        hint = " (speculation is off, or its statistics are)"
        return Reading(None, None, chain(noted, [finding("no_spec_data", hint=hint)]))
    form = candidate.format
    assert isinstance(form, ExpositionFormat)
    own = [s for s in kept if any(f in s.name for f in form.families)]
    return Reading(candidate.engine.NAME, form.name, chain(noted, form.read(own)))


def _read_log(blocks: Blocks, known: list[Candidate], *, detail: bool) -> Reading:
    formats = [c for c in known if isinstance(c.format, LogFormat)]
    source = iter(blocks)
    context: dict[str, list[bytes]] = {}
    first, seen = b"", False
    for block in source:
        seen = True
        first = first if block[2] else _first_line(block)
        candidate = _first_claim(block, formats)
        if candidate is None:
            _keep_context(block, formats, context)
            continue
        form = candidate.format
        assert isinstance(form, LogFormat)
        earlier = bytearray(b"".join(context.get(form.name, [])))
        start: list[Block] = [(earlier, len(earlier), 0)] if earlier else []
        reader = form.read_fast if form.read_fast and not detail else form.read
        cut = [Dropped("the end of a record, without its start", 0)] if form.ends(first) else []
        items = chain(cut, reader(chain(start, [block], source)), _losses(blocks))
        return Reading(candidate.engine.NAME, form.name, items, form.stands_alone)
    lost = list(_losses(blocks))
    hint = "" if seen or lost else " (it is empty)"
    return Reading(None, None, chain(lost, [finding("no_spec_data", hint=hint)]))


def _first_line(block: Block) -> bytes:
    buffer, end, _ = block
    stop = buffer.find(b"\n", 0, end)
    return bytes(buffer[: stop if stop >= 0 else end])


def _first_claim(block: Block, formats: Iterable[Candidate]) -> Candidate | None:
    """The format whose own mark comes first in the block, on a line that it claims."""
    buffer, end, _ = block
    best: tuple[int, Candidate] | None = None
    for candidate in formats:
        form = candidate.format
        assert isinstance(form, LogFormat)
        at = buffer.find(form.marks[0], 0, end if best is None else best[0])
        while at >= 0:
            start, stop = buffer.rfind(b"\n", 0, at) + 1, buffer.find(b"\n", at, end)
            if form.claims(bytes(buffer[start : stop if stop >= 0 else end])):
                best = (at, candidate)
                break
            at = buffer.find(form.marks[0], at + 1, end if best is None else best[0])
    return best[1] if best else None


def _keep_context(
    block: Block, formats: Iterable[Candidate], context: dict[str, list[bytes]]
) -> None:
    """Lines that say how speculation was set up, which come before the first record."""
    buffer, end, _ = block
    for candidate in formats:
        form = candidate.format
        assert isinstance(form, LogFormat)
        for mark in form.marks[1:]:
            at = buffer.find(mark, 0, end)
            kept = context.setdefault(form.name, [])
            while at >= 0 and len(kept) < MOST_CONTEXT:
                start, stop = buffer.rfind(b"\n", 0, at) + 1, buffer.find(b"\n", at, end)
                stop = stop + 1 if stop >= 0 else end
                kept.append(bytes(buffer[start:stop]))
                at = buffer.find(mark, stop, end)


def _losses(blocks: Blocks) -> Iterator[Finding]:
    """What could not be read, told after what could."""
    if blocks.skipped:
        yield finding("long_line", lines=blocks.skipped)
    if blocks.lost:
        yield finding("cut_input", reason=blocks.lost)
