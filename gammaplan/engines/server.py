"""A Prometheus server: raw samples of the counters that engines want, differenced here.

The HTTP API's instant query of a range-vector selector (``{...}[6h]``) gives
the samples as they were scraped. ``increase()`` and ``rate()`` extrapolate to
the ends of the range, so they are no counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar
from urllib.parse import urlencode

import msgspec
import numpy as np

from gammaplan.data.findings import finding
from gammaplan.engines.addresses import Access
from gammaplan.engines.base import ExpositionFormat, Item, Record, Sample
from gammaplan.engines.fetch import Answer, TooLarge, fetch, refusal
from gammaplan.engines.files import Asked, Input, Period
from gammaplan.engines.groups import collect
from gammaplan.engines.lines import named
from gammaplan.engines.prometheus import INDEXES
from gammaplan.engines.reading import Candidate, families_of, recognised, settings_of
from gammaplan.engines.series import Gains, Raw
from gammaplan.errors import Finding, InputError
from gammaplan.model.arrays import Floats

LARGEST_ANSWER = 32 * 2**20  # bytes; a larger one is asked for in shorter stretches
SHORTEST = 60.0  # seconds: the shortest stretch that is asked for
_T = TypeVar("_T")


class _Matrix(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []


class _Data(msgspec.Struct):
    result: list[_Matrix]


class _Now(msgspec.Struct):
    result: tuple[float, float]


class _Body(msgspec.Struct):
    status: str
    error: str = ""
    warnings: list[str] = []
    data: msgspec.Raw = msgspec.Raw()


def collect_fleet(base: str, seconds: float, *, asked: Asked) -> list[Input]:
    """What the counters of all engines that a server knows gained in the last `seconds`.

    Each target is recognised as a page of its own, and the targets of one
    format are an input together. `asked.by` may be any label of theirs.

    Raises
    ------
    InputError
        If the server cannot be read, or is no Prometheus.
    """
    known = [c for c in asked.wanted.candidates() if isinstance(c.format, ExpositionFormat)]
    gains = Gains(settings_of(known))
    said: list[Finding] = []
    now = clock(base, asked.access, said)
    read = False
    try:
        for stretch in stretches(base, families_of(known), now - seconds, now, asked.access, said):
            gains.add(stretch)
            read = True
    except InputError as error:
        if not read:
            raise
        said.append(finding("unreachable", reason=error))
    return list(inputs_of(base, gains, said, known, asked))


def clock(base: str, access: Access, said: list[Finding]) -> float:
    """The unix time of a server."""
    return _query(base, {"query": "time()"}, _Now, access, said).result[0]


def stretches(
    base: str,
    families: Sequence[str],
    start: float,
    end: float,
    access: Access,
    said: list[Finding],
) -> Iterator[list[Raw]]:
    """The raw samples from `start` to `end`, in stretches that are small enough to hold."""
    names = f'{{__name__=~".*({"|".join(families)}).*",__name__!~".*_created"}}'
    at, span = start, end - start
    while at < end:
        until = min(at + span, end)
        # Two milliseconds back into the last stretch: what is read twice counts once.
        query = f"{names}[{round(1000 * (until - at)) + 2}ms]"
        try:
            asked = {"query": query, "time": f"{until:.3f}"}
            found = _query(base, asked, _Data, access, said).result
        except TooLarge:
            if span <= SHORTEST:
                raise
            span /= 2
            continue
        yield [Raw(series.metric, _rows(base, series.values)) for series in found]
        at = until


def _rows(base: str, values: Sequence[tuple[float, str]]) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64).reshape(-1, 2)
    except ValueError:
        raise InputError(f"{named(base)}: answers, but not as a Prometheus server does") from None


def _query(
    base: str, asked: dict[str, str], kind: type[_T], access: Access, said: list[Finding]
) -> _T:
    """The data of one query of the HTTP API."""
    url = f"{base.rstrip('/')}/api/v1/query"
    answer = fetch(f"{url}?{urlencode(asked)}", access, limit=LARGEST_ANSWER)
    if answer.cut:
        raise InputError(f"{named(url)}: {answer.cut}")
    try:
        body = msgspec.json.decode(bytes(answer.body), type=_Body)
        if body.status != "success":
            _refuse(url, answer, body, access)
        data = msgspec.json.decode(body.data, type=kind, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError):
        reason = "answers, but not as a Prometheus server does"
        if answer.status != 200:
            reason = refusal(answer, access)
        raise InputError(f"{named(url)}: {reason}") from None
    if body.warnings and not said:
        said.append(finding("server_warning", text=f"{body.warnings[0]:.200}"))
    return data


def _refuse(url: str, answer: Answer, body: _Body, access: Access) -> NoReturn:
    if "too many samples" in body.error:
        raise TooLarge(f"{named(url)}: {body.error:.200}")
    reason = refusal(answer, access)
    raise InputError(f"{named(url)}: {reason}: {body.error:.200}" if body.error else reason)


def inputs_of(
    base: str, gains: Gains, said: list[Finding], known: Sequence[Candidate], asked: Asked
) -> Iterator[Input]:
    """An input for each format that the targets have."""
    found = [*said, *gains.findings()]
    targets: dict[tuple[str, str], list[Sample]] = {}
    samples = gains.samples()
    for sample in samples:
        targets.setdefault(_place(sample), []).append(sample)
    formats: dict[str, tuple[Candidate, list[Sample]]] = {}
    for page in targets.values():
        candidate = recognised(page, known)
        if candidate is not None:
            formats.setdefault(candidate.format.name, (candidate, []))[1].extend(page)
    spans = {name: gains.span(own) for name, (_, own) in formats.items()}
    for name, (candidate, own) in formats.items():
        if (span := spans[name]) is not None:
            one = _input(base, candidate, own, found, asked)
            one.period = Period(*span)
            yield one
            found = []
    if not any(spans.values()):
        why = "the server has no series of a known engine in the range"
        if samples:
            why = "a difference needs two samples of a counter, and the range has one"
        found.append(finding("no_spec_data", hint=f" ({why})"))
        yield Input(named(base), None, None, collect(found))


def _place(sample: Sample) -> tuple[str, str]:
    """The target that a sample was scraped from."""
    return sample.labels.get("job", ""), sample.labels.get("instance", "")


def _input(
    base: str,
    candidate: Candidate,
    samples: Sequence[Sample],
    found: Iterable[Finding],
    asked: Asked,
) -> Input:
    form = candidate.format
    assert isinstance(form, ExpositionFormat)
    own = [s for s in samples if any(f in s.name for f in form.families)]
    keys = _labels_of(own)
    said = collect(
        [*found, *_items(form, own, asked.by if asked.by in keys else None)], by=asked.by
    )
    if asked.by:
        said.keys |= keys
    return Input(named(base), candidate.engine.NAME, form.name, said)


def _labels_of(samples: Sequence[Sample]) -> set[str]:
    """The labels that all series of a target have: what they may be told apart by."""
    shared: dict[tuple[str, str], set[str]] = {}
    for sample in samples:
        labels = {k for k in sample.labels if k not in INDEXES}
        place = _place(sample)
        shared[place] = shared[place] & labels if place in shared else labels
    return set().union(*shared.values())


def _items(form: ExpositionFormat, samples: Sequence[Sample], by: str | None) -> Iterator[Item]:
    """What the format makes of the samples; with `by`, of those of each value of that label."""
    if by is None:
        yield from form.read(samples)
        return
    values: dict[str, list[Sample]] = {}
    for sample in samples:
        values.setdefault(sample.labels.get(by, ""), []).append(sample)
    for value, own in sorted(values.items()):
        for item in form.read(own):
            if isinstance(item, Record) and value:
                yield replace(item, part={**item.part, by: value})
            else:
                yield item
