"""MLC-LLM: counts by step of the draft, of which step 0 is the target's own token."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, LogFormat, Record, Word
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.responses import group_of
from gammaplan.engines.values import whole_numbers
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

NAME = "mlc-llm"
ALIASES = ("mlc",)
WORDS = (
    Word("accept_prob", "survival"),
    Word("accept_rate", "hazards"),
    Word("accept_len of the last step", "mean_length"),
)
MARKS = (b"spec_decode_accept_prob_",)
CLOSE = 1e-6  # of a ratio: what float32 and printing may add
LONGEST = 4_096
_PROB = re.compile(r"spec_decode_accept_prob_accept_prob\{step=(\d{1,6})\}\s+(\S+)\s*$")


def _is_metrics(node: Any) -> bool:  # Any: parsed JSON
    return "draft_count" in node and "accept_count" in node


def claims(value: Any) -> bool:  # Any: parsed JSON
    """The engine's metrics, wherever they stand in the value."""
    return next(parts(value, _is_metrics), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record for each set of metrics; they are totals since the engine started."""
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for node, around in parts(value, _is_metrics):
            counts = _counts(node)
            if isinstance(counts, str):
                yield Dropped(counts)
            elif not counts.drafted:
                yield finding("zero_drafts", records="an engine")
            else:
                if counts.rejections is None:
                    mean = f"{counts.drafted / (counts.rounds or 1):.2f}"
                    yield finding("variable_draft_length", mean=mean, gamma=counts.gamma)
                yield Record(counts, group_of(around[0]) if around else {})


def _counts(node: Any) -> Counts | str:  # Any: parsed JSON
    """Counts without step 0: its token is the target's and always accepted."""
    drafted, accepted = whole_numbers(node["draft_count"]), whole_numbers(node["accept_count"])
    if drafted is None or accepted is None:
        return "metrics whose counts are cut or no whole numbers"
    accepted += [0] * (len(drafted) - len(accepted))
    if len(accepted) > len(drafted) or len(drafted) > LONGEST:
        return f"metrics of {len(accepted)} accepted and {len(drafted)} drafted steps"
    if any(a > d for a, d in zip(accepted, drafted, strict=True)):
        return "metrics with more accepted than drafted tokens in a step"
    for row in (drafted, accepted):
        if any(later > earlier for earlier, later in pairwise(row)):
            return "metrics whose counts rise with the step"
    rounds, tried, kept = (drafted or [0])[0], drafted[1:], accepted[1:]
    if not any(tried):
        return Counts(rounds, 0, 0)
    if tried[-1] == rounds:
        return Counts.full(rounds, kept)
    return Counts(rounds, sum(tried), sum(kept), tuple(kept), tuple(tried), gamma=len(tried))


def read_text(blocks: Iterator[Block]) -> Iterator[Item]:
    """The metrics page: ratios only, a set of them for each page in the input."""
    page: dict[int, float] = {}
    for line in matching(blocks, MARKS):
        step = _step(line)
        if isinstance(step, Dropped):
            yield step
        else:
            if step[0] in page:
                yield from _averages(page)
                page = {}
            page[step[0]] = step[1]
    yield from _averages(page)


def _step(line: Line) -> tuple[int, float] | Dropped:
    if match := _PROB.search(line.text):
        with suppress(ValueError):
            return int(match[1]), float(match[2])
    return Dropped("a metrics line", line.offset)


def _averages(page: dict[int, float]) -> Iterator[Item]:
    """The mean length is the sum of the shares of rounds that accepted each step."""
    steps = [page[i] for i in range(len(page)) if i in page]
    if not page:
        return
    if any(math.isnan(p) for p in page.values()) or len(page) == 1:
        yield finding("zero_drafts", records="an engine")
        return
    falls = all(later <= earlier + CLOSE for earlier, later in pairwise(steps))
    if len(steps) < len(page) or abs(steps[0] - 1) > CLOSE or not falls or steps[-1] < 0:
        yield Dropped("a metrics page whose steps are cut or contradict each other")
        return
    yield finding("interval_average_only")
    yield Record(Counts(gamma=len(steps) - 1), average=(sum(steps), 1.0))


FORMATS = (
    LogFormat("mlc-metrics-text", MARKS, read_text),
    JsonFormat("mlc-metrics-json", claims, read),
)
