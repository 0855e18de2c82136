"""AIPerf: pooled totals and a histogram of rounds, beside averages over requests."""

from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, Record, Word
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

NAME = "aiperf"
ALIASES: tuple[str, ...] = ()
WORDS = (
    Word("spec_decode_token_weighted_acceptance_length", "mean_length"),
    Word("spec_decode_overall_draft_acceptance_rate", "pooled_rate"),
)
LONGEST = 4_096
_HISTOGRAM = "pooled_spec_decode_acceptance_histogram"
_STEPS, _ACCEPTED = "total_spec_decode_steps", "total_accepted_draft_tokens"
_DRAFTED = "total_draft_tokens"
_WEIGHTED = "spec_decode_token_weighted_acceptance_length"
_MACRO = ("spec_decode_acceptance_length", "spec_decode_draft_acceptance_rate")
_LENGTHS = (_WEIGHTED, _MACRO[0])
_RATES = ("spec_decode_overall_draft_acceptance_rate", _MACRO[1])


def _is_export(node: Mapping[str, Any]) -> bool:
    return _HISTOGRAM in node or any(
        isinstance(node.get(key), dict) and "avg" in node[key] for key in (_STEPS, *_LENGTHS)
    )


def claims(value: Any) -> bool:  # Any: parsed JSON
    """An aggregate export with the figures of speculative decoding."""
    return next(parts(value, _is_export), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record an export: its totals, or its averages where there are no totals."""
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for node, _ in parts(value, _is_export):
            if any(key in node for key in _MACRO):
                yield finding("macro_average")
            yield from _told(node)


def _average(node: Mapping[str, Any], key: str) -> Any:  # Any: parsed JSON
    metric = node.get(key)
    return metric.get("avg") if isinstance(metric, dict) else metric


def _told(node: Mapping[str, Any]) -> Iterator[Item]:
    steps, accepted, drafted = (
        whole_number(_average(node, key)) for key in (_STEPS, _ACCEPTED, _DRAFTED)
    )
    histogram = _histogram(node.get(_HISTOGRAM))
    if isinstance(histogram, str):
        yield Dropped(histogram)
        return
    if histogram:
        total, sum_ = sum(histogram), sum(i * n for i, n in enumerate(histogram))
        steps, accepted = (
            (total if steps is None else steps),
            (sum_ if accepted is None else accepted),
        )
        if (steps, accepted) != (total, sum_):
            yield Dropped(f"an export whose histogram is not {accepted} accepted in {steps} steps")
            return
    if steps is None or accepted is None:
        yield from _averages(node)
        return
    if drafted is not None and not (accepted <= drafted and (steps <= drafted or not drafted)):
        yield Dropped(f"an export of {accepted} accepted of {drafted} drafted in {steps} steps")
        return
    if not steps or drafted == 0:
        yield finding("zero_drafts", records="an export")
        return
    yield from _counts(steps, drafted, accepted, histogram)


def _histogram(value: Any) -> list[int] | str:
    """The rounds that accepted 0, 1, ... tokens, from keys that are text; [] without them."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return "an export whose histogram is cut"
    rounds: dict[int, int] = {}
    for key, count in value.items():
        number = whole_number(count)
        if not (key.isascii() and key.isdecimal() and len(key) <= 4) or number is None:
            return "an export whose histogram has no whole numbers"
        rounds[int(key)] = number
    return [rounds.get(i, 0) for i in range(max(rounds, default=-1) + 1)]


def _counts(steps: int, drafted: int | None, accepted: int, histogram: list[int]) -> Iterator[Item]:
    """All drafts had the mean length, if it is whole and no draft was longer."""
    longest = max((i for i, n in enumerate(histogram) if n), default=0)
    at_least = [sum(histogram[i:]) for i in range(1, longest + 1)]
    gamma = drafted // steps if drafted and drafted % steps == 0 else 0
    if longest <= gamma <= LONGEST and gamma and histogram:
        yield Record(Counts.full(steps, at_least + [0] * (gamma - longest)))
        return
    if drafted is not None:
        shown = f"{drafted / steps:.2f}"
        yield finding("variable_draft_length", mean=shown, gamma="an unknown longest")
    yield Record(Counts(steps, drafted, accepted, tuple(at_least) or None))


def _averages(node: Mapping[str, Any]) -> Iterator[Item]:
    """The mean length, weighted by tokens if it is there, and the rate."""
    length = next((x for key in _LENGTHS if (x := _number(node, key, 1, LONGEST))), None)
    rate = next((x for key in _RATES if (x := _number(node, key, 0, 100)) is not None), None)
    if length is None and rate is None:
        yield Dropped("an export whose figures are cut or no numbers")
        return
    yield finding("interval_average_only")
    average = None if length is None else (length, 1.0)
    yield Record(Counts(), average=average, rate=None if rate is None else rate / 100)


def _number(node: Mapping[str, Any], key: str, low: float, high: float) -> float | None:
    value = _average(node, key)
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    return float(value) if good else None


FORMATS = (JsonFormat("aiperf-json", claims, read),)
