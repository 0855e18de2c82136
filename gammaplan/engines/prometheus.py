"""Prometheus text: the families that are wanted, and the difference of two scrapes."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Sample
from gammaplan.engines.lines import Block, line_spans
from gammaplan.errors import Finding

MOST_SERIES = 20_000  # label sets of the wanted families that are kept
LARGEST = 2.0**63  # a larger figure is no count
INDEXES = ("position", "token_position", "le", "quantile", "is_streaming")
COUNTERS = ("_total", "_count", "_sum", "_bucket")
MOST_NAMED = 3  # processes that a finding names
Process: TypeAlias = tuple[tuple[str, str], ...]

_BRACES = rb'\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}'
_SPACE = rb"(?:[ \t]*" + _BRACES + rb"[ \t]*|[ \t]+)"
_LINE = re.compile(
    rb"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)"
    + _SPACE
    + rb"([^\s{]+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?\s*$"
)
_LABEL = re.compile(rb'[,\s]*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_ESCAPES = {rb"\\": b"\\", rb"\"": b'"', rb"\n": b"\n"}
HEAD = re.compile(  # labels without quotes are MLC-LLM's own page
    rb"^[ \t]*(?:# (?:HELP|TYPE|EOF|UNIT)\b|[a-zA-Z_:][a-zA-Z0-9_:]*"
    rb"(?:[ \t]*\{(?:[ \t]*|[^\n]*\"[^\n]*)\}[ \t]*|[ \t]+)"
    rb"[-+\d.]\S*(?:[ \t]+\d{9,})?\s*(?:#[^\n]*)?$)",
    re.M,
)


def samples(
    blocks: Iterable[Block], families: Sequence[str]
) -> Iterator[Sample | Finding | Dropped]:
    """The samples whose names have one of the substrings; a damaged line is dropped.

    What no count can be (negative, NaN, infinite) is left out, and one finding
    tells of all of it.

    Reading only these lines is what makes a large page cheap: a page of 50,000
    samples has some tens of interest.
    """
    marks = tuple(f.encode() for f in families)
    kept, lines = 0, 0
    bad: list[tuple[str, str]] = []
    for buffer, end, offset in blocks:
        for start, stop in line_spans(buffer, end, marks):
            line = bytes(buffer[start:stop])
            if line.lstrip().startswith(b"#"):
                continue
            match = _LINE.match(line)
            value = _value(match[3]) if match else None
            if match is None or value is None:
                yield Dropped("a metrics line", offset + start)
                continue
            if not 0 <= value < LARGEST:
                line_number = lines + buffer.count(b"\n", 0, start) + 1
                bad.append((match[1].decode(), f"{value:g} (line {line_number}"))
                continue
            kept += 1
            if kept > MOST_SERIES:
                yield finding("too_many_series", limit=f"{MOST_SERIES:,}")
                return
            yield Sample(match[1].decode(), _labels(match[2] or b""), value)
        lines += buffer.count(b"\n", 0, end)
    if bad:
        name, shown = bad[0]
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        yield finding("bad_sample", name=name, value=f"{shown}{more})")


def _value(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _labels(text: bytes) -> dict[str, str]:
    found = {}
    for name, value in _LABEL.findall(text):
        plain = re.sub(rb'\\[\\"n]', lambda m: _ESCAPES[m[0]], value)
        found[name.decode()] = plain.decode("utf-8", "replace")
    return found


def difference(
    before: Iterable[Sample],
    after: Iterable[Sample],
    *,
    settings: Collection[str] = (),
    whole: bool = True,
) -> Iterator[Sample | Finding]:
    """What each counter gained between two scrapes; gauges as they are in the second.

    Where a counter fell, its process was restarted: the later values of all
    counters of that process are the increase, and what was counted between the
    first scrape and the restart cannot be seen. A counter that the first scrape
    lacks was 0 there, if that scrape was `whole`; else it is left out. Gauges
    of `settings` that changed are left out, and said.
    """
    earlier = {series_key(s): s.value for s in before}
    later = list(after)
    counters = [s for s in later if s.name.endswith(COUNTERS)]
    restarted = {process_of(s) for s in counters if s.value < earlier.get(series_key(s), 0.0)}
    changed: dict[str, tuple[float, float]] = {}
    for sample in later:
        value = earlier.get(series_key(sample))
        if not sample.name.endswith(COUNTERS):
            if sample.name in settings and value not in (None, sample.value):
                changed.setdefault(sample.name, (value or 0.0, sample.value))
            else:
                yield sample
        elif process_of(sample) in restarted:
            yield sample
        elif value is not None or whole:
            yield sample._replace(value=sample.value - (value or 0.0))
    for name, (old, new) in changed.items():
        yield finding("settings_changed", name=name, values=f"{old:g} and {new:g}")
    if restarted:
        yield counter_reset([title(process) for process in restarted])


def counter_reset(processes: Sequence[str]) -> Finding:
    """The finding that names the processes that were restarted, and when."""
    names = "; ".join(sorted(processes)[:MOST_NAMED])
    more = len(processes) - MOST_NAMED
    return finding("counter_reset", processes=names + (f"; and {more} more" if more > 0 else ""))


def latest(page: Iterable[Sample]) -> tuple[list[Sample], bool]:
    """The last sample of each series, where scrapes follow each other, and whether any do."""
    every = list(page)
    last = {series_key(sample): sample for sample in every}
    return list(last.values()), len(last) < len(every)


def series_key(sample: Sample) -> tuple[object, ...]:
    """What tells a series from every other: its name and all its labels."""
    return (sample.name, *sorted(sample.labels.items()))


def process_of(sample: Sample) -> Process:
    """The labels that tell processes apart: all but those that index a figure."""
    return tuple(sorted((k, v) for k, v in sample.labels.items() if k not in INDEXES))


def title(process: Process) -> str:
    """How a process is called: where it was scraped, else by all its labels."""
    labels = dict(process)
    own = {k: v for k, v in labels.items() if k in ("instance", "pod", "model_name", "engine")}
    return " ".join(f"{k}={v}" for k, v in (own or labels).items()) or "the process"
