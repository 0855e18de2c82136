"""Raw samples of series over time: what each counter gained, restarts told apart.

Only differences of samples that were taken are used: nothing is extrapolated.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from gammaplan.data.findings import finding
from gammaplan.engines.base import Sample
from gammaplan.engines.prometheus import (
    COUNTERS,
    LARGEST,
    Process,
    counter_reset,
    process_of,
    series_key,
    title,
)
from gammaplan.engines.times import utc
from gammaplan.errors import Finding
from gammaplan.model.arrays import Floats

MOST_SERIES = 200_000  # kept at a time
SCRAPERS = ("job", "prometheus", "prometheus_replica")  # labels of who scraped, not of what
Key: TypeAlias = tuple[object, ...]
Target: TypeAlias = Process


class Raw(NamedTuple):
    """Some consecutive samples of one series."""

    labels: Mapping[str, str]  # with the name under __name__
    rows: Floats  # shape (samples, 2): unix time [s] and value


class Span(NamedTuple):
    """The unix times of the first and the last sample, and how many scrapes of how many."""

    start: float
    end: float
    scrapes: int
    processes: int


@dataclass(slots=True)
class Series:
    """One series as far as it was read."""

    sample: Sample  # its latest
    process: Process
    page: Key  # what it is called on the page that it was scraped from, whoever did
    first: float
    last: float
    scrapes: int = 0
    gained: float = 0.0
    values: set[float] = field(default_factory=set)  # of a setting: up to three of them


class _Piece(NamedTuple):
    """The new samples of one series, with the sample before them where there is one."""

    series: Series
    times: Floats
    values: Floats
    steps: Floats  # of the values
    known: bool


class Gains:
    """What series gained, fed with consecutive stretches of time in order.

    Where a counter falls, its process was restarted: from that scrape on all
    counters of the process start from 0, each at its next sample. The first
    sample of a series is where counting starts, unless its target was scraped
    before without it: then it starts from 0 too.
    """

    def __init__(self, settings: Iterable[str] = ()) -> None:
        self._settings = frozenset(settings)
        self._series: dict[Key, Series] = {}
        self._restarts: dict[Process, list[float]] = {}  # times in order
        self._settled: dict[Process, float] = {}  # the last of those that were told
        self._bad: list[tuple[str, float]] = []
        self._left_out = self._again = 0

    def add(self, stretch: Iterable[Raw]) -> None:
        """One more stretch of time; samples that were seen already are passed over."""
        processes: dict[Process, list[_Piece]] = {}
        targets: dict[Target, list[_Piece]] = {}
        here: set[int] = set()
        for raw in stretch:
            piece = self._piece(raw)
            if piece is not None and id(piece.series) in here:
                self._again += 1  # listed twice in one answer
            elif piece is not None:
                here.add(id(piece.series))
                processes.setdefault(piece.series.process, []).append(piece)
                targets.setdefault(_target(piece.series), []).append(piece)
        for pieces in targets.values():
            _start_from_zero(pieces)
        for process, pieces in processes.items():
            restarts = _restarts(pieces, self._restarts.get(process, []))
            if restarts:
                self._restarts[process] = restarts
            for piece in pieces:
                self._count(piece, restarts)

    def _piece(self, raw: Raw) -> _Piece | None:
        """The new samples of a series; None where there are none, or no room for it."""
        labels = dict(raw.labels)
        sample = Sample(labels.pop("__name__", ""), labels, 0.0)
        key = series_key(sample)
        series = self._series.get(key)
        if series is None and len(self._series) >= MOST_SERIES:
            self._left_out += 1
            return None
        times, values = raw.rows[:, 0], raw.rows[:, 1]
        good = (values >= 0) & (values < LARGEST)  # NaN is neither
        if not good.all():
            self._bad.append((sample.name, float(values[~good][0])))
            times, values = times[good], values[good]
        if not (times[1:] > times[:-1]).all():
            times, first = np.unique(times, return_index=True)
            values = values[first]
        if series is not None:
            new = np.searchsorted(times, series.last, side="right")
            times, values = times[new:], values[new:]
        if not len(times):
            return None
        known = series is not None
        if series is None:
            at = float(times[0])
            series = Series(sample, process_of(sample), _page(sample, key), at, at)
            self._series[key] = series
        else:
            times = np.concatenate(([series.last], times))
            values = np.concatenate(([series.sample.value], values))
        return _Piece(series, times, values, values[1:] - values[:-1], known)

    def _count(self, piece: _Piece, restarts: Sequence[float]) -> None:
        series, values = piece.series, piece.values
        name, labels, _ = series.sample
        series.sample = Sample(name, labels, float(values[-1]))
        series.last = float(piece.times[-1])
        series.scrapes += len(piece.times) - piece.known
        if name.endswith(COUNTERS):
            steps = piece.steps
            if restarts:
                anew = np.diff(np.searchsorted(restarts, piece.times, side="right")) > 0
                steps = np.where(anew, values[1:], steps)
            series.gained += float(steps.sum())
        elif name in self._settings:
            series.values = {*sorted({*series.values, *map(float, np.unique(values))})[:3]}

    def settle(self, since: float) -> None:
        """Count anew from the latest samples; series without one after `since` are forgotten."""
        self._series = {key: s for key, s in self._series.items() if s.last > since}
        for series in self._series.values():
            series.first, series.scrapes, series.gained = series.last, 1, 0.0
            series.values.clear()
        self._settled = {process: ats[-1] for process, ats in self._restarts.items()}
        self._restarts = {p: [at] for p, at in self._settled.items() if at > since}
        self._bad.clear()
        self._left_out = self._again = 0

    def samples(self) -> list[Sample]:
        """What each counter gained; gauges as they are in the last sample.

        A page that was scraped twice counts once, and settings that changed
        are left out: `findings` tells of both.
        """
        best: dict[Key, Series] = {}
        for series in self._series.values():
            if len(series.values) > 1:
                continue
            if series.page not in best or series.scrapes > best[series.page].scrapes:
                best[series.page] = series
        return [
            Sample(*s.sample[:2], s.gained) if s.sample.name.endswith(COUNTERS) else s.sample
            for s in best.values()
        ]

    def findings(self) -> list[Finding]:
        """What is to be said of the series."""
        found: list[Finding] = []
        new = [
            f"{title(p)} at {utc(at)}"
            for p, ats in self._restarts.items()
            for at in ats
            if at > self._settled.get(p, -math.inf)
        ]
        if new:
            found.append(counter_reset(new))
        changed = {s.sample.name: s.values for s in self._series.values() if len(s.values) > 1}
        for name, values in changed.items():
            shown = " and ".join(f"{v:g}" for v in sorted(values))
            found.append(finding("settings_changed", name=name, values=shown))
        pages = {s.page for s in self._series.values()}
        if twice := self._again + len(self._series) - len(pages):
            found.append(finding("same_page_twice", series=f"{twice:,}"))
        if self._bad:
            name, value = self._bad[0]
            more = f" (and {len(self._bad) - 1:,} more)" if len(self._bad) > 1 else ""
            found.append(finding("bad_sample", name=name, value=f"{value:g}{more}"))
        if self._left_out:
            found.append(finding("too_many_series", limit=f"{MOST_SERIES:,}"))
        return found

    def span(self, samples: Iterable[Sample]) -> Span | None:
        """Over which time these counters were differenced; None where none has two samples."""
        counters = [s for s in samples if s.name.endswith(COUNTERS)]
        rows = [self._series[series_key(s)] for s in counters]
        if not any(s.scrapes > 1 for s in rows):
            return None
        scrapes: dict[Process, int] = {}
        for s in rows:
            scrapes[s.process] = max(scrapes.get(s.process, 0), s.scrapes)
        first, last = min(s.first for s in rows), max(s.last for s in rows)
        return Span(float(first), float(last), sum(scrapes.values()), len(scrapes))


def _start_from_zero(pieces: Sequence[_Piece]) -> None:
    """Count the series that their target had not when it was scraped before from zero."""
    start = min(p.times[0] for p in pieces)
    for piece in pieces:
        at = piece.times[0]
        if not piece.known and at > start and _is_counter(piece):
            was_there = any(other.times[0] < at and at in other.times for other in pieces)
            piece.series.gained = float(piece.values[0]) if was_there else 0.0


def _restarts(pieces: Sequence[_Piece], known: Sequence[float]) -> list[float]:
    """The times at which one process was seen restarted, with those of new samples.

    A series that comes late after a restart may be lower than it was before;
    that is the same restart.
    """
    restarts = list(known)
    falls: list[tuple[float, float]] = []
    for times, steps in ((p.times, p.steps) for p in pieces if _is_counter(p)):
        if (down := steps < 0).any():
            falls += zip(times[1:][down].tolist(), times[:-1][down].tolist(), strict=True)
    for at, before in sorted(falls):
        if not restarts or restarts[-1] <= before:
            restarts.append(at)
    return restarts


def _is_counter(piece: _Piece) -> bool:
    return piece.series.sample.name.endswith(COUNTERS)


def _target(series: Series) -> Target:
    """The page that a series was on: one instance of one job, else its process."""
    labels = series.sample.labels
    if not labels.get("instance"):
        return series.process
    return (("job", labels.get("job", "")), ("instance", labels["instance"]))


def _page(sample: Sample, key: Key) -> Key:
    """What stays the same of a series of one instance, whoever scraped it."""
    if not sample.labels.get("instance"):
        return key
    own = {k: v for k, v in sample.labels.items() if k not in SCRAPERS}
    return series_key(Sample(sample.name, own, 0.0))
