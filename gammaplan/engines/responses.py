"""What the responses of servers share: names, models, and streams whose figures run up."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gammaplan.engines.base import Dropped, Labels
from gammaplan.engines.walk import parts

LONGEST_NAME = 200
MOST_OPEN = 4_096  # streams that may be interleaved
Node = Mapping[str, Any]  # Any: parsed JSON


class Answer(NamedTuple):
    """The figures of one response, and what the response says of itself."""

    figures: Node
    name: str
    group: Labels


def answers(values: Iterator[Any], wanted: Callable[[Node], bool]) -> Iterator[Answer | Dropped]:
    """The wanted part of each response; of a stream of chunks the last, since figures run up.

    A response that has several such parts tells the same work several times:
    the first is taken.
    """
    open_: dict[str, Answer] = {}
    number = 0
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        told: Node | None = None
        for node, around in parts(value, wanted):
            response = next((n for n in around if name_of(n)), around[0] if around else node)
            if around and response is told:
                continue
            told, number = response, number + 1
            name = name_of(response) or name_of(node) or f"{number}"
            answer = Answer(node, name, group_of(response))
            if not is_chunk(response):
                yield answer
                continue
            open_[name] = answer
            if len(open_) > MOST_OPEN:
                yield open_.pop(next(iter(open_)))
    yield from open_.values()


def name_of(value: Node) -> str:
    """What a response calls itself; "" where it has no name."""
    for key in ("id", "request_id"):
        name = value.get(key)
        if isinstance(name, str | int) and not isinstance(name, bool):
            return str(name)[:LONGEST_NAME]
    return ""


def group_of(value: Node) -> Labels:
    """The model that answered, which must not be added up with another."""
    model = value.get("model")
    return {"model_name": model[:LONGEST_NAME]} if isinstance(model, str) and model else {}


def is_chunk(value: Node) -> bool:
    """Whether a value is part of a streamed response."""
    choices = value.get("choices")
    deltas = isinstance(choices, list) and any(
        isinstance(c, dict) and "delta" in c for c in choices
    )
    return deltas or str(value.get("object", "")).endswith(".chunk")
