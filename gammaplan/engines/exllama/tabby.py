"""tabbyAPI's log: the metrics of a request, on one line or wrapped over several."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.model.estimate import Counts

NAMED, UNNAMED = b"Metrics (ID: ", b" tokens generated in "
MARKS = (NAMED, UNNAMED, b"Draft:", b"accepted", b"%))")
HALF = 5e-5  # half a unit of the rate's last digit

_OWN = re.compile(rb"Metrics(?: \(ID: [^()\s]+\):|: \d+ tokens generated in )")
_DRAFT = re.compile(r"Draft:\s+(\d{1,15}) / (\d{1,15}) tokens accepted \((\d{1,3}\.\d+|-?nan)%\)")
_ID = re.compile(r"Metrics(?: \(ID: ([^()\s]{1,200})\))?:")
_TOKENS = re.compile(r"(\d{1,15}) tokens generated in ")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
MOST_JOINED = 4  # lines that one record may be wrapped over


@dataclass
class Request:
    """The metrics of a request, as far as they were read."""

    text: str = ""
    name: str = ""
    time: str = ""
    offset: int = -1
    joined: int = 0


def claims(line: bytes) -> bool:
    """The metrics of a request."""
    return _OWN.search(line) is not None


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a request; requests without a draft model print no drafts."""
    now: Request | None = None
    number = told = empty = 0
    for line in matching(blocks, MARKS):
        head = _ID.search(line.text) if _OWN.search(line.text.encode()) else None
        if head:
            if now is not None and "Draft:" in now.text:
                yield Dropped("the draft metrics of a request", now.offset)
            now, number = _begun(line, head, number + 1), number + 1
        elif now is None or now.joined >= MOST_JOINED:
            continue
        else:
            now.text, now.joined = f"{now.text} {line.text.strip()}", now.joined + 1
        if match := _DRAFT.search(now.text):
            record = _told(match, now)
            told += 1
            empty += record is None
            if record is not None:
                yield record
            now = None
        elif _closed(now.text):  # it ran without a draft model
            now = None
        elif not line.whole:
            yield Dropped("the metrics of a request", now.offset)
            now = None
    if now is not None and "Draft:" in now.text:
        yield Dropped("the draft metrics of a request", now.offset)
    empty = empty if told else number
    if empty:
        yield finding("zero_drafts", records=f"{empty} request{'s' * (empty > 1)}")


def _begun(line: Line, head: re.Match[str], number: int) -> Request:
    time = _TIME.search(line.text)
    name = head[1] or f"{number}"
    return Request(line.text, name, time[0] if time else line.time or "", line.offset)


def _closed(text: str) -> bool:
    """Whether the metrics end here: every bracket is closed, the last one at the end."""
    return text.endswith(")") and text.count("(") == text.count(")")


def _told(match: re.Match[str], request: Request) -> Record | Dropped | None:
    """The record of a request; None for one that drafted nothing."""
    accepted, drafted = int(match[1]), int(match[2])
    if accepted > drafted:
        what = f"{accepted} accepted of {drafted} drafted tokens"
        return Dropped(f"a request with {what}", request.offset)
    if not drafted:
        return None
    if "nan" in match[3] or abs(accepted / drafted - float(match[3]) / 100) > HALF + 1e-9:
        return Dropped(f"a request whose rate is not {accepted} of {drafted}", request.offset)
    counts = Counts(drafted=drafted, accepted=accepted)
    tokens = _TOKENS.search(request.text)
    if tokens and int(tokens[1]) == accepted + 1:  # a single step, so a single draft
        refused = int(accepted < drafted)
        counts = replace(counts, rounds=1, full_accepts=1 - refused, rejections=refused)
    return Record(counts, {}, "request", request.name, time=request.time)
