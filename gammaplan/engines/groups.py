"""Items of a reader, added up into groups of what may be added up."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gammaplan.data.findings import finding
from gammaplan.engines.base import Batch, Dropped, Item, Labels, Record, Round
from gammaplan.errors import Finding
from gammaplan.model.arrays import Floats
from gammaplan.model.estimate import Counts
from gammaplan.model.intervals import FEWEST_BLOCKS, FEWEST_REQUESTS, Blocks, Requests

FEWEST_ROUNDS = 10  # in a block that may stand for itself
MOST_NAMES = 65_536  # requests told apart; further ones share buckets by their hash
MOST_LISTED = 10_000  # groups that --by may list
MOST_DROPPED = 3  # damaged records that are described; the rest is counted


@dataclass
class Sums:
    """What the interval needs: accepted with trials, and with rounds, by cluster."""

    trials: Blocks = field(default_factory=Blocks)
    rounds: Blocks = field(default_factory=Blocks)
    by_request: dict[str, list[float]] = field(default_factory=dict)
    requests: int = 0

    def add(self, record: Record) -> None:
        """One record of windows, requests or totals."""
        counts = record.counts
        if counts.accepted is None:
            return
        rejections, rounds = counts.rejections, counts.rounds
        if record.unit == "request":
            self.add_request(record.name, counts.accepted, rejections, rounds)
            return
        if rejections is not None:
            self.trials.add(counts.accepted, counts.accepted + rejections)
        if rounds is not None:
            self.rounds.add(counts.accepted, rounds)

    def add_request(
        self, name: str, accepted: int, rejections: int | None, rounds: int | None
    ) -> None:
        """Part of one request, or all of it."""
        if name not in self.by_request and len(self.by_request) >= MOST_NAMES:
            name = str(hash(name) % MOST_NAMES)
        sums = self.by_request.setdefault(name, [0.0, 0.0, 0.0])
        sums[0] += accepted
        sums[1] += accepted + (rejections or 0)
        sums[2] += rounds or 0

    def add_batch(self, batch: Batch) -> None:
        """Many windows at once."""
        self.trials.add_many(batch.accepted, batch.trials)
        self.rounds.add_many(batch.accepted, batch.rounds)

    def clusters(self, *, by_trials: bool) -> tuple[Floats, str]:
        """Accepted and trials (or rounds) of each cluster, and what the clusters are."""
        if len(self.by_request) > 1:
            every = np.asarray(list(self.by_request.values()), dtype=np.float64)
            return every[:, [0, 1 if by_trials else 2]], "requests"
        return (self.trials if by_trials else self.rounds).independent(), "blocks"


@dataclass
class Group:
    """Counts that may be added up, with their labels and what their interval needs."""

    labels: Labels
    counts: Counts | None = None
    sums: Sums = field(default_factory=Sums)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    weighted: tuple[float, float] = (0.0, 0.0)
    rate: float | None = None
    tree: bool = False
    unusable: bool = False
    repeated: bool = False
    assumed: bool = False
    idle: int = 0  # rounds of records that drafted nothing
    parts: dict[str, set[str]] = field(default_factory=dict)
    records: int = 0

    def add(self, item: Record | Round | Batch) -> None:
        """One more item."""
        self.records += len(item.accepted) if isinstance(item, Batch) else 1
        self.assumed |= not isinstance(item, Batch) and item.assumed
        if isinstance(item, Round):
            pair = (item.drafted, item.accepted)
            self.pairs[pair] = self.pairs.get(pair, 0) + 1
            refused = int(item.accepted < item.drafted)
            self.sums.trials.add(item.accepted, item.accepted + refused)
            self.sums.rounds.add(item.accepted, 1)
            if item.request is not None:
                self.sums.add_request(item.request, item.accepted, refused, 1)
            return
        self.counts = item.counts if self.counts is None else self.counts + item.counts
        if isinstance(item, Batch):
            self.sums.add_batch(item)
            return
        self.sums.add(item)
        self.tree |= item.tree
        self.unusable |= item.unusable
        self.repeated |= item.repeated
        self.rate = item.rate if item.rate is not None else self.rate
        if item.average is not None:
            length, weight = item.average
            self.weighted = (self.weighted[0] + length * weight, self.weighted[1] + weight)
        for key, value in item.part.items():
            names = self.parts.setdefault(key, set())
            if len(names) < MOST_LISTED:
                names.add(value)

    @property
    def total(self) -> Counts:
        """The counts of all items."""
        told = Counts.from_pairs(self.pairs) if self.pairs else None
        if self.counts is None or told is None:
            return self.counts or told or Counts()
        return self.counts + told

    def restated(self, gamma: int) -> "Group":
        """The same where drafts had `gamma` tokens, if their length was only assumed."""
        most = max((accepted for _, accepted in self.pairs), default=0)
        if not self.assumed or most > gamma:
            return self
        longest = max((drafted for drafted, _ in self.pairs), default=0)
        pairs: dict[tuple[int, int], int] = {}
        for (drafted, accepted), count in self.pairs.items():
            pair = (gamma if drafted == longest else drafted, accepted)
            pairs[pair] = pairs.get(pair, 0) + count
        counts = None if self.counts is None else replace(self.counts, gamma=None)
        sums = self.sums if gamma == longest or not pairs else Sums()
        return replace(self, counts=counts, pairs=pairs, sums=sums)

    @property
    def mean_length(self) -> float | None:
        """The weighted mean of printed averages, where nothing was counted."""
        total, weight = self.weighted
        return total / weight if weight else None


@dataclass
class Collected:
    """All that one or more inputs said."""

    groups: dict[tuple[object, ...], Group] = field(default_factory=dict)
    listed: dict[tuple[object, ...], Group] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    lost: int = 0
    records: int = 0
    empty: int = 0
    idle: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)  # what --by may name, where it was asked for

    def note(self, found: Finding) -> None:
        """Keep one finding of each code and sentence."""
        if all(f.code != found.code or f.origin != found.origin for f in self.findings):
            self.findings.append(found)

    def drop(self, dropped: Dropped) -> None:
        """Count a damaged record, and describe the first few."""
        self.lost += 1
        if len(self.dropped) < MOST_DROPPED:
            self.dropped.append(dropped)

    def told(self) -> list[Group]:
        """The groups, with the rounds that their labels' idle records had."""
        labels = [tuple(sorted(g.labels.items())) for g in self.groups.values()]
        groups_of = Counter(labels)
        return [
            replace(g, idle=self.idle.get(rows, 0)) if groups_of[rows] == 1 else g
            for g, rows in zip(self.groups.values(), labels, strict=True)
        ]


