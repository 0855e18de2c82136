"""Prometheus text: the families that are wanted, and the difference of two scrapes."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from gammaplan.data.findings import finding
from gammaplan.engines.base import Sample
from gammaplan.engines.lines import Block, line_spans
from gammaplan.errors import Finding

MOST_SERIES = 20_000  # label sets of the wanted families that are kept
INDEXES = ("position", "token_position", "le", "quantile", "is_streaming")
COUNTERS = ("_total", "_count", "_sum", "_bucket")

_LINE = re.compile(
    rb"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?\s*$"
)
_LABEL = re.compile(rb'[,\s]*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_ESCAPES = {rb"\\": b"\\", rb"\"": b'"', rb"\n": b"\n"}
HEAD = re.compile(
    rb"^(?:# (?:HELP|TYPE|EOF|UNIT)\b|[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[^\n]*\})? +[-+\d.]\S*\s*$)",
    re.M,
)


def samples(blocks: Iterable[Block], families: Sequence[str]) -> Iterator[Sample | Finding]:
    """The samples whose names have one of the substrings; a damaged line is a finding.

    Reading only these lines is what makes a large page cheap: a page of 50,000
    samples has some tens of interest.
    """
    marks = tuple(f.encode() for f in families)
    kept = 0
    for buffer, end, _ in blocks:
        for start, stop in line_spans(buffer, end, marks):
            line = bytes(buffer[start:stop])
            if line.startswith(b"#"):
                continue
            match = _LINE.match(line)
            value = _value(match[3]) if match else None
            if match is None or value is None:
                yield finding("truncated_line", what="a metrics line", lost=1)
                continue
            if math.isnan(value) or value < 0:
                yield finding("bad_sample", name=match[1].decode(), value=f"{value:g}")
                continue
            kept += 1
            if kept > MOST_SERIES:
                yield finding("too_many_series", limit=f"{MOST_SERIES:,}")
                return
            yield Sample(match[1].decode(), _labels(match[2] or b""), value)


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


def difference(before: Iterable[Sample], after: Iterable[Sample]) -> Iterator[Sample | Finding]:
    """What each counter gained between two scrapes; gauges as they are in the second.

    Where a counter fell, its process was restarted: the later values of all
    counters of that process are the increase, and what was counted between the
    first scrape and the restart cannot be seen.
    """
    earlier = {_key(s): s.value for s in before}
    later = list(after)
    counters = [s for s in later if s.name.endswith(COUNTERS)]
    restarted = {_process(s) for s in counters if s.value < earlier.get(_key(s), 0.0)}
    for sample in later:
        if not sample.name.endswith(COUNTERS) or _process(sample) in restarted:
            yield sample
        else:
            yield sample._replace(value=sample.value - earlier.get(_key(sample), 0.0))
    if restarted:
        yield finding("counter_reset", processes=len(restarted))


def _key(sample: Sample) -> tuple[object, ...]:
    return (sample.name, *sorted(sample.labels.items()))


def _process(sample: Sample) -> tuple[object, ...]:
    """The labels that tell processes apart: all but those that index a figure."""
    return tuple(sorted((k, v) for k, v in sample.labels.items() if k not in INDEXES))
