"""Live endpoints: two readings of their counters, and what each gained in between."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeAlias

from gammaplan.engines.addresses import OPEN, Access
from gammaplan.engines.base import Labels
from gammaplan.engines.files import (
    PLAIN,
    Asked,
    Input,
    Period,
    answering,
    collected,
    file_labels,
    unreached,
)
from gammaplan.engines.prometheus import COUNTERS, process_of
from gammaplan.engines.reading import ANY, Scrape, Wanted, read_difference, scraped
from gammaplan.errors import InputError

MOST_AT_ONCE = 16  # endpoints that are asked at the same time


class Taken(NamedTuple):
    """One reading of an endpoint, and when it was taken (unix time)."""

    time: float
    page: Scrape


Reading: TypeAlias = Taken | InputError


def scrape(url: str, *, wanted: Wanted = ANY, access: Access = OPEN) -> Taken:
    """One reading of an endpoint.

    Raises
    ------
    InputError
        If the server cannot be read, or the page is no Prometheus text.
    """
    page = scraped(url, wanted=wanted, access=access)
    return Taken(time.time(), page)


def collect_gains(
    urls: Sequence[str], *, wait: Callable[[], None], asked: Asked = PLAIN
) -> list[Input]:
    """What the counters of each endpoint gained while `wait` ran.

    Raises
    ------
    InputError
        If no endpoint could be read twice.
    """
    take = partial(taken, asked=asked)
    with ThreadPoolExecutor(min(MOST_AT_ONCE, len(urls))) as pool:
        before = list(pool.map(take, urls))
        failed = [reading for reading in before if isinstance(reading, InputError)]
        if len(failed) == len(before):
            raise failed[0]
        wait()
        after = list(pool.map(take, urls))
    gains = map(partial(gained, asked=asked), urls, file_labels(urls), before, after)
    return answering(gains)


def taken(url: str, *, asked: Asked) -> Reading:
    """One reading of an endpoint, or why there is none."""
    try:
        return scrape(url, wanted=asked.wanted, access=asked.access)
    except InputError as error:
        return error


def gained(url: str, labels: Labels, before: Reading, after: Reading, *, asked: Asked) -> Input:
    """What one endpoint gained between two readings, if it has both."""
    if isinstance(before, InputError):
        return unreached(url, before)
    if isinstance(after, InputError):
        return unreached(url, after)
    reading = read_difference(before.page, after.page, wanted=asked.wanted)
    gain = collected(url, reading, labels, asked)
    processes = {process_of(s) for s in after.page.samples if s.name.endswith(COUNTERS)}
    gain.period = Period(before.time, after.time, 2, len(processes))
    return gain