def collect(
    items: Iterable[Item], *, extra: Labels | None = None, by: str | None = None
) -> Collected:
    """Add items up by their labels and draft length; with `by`, list its values too."""
    found = Collected()
    for item in items:
        if isinstance(item, Finding):
            found.note(item)
        elif isinstance(item, Dropped):
            found.drop(item)
        else:
            _add(found, item, extra or {}, by)
    return found


def _add(found: Collected, item: Record | Round | Batch, extra: Labels, by: str | None) -> None:
    found.records += len(item.accepted) if isinstance(item, Batch) else 1
    labels = {**extra, **item.group}
    gamma = None if isinstance(item, Round) else item.counts.gamma
    if not isinstance(item, Round) and item.counts.drafted == 0:
        found.empty += 1
        rows = tuple(sorted(labels.items()))
        found.idle[rows] = found.idle.get(rows, 0) + (item.counts.rounds or 0)
        return
    if not (isinstance(item, Record) and item.repeated):
        key = (*sorted(labels.items()), gamma)
        found.groups.setdefault(key, Group(labels)).add(item)
    if by is None:
        return
    found.keys |= _keys(item)
    name = _value(item, by)
    if name is None:
        return
    fine = {**labels, by: name}
    at = (*sorted(fine.items()), gamma)
    if at in found.listed or len(found.listed) < MOST_LISTED:
        found.listed.setdefault(at, Group(fine)).add(item)


def _keys(item: Record | Round | Batch) -> set[str]:
    if isinstance(item, Batch):
        return {*item.group}
    if isinstance(item, Round):
        known = {"request": item.request, "window": item.time}
        return {*item.group, *(k for k, v in known.items() if v)}
    return {*item.group, *item.part, *({item.unit} if item.name else ())}


def _value(item: Record | Round | Batch, by: str) -> str | None:
    """What an item is called under `by`: its window, its request, or one of its labels."""
    if isinstance(item, Batch):
        return item.group.get(by)
    if isinstance(item, Round):
        known = {"request": item.request, "window": item.time or None}
        return known.get(by) or item.group.get(by)
    if item.unit == by:
        return item.name
    return item.part.get(by) or item.group.get(by)


