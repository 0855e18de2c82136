"""The statistics of a prediction: total = accepted + rejected + ignored drafted tokens."""

from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.responses import LONGEST_NAME, answers
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

KINDS = ("total", "accepted", "rejected", "ignored")
KEYS = {kind: (f"{kind}_draft_tokens_count", f"{kind}DraftTokensCount") for kind in KINDS}
DRAFT_MODEL = ("draft_model", "usedDraftModelKey")
_COUNTED = {key for keys in KEYS.values() for key in keys}
_SDK = {"predictedTokensCount", "stopReason"}
_REST = {"tokens_per_second", "stop_reason"}


def claims_sdk(value: Any) -> bool:  # Any: parsed JSON
    """The SDK's statistics, alone or in a prediction."""
    found = next(parts(value, _is_stats), None)
    return found is not None and (found[0].keys() >= _SDK or KEYS["total"][1] in found[0])


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A response of the REST interface, with drafts or without."""
    return next(parts(value, _is_stats), None) is not None


def _is_stats(node: Mapping[str, Any]) -> bool:
    keys = node.keys()
    return bool(keys & _COUNTED) or keys >= _SDK or keys >= _REST


def _is_counted(node: Mapping[str, Any]) -> bool:
    return bool(node.keys() & _COUNTED)


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a prediction."""
    without = 0

    def noted() -> Iterator[Any]:
        nonlocal without
        for value in values:
            if not isinstance(value, Dropped):
                without += claims(value) and next(parts(value, _is_counted), None) is None
            yield value

    for answer in answers(noted(), _is_counted):
        if isinstance(answer, Dropped):
            yield answer
            continue
        figures = {
            kind: next((answer.figures[k] for k in keys if k in answer.figures), None)
            for kind, keys in KEYS.items()
        }
        model = next((answer.figures[k] for k in DRAFT_MODEL if k in answer.figures), None)
        draft = {"draft_model": model[:LONGEST_NAME]} if isinstance(model, str) and model else {}
        yield from record(figures, answer.group | draft, answer.name)
    if without:
        yield nothing_drafted(without)


def nothing_drafted(count: int) -> Finding:
    """Predictions that tell of no drafts."""
    return finding("zero_drafts", records=f"{count} prediction{'s' * (count > 1)}")


def record(figures: Mapping[str, Any], labels: Labels, name: str, time: str = "") -> Iterator[Item]:
    """The record of one prediction: ignored tokens were never sent to the target."""
    numbers = {kind: whole_number(figures.get(kind)) for kind in KINDS}
    total, accepted, rejected, ignored = (numbers[kind] for kind in KINDS)
    drafted = None if accepted is None or rejected is None else accepted + rejected
    if drafted is None and accepted is not None and total is not None:
        drafted = total - (ignored or 0)
        if ignored is None:
            yield finding("ignored_drafts")  # they cannot be told from the refused
    bad = any(numbers[kind] is None and figures.get(kind) is not None for kind in KINDS)
    if bad or drafted is None or accepted is None or accepted > drafted:
        yield Dropped(f"prediction {name}: its counts are cut or contradict each other")
        return
    if total is not None and not drafted + (ignored or 0) <= total:
        yield Dropped(f"prediction {name}: {drafted} verified of {total} drafted tokens")
        return
    if ignored or (total is not None and total > drafted):
        yield finding("ignored_drafts")
    if not drafted:
        yield nothing_drafted(1)
    yield Record(Counts(drafted=drafted, accepted=accepted), labels, "request", name, time=time)
