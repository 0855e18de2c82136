"""tabbyAPI's usage of a response, in fields that OpenAI has for predicted outputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.responses import answers
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

_DETAILS = "completion_tokens_details"
_ACCEPTED, _REJECTED = "accepted_prediction_tokens", "rejected_prediction_tokens"
_TABBY = {"prompt_time", "completion_time", "total_time", "completion_tokens_per_sec"}


def _is_usage(node: Mapping[str, Any]) -> bool:
    details = node.get(_DETAILS)
    return isinstance(details, dict) and _ACCEPTED in details and _REJECTED in details


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A response, or a chunk of one, whose usage has both counts."""
    return next(parts(value, _is_usage), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request; where nothing tells tabbyAPI from a hosted service, that is said."""
    for answer in answers(values, _is_usage):
        if isinstance(answer, Dropped):
            yield answer
            continue
        details = answer.figures[_DETAILS]
        accepted, rejected = whole_number(details[_ACCEPTED]), whole_number(details[_REJECTED])
        if accepted is None or rejected is None:
            yield Dropped(f"the usage of {answer.name} is cut or no whole numbers")
            continue
        if not accepted + rejected:
            yield finding("zero_drafts", records=f"response {answer.name}")
        elif not answer.figures.keys() & _TABBY:
            yield finding("predicted_outputs")
        counts = Counts(drafted=accepted + rejected, accepted=accepted)
        yield Record(counts, answer.group, "request", answer.name)
