"""Servers that are read again and again: what their counters gained since the reading before."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from threading import Thread
from typing import Protocol

from gammaplan.data.findings import finding
from gammaplan.engines.base import ExpositionFormat, Sample
from gammaplan.engines.files import Asked, Input, file_labels
from gammaplan.engines.groups import Collected
from gammaplan.engines.lines import named
from gammaplan.engines.live import Reading, Taken, gained, taken
from gammaplan.engines.prometheus import MOST_SERIES, series_key
from gammaplan.engines.reading import Scrape, families_of, settings_of
from gammaplan.engines.series import Gains
from gammaplan.engines.server import clock, inputs_of, stretches
from gammaplan.errors import Finding, InputError

STALE = 300.0  # seconds: how long a Prometheus holds on to the last sample of a series
LATE = 60.0  # seconds after which every sample of a scrape can be asked for
DAY = 86_400.0
MOST_GROUPS = 500  # that are followed


class Source(Protocol):
    """What is watched."""

    def read(self) -> list[Input]:
        """What was gained since the last reading; nothing at the first, or without news.

        Raises
        ------
        InputError
            If nothing could be read; the next reading that succeeds covers the time.
        """


class Endpoints:
    """Metrics pages, each compared with the last of its own that was whole."""

    def __init__(self, urls: Sequence[str], *, asked: Asked) -> None:
        self._urls, self._asked = list(urls), asked
        self._labels = file_labels(self._urls)
        self._before: dict[str, Taken] = {}

    def read(self) -> list[Input]:
        """As `Source`; of several pages, those that cannot be read are told."""
        readings: list[Reading] = [InputError("not asked")] * len(self._urls)

        def ask(i: int) -> None:
            readings[i] = _whole(self._urls[i], taken(self._urls[i], asked=self._asked))

        # Threads that may be left behind: whoever watches does not wait for a silent server.
        asking = [Thread(target=ask, args=(i,), daemon=True) for i in range(len(readings))]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        failed = [reading for reading in readings if isinstance(reading, InputError)]
        if len(failed) == len(readings):
            raise failed[0]
        rows = zip(self._urls, self._labels, readings, strict=True)
        return [_fewer(one) for row in rows for one in self._gains(*row)]

    def _gains(self, url: str, labels: dict[str, str], reading: Reading) -> list[Input]:
        before = self._before.get(url)
        if isinstance(reading, Taken):
            self._before[url] = _remembered(before, reading)
        return [gained(url, labels, before, reading, asked=self._asked)] if before else []


def _whole(url: str, reading: Reading) -> Reading:
    """A reading of which nothing is missing: of half a page no counts follow."""
    if isinstance(reading, Taken) and not reading.page.whole:
        return InputError(f"{named(url)}: the answer ended half-way and was not used")
    return reading


def _remembered(before: Taken | None, now: Taken) -> Taken:
    """The latest sample of every series, also of those that a page lacks for a while."""
    known: dict[object, Sample] = {}
    for sample in [*(before.page.samples if before else []), *now.page.samples]:
        known[series_key(sample)] = sample
    if len(known) > MOST_SERIES:
        return now
    return Taken(now.time, Scrape(list(known.values()), []))


class Fleet:
    """A Prometheus server, asked for the samples that came since it was asked before."""

    def __init__(self, base: str, *, asked: Asked) -> None:
        self._base, self._asked = base, asked
        every = asked.wanted.candidates()
        self._known = [c for c in every if isinstance(c.format, ExpositionFormat)]
        self._gains = Gains(settings_of(self._known))
        self._at: float | None = None

    def read(self) -> list[Input]:
        """As `Source`."""
        said: list[Finding] = []
        now = clock(self._base, self._asked.access, said)
        start = now - STALE if self._at is None else max(self._at - LATE, now - DAY)
        families = families_of(self._known)
        for part in stretches(self._base, families, start, now, self._asked.access, said):
            self._gains.add(part)
        first, self._at = self._at is None, now
        found = list(inputs_of(self._base, self._gains, said, self._known, self._asked))
        nothing = not self._gains.samples()
        self._gains.settle(now - DAY)
        return [] if first else [_fewer(one) for one in found if one.period or nothing]


def _fewer(one: Input) -> Input:
    """The input with as many groups as can be followed for days."""
    said = one.said
    if max(len(said.groups), len(said.listed)) <= MOST_GROUPS:
        return one
    kept = [dict(islice(groups.items(), MOST_GROUPS)) for groups in (said.groups, said.listed)]
    lost = finding("many_groups", limit=f"{MOST_GROUPS:,}")
    fewer: Collected = replace(
        said, groups=kept[0], listed=kept[1], findings=[*said.findings, lost]
    )
    return replace(one, said=fewer)
