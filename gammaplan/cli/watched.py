"""What is known while servers are watched: from what readings gain to the answer of each group."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search
from gammaplan.cli.fitting import FEW_ROUNDS, Assumed, Fitted, fitted
from gammaplan.data.findings import finding
from gammaplan.documents.reading import acceptance_from
from gammaplan.documents.writing import band_shape, finite, whole
from gammaplan.engines.files import Input
from gammaplan.engines.groups import Collected
from gammaplan.engines.recent import Recent
from gammaplan.engines.times import utc
from gammaplan.errors import Finding
from gammaplan.model.cost import Cost
from gammaplan.model.curve import curve
from gammaplan.model.decision import decide
from gammaplan.report.words import lengths, named, percent
from gammaplan.shapes.figures import FitFigures
from gammaplan.shapes.watch import WatchGroup, WatchResult

MOST_SHOWN = 60  # readings that a trend goes back
APART = ("multi_series", "not_pooled", "mixed_gamma")  # groups are watched apart in any case
Key: TypeAlias = tuple[object, ...]


class Gained(NamedTuple):
    """One reading: when, in unix time and on a steady clock, and what came of it.

    `inputs` is None where no server answered; `reason` says why.
    """

    time: float
    at: float
    inputs: list[Input] | None
    reason: str = ""


class Record(NamedTuple):
    """The answer after one reading, what there is to say, and how alpha went in each group."""

    result: WatchResult
    findings: list[Finding]
    trends: list[list[float | None]]


class Watched:
    """Everything that readings gained in the last `window` seconds, and what follows from it."""

    def __init__(self, cost: Cost, search: Search, assumed: Assumed, window: float) -> None:
        self._cost, self._search, self._assumed = cost, search, assumed
        self._recent = Recent(window)
        self._now: dict[Key, FitFigures] = {}  # of the last reading with news
        self._trends: dict[Key, deque[float | None]] = {}
        self._lengths: dict[Key, set[object]] = {}  # by labels, as they were seen last

    def add(self, reading: Gained) -> Record:
        """One more reading, and the answer with it."""
        inputs, findings = reading.inputs or [], []
        if inputs:
            self._recent.add(reading.at, inputs)
            self._note_latest(inputs)
        if reading.inputs is None:
            findings.append(finding("no_answer", reason=reading.reason))
        self._recent.forget(reading.at)
        findings += [f for one in inputs for f in one.said.findings]
        done = fitted([_quiet(one) for one in self._current()], self._assumed)
        shown = done.result["groups"]
        answered = reading.inputs is not None
        now = self._now if answered else {}
        self._add_trends(shown, now, news=bool(inputs) or not answered)
        groups = [self._answer(f, now.get(_key(f))) for f in shown]
        findings += [f for f in done.findings if f.code not in APART]
        findings += [said for g in groups for said in _outside(g)]
        periods = [one.period for one in inputs if one.period]
        result: WatchResult = {
            "time": utc(reading.time),
            "answered": answered,
            "seconds": max((p.end - p.start for p in periods), default=None),
            "groups": groups,
        }
        trends = [list(self._trends[_key(f)]) for f in shown]
        return Record(result, list(dict.fromkeys(findings)), trends)

    def evidence(self) -> Fitted:
        """What the window holds of the drafts that are shown, as a fit of it."""
        return fitted(self._current(), self._assumed)

    def _note_latest(self, inputs: Sequence[Input]) -> None:
        figures = fitted([_quiet(one) for one in inputs], self._assumed).result["groups"]
        self._now = {_key(f): f for f in figures}
        seen: dict[Key, set[object]] = {}
        for one in inputs:
            for *labels, length in (*one.said.groups, *one.said.listed):
                seen.setdefault(tuple(labels), set()).add(length)
        self._lengths |= seen

    def _current(self) -> list[Input]:
        """What the window holds of drafts as long as those that were seen last."""
        found = self._recent.inputs()
        known = {key[:-1] for one in found for key in (*one.said.groups, *one.said.listed)}
        self._lengths = {k: v for k, v in self._lengths.items() if k in known}
        return [replace(one, said=self._kept(one.said)) for one in found]

    def _kept(self, said: Collected) -> Collected:
        kept = [
            {k: g for k, g in groups.items() if k[-1] in self._lengths[k[:-1]]}
            for groups in (said.groups, said.listed)
        ]
        return replace(said, groups=kept[0], listed=kept[1])

    def _add_trends(
        self, known: Iterable[FitFigures], now: Mapping[Key, FitFigures], *, news: bool
    ) -> None:
        """One step more of each trend; what has left the window is forgotten."""
        keys = [_key(f) for f in known]
        self._trends = {k: self._trends.get(k, deque(maxlen=MOST_SHOWN)) for k in keys}
        for key, trend in self._trends.items():
            if news:
                trend.append(now[key]["alpha"] if key in now else None)

    def _answer(self, figures: FitFigures, now: FitFigures | None) -> WatchGroup:
        group: WatchGroup = {
            "labels": figures.get("labels", {}),
            "alpha": figures["alpha"],
            "interval": figures["interval"],
            "bounds": figures["bounds"],
            "alpha_now": now["alpha"] if now else None,
            "rounds": _rounds(figures),
            "rounds_now": _rounds(now) if now else None,
            "gamma_in_use": _in_use(figures),
            "gamma_best": None,
            "band": None,
            "in_band": None,
            "speedup_in_use": None,
            "speedup_best": None,
            "loss": None,
            "acceptance": figures["acceptance"],
        }
        if figures["acceptance"]:
            self._decide(group)
        return group

    def _decide(self, group: WatchGroup) -> None:
        """Fill in the best length of a group, and what the one in use loses."""
        assert group["acceptance"] is not None
        law, tolerance = acceptance_from(group["acceptance"]), self._search.tolerance
        tolerance = DEFAULT_TOLERANCE if tolerance is None else tolerance
        best = decide(law, self._cost, max_gamma=self._search.max_gamma, tolerance=tolerance)
        group["gamma_best"], group["speedup_best"] = whole(best.gamma), finite(best.speedup)
        group["band"] = band_shape(best.band)
        use, rounds = group["gamma_in_use"], group["rounds"] or 0
        if use is None or not math.isfinite(float(self._cost.round_cost(use))):
            return
        speedup = float(curve(law, self._cost, use).speedup)
        group["speedup_in_use"], group["loss"] = finite(speedup), finite(1 - speedup / best.speedup)
        if rounds >= FEW_ROUNDS:
            group["in_band"] = use in best.band or (use == 0 and best.band.plain)


def _quiet(one: Input) -> Input:
    """The input without what was said of its reading, which is told once."""
    return replace(one, said=replace(one.said, findings=[]))


def _key(figures: FitFigures) -> Key:
    return (*sorted(figures.get("labels", {}).items()), figures["gamma"])


def _rounds(figures: FitFigures) -> int | None:
    counts = figures["counts"]
    return counts["rounds"] if counts else None


def _in_use(figures: FitFigures) -> int | None:
    """The length of the drafts, as they were counted."""
    counts = figures["counts"]
    if figures["gamma"] is not None or not counts or not counts["rounds"] or not counts["drafted"]:
        return figures["gamma"]
    length, rest = divmod(counts["drafted"], counts["rounds"])
    return None if rest else length


def _outside(group: WatchGroup) -> list[Finding]:
    """What is said of a group whose draft length is outside its band."""
    if group["in_band"] is not False or group["band"] is None:
        return []
    best, band = group["gamma_best"], group["band"]
    return [
        finding(
            "gamma_outside_band",
            gamma=group["gamma_in_use"],
            of=f" of {named(group['labels'])}" if group["labels"] else "",
            band=lengths(band["low"], band["high"]),
            loss=percent(group["loss"]),
            best="longer drafts" if best is None else f"γ {best}",
        )
    ]
