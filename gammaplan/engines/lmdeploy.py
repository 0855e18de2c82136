"""LMDeploy: vLLM's words at the end of its own throughput lines, and counters of the same names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gammaplan.data.findings import finding
from gammaplan.engines.base import (
    Dropped,
    ExpositionFormat,
    Item,
    LogFormat,
    Record,
    Sample,
    Word,
)
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.vllm import counters, log
from gammaplan.model.estimate import Counts

NAME = "lmdeploy"
ALIASES: tuple[str, ...] = ()
WORDS = (
    Word("Mean acceptance length", "mean_length"),
    Word("Draft acceptance rate", "pooled_rate"),
    Word("Per-position acceptance rate", "survival"),
)
MARKS = (log.MARK, b"Avg thr (in/out)")
PROOFS = ("lmdeploy:spec_decode_",)
LONGEST = 4_096  # drafted tokens that a mean length may tell of

_HEAD = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: (?:DP|Engine )(\d{1,6}))?\]")
_GAUGES = ("mean_accept_rate", "mean_accept_length", "per_position_accept_rate")


def claims(line: bytes) -> bool:
    """A throughput line that goes on with speculative decoding."""
    return b"Avg thr (in/out)" in line


def read_log(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a window; data-parallel ranks are parts that add up."""
    ranks: set[str] = set()
    for line in matching(blocks, MARKS):
        at = line.text.find(log.MARK.decode())
        if at < 0:
            if not line.whole:
                yield Dropped("a throughput line", line.offset)
            continue
        head = _HEAD.search(line.text)
        window = log.parse(line.text[at:])
        if window is None or not (line.whole or log.ends_whole(line.text)):
            yield Dropped("a SpecDecoding line", line.offset)
            continue
        rank = str(int(head[2])) if head and head[2] else ""
        ranks.add(rank)
        name = head[1] if head else line.time or ""
        for item in log.counted(window, line.instance or "", name, line.offset):
            if isinstance(item, Record) and rank:
                yield replace(item, part={"dp": rank})
            else:
                yield item
    if len(ranks) > 1:
        yield finding("multi_series", kind="ranks", names=f"{len(ranks)} of them, added up")


def read_counters(samples: Sequence[Sample]) -> Iterator[Item]:
    """The counters; the gauges of the last interval only where there are none."""
    own = [s for s in samples if s.name.startswith(PROOFS[0])]
    gauges = [s for s in own if s.name.endswith(_GAUGES)]
    counted = [s for s in own if "spec_decode_num_" in s.name]
    if gauges:
        yield finding("gauge_only")
    for item in counters.read([_with_engine(s) for s in counted]):
        if isinstance(item, Record) and "engine" in item.part:
            yield replace(item, part={"dp": item.part["engine"]})
        else:
            yield item
    if not counted:
        yield from _averages(gauges)


def _with_engine(sample: Sample) -> Sample:
    """The sample with its rank where vLLM has its engine."""
    rank = sample.labels.get("dp_rank")
    return sample if rank is None else sample._replace(labels={**sample.labels, "engine": rank})


def _averages(gauges: Sequence[Sample]) -> Iterator[Item]:
    for sample in gauges:
        if not sample.name.endswith("mean_accept_length"):
            continue
        if not 1 <= sample.value <= LONGEST:
            yield finding("bad_sample", name=sample.name, value=f"{sample.value:g}")
            continue
        yield finding("interval_average_only")
        model, rank = (sample.labels.get(k, "") for k in ("model_name", "dp_rank"))
        yield Record(
            Counts(),
            {"model_name": model} if model else {},
            part={"dp": rank} if rank else {},
            average=(sample.value, 1.0),
        )


FORMATS = (
    LogFormat("lmdeploy-log", (log.MARK,), read_log, claims),
    ExpositionFormat("lmdeploy-prom", PROOFS, PROOFS, read_counters),
)
