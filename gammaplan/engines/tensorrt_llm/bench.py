"""trtllm-bench: averages over requests, from which the sums follow; the prefill is a round."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

MARKS = (
    b"DECODING STATISTICS",
    b"Number of requests:",
    b"Average Output Length",
    b"[DT] AVERAGE",
    b"[ADT] AVERAGE",
)
LONGEST = 256  # drafted tokens that are tried
MOST_REQUESTS = 10**9

_TEXT = {
    "requests": re.compile(r"Number of requests: +(\d{1,9})()$"),
    "output": re.compile(r"Average Output Length \(tokens\): +(\d{1,12}\.(\d{1,12}))$"),
    "drafted": re.compile(r"\[DT\] AVERAGE *: +(\d{1,12}\.(\d\d+))$"),
    "accepted": re.compile(r"\[ADT\] AVERAGE *: +(\d{1,12}\.(\d\d+))$"),
}


class Average(NamedTuple):
    """A mean over requests, and half a unit of its last digit."""

    value: float
    half: float

    def sums(self, requests: int) -> range:
        """The whole numbers that the sum over the requests may be."""
        slack = 1e-9 * max(1.0, self.value * requests)
        low = (self.value - self.half) * requests - slack
        return range(math.ceil(low), math.floor(low + 2 * (self.half * requests + slack)) + 1)


@dataclass
class Report:
    """What one report has said so far."""

    requests: int | None = None
    averages: dict[str, Average] = field(default_factory=dict)
    begun: bool = False  # its statistics of decoding


def read_text(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a report."""
    report = Report()
    for line in matching(blocks, MARKS):
        text = line.text.rstrip()
        if line.instance in {"DT", "ADT"}:  # looks like the prefix of a container
            text = f"[{line.instance}] {text}"
        if "DECODING STATISTICS" in text:
            if report.begun:
                yield from _told(report)
                report = Report()
            report.begun = True
            continue
        if "Number of requests:" in text and report.begun:
            yield from _told(report)
            report = Report()
        found = ((k, m) for k, p in _TEXT.items() if (m := p.search(text)))
        key, match = next(found, ("", None))
        if match is None:
            continue
        if key == "requests":
            report.requests = int(match[1])
        else:
            report.averages[key] = Average(float(match[1]), 0.5 * 10.0 ** -len(match[2]))
    if report.begun:
        yield from _told(report)


def claims_json(value: Any) -> bool:  # Any: parsed JSON
    """A report with statistics of decoding."""
    return next(_stats(value), None) is not None


def _stats(value: Any) -> Iterator[tuple[Mapping[str, Any], Any]]:
    for node, _ in parts(value, lambda node: isinstance(node.get("decoding_stats"), dict)):
        if any(str(key).startswith("num_draft_tokens") for key in node["decoding_stats"]):
            yield node, node["decoding_stats"]


def read_json(values: Iterator[Any]) -> Iterator[Item]:
    """A record a report."""
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        for node, stats in _stats(value):
            info = node.get("request_info")
            info = info if isinstance(info, dict) else node
            report = Report(whole_number(info.get("num_requests")), begun=True)
            shown = {
                "output": info.get("avg_output_length"),
                "drafted": _average(stats.get("num_draft_tokens_percentiles")),
                "accepted": _average(stats.get("num_accepted_draft_tokens_percentiles")),
            }
            for key, number in shown.items():
                if _is_amount(number):
                    report.averages[key] = Average(float(number), 0.0)
            yield from _told(report)


def _average(percentiles: Any) -> Any:
    return percentiles.get("average") if isinstance(percentiles, dict) else None


def _is_amount(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value < 1e12


def _told(report: Report) -> Iterator[Item]:
    """The sums behind one report's averages."""
    requests, averages = report.requests, report.averages
    if "drafted" not in averages or "accepted" not in averages:
        yield Dropped("a benchmark's decoding statistics without their averages")
        return
    if not requests or requests > MOST_REQUESTS:
        yield Dropped("a benchmark's decoding statistics without the number of requests")
        return
    drafted, accepted = averages["drafted"], averages["accepted"]
    if drafted.value == 0:
        yield finding("zero_drafts", records="the benchmark")
        return
    if accepted.value > drafted.value + accepted.half + drafted.half:
        what = f"{accepted.value:g} accepted of {drafted.value:g} drafted tokens on average"
        yield Dropped(f"a benchmark with {what}")
        return
    yield finding("macro_average")
    yield finding("includes_prefill")
    counts, exact = _sums(requests, averages)
    if not exact:
        yield finding("rounding_only")
    yield Record(counts)


def _sums(requests: int, averages: Mapping[str, Average]) -> tuple[Counts, bool]:
    """The counts, and whether the printed digits leave no other.

    Accepted tokens are the output less one token an iteration, and drafted tokens the draft
    length times the iterations, so the three averages tell all three sums and the length.
    """
    drafted, accepted = (averages[k].sums(requests) for k in ("drafted", "accepted"))
    nearest = [round(averages[k].value * requests) for k in ("drafted", "accepted")]
    if "output" in averages:
        output = averages["output"].sums(requests)
        near = round(averages["output"].value * requests)
        found = _explained(drafted, accepted, output, near - nearest[1])
        if found is not None:
            gamma, rounds, exact = found
            kept = min(max(near - rounds, accepted[0]), accepted[-1])
            kept = min(kept, rounds * gamma)
            exact = exact and len(output) == 1
            return _full(rounds, gamma, kept), exact
    exact = len(drafted) == len(accepted) == 1
    return Counts(drafted=nearest[0], accepted=min(nearest[1], nearest[0])), exact


def _full(rounds: int, gamma: int, accepted: int) -> Counts:
    if accepted == 0:
        return Counts.full(rounds, [0] * gamma)
    return Counts(rounds, rounds * gamma, accepted, None, (rounds,) * gamma, gamma=gamma)


def _explained(
    drafted: range, accepted: range, output: range, near: int
) -> tuple[int, int, bool] | None:
    """The one draft length that fits, with the iterations nearest to `near`; None if several."""
    if not (drafted and accepted and output):
        return None
    fits: list[tuple[int, int, bool]] = []
    for gamma in range(1, LONGEST + 1):
        low = max(-(-drafted[0] // gamma), output[0] - accepted[-1], 1)
        high = min(drafted[-1] // gamma, output[-1] - accepted[0])
        if low <= high:
            fits.append((gamma, min(max(near, low), high), low == high))
    return fits[0] if len(fits) == 1 else None
