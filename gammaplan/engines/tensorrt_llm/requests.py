"""Requests: totals of their drafts in perf_metrics, or a mean length in the response."""

from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import Around, parts
from gammaplan.model.estimate import Counts

_ACCEPTED, _DRAFTED = "total_accepted_draft_tokens", "total_draft_tokens"
_MEAN = "avg_decoded_tokens_per_iter"
_NAMES = ("request_id", "id", "ctx_request_id", "disagg_request_id")


def _has_totals(node: Mapping[str, Any]) -> bool:
    return _ACCEPTED in node or _DRAFTED in node


def _has_mean(node: Mapping[str, Any]) -> bool:
    return node.get(_MEAN) is not None


def _has_metrics(node: Mapping[str, Any]) -> bool:
    return isinstance(node.get("perf_metrics"), dict)


def claims_metrics(value: Any) -> bool:  # Any: parsed JSON
    """A request with the totals of its drafts."""
    return next(parts(value, _has_totals), None) is not None


def claims_response(value: Any) -> bool:  # Any: parsed JSON
    """A response whose choices carry the mean length."""
    return next(parts(value, _has_mean), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request: its totals where they are told, else its mean."""
    number = 0
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        found = False
        for node, around in parts(value, _has_totals):
            found, number = True, number + 1
            yield _totals(node, _named(node, around, number))
        if found:
            continue
        for node, around in parts(value, _has_mean):
            found, number = True, number + 1
            yield from _mean(node, around, _named(node, around, number))
        if not found and next(parts(value, _has_metrics), None) is not None:
            number += 1
            named = _named(value, (), number)
            yield finding("zero_drafts", records=f"request {named}")


def _named(node: Mapping[str, Any], around: Around, number: int) -> str:
    for holder in (node, *around):
        for key in _NAMES:
            name = holder.get(key) if isinstance(holder, dict) else None
            if isinstance(name, str | int) and not isinstance(name, bool) and name != "":
                return str(name)[:200]
    return str(number)


def _totals(node: Mapping[str, Any], name: str) -> Record | Dropped:
    accepted, drafted = whole_number(node.get(_ACCEPTED)), whole_number(node.get(_DRAFTED))
    if accepted is None or drafted is None:
        return Dropped(f"request {name}: its totals are cut or no counts")
    if accepted > drafted:
        return Dropped(f"request {name}: {accepted} accepted of {drafted} drafted tokens")
    return Record(Counts(drafted=drafted, accepted=accepted), unit="request", name=name)


def _mean(node: Mapping[str, Any], around: Around, name: str) -> Iterator[Item]:
    """A mean without counts; the tokens of a lone choice tell its rounds."""
    length = node[_MEAN]
    if isinstance(length, bool) or not isinstance(length, int | float) or not 1 <= length < 4_097:
        yield Dropped(f"request {name}: a mean length that is no number of at least 1 token")
        return
    yield finding("interval_average_only")
    holder: Mapping[str, Any] = around[0] if around else {}
    usage, choices = holder.get("usage"), holder.get("choices")
    tokens = whole_number(usage.get("completion_tokens")) if isinstance(usage, dict) else None
    alone = isinstance(choices, list) and len(choices) == 1
    weight = tokens / length if tokens and alone else 1.0
    model = holder.get("model")
    group: Labels = {"model_name": model} if isinstance(model, str) and model else {}
    yield Record(Counts(), group, "request", name, average=(float(length), weight))