def merge(parts: Iterable[Collected]) -> Collected:
    """What several inputs said, together; groups of the same labels add up."""
    whole = Collected()
    for part in parts:
        for target, source in ((whole.groups, part.groups), (whole.listed, part.listed)):
            for key, group in source.items():
                target[key] = _joined(target[key], group) if key in target else group
        for found in part.findings:
            whole.note(found)
        for dropped in part.dropped:
            if len(whole.dropped) < MOST_DROPPED:
                whole.dropped.append(dropped)
        whole.lost += part.lost
        whole.records += part.records
        whole.empty += part.empty
        for labels, rounds in part.idle.items():
            whole.idle[labels] = whole.idle.get(labels, 0) + rounds
        whole.keys |= part.keys
    return whole


def _joined(a: Group, b: Group) -> Group:
    """Two groups of the same labels, the records of `b` after those of `a`."""
    pairs = dict(a.pairs)
    for pair, count in b.pairs.items():
        pairs[pair] = pairs.get(pair, 0) + count
    known = [c for c in (a.counts, b.counts) if c is not None]
    blocks = (a.sums.trials.joined(b.sums.trials), a.sums.rounds.joined(b.sums.rounds))
    sums = Sums(*blocks, by_request={**a.sums.by_request})
    for name, (accepted, trials, rounds) in b.sums.by_request.items():
        row = sums.by_request.setdefault(name, [0.0, 0.0, 0.0])
        for i, value in enumerate((accepted, trials, rounds)):
            row[i] += value
    return replace(
        a,
        counts=sum(known[1:], known[0]) if known else None,
        sums=sums,
        pairs=pairs,
        weighted=(a.weighted[0] + b.weighted[0], a.weighted[1] + b.weighted[1]),
        rate=a.rate if a.rate is not None else b.rate,
        tree=a.tree or b.tree,
        unusable=a.unusable or b.unusable,
        repeated=a.repeated or b.repeated,
        assumed=a.assumed or b.assumed,
        parts={k: a.parts.get(k, set()) | b.parts.get(k, set()) for k in {*a.parts, *b.parts}},
        records=a.records + b.records,
    )


def may_pool(groups: Iterable[Group]) -> bool:
    """Whether groups differ in nothing but the file they came from."""
    kinds = {
        (
            tuple(sorted((k, v) for k, v in g.labels.items() if k != "file")),
            g.total.gamma,
            g.tree,
            g.unusable,
        )
        for g in groups
    }
    return len(kinds) <= 1


def clusters_of(groups: Iterable[Group], *, by_trials: bool) -> tuple[Requests, str] | None:
    """The clusters of one group or several, for `estimate`; None where there are too few."""
    arrays: list[Floats] = []
    kind = "blocks"
    for group in groups:
        rows, kind = group.sums.clusters(by_trials=by_trials)
        arrays.append(rows)
    every = np.concatenate(arrays) if arrays else np.zeros((0, 2))
    every = every[every[:, 1] > 0]
    if len(every) < 2:
        return None
    return Requests.of(every), kind


def sparse(groups: Iterable[Group]) -> Iterator[Finding]:
    """Whether there are too few independent pieces to show how acceptance varies.

    Fewer than 3 requests or 10 blocks, neighbours that are alike merged; and
    blocks of fewer than 10 rounds, too short for that to show.
    """
    for group in groups:
        told = _sparse(group) if group.records > 1 else ""
        if told:
            yield finding("few_clusters", clusters=told)
            return


def _sparse(group: Group) -> str:
    """The pieces that are too few, or too short, in words; nothing where they are neither."""
    sums, by_trials = group.sums, group.total.rejections is not None
    rows, kind = sums.clusters(by_trials=by_trials)
    asked = len(sums.by_request)
    if not len(rows) or asked >= FEWEST_REQUESTS:
        return ""
    if asked:
        return "1 request" if asked == 1 else f"{asked} requests"
    told = f"{len(rows)} {kind}"
    size = int(sums.rounds.array()[0, 1]) if group.pairs else FEWEST_ROUNDS
    if size < FEWEST_ROUNDS:
        return f"{told} of {size} rounds"
    if len(rows) >= FEWEST_BLOCKS:
        return ""
    merged = len(rows) < len((sums.trials if by_trials else sums.rounds).array())
    return told + (", merged from neighbours that are alike," if merged else "")
