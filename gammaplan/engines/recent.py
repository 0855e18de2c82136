"""The last minutes of what is read again and again, in bounded memory."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gammaplan.engines.files import Input, Period
from gammaplan.engines.groups import merge

MOST = 60  # slices that a window is kept in


@dataclass(slots=True)
class _Slice:
    """Consecutive readings, added up; the times are those of a steady clock."""

    first: float
    last: float
    inputs: list[Input]


class Recent:
    """What was gained in the last `seconds`, forgotten slice by slice."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._slices: deque[_Slice] = deque()

    def add(self, at: float, inputs: Iterable[Input]) -> None:
        """What one reading at `at` gained; times rise."""
        new = [one for one in inputs if one.said.groups]
        last = self._slices[-1] if self._slices else None
        if last and at - last.first < self._seconds / MOST:
            last.last, last.inputs = at, _added([*last.inputs, *new])
        else:
            self._slices.append(_Slice(at, at, new))

    def forget(self, now: float) -> None:
        """Leave out what is older than the window at `now`."""
        while self._slices and self._slices[0].last <= now - self._seconds:
            self._slices.popleft()

    def inputs(self) -> list[Input]:
        """All of it added up: one input for each that was read."""
        return _added(one for part in self._slices for one in part.inputs)


def _added(inputs: Iterable[Input]) -> list[Input]:
    """Consecutive inputs of one name and format as one each."""
    same: dict[tuple[str, str | None, str | None], list[Input]] = {}
    for one in inputs:
        same.setdefault((one.name, one.engine, one.format), []).append(one)
    return [
        replace(parts[0], said=merge(p.said for p in parts), period=_joined(parts))
        for parts in same.values()
    ]


def _joined(parts: Iterable[Input]) -> Period | None:
    """From the first sample to the last; each reading after the first adds its own scrapes."""
    periods = [p.period for p in parts if p.period]
    if not periods:
        return None
    scrapes = periods[0].scrapes + sum(p.scrapes - p.processes for p in periods[1:])
    processes = max(p.processes for p in periods)
    ends = min(p.start for p in periods), max(p.end for p in periods)
    return Period(*ends, max(scrapes, 2), processes)
