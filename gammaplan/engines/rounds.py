"""Rounds one by one, in order: the traces on which policies are replayed."""

import json
import math
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, NamedTuple

import msgspec

from gammaplan.engines.base import Dropped
from gammaplan.engines.lines import DAMAGED, damage_of
from gammaplan.engines.values import LARGEST_VALUE, whole_number

LONGEST_DRAFT = 255
NO_ROUND = "has no drafted and accepted"
UNTOLD = "tells no single rounds (vLLM: --per-request-spec-decode-metrics detailed)"
_DECODE = msgspec.json.Decoder().decode


class Traced(NamedTuple):
    """One round of one request; `confidence` has a value for each drafted token, if any."""

    request: str
    drafted: int
    accepted: int
    confidence: list[float] | None = None


class Damaged(ValueError):
    """A record that cannot be a round; the message says why."""


def read_rounds(stream: BufferedReader, gamma: int | None = None) -> Iterator[Traced | Dropped]:
    """The rounds of a trace; `gamma` is the draft length where the form does not tell it.

    One JSON value a line, or one document of at most 64 MiB. What is damaged is
    dropped, and its line is named.
    """
    names = _Names()
    try:
        for where, value in _numbered(stream):
            if isinstance(value, Damaged):
                yield Dropped(f"{where}: {value}")
                continue
            yield from _rounds(value, where, names, gamma)
        reason = damage_of(stream)
    except DAMAGED as error:
        reason = str(error)
    if reason:
        yield Dropped(f"the rest of the input, which is cut ({reason})")


class _Names:
    """Names for requests that have none of their own."""

    def __init__(self) -> None:
        self.position = math.inf
        self.count = 0

    def at(self, position: object) -> str:
        """The request of a position: a new one where positions start again."""
        if isinstance(position, int | float):
            self.count += position < self.position
            self.position = position
        return f"request {self.count}"


def _numbered(stream: BufferedReader) -> Iterator[tuple[str, Any]]:
    """Each value and where it stands."""
    for number, line in enumerate(iter(lambda: stream.readline(LARGEST_VALUE), b""), 1):
        text = line.strip().removeprefix(b"\xef\xbb\xbf").removeprefix(b"data:").strip()
        if not text or text == b"[DONE]":
            continue
        value = _parsed(text)
        if isinstance(value, Damaged) and number == 1 and text[:1] in b"[{":
            whole = _parsed(line + stream.read(LARGEST_VALUE))
            if not isinstance(whole, Damaged):
                yield from _listed(whole)
                return
        yield f"line {number}", value


def _listed(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list) and not _is_row(value):
        for index, item in enumerate(value, 1):
            yield f"record {index}", item
    else:
        yield "record 1", value


def _parsed(text: bytes) -> Any:
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(text)  # takes NaN, which is named where it stands
    except (ValueError, RecursionError):
        return Damaged("is no JSON")


def _rounds(value: Any, where: str, names: _Names, gamma: int | None) -> Iterator[Traced | Dropped]:
    if isinstance(value, list) and not _is_row(value):
        for index, item in enumerate(value, 1):
            yield from _record(item, f"{where}, record {index}", names, gamma)
    else:
        yield from _record(value, where, names, gamma)


def _record(value: Any, where: str, names: _Names, gamma: int | None) -> Iterator[Traced | Dropped]:
    """The rounds that one record tells of: most tell one, a response many."""
    try:
        for index, told in enumerate(_told(value, names, gamma), 1):
            try:
                yield _checked(*told)
            except Damaged as error:
                which = f", round {index}" if index > 1 else ""
                yield Dropped(f"{where}{which}: {error}")
    except Damaged as error:
        yield Dropped(f"{where}: {error}")


def _told(value: Any, names: _Names, gamma: int | None) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Request, drafted, accepted and confidence as a form tells them, not yet checked."""
    if isinstance(value, list) and _is_row(value):  # exllamav3: position, window, accepted, average
        yield names.at(value[0]), value[1], value[2], None
    elif not isinstance(value, dict):
        raise Damaged(NO_ROUND)
    elif "window" in value and "accepted" in value:
        yield names.at(value.get("position")), value["window"], value["accepted"], None
    elif "drafted" in value and "accepted" in value:
        request = value.get("request")
        name = "" if request is None else str(request)
        yield name, value["drafted"], value["accepted"], value.get("confidence")
    elif isinstance(block := _block(value), dict) and "per_step_accepted" in block:
        yield from _steps(value, block, names)
    elif any("accept_lengths" in choice for choice in _choices(value)):
        yield from _lengths(value, names, gamma)
    else:
        raise Damaged(UNTOLD if "metrics" in value else NO_ROUND)


def _steps(
    value: dict[str, Any], block: dict[str, Any], names: _Names
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """A whole request as vLLM tells it."""
    names.count += 1
    name = str(value.get("id") or value.get("request_id") or names.count)
    pair = block.get("per_step_drafted"), block["per_step_accepted"]
    drafts, kept = (side if isinstance(side, list) else [] for side in pair)
    if len(drafts) != len(kept):
        raise Damaged(f"{len(drafts)} steps drafted and {len(kept)} accepted")
    for drafted, accepted in zip(drafts, kept, strict=True):
        yield name, drafted, accepted, None


def _lengths(
    value: dict[str, Any], names: _Names, gamma: int | None
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Whole requests as Spec-Bench tells them, the bonus token counted."""
    for choice in _choices(value):
        names.count += 1
        lengths = choice.get("accept_lengths") or []
        if not isinstance(lengths, list):
            raise Damaged("accept_lengths is no list")
        for length in lengths:
            whole = whole_number(length)
            yield f"choice {names.count}", gamma, None if not whole else whole - 1, None


def _checked(request: str, drafted: Any, accepted: Any, confidence: Any) -> Traced:
    if drafted is None:
        raise Damaged("does not tell the draft length (Spec-Bench: give --gamma)")
    d, a = whole_number(_real(drafted)), whole_number(_real(accepted))
    if d is None or a is None or a > d:
        raise Damaged(f"accepted {accepted!r:.60} of {drafted!r:.20} drafted")
    if d > LONGEST_DRAFT:
        raise Damaged(f"{d} drafted, more than {LONGEST_DRAFT}")
    if confidence is None:
        return Traced(request, d, a)
    if not isinstance(confidence, list) or len(confidence) != d:
        count = len(confidence) if isinstance(confidence, list) else "no list of"
        raise Damaged(f"{count} confidences for {d} drafted tokens")
    if not all(_real(p) is not None and 0 <= p <= 1 for p in confidence):
        raise Damaged("a confidence outside [0, 1]")
    return Traced(request, d, a, confidence)


def _real(value: Any) -> Any:
    """`value` if it is a finite number, else None."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return value if good and math.isfinite(value) else None


def _is_row(value: list[Any]) -> bool:
    return len(value) == 4 and all(isinstance(v, int | float) for v in value)


def _block(value: dict[str, Any]) -> Any:
    metrics = value.get("metrics")
    return metrics.get("speculative_decoding") if isinstance(metrics, dict) else value


def _choices(value: dict[str, Any]) -> list[dict[str, Any]]:
    choices = value.get("choices")
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
