"""Times as logs print them, compared as far as both sides say."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

_ISO = re.compile(r"(?:(\d{4})-)?(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?")
_DATE = re.compile(r"^(?:(\d{4})-)?(\d\d)-(\d\d)$")
_CLOCK = re.compile(r"(?:^|\s)(\d\d):(\d\d)(?::(\d\d))?")


class When(NamedTuple):
    """A moment; None for the parts that were not printed."""

    year: int | None
    day: tuple[int, int] | None
    clock: tuple[int, int, int]


def parse(text: str) -> When | None:
    """The moment in `text`: a date with or without its year, a clock time, or both."""
    if match := _ISO.search(text):
        year, month, day, hour, minute, second = match.groups()
        at = (int(hour), int(minute), int(second or 0))
        return When(int(year) if year else None, (int(month), int(day)), at)
    if match := _DATE.match(text.strip()):
        year, month, day = match.groups()
        return When(int(year) if year else None, (int(month), int(day)), (0, 0, 0))
    if match := _CLOCK.search(text):
        hour, minute, second = match.groups()
        return When(None, None, (int(hour), int(minute), int(second or 0)))
    return None


def within(time: str, since: When | None, until: When | None) -> bool | None:
    """Whether `time` lies in [since, until); None where it cannot be told."""
    at = parse(time)
    if at is None:
        return None
    for limit, earlier in ((since, True), (until, False)):
        if limit is None:
            continue
        mine, theirs = _comparable(at, limit)
        if (mine < theirs) is earlier:
            return False
    return True


def lacking(time: str, *limits: When | None) -> set[str]:
    """What the limits say and `time` does not, so that it is not compared: year, date."""
    at = parse(time)
    told = [limit for limit in limits if limit is not None]
    if at is None:
        return set()
    years = {"year"} if at.year is None and any(t.year is not None for t in told) else set()
    return years | ({"date"} if at.day is None and any(t.day is not None for t in told) else set())


def _comparable(a: When, b: When) -> tuple[tuple[object, ...], tuple[object, ...]]:
    years = (a.year, b.year) if a.year is not None and b.year is not None else (0, 0)
    days = (a.day, b.day) if a.day is not None and b.day is not None else ((0, 0), (0, 0))
    return (years[0], days[0], a.clock), (years[1], days[1], b.clock)


def utc(time: float) -> str:
    """A unix time as text, to the second, in UTC."""
    try:
        return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return f"{time:g} s"
