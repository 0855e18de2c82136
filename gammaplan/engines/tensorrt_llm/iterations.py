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
from gammaplan.engines.tensorrt_llm.walk import parts
from gammaplan.engines.values import whole_number
from gammaplan.model.estimate import Counts, rejection_bounds

KEY = "specDecodingStats"
MARKS = (KEY.encode(),)
MOST_HELD = 50_000  # rows kept until it is known whether all drafts have one length
MOST_GAMMA = 4_096
_LONGEST_REPR = 2**20
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
    most: int = 0  # the longest mean draft of a row, rounded up

    def add(self, row: Row) -> Iterator[Record]:
        """One more row; yields what no longer has to wait."""
        self.rounds += row.rounds or 0
        self.drafted += row.drafted
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
    return _summed(_each(values))


def read_log(blocks: Iterator[Block]) -> Iterator[Item]:
    """The same rows behind the prefixes of a log."""
    return _summed(_each(_parsed(blocks)))


def _parsed(blocks: Iterator[Block]) -> Iterator[Any]:
    for line in matching(blocks, MARKS):
        start = min((at for at in map(line.text.find, "{[") if at >= 0), default=-1)
        while 0 <= start < line.text.find(KEY):
            text = line.text[start:]
            value = _value(text[: max(text.rfind("}"), text.rfind("]")) + 1])
            if value is not None:
                yield value
                break
            start = line.text.find("{", start + 1, start + 200)
        else:
            yield Dropped("a row of iteration statistics", line.offset)


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


def _each(values: Iterator[Any]) -> Iterator[Mapping[str, Any] | Dropped]:
    for value in values:
        if isinstance(value, Dropped):
            yield value
        else:
            yield from _rows_of(value)


def _summed(rows: Iterator[Mapping[str, Any] | Dropped]) -> Iterator[Item]:
    first, others = Rows(), Rows()
    other_rank: int | None = None
    told = repeated = False
    for value in rows:
        if isinstance(value, Dropped):
            yield value
            continue
        told = True
        row = _row(value)
        if row is None or isinstance(row, Dropped):
            if row is not None:
                yield row
            continue
        rank = whole_number(value.get("attentionDpRank"))
        if not rank:
            yield from first.add(row)
            continue
        repeated = True
        other_rank = rank if other_rank is None else other_rank
        if not first.rounds and rank == other_rank and len(others.held) < MOST_HELD - 1:
            others.held.append(row)
    if repeated:
        yield finding("duplicate_rank")
    if not first.drafted:  # rank 0 is not in this input
        waiting, others.held = others.held, []
        for row in waiting:
            yield from others.add(row)
        first = others
    yield from first.flush()
    yield from _lengths(first, told)


def _lengths(rows: Rows, told: bool) -> Iterator[Item]:
    """What the rows together say of the drafts."""
    if told and not rows.drafted:
        yield finding("zero_drafts", records="every iteration")
    elif rows.rounds and rows.drafted != rows.rounds * (rows.gamma or 0):
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
