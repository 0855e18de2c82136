"""The server's log: JSON over many lines, read key by key."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.engines.base import Dropped, Item, Labels
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.lmstudio.stats import KINDS, nothing_drafted, record

SNAKE, CAMEL = b"_draft_tokens_count", b"DraftTokensCount"
HEADS = (b"Generated prediction", b"draft_model", b"usedDraftModelKey")
MARKS = (SNAKE, CAMEL, *HEADS, b"Received ", b"_draft_tok", b"DraftTok")

_OWN = re.compile(
    rb"(?:total|accepted|rejected|ignored)(?:_draft_tokens_count|DraftTokensCount)\\?\"\s*:"
)
_KEY = re.compile(
    rf"\"({'|'.join(KINDS)})(?:_draft_tokens_count|DraftTokensCount)\"\s*:\s*(-?\d+(?:\.\d+)?)"
)
_CUT = re.compile(rf"\"({'|'.join(KINDS)})(?:_draft_tok|DraftTok)\w*")
_DRAFT = re.compile(r"\"(?:draft_model|usedDraftModelKey)\"\s*:\s*\"([^\"\\]{1,200})\"")
_HEAD = re.compile(r"(?:\[([^\[\]]{1,200})\]\s*)?Generated prediction")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_LEVELS = {"DEBUG", "INFO", "WARN", "ERROR"}


def claims(line: bytes) -> bool:
    """A count of drafted tokens."""
    return _OWN.search(line) is not None


@dataclass
class Prediction:
    """What one prediction has said so far."""

    figures: dict[str, float] = field(default_factory=dict)
    model: str = ""
    draft: str = ""
    time: str = ""
    offset: int = -1
    begun: bool = False
    over: bool = False
    cut: bool = False


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a prediction."""
    now, number, without = Prediction(), 0, 0
    for line in matching(blocks, MARKS):
        head = _HEAD.search(line.text)
        if head or "Received " in line.text:
            now.over = True
        if head:
            number += bool(now.figures)
            without += now.begun and not (now.figures or now.draft)
            yield from _told(now, number)
            now = _begun(line, head)
        if not now.over and (draft := _DRAFT.search(line.text)):
            now.draft = now.draft or draft[1]
        found = list(_keys(line))
        whole = line.whole or line.text.rstrip().endswith("}")
        if not (found and whole) and _CUT.search(line.text):
            now.cut, now.offset = True, line.offset
        for kind, value in found:
            if now.figures.get(kind, value) != value:  # the next prediction, without its head
                number += 1
                yield from _told(now, number)
                now = Prediction(model=now.model, draft=now.draft)
            now.figures[kind] = value
            now.offset = line.offset if now.offset < 0 else now.offset
    yield from _told(now, number + 1)
    without += now.begun and not (now.figures or now.draft or now.cut)
    if without:
        yield nothing_drafted(without)


def _begun(line: Line, head: re.Match[str]) -> Prediction:
    time = _TIME.search(line.text)
    model = head[1] if head[1] and head[1] not in _LEVELS else ""
    when = time[0] if time else line.time or ""
    return Prediction(model=model, time=when, offset=line.offset, begun=True)


def _keys(line: Line) -> Iterator[tuple[str, float]]:
    """The counts of a line."""
    for match in _KEY.finditer(line.text):
        yield match[1], float(match[2])


def _told(now: Prediction, number: int) -> Iterator[Item]:
    """The record of a prediction that is over; one that is cut tells too few counts."""
    if not (now.figures or now.cut or (now.begun and now.draft)):
        return
    labels: Labels = {"model_name": now.model} if now.model else {}
    if now.draft:
        labels["draft_model"] = now.draft
    if now.cut or not {"accepted", "rejected"} <= now.figures.keys():
        yield Dropped("a prediction", now.offset)
        return
    yield from record(now.figures, labels, f"{number}", now.time)
