"""Per-request metrics in responses: the only source that tells rounds of varying length apart."""

from collections.abc import Iterator
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.values import whole_number, whole_numbers
from gammaplan.errors import DomainError
from gammaplan.model.estimate import Counts


def _body(value: Any) -> Any:  # Any: parsed JSON
    """The response itself, out of a row of a batch's results."""
    response = value.get("response") if isinstance(value, dict) else None
    return response["body"] if isinstance(response, dict) and "body" in response else value


def _metrics(value: Any) -> Any:  # Any: parsed JSON
    metrics = value.get("metrics") if isinstance(value, dict) else None
    return metrics.get("speculative_decoding") if isinstance(metrics, dict) else None


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A response, or one chunk of it, that carries the block."""
    value = _body(value)
    return isinstance(_metrics(value), dict) or (
        isinstance(value, dict) and "acceptance_histogram" in value and "num_spec_steps" in value
    )


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request; the rounds one by one where they were recorded."""
    for index, row in enumerate(values):
        if isinstance(row, Dropped):
            yield row
            continue
        value = _body(row)
        block = _metrics(value) if isinstance(value, dict) and "metrics" in value else value
        if not isinstance(block, dict) or "num_spec_steps" not in block:
            continue  # a response, or a chunk of one, without speculative decoding
        name = str(value.get("id") or value.get("request_id") or index)
        model = value.get("model")
        group = {"model_name": model} if isinstance(model, str) and model else {}
        try:
            counts = _counts(block)
        except (DomainError, ValueError) as error:
            yield Dropped(f"request {name}: {error}")
            continue
        if not counts.drafted:
            yield finding("zero_drafts", records=f"request {name}")
        yield Record(counts, group, "request", name)


def _counts(block: dict[str, Any]) -> Counts:
    gamma = whole_number(block.get("num_spec_tokens"))
    drafted = whole_numbers(block.get("per_step_drafted"))
    accepted = whole_numbers(block.get("per_step_accepted"))
    if drafted is not None and accepted is not None:
        if len(drafted) != len(accepted):
            raise DomainError("per_step_drafted and per_step_accepted differ in length")
        return Counts.from_rounds(drafted, accepted, gamma)
    histogram = whole_numbers(block.get("acceptance_histogram"))
    rounds = whole_number(block.get("num_spec_steps"))
    total = whole_number(block.get("num_draft_tokens"))
    if histogram is None or rounds is None or total is None:
        raise DomainError("its figures are cut or no whole numbers")
    if sum(histogram) != rounds:
        raise DomainError(f"{rounds} rounds, and {sum(histogram)} in the histogram")
    gamma = gamma or len(histogram) - 1
    if len(histogram) > gamma + 1:
        raise DomainError(f"a histogram of {len(histogram)} entries with {gamma} drafted tokens")
    histogram += [0] * (gamma + 1 - len(histogram))
    at_least = [sum(histogram[i:]) for i in range(1, gamma + 1)]
    if total == rounds * gamma and rounds:
        return Counts.full(rounds, at_least)
    if sum(at_least) > total:
        raise DomainError(f"{sum(at_least)} accepted of {total} drafted tokens")
    return Counts(rounds, total, sum(at_least), tuple(at_least), gamma=gamma)
