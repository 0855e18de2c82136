"""guidellm: the server's counters, where they were among the metrics that it scraped."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, Record, Sample, Word
from gammaplan.engines.vllm import counters
from gammaplan.engines.walk import parts

NAME = "guidellm"
ALIASES: tuple[str, ...] = ()
WORDS: tuple[Word, ...] = ()
LARGEST = 2.0**53
_FAMILY = "spec_decode_num_"
_DRAFTS, _TOKENS = "spec_decode_num_drafts", "spec_decode_num_draft_tokens"
_ACCEPTED, _POSITION = "spec_decode_num_accepted_tokens", "spec_decode_num_accepted_tokens_per_pos"
_HINT = (
    " (guidellm keeps times and tokens: name the server's spec_decode_num_* among the metrics "
    "to scrape, or fit the server's own page)"
)


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A report of benchmarks."""
    if not isinstance(value, dict) or not isinstance(value.get("benchmarks"), list):
        return False
    metadata = value.get("metadata")
    named = isinstance(metadata, dict) and "guidellm_version" in metadata
    return named or any(True for b in value["benchmarks"] for _ in _scraped(b))


def _scraped(benchmark: Any) -> Iterator[Mapping[str, Any]]:
    """The counters that were scraped during one benchmark; its requests are not looked through."""
    if isinstance(benchmark, dict):
        rest = {key: x for key, x in benchmark.items() if key != "requests"}
        for node, _ in parts(rest, _has_counters):
            yield node["counters"]


def _has_counters(node: Mapping[str, Any]) -> bool:
    families = node.get("counters")
    return isinstance(families, dict) and any(_FAMILY in str(name) for name in families)


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record for each benchmark and model: what the counters gained, interpolated at its ends."""
    found = reports = False
    for value in values:
        if isinstance(value, Dropped):
            yield value
        elif claims(value):
            reports = True
            for number, benchmark in enumerate(value["benchmarks"], 1):
                for families in _scraped(benchmark):
                    found = True
                    yield from _read(families, f"{number}")
    if reports and not found:
        yield finding("no_spec_data", hint=_HINT)


def _read(families: Mapping[str, Any], number: str) -> Iterator[Item]:
    gained = list(_samples(families))
    if any(isinstance(s, Dropped) for s in gained):
        yield Dropped(f"the server's counters in benchmark {number}")
        return
    samples = [s for s in gained if isinstance(s, Sample)]
    if any(s.value != int(s.value) for s in samples):
        yield finding("rounding_only")
    for item in counters.read(list(_whole(samples))):
        if isinstance(item, Record):
            yield replace(item, part={**item.part, "benchmark": number})
        else:
            yield item


def _samples(families: Mapping[str, Any]) -> Iterator[Sample | Dropped]:
    """What each series gained; families have their names with and without `_total`."""
    for name, rows in families.items():
        for row in rows if _FAMILY in name and isinstance(rows, list) else ():
            series = row if isinstance(row, dict) else {}
            labels, gain = series.get("labels"), _gain(series.get("increase"))
            if gain is None or not isinstance(labels, dict):
                yield Dropped("a series")
            else:
                known = {str(k): str(v) for k, v in labels.items()}
                yield Sample(name.removesuffix("_total"), known, gain)


def _gain(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= LARGEST else None


def _whole(samples: list[Sample]) -> Iterator[Sample]:
    """Whole numbers that agree as the counters do: the sum of the positions, full drafts."""
    rows: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
    positions: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}
    for name, labels, value in samples:
        server = tuple(sorted((k, v) for k, v in labels.items() if k != "position"))
        if name.endswith(_POSITION):
            positions.setdefault(server, {})[labels.get("position", "")] = round(value)
        else:
            rows.setdefault(server, {})[_FAMILY + name.partition(_FAMILY)[2]] = value
    for server, row in rows.items():
        at = positions.get(server, {})
        gained = {name: round(value) for name, value in row.items()}
        full = gained.get(_DRAFTS, 0) * len(at)
        if at and abs(row.get(_TOKENS, 0.0) - full) <= len(at):
            gained[_TOKENS] = full
        if at and abs(row.get(_ACCEPTED, 0.0) - sum(at.values())) <= len(at):
            gained[_ACCEPTED] = sum(at.values())
        for name, count in gained.items():
            yield Sample(name, dict(server), count)
        for position, count in at.items():
            yield Sample(_POSITION, {**dict(server), "position": position}, count)


FORMATS = (JsonFormat("guidellm-json", claims, read),)
