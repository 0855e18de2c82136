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
from gammaplan.engines.base import Dropped, Item, Record, Round
from gammaplan.engines.groups import Collected, collect, merge
from gammaplan.engines.lines import BUFFER, named, open_stream
from gammaplan.engines.reading import ANY, Reading, Wanted, read, read_difference
from gammaplan.engines.shards import Span, open_span

MOST_COUNTED = 2**32  # bytes gone back over to name the line of a damaged record


class Asked(NamedTuple):
    """How inputs are to be read and grouped."""

    wanted: Wanted = ANY
    by: str | None = None
    since: str | None = None
    until: str | None = None


PLAIN = Asked()


@dataclass
class Input:
    """What one input turned out to be, and what it said."""

    name: str
    engine: str | None
    format: str | None
    said: Collected = field(default_factory=Collected)


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
        If an input cannot be opened.
    """
    labels = _file_labels(paths)
    if executor is not None:
        found = []
        mapped = _mapped(executor, partial(_collect_one, asked=asked), paths, labels)
        for path, one in zip(paths, mapped, strict=True):
            found.append(one)
            progress(path, Path(path).stat().st_size)
        return found
    return [
        _collect_one(path, label, asked=asked, progress=partial(progress, path))
        for path, label in zip(paths, labels, strict=True)
    ]


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
    return _collected(path, reading, {}, asked, first=span[0])


def collect_stream(stream: BufferedReader, path: str, *, asked: Asked = PLAIN) -> Input:
    """Read one input that is open already; `path` names it."""
    return _collected(path, read(path, wanted=asked.wanted, stream=stream), {}, asked)


def collect_difference(before: str, after: str, *, asked: Asked = PLAIN) -> Input:
    """What the counters of two scrapes gained between them."""
    reading = read_difference(before, after, wanted=asked.wanted)
    return _collected(after, reading, {}, asked)


def _file_labels(paths: Sequence[str]) -> list[dict[str, str]]:
    """The shortest endings of the paths that tell them apart; none for a single path."""
    if len(paths) == 1:
        return [{}]
    names = [named(p) if p == "-" else Path(p).name for p in paths]
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
    reading = read(path, wanted=asked.wanted, detail=detail, progress=progress)
    return _collected(path, reading, labels, asked)


def _collected(
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
    lines = _line_numbers(path, offsets) if offsets and path != "-" else {}
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
    """What all inputs said."""
    return merge(i.said for i in inputs)
