"""One input or many, read and added up; many are mapped over an executor."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines import times
from gammaplan.engines.addresses import OPEN, Access, is_address
from gammaplan.engines.base import Dropped, Item, Record, Round
from gammaplan.engines.groups import Collected, collect, merge
from gammaplan.engines.lines import BUFFER, named, open_stream
from gammaplan.engines.reading import ANY, Reading, Wanted, read, read_difference, scraped
from gammaplan.engines.shards import Span, open_span
from gammaplan.errors import InputError

LOSSES = ("truncated_line", "cut_input", "long_line", "no_spec_data", "unreachable")
MOST_COUNTED = 2**32  # bytes gone back over to name the line of a damaged record


class Asked(NamedTuple):
    """How inputs are to be read and grouped."""

    wanted: Wanted = ANY
    by: str | None = None
    since: str | None = None
    until: str | None = None
    access: Access = OPEN


PLAIN = Asked()


class Period(NamedTuple):
    """Between which samples counters were differenced: unix times of the first and the last."""

    start: float
    end: float
    scrapes: int
    processes: int


@dataclass
class Input:
    """What one input turned out to be, and what it said.

    `period` is set for differences, `failure` where the input could not be read.
    """

    name: str
    engine: str | None
    format: str | None
    said: Collected = field(default_factory=Collected)
    period: Period | None = None
    failure: str | None = None


def collect_files(
    paths: Sequence[str],
    *,
    asked: Asked = PLAIN,
    executor: Executor | None = None,
    progress: Callable[[str, int], None] = lambda name, read: None,
) -> list[Input]:
    """Read every input; several are labelled by file, and mapped over `executor`.

    Raises
    ------
    InputError
        If a file cannot be opened, or no server answers.
    """
    labels = file_labels(paths)
    if executor is not None:
        found = []
        mapped = _mapped(executor, partial(_collect_one, asked=asked), paths, labels)
        for path, one in zip(paths, mapped, strict=True):
            found.append(one)
            if not is_address(path):
                progress(path, Path(path).stat().st_size)
        return answering(found)
    return answering(
        _collect_one(path, label, asked=asked, progress=partial(progress, path))
        for path, label in zip(paths, labels, strict=True)
    )


def answering(inputs: Iterable[Input]) -> list[Input]:
    """The inputs; an error where none of them could be read."""
    every = list(inputs)
    failures = [i.failure for i in every if i.failure]
    if failures and len(failures) == len(every):
        raise InputError(failures[0])
    return every


def unreached(path: str, error: InputError) -> Input:
    """A server that could not be read; its answer is missed only where others have one."""
    said = Collected(findings=[finding("unreachable", reason=error)])
    return Input(named(path), None, None, said, failure=str(error))


def collect_shards(
    path: str, cuts: Sequence[Span], executor: Executor, *, asked: Asked = PLAIN
) -> Input:
    """Read one file in shards, mapped over `executor`, and add up what they said."""
    parts = list(_mapped(executor, partial(_collect_shard, path, asked=asked), cuts))
    whole = merge(part.said for part in parts)
    lost = [f for f in whole.findings if f.code != "truncated_line"]
    said = replace(whole, findings=lost)
    _tell_lost(path, said)
    known = next((part for part in parts if part.engine), parts[0])
    return Input(known.name, known.engine, known.format, said)


def _mapped(
    executor: Executor, work: Callable[..., Input], *columns: Iterable[object]
) -> Iterator[Input]:
    """What the workers find, in order; what comes after is loaded while they are at it."""
    found = executor.map(work, *columns)
    import_module("scipy.special")
    return found


def _collect_shard(path: str, span: Span, *, asked: Asked) -> Input:
    detail = bool(asked.by or asked.since or asked.until)
    stream = open_span(path, span)
    reading = read(path, wanted=asked.wanted, detail=detail, stream=stream)
    return collected(path, reading, {}, asked, first=span[0])


def collect_stream(stream: BufferedReader, path: str, *, asked: Asked = PLAIN) -> Input:
    """Read one input that is open already; `path` names it."""
    return collected(path, read(path, wanted=asked.wanted, stream=stream), {}, asked)


def collect_difference(before: str, after: str, *, asked: Asked = PLAIN) -> Input:
    """What the counters of two scrapes gained between them."""
    pages = [scraped(p, wanted=asked.wanted, access=asked.access) for p in (before, after)]
    return collected(after, read_difference(*pages, wanted=asked.wanted), {}, asked)


def file_labels(paths: Sequence[str]) -> list[dict[str, str]]:
    """The shortest endings of the paths that tell them apart; none for a single path."""
    if len(paths) == 1:
        return [{}]
    names = [named(p) if p == "-" or is_address(p) else Path(p).name for p in paths]
    if len(set(names)) < len(names):
        names = [named(p) for p in paths]
    return [{"file": name} for name in names]


def _collect_one(
    path: str,
    labels: dict[str, str],
    *,
    asked: Asked,
    progress: Callable[[int], None] = lambda offset: None,
) -> Input:
    detail = bool(asked.by or asked.since or asked.until)
    try:
        stream = open_stream(path, asked.access)
    except InputError as error:
        if not is_address(path):
            raise
        return unreached(path, error)
    reading = read(path, wanted=asked.wanted, detail=detail, stream=stream, progress=progress)
    return collected(path, reading, labels, asked)


def collected(
    path: str, reading: Reading, labels: dict[str, str], asked: Asked, *, first: int = 0
) -> Input:
    """What a reading says; `first` is where it starts in the file."""
    items: Iterable[Item] = reading.items
    if asked.since or asked.until:
        items = _between(items, asked)
    said = collect(items, extra=labels, by=asked.by)
    said.dropped = [d._replace(offset=d.offset + first * (d.offset >= 0)) for d in said.dropped]
    _tell_lost(path, said)
    return Input(named(path), reading.engine, reading.format, said)


def _tell_lost(path: str, said: Collected) -> None:
    """Say how many records were damaged, and where the first few are."""
    if said.lost:
        where = _located(path, said.dropped)
        said.note(finding("truncated_line", lost=_records(said.lost), what="; ".join(where)))


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _between(items: Iterable[Item], asked: Asked) -> Iterator[Item]:
    """Records of the time asked for; records without a time are left out, and said."""
    since = times.parse(asked.since) if asked.since else None
    until = times.parse(asked.until) if asked.until else None
    untimed = kept = outside = 0
    unseen: set[str] = set()
    for item in items:
        if isinstance(item, Record | Round):
            time = item.time if isinstance(item, Round) else item.time or item.name
            inside = times.within(time, since, until)
            unseen |= times.lacking(time, since, until)
            untimed += inside is None
            outside += inside is False
            kept += inside is True
            if not inside:
                continue
        yield item
    if untimed:
        yield finding("untimed", records=untimed)
    if unseen:
        yield finding("time_in_part", parts=" and no ".join(sorted(unseen, reverse=True)))
    if outside and not kept:
        yield finding("no_spec_data", hint=" of the time asked for")


def _located(path: str, dropped: Sequence[Dropped]) -> list[str]:
    """Each damaged record with its file and line, where the input can be read again."""
    offsets = [d.offset for d in dropped if d.offset >= 0]
    again = path != "-" and not is_address(path)
    lines = _line_numbers(path, offsets) if offsets and again else {}
    return [
        f"{named(path)}{f':{lines[d.offset]}' if d.offset in lines else ''}: {d.what}"
        for d in dropped
    ]


def _line_numbers(path: str, offsets: Sequence[int]) -> dict[int, int]:
    """The line number at each offset, counted by reading the input once more."""
    if max(offsets) > MOST_COUNTED:
        return {}
    found: dict[int, int] = {}
    at, line = 0, 1
    with open_stream(path) as stream:
        for offset in sorted(set(offsets)):
            while at < offset:
                part = stream.read(min(BUFFER, offset - at))
                if not part:
                    return found
                line += part.count(b"\n")
                at += len(part)
            found[offset] = line
    return found


def together(inputs: Sequence[Input]) -> Collected:
    """What all inputs said; of several, what was lost of each bears its name."""
    return merge(_losses_named(i) if len(inputs) > 1 else i.said for i in inputs)


def _losses_named(one: Input) -> Collected:
    found = [f._replace(origin=one.name) if f.code in LOSSES else f for f in one.said.findings]
    return replace(one.said, findings=found)
