"""Iteration statistics: a row an iteration, to be added up, as JSON or as Python prints them."""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts, rejection_bounds

KEY = "specDecodingStats"
MARKS = (KEY.encode(),)
MOST_HELD = 50_000  # rows kept until it is known whether all drafts have one length
MOST_GAMMA = 4_096
MOST_CONTAINERS = 4_096
MOST_TRIES = 8  # brackets of a line at which a row may begin
_LONGEST_REPR = 2**20
_LEVELS = {"TRT-LLM", "TensorRT-LLM", "V", "D", "I", "W", "E", "F"}  # of the engine's logger
_AMERICAN = re.compile(r"^(\d\d)-(\d\d)-(\d{4})(?= )")
_NO_NUMBER = re.compile(r"(?<=[:\[,] )-?(?:nan|inf)\b")


class Row(NamedTuple):
    """One iteration: requests with drafts, drafted and accepted tokens."""

    rounds: int | None
    drafted: int
    accepted: int
    name: str

    @property
    def gamma(self) -> int | None:
        """Tokens a draft, where that is a whole number."""
        if not self.rounds or self.drafted % self.rounds:
            return None
        gamma = self.drafted // self.rounds
        return gamma if gamma <= MOST_GAMMA else None


@dataclass
class Rows:
    """The rows so far: held while all tell the same draft length, then passed on."""

    held: list[Row] = field(default_factory=list)
    gamma: int | None = None
    decided: bool = False
    rounds: int = 0
    drafted: int = 0
    lacking: bool = False  # a row without its number of requests
    most: int = 0  # the longest mean draft of a row, rounded up

    def add(self, row: Row) -> Iterator[Record]:
        """One more row; yields what no longer has to wait."""
        self.rounds += row.rounds or 0
        self.drafted += row.drafted
        self.lacking |= row.rounds is None
        if row.rounds:
            self.most = max(self.most, -(-row.drafted // row.rounds))
        if self.decided:
            yield _record(row, self.gamma if row.gamma == self.gamma else None)
            return
        same = not self.held or row.gamma == self.gamma
        self.gamma = row.gamma if same else None
        self.held.append(row)
        if self.gamma is None or len(self.held) >= MOST_HELD:
            yield from self.flush()

    def flush(self) -> Iterator[Record]:
        """The rows that waited, with the draft length that they share."""
        self.decided = True
        for row in self.held:
            yield _record(row, self.gamma)
        self.held = []


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A row, or something that has rows in it."""
    return next(_rows_of(value), None) is not None


def _rows_of(value: Any) -> Iterator[Mapping[str, Any]]:
    return (row for row, _ in parts(value, lambda node: KEY in node))


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record an iteration that drafted; of ranks that repeat each other, rank 0."""
    return _summed(("", value) for value in values)


def read_log(blocks: Iterator[Block]) -> Iterator[Item]:
    """The same rows behind the prefixes of a log."""
    return _summed(_parsed(blocks))


def _parsed(blocks: Iterator[Block]) -> Iterator[tuple[str, Any]]:
    for line in matching(blocks, MARKS):
        container = "" if line.instance is None or line.instance in _LEVELS else line.instance
        value = _embedded(line.text)
        if value is None:
            value = Dropped("a row of iteration statistics", line.offset)
        yield container, value


def _embedded(text: str) -> Any:
    """The value with rows that a line ends in; None where there is none, or a cut one."""
    end = max(text.rfind("}"), text.rfind("]")) + 1
    key, start = text.find(KEY), -1
    for _ in range(MOST_TRIES):
        later = [at for bracket in "{[" if (at := text.find(bracket, start + 1, key)) >= 0]
        if not later:
            return None
        start = min(later)
        value = _value(text[start:end])
        if value is not None and claims(value):
            return value
    return None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > _LONGEST_REPR:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of literals such as 1and
            return ast.literal_eval(_NO_NUMBER.sub("None", text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _summed(values: Iterator[tuple[str, Any]]) -> Iterator[Item]:
    sources: dict[str, Source] = {}
    for container, value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        known = container in sources or len(sources) < MOST_CONTAINERS
        name = container if known else ""
        source = sources.setdefault(name, Source(name))
        for row in _rows_of(value):
            yield from source.add(row)
    for source in sources.values():
        yield from source.finished()


@dataclass
class Source:
    """The rows of one container; of ranks that repeat each other, rank 0."""

    container: str
    first: Rows = field(default_factory=Rows)
    others: Rows = field(default_factory=Rows)
    other_rank: int | None = None
    empty: bool = False  # a row drafted nothing

    def add(self, value: Mapping[str, Any]) -> Iterator[Item]:
        """One more row."""
        row = _row(value)
        if isinstance(row, Dropped):
            yield row
        if not isinstance(row, Row):
            self.empty |= row is None
            return
        rank = whole_number(value.get("attentionDpRank"))
        if not rank:
            yield from map(self._grouped, self.first.add(row))
            return
        self.other_rank = rank if self.other_rank is None else self.other_rank
        waits = not self.first.drafted and rank == self.other_rank
        if waits and len(self.others.held) < MOST_HELD - 1:
            self.others.held.append(row)

    def finished(self) -> Iterator[Item]:
        """What waited, and what the rows together say of the drafts."""
        if self.other_rank is not None:
            yield finding("duplicate_rank")
        rows = self.first
        if not rows.drafted:  # rank 0 is not in this input
            waiting, self.others.held = self.others.held, []
            for row in waiting:
                yield from map(self._grouped, self.others.add(row))
            rows = self.others
        yield from map(self._grouped, rows.flush())
        if self.empty and not rows.drafted:
            yield finding("zero_drafts", records="every iteration")
        yield from _lengths(rows)

    def _grouped(self, record: Record) -> Record:
        return replace(record, group={"container": self.container}) if self.container else record


def _lengths(rows: Rows) -> Iterator[Finding]:
    """Whether drafts were shorter than the longest."""
    if not rows.lacking and rows.drafted != rows.rounds * (rows.gamma or 0):
        mean = f"{rows.drafted / rows.rounds:.3g}"
        yield finding("variable_draft_length", mean=mean, gamma=f"at least {rows.most}")


def _row(value: Mapping[str, Any]) -> Row | Dropped | None:
    """The counts of one row; None where nothing was drafted."""
    stats = value.get(KEY)
    name = _time(value.get("timestamp")) or _time(value.get("iter"))
    if stats is None or stats == {}:
        return None
    if not isinstance(stats, dict):
        return Dropped(f"iteration {name}: its statistics are no object")
    drafted = whole_number(stats.get("numDraftTokens"))
    accepted = whole_number(stats.get("numAcceptedTokens"))
    shown = stats.get("numRequestsWithDraftTokens")
    rounds = whole_number(shown)
    if drafted is None or accepted is None or (shown is not None and rounds is None):
        return Dropped(f"iteration {name}: its figures are cut or no counts")
    if accepted > drafted:
        return Dropped(f"iteration {name}: {accepted} accepted of {drafted} drafted tokens")
    if not drafted:
        return None
    if rounds is not None and rounds > drafted:
        return Dropped(f"iteration {name}: {rounds} requests with {drafted} drafted tokens")
    if rounds == 0:
        return Dropped(f"iteration {name}: {drafted} drafted tokens of no request")
    return Row(rounds, drafted, accepted, name)


def _time(value: Any) -> str:
    """A time stamp, year first, or the number of the iteration."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return ""
    if isinstance(value, int) and abs(value) >= 2**63:
        return ""
    return _AMERICAN.sub(r"\3-\1-\2", str(value)[:80])


def _record(row: Row, gamma: int | None) -> Record:
    rounds, drafted, accepted, name = row
    if rounds == 1 and drafted <= MOST_GAMMA:
        counts = replace(Counts.from_rounds([drafted], [accepted]), gamma=gamma)
    elif gamma is not None and rounds and accepted in (0, drafted):
        counts = Counts.full(rounds, [accepted // gamma] * gamma)
    else:
        full = (rounds,) * gamma if gamma is not None and rounds else None
        least, most = rejection_bounds(accepted, drafted=drafted, rounds=rounds, gamma=gamma)
        refused = int(least) if least == most else None
        counts = Counts(rounds, drafted, accepted, None, full, rejections=refused, gamma=gamma)
    return Record(counts, unit="window", name=name)
