"""The V1 engine's counters since process start, with a series for each draft position."""

from collections.abc import Iterator, Sequence

from gammaplan.data.findings import finding
from gammaplan.engines.base import Item, Record, Sample
from gammaplan.model.consistency import contradiction
from gammaplan.model.estimate import Counts

FAMILIES = ("spec_decode_num_",)
_NAMES = {
    "rounds": "spec_decode_num_drafts",
    "drafted": "spec_decode_num_draft_tokens",
    "accepted": "spec_decode_num_accepted_tokens",
}
_POSITION = "spec_decode_num_accepted_tokens_per_pos"


def read(samples: Sequence[Sample]) -> Iterator[Item]:
    """A record for each engine of each model; the engines of one model add up."""
    totals: dict[tuple[str, str], dict[str, float]] = {}
    positions: dict[tuple[str, str], dict[int, float]] = {}
    for sample in samples:
        if sample.name.endswith("_created"):
            continue
        name = sample.name.removesuffix("_total")
        labels = sample.labels
        key = (labels.get("model_name", ""), _replica(labels))
        if name.endswith(_POSITION):
            position = labels.get("position", "")
            if not position.isdecimal() or len(position) > 4:
                yield finding("bad_sample", name=sample.name, value=f"position={position!r}")
                continue
            at = positions.setdefault(key, {})
            at[int(position)] = at.get(int(position), 0.0) + sample.value
            continue
        for field, suffix in _NAMES.items():
            if name.endswith(suffix):
                row = totals.setdefault(key, {})
                row[field] = row.get(field, 0.0) + sample.value
    if len({model for model, _ in totals}) < len(totals):
        yield finding("multi_series", kind="engines", names=f"{len(totals)} of them, added up")
    for (model, replica), row in totals.items():
        yield from _record(model, replica, row, positions.get((model, replica), {}))


def _replica(labels: dict[str, str] | object) -> str:
    """What tells processes of one model apart: the engine, and where it was scraped."""
    assert isinstance(labels, dict)
    parts = (labels.get(k) for k in ("instance", "pod", "ReplicaId", "WorkerId", "engine"))
    return "/".join(p for p in parts if p)


def _record(
    model: str, replica: str, row: dict[str, float], positions: dict[int, float]
) -> Iterator[Item]:
    group = {"model_name": model} if model else {}
    part = {"engine": replica} if replica else {}
    rounds, drafted, accepted = (_whole(row.get(name)) for name in _NAMES)
    if drafted == 0 or (drafted is None and rounds == 0):
        yield finding("zero_drafts", records=f"engine {replica or 'without a name'}")
        return
    longest = max(positions, default=-1) + 1
    at_least = [_whole(positions[i]) or 0 for i in range(longest) if i in positions]
    if len(at_least) < longest:
        yield finding("impossible", what=f"{len(at_least)} of {longest} positions are there")
        at_least = []
    wrong = contradiction(
        accepted=accepted,
        drafted=drafted,
        rounds=rounds,
        gamma=longest or None,
        survival=[c / rounds for c in at_least] if rounds else (),
    )
    if wrong is None and at_least and accepted is not None and sum(at_least) != accepted:
        wrong = f"{accepted} accepted tokens, and {sum(at_least)} over the positions"
    if wrong:
        yield finding("impossible", what=f"{wrong} (model {model or 'without a name'})")
        yield Record(Counts(rounds, drafted, accepted), group, part=part, unusable=True)
        return
    gamma = longest or None
    if gamma is None and rounds and drafted and drafted % rounds == 0:
        gamma = drafted // rounds
    if at_least and rounds and drafted == rounds * len(at_least):
        yield Record(Counts.full(rounds, at_least), group, part=part)
        return
    counts = Counts(rounds, drafted, accepted, tuple(at_least) or None, gamma=gamma)
    yield Record(counts, group, part=part)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
