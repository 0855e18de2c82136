"""Responses: the counts of a request in its meta_info, or in sglext of the OpenAI endpoints."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.values import whole_number, whole_numbers
from gammaplan.errors import DomainError
from gammaplan.model.estimate import Counts

MOST_NODES = 100_000  # parts of one value that are looked at
MOST_HELD = 4_096  # requests without a draft length, and streams without an end, that are kept
MOST_KNOWN = 500_000  # requests remembered so that a repeated one counts once

_ACCEPTED = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num")
_DRAFTED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
_HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")
_OWN = ("spec_verify_ct", *_ACCEPTED, *_DRAFTED, *_HISTOGRAM)


class Request(NamedTuple):
    """The fields of one request, and what the response around them says."""

    details: Mapping[str, Any]
    name: str | None
    tokens: Any
    model: Any
    partial: bool  # a chunk of a stream that has not ended


class _Unknown(NamedTuple):
    """A request that accepted nothing, so that nothing tells its draft length."""

    rounds: int
    group: Labels
    name: str


def claims_meta_info(value: Any) -> bool:  # Any: parsed JSON
    """A response of /generate with speculative fields."""
    return any(_speculative(r.details) and not _is_sglext(value) for r in _found(value))


def claims_sglext(value: Any) -> bool:  # Any: parsed JSON
    """A response of an OpenAI endpoint with the details of speculation."""
    return any(_speculative(r.details) for r in _found(value)) and _is_sglext(value)


def _is_sglext(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("sglext"), dict)


def _speculative(details: Mapping[str, Any]) -> bool:
    return any(key in details for key in _OWN)


def _found(value: Any) -> Iterator[Request]:
    """Every request in a value, in order; a response is looked into once."""
    stack: list[tuple[Any, Mapping[str, Any]]] = [(value, {})]
    for _ in range(MOST_NODES):
        if not stack:
            return
        node, around = stack.pop()
        if isinstance(node, list):
            stack.extend((item, around) for item in reversed(node[:MOST_NODES]))
        elif isinstance(node, dict):
            request = _request(node, around)
            if request is not None:
                yield request
                continue
            inner: Mapping[str, Any] = {
                **around,
                **{k: node[k] for k in ("id", "model", "usage") if k in node},
            }
            parts = [v for v in node.values() if isinstance(v, dict | list)]
            stack.extend((part, inner) for part in reversed(parts))


def _request(node: Mapping[str, Any], around: Mapping[str, Any]) -> Request | None:
    """The request that a dict is the response of."""
    sglext, meta = node.get("sglext"), node.get("meta_info")
    if isinstance(sglext, dict) and isinstance(sglext.get("spec_tokens_details"), dict):
        usage = node.get("usage")
        tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
        return _named(sglext["spec_tokens_details"], {**around, **node}, tokens, partial=False)
    details = meta if isinstance(meta, dict) else node
    if details is node and not _speculative(node):
        return None
    partial = "finish_reason" in details and details["finish_reason"] is None
    outer = {**around, "id": details.get("id") or details.get("rid") or around.get("id")}
    return _named(details, outer, details.get("completion_tokens"), partial=partial)


def _named(
    details: Mapping[str, Any], around: Mapping[str, Any], tokens: Any, *, partial: bool
) -> Request:
    name = around.get("id")
    told = isinstance(name, str | int) and not isinstance(name, bool) and name != ""
    return Request(details, str(name)[:200] if told else None, tokens, around.get("model"), partial)


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request; a stream's last chunk speaks for it, and a repeated one counts once."""
    gammas: set[int] = set()
    held: list[_Unknown] = []
    for item in _each(values):
        if isinstance(item, _Unknown):
            if len(held) < MOST_HELD:
                held.append(item)
            else:
                yield _nothing_accepted(item, gammas)
            continue
        if isinstance(item, Record) and item.counts.gamma is not None and len(gammas) < 2:
            gammas.add(item.counts.gamma)
        yield item
    for unknown in held:
        yield _nothing_accepted(unknown, gammas)


def _nothing_accepted(unknown: _Unknown, gammas: set[int]) -> Record:
    """A request without an accepted token, with the draft length of the others."""
    rounds = unknown.rounds
    if len(gammas) == 1:
        counts = Counts.full(rounds, [0] * next(iter(gammas)))
    else:
        counts = Counts(rounds, accepted=0)
    return Record(counts, unknown.group, "request", unknown.name)


def _each(values: Iterator[Any]) -> Iterator[Item | _Unknown]:
    seen: set[int] = set()
    streams: dict[tuple[str, int], Request] = {}
    number = 0
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for place, request in enumerate(_found(value)):
            number += 1
            key = (request.name or "", place)
            if request.partial and request.name is not None and len(streams) < MOST_HELD:
                streams[key] = request
                continue
            streams.pop(key, None)
            if request.name is not None:
                mark = _mark(key, request)
                if mark in seen:
                    continue
                if len(seen) < MOST_KNOWN:
                    seen.add(mark)
            yield from _told(request, request.name or str(number))
    for (name, _), request in streams.items():
        if _speculative(request.details):
            yield finding("censored_by_stop")
            yield from _told(request, name)


def _mark(key: tuple[str, int], request: Request) -> int:
    """What only the same report of the same request has."""
    try:
        return hash((key, repr(request)))
    except RecursionError:
        return hash((key, id(request)))


