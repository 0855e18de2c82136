"""The metrics page: totals of finished requests by position, or of every iteration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gammaplan.data.findings import finding
from gammaplan.engines.base import Item, Labels, Record, Sample
from gammaplan.engines.values import whole_number
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

PROOFS = ("trtllm_spec_decode_",)
FAMILIES = PROOFS
_POSITIONS = {"drafted_tokens": "drafted", "accepted_tokens": "accepted"}
_TOTALS = {"num_draft_tokens": "drafted", "num_accepted_tokens": "accepted"}
_GAUGES = ("acceptance_length", "draft_overhead")
_PLACES = ("instance", "pod", "engine_id", "replica")
MOST_POSITIONS = 4_096


@dataclass
class Server:
    """The figures of one process."""

    positions: dict[str, dict[int, int]] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    length: float | None = None


def read(samples: Sequence[Sample]) -> Iterator[Item]:
    """A record for each server: by position where that is told, and never both families."""
    servers: dict[tuple[str, str], Server] = {}
    gauges = False
    for sample in samples:
        name = sample.name.partition("spec_decode_")[2].removesuffix("_total")
        if sample.name.endswith("_created"):
            continue
        place = "/".join(sample.labels[k] for k in _PLACES if sample.labels.get(k))
        key = (sample.labels.get("model_name", ""), place)
        if name in _GAUGES:
            gauges = True
            if name == "acceptance_length":
                servers.setdefault(key, Server()).length = sample.value
        elif name in _POSITIONS or name in _TOTALS:
            found = _kept(servers.setdefault(key, Server()), name, sample)
            if found is not None:
                yield found
    if gauges:
        yield finding("gauge_only")
    if any(s.positions and s.totals for s in servers.values()):
        yield finding("double_family")
    if len({model for model, _ in servers}) < len(servers):
        yield finding("multi_series", kind="engines", names=f"{len(servers)} of them, added up")
    for (model, place), server in servers.items():
        yield from _record(server, model, place)


def _kept(server: Server, name: str, sample: Sample) -> Finding | None:
    count = whole_number(sample.value)
    if count is None:
        return finding("bad_sample", name=sample.name, value=f"{sample.value:g}")
    if name in _TOTALS:
        key = _TOTALS[name]
        server.totals[key] = server.totals.get(key, 0) + count
        return None
    label = sample.labels.get("token_position", "")
    if not (label.isascii() and label.isdecimal() and int(label[:8]) < MOST_POSITIONS):
        shown = f"token_position={label[:40]!r}"
        return finding("bad_sample", name=sample.name, value=shown)
    at = server.positions.setdefault(_POSITIONS[name], {})
    at[int(label)] = at.get(int(label), 0) + count
    return None


def _record(server: Server, model: str, place: str) -> Iterator[Item]:
    group: Labels = {"model_name": model} if model else {}
    part: Labels = {"engine": place} if place else {}
    if server.positions.get("drafted"):
        yield from _by_position(server, group, part)
    elif server.totals:
        yield from _by_iteration(server.totals, group, part)
    elif server.length is not None and not server.positions:
        if server.length == 0:
            yield finding("zero_drafts", records="the last iteration")
        elif not 1 <= server.length <= MOST_POSITIONS:
            name = "trtllm_spec_decode_acceptance_length"
            yield finding("bad_sample", name=name, value=f"{server.length:g}")
        else:
            yield finding("interval_average_only")
            yield Record(Counts(), group, part=part, average=(server.length, 1.0))
    elif server.positions:
        yield finding("impossible", what="accepted tokens by position, and none drafted")


def _by_iteration(totals: Mapping[str, int], group: Labels, part: Labels) -> Iterator[Item]:
    drafted, accepted = totals.get("drafted"), totals.get("accepted")
    if drafted == 0 and not accepted:
        yield finding("zero_drafts", records="every iteration")
        return
    wrong = drafted is not None and accepted is not None and accepted > drafted
    if wrong:
        what = f"{accepted} accepted of {drafted} drafted tokens"
        yield finding("impossible", what=what)
    counts = Counts(drafted=drafted, accepted=accepted)
    yield Record(counts, group, part=part, unusable=wrong)


def _by_position(server: Server, group: Labels, part: Labels) -> Iterator[Item]:
    drafted = server.positions["drafted"]
    accepted = server.positions.get("accepted", {})
    every = {**drafted, **accepted}
    start = 1 if 0 not in every and 1 in every else 0  # numbered from 1, should that come
    tried = _row(drafted, start)
    kept = _row(accepted, start, len(tried))
    if not tried:
        yield finding("zero_drafts", records="every finished request")
        return
    wrong = _contradiction(tried, kept)
    total = Counts(tried[0], sum(tried), sum(kept))
    if wrong:
        yield finding("impossible", what=wrong)
        yield Record(total, group, part=part, unusable=True)
    elif tried[0] == tried[-1]:
        yield Record(Counts.full(tried[0], kept), group, part=part)
    else:
        counts = Counts(
            tried[0], sum(tried), sum(kept), tuple(kept), tuple(tried), gamma=len(tried)
        )
        yield Record(counts, group, part=part)


def _row(counts: Mapping[int, int], start: int, least: int = 0) -> list[int]:
    """The counts of positions 1, 2, ..., without empty ends beyond `least`."""
    longest = max([i - start + 1 for i, n in counts.items() if n], default=0)
    return [counts.get(i + start, 0) for i in range(max(longest, least))]


def _contradiction(drafted: Sequence[int], accepted: Sequence[int]) -> str | None:
    if len(accepted) > len(drafted):
        return f"{accepted[-1]} accepted at position {len(accepted)}, and none drafted"
    for name, row in (("drafted", drafted), ("accepted", accepted)):
        for i, (earlier, later) in enumerate(pairwise(row), 2):
            if later > earlier:
                return f"position {i} {name} in {later} rounds after {earlier}"
    for i, (d, a) in enumerate(zip(drafted, accepted, strict=True), 1):
        if a > d:
            return f"position {i}: {a} accepted of {d} drafted tokens"
    return None
