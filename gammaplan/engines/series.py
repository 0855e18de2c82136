"""Raw samples of series over time: what each counter gained, restarts told apart.

Only differences of samples that were taken are used: nothing is extrapolated.
"""

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
    first: float
    last: float
    scrapes: int = 0
    gained: float = 0.0
    values: set[float] = field(default_factory=set)  # of a setting: up to three of them


class _Piece(NamedTuple):
    """The new samples of one series, with the sample before them where there is one."""

    key: Key
    sample: Sample
    times: Floats
    values: Floats
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
        self._bad: list[tuple[str, float]] = []
        self._left_out = 0

    def add(self, stretch: Iterable[Raw]) -> None:
        """One more stretch of time; samples that were seen already are passed over."""
        processes: dict[Process, list[_Piece]] = {}
        targets: dict[Target, list[_Piece]] = {}
        for raw in stretch:
            piece = self._piece(raw)
            if piece is not None:
                process = process_of(piece.sample)
                processes.setdefault(process, []).append(piece)
                targets.setdefault(_target(piece.sample, process), []).append(piece)
        born = {p.key for pieces in targets.values() for p in self._born(pieces)}
        for process, pieces in processes.items():
            restarts = _restarts(pieces, self._restarts.get(process, []))
            if restarts:
                self._restarts[process] = restarts
            for piece in pieces:
                self._count(piece, restarts, born=piece.key in born)

    def _piece(self, raw: Raw) -> _Piece | None:
        """The new samples of a series; None where there are none, or no room for it."""
        labels = dict(raw.labels)
        name = labels.pop("__name__", "")
        sample = Sample(name, labels, 0.0)
        key = series_key(sample)
        before = self._series.get(key)
        if before is None and len(self._series) >= MOST_SERIES:
            self._left_out += 1
            return None
        rows = raw.rows
        good = (rows[:, 1] >= 0) & (rows[:, 1] < LARGEST)  # NaN is neither
        if not good.all():
            self._bad.append((name, float(rows[~good][0, 1])))
        rows = rows[good]
        if len(rows) > 1 and not (np.diff(rows[:, 0]) > 0).all():
            rows = rows[np.unique(rows[:, 0], return_index=True)[1]]
        if before is not None:
            rows = rows[rows[:, 0] > before.last]
        if not len(rows):
            return None
        if before is not None:
            rows = np.vstack([(before.last, before.sample.value), rows])
        return _Piece(key, sample, rows[:, 0], rows[:, 1], before is not None)

    def _born(self, pieces: Sequence[_Piece]) -> Iterable[_Piece]:
        """The series that a target had not when it was scraped before."""
        start = min(p.times[0] for p in pieces)
        for piece in pieces:
            at = piece.times[0]
            if (
                not piece.known
                and at > start
                and any(other.times[0] < at and at in other.times for other in pieces)
            ):
                yield piece

    def _count(self, piece: _Piece, restarts: Sequence[float], *, born: bool) -> None:
        times, values = piece.times, piece.values
        latest = piece.sample._replace(value=float(values[-1]))
        series = self._series.setdefault(piece.key, Series(latest, times[0], times[-1]))
        series.sample, series.last = latest, float(times[-1])
        series.scrapes += len(times) - piece.known
        if latest.name.endswith(COUNTERS):
            anew = np.diff(np.searchsorted(restarts, times, side="right")) > 0
            steps = np.where(anew, values[1:], np.diff(values))
            series.gained += float(steps.sum()) + (float(values[0]) if born else 0.0)
        elif latest.name in self._settings:
            series.values = {*sorted({*series.values, *map(float, np.unique(values))})[:3]}

    def samples(self) -> list[Sample]:
        """What each counter gained; gauges as they are in the last sample.

        A page that was scraped twice counts once, and settings that changed
        are left out: `findings` tells of both.
        """
        best: dict[Key, Series] = {}
        for series in self._series.values():
            if len(series.values) > 1:
                continue
            page = _page(series.sample)
            if page not in best or series.scrapes > best[page].scrapes:
                best[page] = series
        return [
            s.sample._replace(value=s.gained) if s.sample.name.endswith(COUNTERS) else s.sample
            for s in best.values()
        ]

    def findings(self) -> list[Finding]:
        """What is to be said of the series."""
        found: list[Finding] = []
        if self._restarts:
            named = [f"{title(p)} at {utc(at)}" for p, ats in self._restarts.items() for at in ats]
            found.append(counter_reset(named))
        changed = {s.sample.name: s.values for s in self._series.values() if len(s.values) > 1}
        for name, values in changed.items():
            shown = " and ".join(f"{v:g}" for v in sorted(values))
            found.append(finding("settings_changed", name=name, values=shown))
        pages = {_page(s.sample) for s in self._series.values()}
        if twice := len(self._series) - len(pages):
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
        rows = [(process_of(s), self._series[series_key(s)]) for s in counters]
        if not any(series.scrapes > 1 for _, series in rows):
            return None
        scrapes: dict[Process, int] = {}
        for process, series in rows:
            scrapes[process] = max(scrapes.get(process, 0), series.scrapes)
        first, last = min(s.first for _, s in rows), max(s.last for _, s in rows)
        return Span(float(first), float(last), sum(scrapes.values()), len(scrapes))


def _restarts(pieces: Sequence[_Piece], known: Sequence[float]) -> list[float]:
    """The times at which one process was seen restarted, with those of new samples.

    A series that comes late after a restart may be lower than it was before;
    that is the same restart.
    """
    restarts = list(known)
    falls = []
    for piece in pieces:
        if piece.sample.name.endswith(COUNTERS):
            for i in np.flatnonzero(np.diff(piece.values) < 0):
                falls.append((float(piece.times[i + 1]), float(piece.times[i])))
    for at, before in sorted(falls):
        if not restarts or restarts[-1] <= before:
            restarts.append(at)
    return restarts


def _target(sample: Sample, process: Process) -> Target:
    """The page that a sample was on: one instance of one job, else its process."""
    labels = sample.labels
    if not labels.get("instance"):
        return process
    return (("job", labels.get("job", "")), ("instance", labels["instance"]))


def _page(sample: Sample) -> Key:
    """What stays the same of a series of one instance, whoever scraped it."""
    if not sample.labels.get("instance"):
        return series_key(sample)
    own = {k: v for k, v in sample.labels.items() if k not in SCRAPERS}
    return series_key(sample._replace(labels=own))
