"""The console of the generators' examples: a percentage, and no counts."""

import re
from collections.abc import Iterator

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, matching
from gammaplan.model.estimate import Counts

MARKS = (b"SD efficiency:",)
_SHARE = re.compile(r"SD efficiency:\s*(\d{1,3}(?:\.\d{1,9})?) ?%")


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """One record: the mean of the jobs where there are several, since nothing weighs them."""
    total, jobs = 0.0, 0
    for line in matching(blocks, MARKS):
        share = _SHARE.search(line.text)
        if share is None or float(share[1]) > 100:
            yield Dropped("an SD efficiency line", line.offset)
            continue
        total, jobs = total + float(share[1]) / 100, jobs + 1
    if not jobs:
        return
    if jobs > 1:
        yield finding("macro_average")
    yield finding("rounding_only")
    yield Record(Counts(), rate=total / jobs)
