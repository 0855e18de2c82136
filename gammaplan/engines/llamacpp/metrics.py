"""llama-server's counters: totals with six significant digits, positions to the token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Item, Labels, Record, Sample
from gammaplan.model.consistency import contradiction
from gammaplan.model.estimate import Counts

FAMILIES = ("llamacpp:spec_decode_num_",)
_NAMES = {
    "drafts": "rounds",
    "draft_tokens": "drafted",
    "accepted_tokens": "accepted",
}
_POSITION = "accepted_tokens_per_pos"
DIGITS = 6
MOST_POSITIONS = 10_000


@dataclass
class _Series:
    totals: dict[str, float] = field(default_factory=dict)
    positions: dict[int, float] = field(default_factory=dict)


def read(samples: Sequence[Sample]) -> Iterator[Item]:
    """A record for each set of labels (a server has none of its own)."""
    series: dict[tuple[tuple[str, str], ...], _Series] = {}
    for sample in samples:
        head, _, name = sample.name.partition(FAMILIES[0])
        name = name.removesuffix("_total")
        labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "position"))
        if head or name not in {*_NAMES, _POSITION}:
            continue
        row = series.setdefault(labels, _Series())
        if name in _NAMES:
            row.totals[_NAMES[name]] = row.totals.get(_NAMES[name], 0.0) + sample.value
            continue
        position = sample.labels.get("position", "")
        if not (position.isascii() and position.isdecimal() and len(position) <= 5):
            yield finding("bad_sample", name=sample.name, value=f"position={position!r}")
        elif int(position) < MOST_POSITIONS and sample.value < 2**63:
            row.positions[int(position)] = sample.value
    if len(series) > 1:
        yield finding("multi_series", kind="servers", names=f"{len(series)} of them")
    for key, row in series.items():
        yield from _record(dict(key), row)


def _slack(value: float | None) -> int:
    """Half a unit of the last digit that was printed of a total; 0 where all were."""
    if value is None or not 10**DIGITS <= value < 2**63:
        return 0
    unit: int = 10 ** (len(str(int(value))) - DIGITS)
    return unit // 2 if int(value) % unit == 0 else 0


def _record(labels: Labels, row: _Series) -> Iterator[Item]:
    known = {n: v for n, v in row.totals.items() if v < 2**63}
    rounds, drafted, accepted = (_whole(known.get(n)) for n in _NAMES.values())
    slack = max((_slack(v) for v in known.values()), default=0)
    at_least = tuple(
        round(row.positions.get(i, 0)) for i in range(1 + max(row.positions, default=-1))
    )
    if at_least and accepted is not None and accepted != sum(at_least):
        slack = max(slack, abs(accepted - sum(at_least)) if _near(accepted, sum(at_least)) else 0)
    if at_least and (accepted is None or abs(accepted - sum(at_least)) <= slack):
        accepted = sum(at_least)
    if not drafted and not rounds and not accepted:
        yield finding("zero_drafts", records="the server")
        yield Record(Counts(0, 0, 0), labels)
        return
    counts = _counts(rounds, drafted, accepted, at_least, slack)
    wrong = contradiction(
        accepted=counts.accepted,
        drafted=counts.drafted,
        rounds=counts.rounds,
        gamma=counts.gamma,
        survival=[c / rounds for c in at_least] if rounds else (),
        half_unit=slack / rounds if rounds else 0.0,
    )
    if wrong is None and at_least and accepted != sum(at_least):
        wrong = f"{accepted} accepted tokens, and {sum(at_least)} over the positions"
    if wrong:
        yield finding("impossible", what=wrong)
    elif slack:
        yield finding("rounding_only")
    if not wrong and rounds and counts.drafted and counts.drafted_at_least is None:
        mean = f"{counts.drafted / rounds:.2f}"
        longest = counts.gamma or "an unknown longest"
        yield finding("variable_draft_length", mean=mean, gamma=longest)
    yield Record(counts, labels, unusable=wrong is not None)


def _near(a: int, b: int) -> bool:
    """Whether two counts differ by no more than a difference of rounded totals may."""
    return abs(a - b) <= 1e-3 * max(a, b)


def _counts(
    rounds: int | None,
    drafted: int | None,
    accepted: int | None,
    at_least: tuple[int, ...],
    slack: int,
) -> Counts:
    gamma = len(at_least) or None
    if gamma is None and rounds and drafted and not slack and drafted % rounds == 0:
        gamma = drafted // rounds
    if rounds and drafted and gamma and abs(drafted - rounds * gamma) <= slack * (gamma + 1):
        drafted = rounds * gamma
        if at_least and at_least[-1] <= rounds and accepted == sum(at_least):
            return Counts.full(rounds, at_least)
        return Counts(rounds, drafted, accepted, None, (rounds,) * gamma, gamma=gamma)
    return Counts(rounds, drafted, accepted, at_least or None, gamma=gamma)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
