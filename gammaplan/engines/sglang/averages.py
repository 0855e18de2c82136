"""The server's own mean since its start: server information and the benchmark that quotes it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.sglang.settings import Settings, from_fields, remarks, simulated
from gammaplan.model.estimate import Counts

BENCH_MARKS = (b"Accept length:",)
MOST_SERVERS = 1_024
_LENGTH = re.compile(r"\bAccept length: +(\S+)")
_MEAN = "avg_spec_accept_length"


def read_bench_text(blocks: Iterator[Block]) -> Iterator[Item]:
    """The last report: each quotes the mean of the server's whole life."""
    last: float | None = None
    reports = 0
    for line in matching(blocks, BENCH_MARKS):
        match = _LENGTH.search(line.text)
        if match is None:
            if not line.whole:
                yield Dropped("an Accept length", line.offset)
            continue
        if not re.fullmatch(r"\d{1,4}\.\d\d+|-?nan", match[1]):
            yield Dropped("an Accept length", line.offset)
            continue
        reports += 1
        last = float(match[1])
    if reports:
        yield from _mean(last, Settings(), {})
    if reports > 1:
        yield finding("cumulative_log")


def claims_bench(value: Any) -> bool:  # Any: parsed JSON
    """A result of bench_serving."""
    return isinstance(value, dict) and "accept_length" in value and "completed" in value


def read_bench_json(values: Iterator[Any]) -> Iterator[Item]:
    """The last result of each server."""
    yield from _last_of_each(values, _of_bench)


def _of_bench(value: Mapping[str, Any]) -> Iterator[tuple[str, Any, Settings]]:
    info = value.get("server_info")
    fields = info if isinstance(info, dict) else value
    if value.get("accept_length") is not None:
        yield "", value["accept_length"], from_fields(fields)


def claims_server_info(value: Any) -> bool:  # Any: parsed JSON
    """An answer of /server_info or /get_server_info."""
    return isinstance(value, dict) and any(_MEAN in state for _, state in _states(value))


def read_server_info(values: Iterator[Any]) -> Iterator[Item]:
    """The last answer of each server, a record for each of its schedulers."""
    yield from _last_of_each(values, _of_server)


def _of_server(value: Mapping[str, Any]) -> Iterator[tuple[str, Any, Settings]]:
    args = value.get("server_args")
    settings = from_fields({**value, **args} if isinstance(args, dict) else value)
    for index, state in _states(value):
        if state.get(_MEAN) is not None:
            yield index, state[_MEAN], settings


def _states(value: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    states = value.get("internal_states")
    if isinstance(states, list):
        several = len(states) > 1
        found = [(f"DP{i}" if several else "", s) for i, s in enumerate(states)]
        return [(name, s) for name, s in found if isinstance(s, dict)]
    return [("", value)]


def _last_of_each(values: Iterator[Any], parts: Any) -> Iterator[Item]:
    """Means since the start: a later one of the same server contains the earlier."""
    servers: dict[tuple[str, str], tuple[Any, Settings]] = {}
    again = False
    for value in values:
        if isinstance(value, Dropped):
            yield value
        elif isinstance(value, dict):
            if setting := _faked(value):
                yield finding("synthetic_acceptance", setting=setting)
                continue
            for rank, mean, settings in parts(value):
                key = (settings.model or "", rank)
                again |= key in servers
                if key in servers or len(servers) < MOST_SERVERS:
                    servers[key] = (mean, settings)
    ranks = [rank for _, rank in servers if rank]
    if len(ranks) > 1:
        yield finding("multi_series", kind="ranks", names=", ".join(ranks[:8]))
    if again:
        yield finding("cumulative_log")
    for (_, rank), (mean, settings) in servers.items():
        yield from _mean(mean, settings, {"rank": rank} if rank else {})


def _faked(value: Mapping[str, Any]) -> str | None:
    plain = (f"{k}={v}" for k, v in value.items() if isinstance(v, str | int | float))
    return next(filter(None, map(simulated, plain)), None)


def _mean(mean: Any, settings: Settings, part: Labels) -> Iterator[Item]:
    """One mean without counts; every one weighs the same."""
    number = not isinstance(mean, bool) and isinstance(mean, int | float) and abs(mean) < 1e15
    if number and mean == 0:
        yield finding("zero_drafts", records="the server")
        return
    gamma = settings.gamma if not settings.adaptive else None
    most = gamma + 1 if gamma is not None else 4_096
    if not number or not 1 <= mean <= most:
        shown = f"{mean:g}" if number else "that is no number"
        limit = f", and drafts have at most {gamma} tokens" if gamma is not None else ""
        yield Dropped(f"a mean accept length {shown}{limit}")
        return
    yield from remarks(settings)
    yield finding("interval_average_only")
    group: Labels = {"model_name": settings.model} if settings.model else {}
    counts = Counts(gamma=gamma)
    yield Record(counts, group, part=part, average=(float(mean), 1.0), tree=settings.tree)
