"""NVIDIA Dynamo: the engine's statistics in the load messages of a worker."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, Labels, Record, Word
from gammaplan.engines.values import whole_number, whole_numbers
from gammaplan.engines.walk import Around, parts
from gammaplan.model.consistency import contradiction
from gammaplan.model.estimate import Counts

NAME = "dynamo"
ALIASES: tuple[str, ...] = ()
WORDS: tuple[Word, ...] = ()
_NAMES = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
_POSITIONS, _LONGEST = "num_accepted_tokens_per_pos", "num_spec_tokens"


def _is_stats(node: Mapping[str, Any]) -> bool:
    return "num_drafts" in node and ("num_draft_tokens" in node or _LONGEST in node)


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A message with the statistics of drafts."""
    return next(parts(value, _is_stats), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a message: each tells the steps since the one before."""
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for node, around in parts(value, _is_stats):
            yield from _record(node, around)


def _record(node: Mapping[str, Any], around: Around) -> Iterator[Item]:
    rounds, drafted, accepted = (whole_number(node.get(name)) for name in _NAMES)
    gamma = whole_number(node.get(_LONGEST))
    at_least = whole_numbers(node.get(_POSITIONS)) or []
    if drafted == 0 or rounds == 0:
        yield finding("zero_drafts", records="a message")
        return
    wrong = contradiction(accepted=accepted, drafted=drafted, rounds=rounds, gamma=gamma)
    if wrong is None and at_least and accepted is not None and sum(at_least) != accepted:
        wrong = f"{accepted} accepted tokens, and {sum(at_least)} over the positions"
    if wrong is None and any(later > earlier for earlier, later in pairwise(at_least)):
        wrong = "positions that rise"
    if wrong or (drafted is None and rounds is None):
        yield Dropped(f"a message with {wrong or 'no counts'}")
        return
    gamma = gamma or len(at_least) or None
    part: Labels = {}
    for holder in around:
        worker = holder.get("worker_id")
        if isinstance(worker, str | int):
            part = {"worker": str(worker)[:200]}
    if rounds and gamma and drafted == rounds * gamma and len(at_least) == gamma:
        yield Record(Counts.full(rounds, at_least), part=part)
        return
    counts = Counts(rounds, drafted, accepted, tuple(at_least) or None, gamma=gamma)
    yield Record(counts, part=part)


FORMATS = (JsonFormat("dynamo-load", claims, read),)
