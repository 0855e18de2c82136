"""`timings` of mlx-vlm's responses: rounds, drafted and accepted tokens."""

from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.responses import answers
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts


def _is_timings(node: Mapping[str, Any]) -> bool:
    return "draft_rounds" in node or ("draft_kind" in node and "draft_n" in node)


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A response, or a chunk of one, with the timings of drafts."""
    return next(parts(value, _is_timings), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request."""
    for answer in answers(values, _is_timings):
        if isinstance(answer, Dropped):
            yield answer
            continue
        kind = answer.figures.get("draft_kind")
        labels = answer.group | ({"type": kind} if isinstance(kind, str) else {})
        yield from _record(answer.figures, labels, answer.name)


def _record(node: Mapping[str, Any], labels: Labels, name: str) -> Iterator[Item]:
    rounds, drafted, accepted = (
        whole_number(node.get(key)) for key in ("draft_rounds", "draft_n", "draft_n_accepted")
    )
    if drafted == 0 or (drafted is None and rounds == 0):
        yield finding("zero_drafts", records=f"response {name}")
        yield Record(Counts(rounds, 0, 0), labels, "request", name)
        return
    if drafted is None or accepted is None:
        yield Dropped(f"the timings of response {name} are cut or no whole numbers")
        return
    if accepted > drafted or (rounds is not None and not 0 < rounds <= drafted):
        shown = f"{accepted} accepted of {drafted} drafted tokens in {rounds} rounds"
        yield Dropped(f"the timings of response {name}: {shown}")
        return
    tokens = whole_number(node.get("predicted_n"))
    if tokens is not None and rounds is not None and accepted + rounds > tokens:
        yield finding("censored_by_stop")
    if not rounds or drafted % rounds:
        mean = f"{drafted / rounds:.2f}" if rounds else "an unknown number"
        yield finding("variable_draft_length", mean=mean, gamma="an unknown longest")
        yield Record(Counts(rounds, drafted, accepted), labels, "request", name)
        return
    yield Record(
        Counts(rounds, drafted, accepted, gamma=drafted // rounds), labels, "request", name
    )
