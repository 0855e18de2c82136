"""Reading on and on: one reading an interval, and time for keys in between."""

import time
from collections.abc import Callable, Generator
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

from gammaplan.cli.watched import Gained
from gammaplan.errors import InputError

if TYPE_CHECKING:
    from gammaplan.engines.files import Input
    from gammaplan.engines.following import Source

TICK = 0.1  # seconds between two looks at what a reading has come to
Idle: TypeAlias = Callable[[float, float], bool]


class _Reading:
    """One reading on its way, in a thread that may be left behind."""

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._found: list[Input] | Exception | None = None
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self._found = self._source.read()
        except Exception as error:  # the caller's thread tells of it
            self._found = error

    @property
    def pending(self) -> bool:
        return self._thread.is_alive()

    def found(self) -> "list[Input]":
        """What it came to; raises what kept it from that."""
        if isinstance(self._found, Exception):
            raise self._found
        return self._found or []


def followed(source: "Source", every: float, idle: Idle) -> Generator[Gained]:
    """A reading every so many seconds, from the second on; gaps are readings too.

    `idle` is given up to so many seconds to spend, and how long an answer has
    been waited for; it returns False to end.

    Raises
    ------
    InputError
        If the first reading fails: nothing was ever there.
    """
    first, due = True, time.monotonic()
    while True:
        while (left := due - time.monotonic()) > 0:
            if not idle(min(left, TICK), 0.0):
                return
        asked, reading = time.monotonic(), _Reading(source)
        while reading.pending:
            if not idle(TICK / 10, time.monotonic() - asked):
                return
        at = time.monotonic()
        try:
            inputs = reading.found()
        except InputError as error:
            if first:
                raise
            yield Gained(time.time(), at, None, str(error))
        else:
            if not first:
                yield Gained(time.time(), at, inputs)
        first = False
        due = max(due + every, at)  # what was missed is not made up for