def _told(request: Request, name: str) -> Iterator[Item | _Unknown]:
    model = request.model
    group: Labels = {"model_name": model} if isinstance(model, str) and model else {}
    try:
        rounds = _rounds(request.details)
        if not rounds:
            yield finding("zero_drafts", records=f"request {name}")
            return
        counts = _counts(request, rounds)
    except DomainError as error:
        yield Dropped(f"request {name}: {error}")
        return
    if counts.accepted == 0 and counts.gamma is None and "spec_accept_rate" in request.details:
        yield _Unknown(rounds, group, name)
        return
    drafted, gamma = counts.drafted, counts.gamma
    if drafted and gamma is None:
        mean = f"{drafted / rounds:.3g}"
        yield finding("variable_draft_length", mean=mean, gamma=f"at least {-(-drafted // rounds)}")
    cap = request.details.get("spec_cap_length")
    if gamma and isinstance(cap, int | float) and 0 < cap < gamma:
        yield finding("variable_draft_length", mean=f"{cap:.3g}", gamma=gamma)
        counts = Counts(rounds, None, counts.accepted, counts.accepted_at_least, gamma=counts.gamma)
    yield Record(counts, group, "request", name)


def _rounds(details: Mapping[str, Any]) -> int:
    """Verify steps; 0 where the request ended before the first."""
    histogram = _list(details)
    if details.get("spec_verify_ct") is None:
        if not histogram and any(_number(details, names) for names in (_ACCEPTED, _DRAFTED)):
            raise DomainError("its verify steps are not told")
        return sum(histogram)
    rounds = whole_number(details["spec_verify_ct"])
    if rounds is None:
        raise DomainError("spec_verify_ct is no count")
    if histogram and sum(histogram) != rounds:
        raise DomainError(f"{rounds} verify steps, and {sum(histogram)} in the histogram")
    return rounds


def _counts(request: Request, rounds: int) -> Counts:
    details, histogram = request.details, _list(request.details)
    drafted = _number(details, _DRAFTED) or None  # 0 beside verify steps: a placeholder
    accepted = _number(details, _ACCEPTED) if drafted is not None or histogram else None
    if histogram:
        total = sum(i * n for i, n in enumerate(histogram))
        if accepted is not None and accepted != total:
            raise DomainError(f"{accepted} accepted tokens, and {total} in the histogram")
        accepted = total
    if accepted is None:
        accepted = _of_tokens(request, rounds)
    if drafted is None:
        gamma = None if histogram else _gamma_of_rate(details, rounds, accepted)
    else:
        gamma = drafted // rounds if drafted % rounds == 0 else None
    if drafted is not None and accepted > drafted:
        raise DomainError(f"{accepted} accepted of {drafted} drafted tokens")
    return _assembled(rounds, drafted, accepted, gamma, histogram)


def _assembled(
    rounds: int, drafted: int | None, accepted: int, gamma: int | None, histogram: list[int]
) -> Counts:
    """The counts, complete where all drafts were full."""
    if gamma is not None and gamma <= MOST_HELD:
        if len(histogram) > gamma + 1:
            most = len(histogram) - 1
            raise DomainError(f"a round accepted {most} tokens, and drafts have {gamma}")
        if accepted > rounds * gamma:
            raise DomainError(f"{accepted} accepted tokens in {rounds} drafts of {gamma}")
        if histogram or not accepted:
            padded = (histogram or [rounds]) + [0] * gamma
            return Counts.from_histogram(padded[: gamma + 1])
        at_least = (rounds,) * gamma
        return Counts(rounds, rounds * gamma, accepted, None, at_least, gamma=gamma)
    survival = tuple(sum(histogram[i:]) for i in range(1, len(histogram)))
    return Counts(rounds, drafted, accepted, survival or None)


def _of_tokens(request: Request, rounds: int) -> int:
    """Accepted tokens: all but the prefill's and a bonus token a round."""
    tokens = whole_number(request.tokens)
    if tokens is None:
        raise DomainError("its completion tokens are not told")
    if tokens < rounds + 1:
        raise DomainError(f"{tokens} tokens in {rounds} verify steps and the prefill")
    return tokens - 1 - rounds


def _gamma_of_rate(details: Mapping[str, Any], rounds: int, accepted: int) -> int | None:
    """The draft length behind a rate of full precision; None where it is a placeholder."""
    rate = details.get("spec_accept_rate")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= 1:
        return None
    gamma = accepted / (rate * rounds)
    whole = round(gamma) if gamma < MOST_HELD else 0
    return whole if whole and abs(gamma - whole) < 1e-6 * gamma else None


def _number(details: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """One count under its names of several versions, which must agree."""
    values = {name: details[name] for name in names if details.get(name) is not None}
    counts = {whole_number(value) for value in values.values()}
    if None in counts:
        raise DomainError(f"{next(iter(values))} is no count")
    if len(counts) > 1:
        raise DomainError(f"{' and '.join(values)} differ")
    return counts.pop() if counts else None


def _list(details: Mapping[str, Any]) -> list[int]:
    """The histogram under its names of several versions, without empty ends."""
    shown = [details[name] for name in _HISTOGRAM if details.get(name) is not None]
    lists = [whole_numbers(value) for value in shown]
    if None in lists or any(len(found) > MOST_HELD for found in lists if found):
        raise DomainError("its histogram is no list of counts")
    trimmed = [_trimmed(found) for found in lists if found is not None]
    if any(found != trimmed[0] for found in trimmed):
        raise DomainError("its histograms differ")
    return trimmed[0] if trimmed else []


def _trimmed(histogram: list[int]) -> list[int]:
    while histogram and not histogram[-1]:
        histogram.pop()
    return histogram
