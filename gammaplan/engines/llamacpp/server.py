"""What one server's log said so far, and the records that follow from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record, Unit
from gammaplan.engines.llamacpp.requests import Request, Resolved, pooled_gamma, resolve, share
from gammaplan.engines.llamacpp.settings import Settings
from gammaplan.engines.llamacpp.wording import NONE_YET, Statistics, gamma_of
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

MOST_HELD = 20_000  # requests kept before their records are made
LATEST = 64  # of them, those whose further lines may still come
MOST_UNMATCHED = 1_024  # requests that wait for statistics of the same work
MOST_SLOTS = 4_096
SURE = 50  # rounds that a draft of one token does not survive unrefused


@dataclass(slots=True)
class Slot:
    """The task that a slot prints its timings for."""

    task: str
    timed: bool = False
    told: bool = False


@dataclass
class Server:
    """One process: its requests that are not records yet, and its totals since start."""

    labels: Labels = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    slots: dict[int, Slot] = field(default_factory=dict)
    latest: dict[int, Request] = field(default_factory=dict)
    last: tuple[int, str] = (-1, "")
    totals: dict[str, Statistics] = field(default_factory=dict)
    ended: dict[str, Statistics] = field(default_factory=dict)
    used: dict[str, Statistics] = field(default_factory=dict)
    base: Statistics = NONE_YET
    previous: Statistics = NONE_YET
    unmatched: list[Request] = field(default_factory=list)
    recent: list[Request] = field(default_factory=list)
    drafted: int = 0
    empty: int = 0
    replayed: bool = False
    by_kind: bool = False

    def timing(self, slot: int, task: str, *, timed: bool) -> None:
        """A line of a request's timings; an earlier request of the slot is over."""
        now = self.slots.get(slot)
        if now is None or now.task != task:
            self._close(slot)
            if len(self.slots) >= MOST_SLOTS:
                self._close(next(iter(self.slots)))
            now = self.slots[slot] = Slot(task)
        now.timed |= timed
        self.last = (slot, task)

    def told(self, request: Request | None) -> None:
        """A request line (None: a damaged one) of the task that is printing."""
        slot = self.last[0]
        if slot in self.slots:
            self.slots[slot].told = True
        if request is None:
            self.latest.pop(slot, None)
            return
        self.requests.append(request)
        self.latest[slot] = request
        if not request.drafted:
            self.empty += 1
            return
        self.drafted += request.drafted
        for waiting in (self.unmatched, self.recent):
            if len(waiting) < MOST_UNMATCHED:
                waiting.append(request)

    def _close(self, slot: int) -> None:
        """A request that printed timings and no acceptance drafted nothing."""
        now = self.slots.pop(slot, None)
        if now is not None and now.timed and not now.told:
            self.empty += 1
            self.requests.append(Request(now.task, 0, 0))

    def count(self, kind: str, total: Statistics) -> None:
        """Totals since start: what they gained may be the work of the latest requests."""
        before = self.totals.get(kind)
        if before is not None and (total.rounds < before.rounds or total.drafted < before.drafted):
            self.ended[kind] = self.ended.get(kind, NONE_YET).plus(before)
            self.base = self.previous = NONE_YET
            self.unmatched = list(self.recent)
        self.totals[kind] = total
        if not total.drafted or len(self._kinds()) > 1:
            return
        for base, waiting in ((self.previous, self.recent), (self.base, self.unmatched)):
            gained = total.plus(base, -1)
            drafted = sum(r.drafted for r in waiting)
            accepted = sum(r.accepted for r in waiting)
            if waiting and (drafted, accepted) == (gained.drafted, gained.accepted):
                share(waiting, gained)
                self.base, self.unmatched = total, []
                break
        self.previous, self.recent = total, []

    def _kinds(self) -> dict[str, Statistics]:
        """Totals of each kind that drafted anything, over restarts."""
        found = {}
        for kind in (*self.ended, *self.totals):
            total = self.totals.get(kind, NONE_YET).plus(self.ended.get(kind, NONE_YET))
            if total.drafted:
                found[kind] = total
        return found

    def flush(self, settings: Settings, *, final: bool) -> Iterator[Item]:
        """The records of what is known; the latest requests may wait unless it is `final`."""
        if final:
            for slot in list(self.slots):
                self._close(slot)
        kinds = self._kinds()
        self.by_kind |= len(kinds) > 1
        held = [] if final else self.requests[-LATEST:]
        ready = self.requests[: len(self.requests) - len(held)]
        self.requests = held
        own = [r for r in ready if r.drafted]
        if self.by_kind or (kinds and not self.drafted):
            for request in own:
                counts = Counts(None, request.drafted, request.accepted)
                yield Record(counts, self.labels, "request", request.task, repeated=True)
            if final:
                yield from self._totals(kinds, settings)
            return
        if kinds and final and sum(k.drafted for k in kinds.values()) > self.drafted:
            yield finding("lifetime_vs_request")
        yield from self._requests(ready, own, kinds, settings)
        self.used = dict(kinds)

    def _totals(self, kinds: dict[str, Statistics], settings: Settings) -> Iterator[Item]:
        if self.drafted:
            yield finding("lifetime_vs_request")
        for kind, whole in kinds.items():
            total = whole.plus(self.used.get(kind, NONE_YET), -1)
            if total.drafted <= 0:
                continue
            gamma = self._gamma(kind, total, settings, None)
            labels = {**self.labels, "type": kind} if len(kinds) > 1 else self.labels
            request = Request(
                "", total.drafted, total.accepted, rounds=total.rounds, first=total.first
            )
            found = resolve(request, gamma)
            yield from self._record(request, found, labels, "total", settings)

    def _gamma(
        self,
        kind: str | None,
        total: Statistics | None,
        settings: Settings,
        longest: int | None,
    ) -> int | None:
        """The longest draft: by the positions, the settings, or the tokens of the rounds."""
        if longest is not None:
            return longest
        ngram = "ngram" in (kind or settings.kinds)
        asked = None if ngram else settings.gamma
        if asked and (total is None or total.drafted <= total.rounds * asked):
            return asked
        return gamma_of(total) if total is not None and not ngram else None

    def _requests(
        self,
        ready: list[Request],
        own: list[Request],
        kinds: dict[str, Statistics],
        settings: Settings,
    ) -> Iterator[Item]:
        kind = next(iter(kinds), None)
        longest = max((len(r.rates) for r in own if r.rates), default=None)
        told = pooled_gamma(own)
        gamma = self._gamma(kind, told or kinds.get(kind or ""), settings, longest)
        whole = kinds.get(kind or "")
        if told is None and gamma and whole and whole.drafted == whole.rounds * gamma:
            for request in own:  # every draft of the server was full
                if request.rounds is None and not request.rates and request.drafted % gamma == 0:
                    request.rounds = request.drafted // gamma
        if told and told.rounds and gamma is None and told.drafted % told.rounds:
            yield _shorter(Counts(told.rounds, told.drafted))
        for request in ready:
            if request.absorbed:
                continue
            if not request.drafted:
                yield Record(Counts(0, 0, 0), self.labels, "request", request.task)
                continue
            mine = len(request.rates) if request.rates else gamma
            found = resolve(request, mine)
            yield from self._record(request, found, self.labels, "request", settings)

    def _record(
        self, request: Request, found: Resolved, labels: Labels, unit: Unit, settings: Settings
    ) -> Iterator[Item]:
        counts = found.counts
        if found.wrong:
            yield Dropped(f"request {request.task}, whose figures contradict each other")
            return
        if found.rounded:
            yield finding("rounding_only")
        certain = counts.gamma == 1 and counts.accepted == counts.drafted
        if self.replayed or (certain and (counts.rounds or counts.drafted or 0) >= SURE):
            yield finding("replay_inflation")
            bare = Counts(
                counts.rounds,
                counts.drafted,
                drafted_at_least=counts.drafted_at_least,
                gamma=counts.gamma,
            )
            yield Record(bare, labels, unit, request.task, unusable=True)
            return
        if _varies(counts, settings):
            yield _shorter(counts)
        yield Record(counts, labels, unit, request.task, unusable=settings.synthetic)


def _varies(counts: Counts, settings: Settings) -> bool:
    """Whether the counts, or where they say nothing the settings, tell of shorter drafts."""
    drafted, rounds, gamma = counts.drafted or 0, counts.rounds, counts.gamma
    if counts.rejections is not None:
        return False
    if rounds:
        return drafted < rounds * gamma if gamma else drafted % rounds != 0
    return gamma is None or settings.varies or drafted % gamma != 0


def _shorter(counts: Counts) -> Finding:
    mean = f"{(counts.drafted or 0) / counts.rounds:.2f}" if counts.rounds else "an unknown number"
    longest = counts.gamma or "an unknown longest"
    return finding("variable_draft_length", mean=mean, gamma=longest)
