"""The plain form that anyone can write: a JSON object a round, `{"drafted": d, "accepted": a}`."""

from collections.abc import Iterator
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, Round, Word
from gammaplan.engines.values import whole_number

NAME = "plain"
ALIASES = ("transformers",)
WORDS: tuple[Word, ...] = ()


def claims(value: Any) -> bool:  # Any: parsed JSON
    """An object with both counts."""
    return isinstance(value, dict) and "drafted" in value and "accepted" in value


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A round a line; its label keeps it apart from others, its request is its cluster."""
    empty = 0
    for index, value in enumerate(values, 1):
        if isinstance(value, Dropped):
            yield value
            continue
        if not claims(value):
            yield Dropped(f"line {index}: an object without drafted and accepted")
            continue
        drafted, accepted = whole_number(value["drafted"]), whole_number(value["accepted"])
        if drafted is None or accepted is None or accepted > drafted:
            shown = f"accepted {value['accepted']!r:.40} of {value['drafted']!r:.40} drafted"
            yield Dropped(f"line {index}: {shown} tokens")
            continue
        if drafted == 0:
            empty += 1
            continue
        label, request, time = value.get("label"), value.get("request"), value.get("time")
        group = {"label": str(label)} if label is not None else {}
        name = None if request is None else str(request)
        yield Round(drafted, accepted, group, name, "" if time is None else str(time))
    if empty:
        yield finding("zero_drafts", records=f"{empty} round(s)")


FORMATS = (JsonFormat("plain-rounds", claims, read, general=True),)
