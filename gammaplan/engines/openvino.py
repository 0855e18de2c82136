"""OpenVINO GenAI: what its sample prints of both models, and its internal metrics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, LogFormat, Record, Word
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.model.estimate import Counts

NAME = "openvino"
ALIASES = ("openvino-genai",)
WORDS = (Word("Accepted token rate, %", "pooled_rate"),)
SAMPLE_MARKS = (
    b"MAIN MODEL",
    b"Num accepted token:",
    b"DRAFT MODEL",
    b"Num generated token:",
    b"Total iteration number:",
)
METRICS_MARKS = (
    b"AVG acceptance rate, %:",
    b"Accepted token rate, %:",
    b"Main model iterations:",
    b"Accepted tokens by draft model:",
    b"Generated tokens",
    b"REQUEST_ID:",
)
CLOSE = 1e-4  # of a printed percentage: float32

_RATE, _DRAFTED = "Accepted token rate, %", "Generated tokens by draft model"
_COUNT = re.compile(
    r"(Num generated token|Total iteration number|Num accepted token):\s*(\d{1,12})(?!\d)"
)
_FIGURE = re.compile(
    r"(Accepted token rate, %|Main model iterations|Accepted tokens by draft model"
    r"|Generated tokens(?: by draft model)?|REQUEST_ID):\s*([\d.]{1,24}|-?nan(?:\(ind\))?)\s*$"
)


def claims(line: bytes) -> bool:
    """The heading of the target's figures."""
    return line.split()[-2:] == [b"MAIN", b"MODEL"]


@dataclass
class Run:
    """The counts of one run, by model and name."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    model: str = ""
    offset: int = -1


def read_sample(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a run of the sample."""
    run, index = Run(), 0
    for line in matching(blocks, SAMPLE_MARKS):
        if "MAIN MODEL" in line.text and run.counts:
            index += 1
            yield from _told(run, index)
            run = Run()
        if "MAIN MODEL" in line.text or "DRAFT MODEL" in line.text:
            run.model = "main" if "MAIN" in line.text else "draft"
        elif match := _COUNT.search(line.text):
            run.offset = line.offset if run.offset < 0 else run.offset
            if line.whole or not line.text.endswith(match[2]):
                run.counts.setdefault((run.model, match[1]), int(match[2]))
    if run.counts:
        yield from _told(run, index + 1)


def _told(run: Run, index: int) -> Iterator[Item]:
    iterations = run.counts.get(("main", "Total iteration number"))
    accepted = run.counts.get(("main", "Num accepted token"))
    drafted = run.counts.get(("draft", "Num generated token"))
    if iterations is None or accepted is None or drafted is None:
        yield Dropped("a run without its iterations, accepted or drafted tokens", run.offset)
        return
    if accepted > drafted:
        yield Dropped(f"a run with {accepted} accepted of {drafted} drafted tokens", run.offset)
        return
    if not drafted or iterations < 2:
        yield finding("zero_drafts", records="a run")
        return
    yield finding("includes_prefill")
    yield from _varying(iterations - 1, drafted)
    yield Record(Counts(iterations - 1, drafted, accepted), unit="request", name=f"{index}")


def _varying(rounds: int, drafted: int) -> Iterator[Item]:
    if drafted % rounds:
        mean = f"{drafted / rounds:.2f}"
        yield finding("variable_draft_length", mean=mean, gamma="an unknown longest")


def read_metrics(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a request; the averages of the whole run repeat the requests."""
    request: dict[str, str] = {}
    index = 0
    for line in matching(blocks, METRICS_MARKS):
        if "AVG acceptance rate" in line.text:
            yield finding("macro_average")
            continue
        match = _FIGURE.search(line.text)
        if match is None or not (line.whole or match[1] == _RATE):
            yield Dropped("a figure of a run", line.offset)
            continue
        if match[1] in request or match[1] == "REQUEST_ID":
            request = {}
        request[match[1]] = match[2]
        if match[1] == _RATE:  # the last of a request
            index += 1
            yield from _request(request, line, request.get("REQUEST_ID", f"{index}"))
            request = {}


def _request(figures: dict[str, str], line: Line, name: str) -> Iterator[Item]:
    """The counts, as far as the version prints them, and the rate."""
    if "nan" in figures[_RATE]:
        yield finding("nan_rate", records="a request")
        return
    try:
        rate = float(figures[_RATE]) / 100
        accepted, drafted, generated = (
            int(figures[k]) if k in figures else None
            for k in ("Accepted tokens by draft model", _DRAFTED, "Generated tokens")
        )
    except ValueError:
        yield Dropped("a figure of a run", line.offset)
        return
    if not 0 <= rate <= 1 or (accepted is not None and drafted is not None and accepted > drafted):
        yield Dropped("a request with more accepted than drafted tokens", line.offset)
        return
    if accepted and generated and abs(accepted / generated - rate) <= CLOSE:
        yield finding("rate_of_output")
        yield Record(Counts(accepted=accepted), unit="request", name=name)
        return
    if not rate and not drafted:
        yield finding("zero_drafts", records=f"request {name}")
        return
    if drafted is None and accepted:
        drafted = round(accepted / rate)
        yield finding("rounding_only")
    elif accepted is None and drafted is not None:
        accepted = round(drafted * rate)
        yield finding("rounding_only")
    counts = Counts(drafted=drafted, accepted=accepted)
    yield Record(counts, unit="request", name=name, rate=rate)


FORMATS = (
    LogFormat("openvino-console", SAMPLE_MARKS[:1], read_sample, claims),
    LogFormat("openvino-metrics", METRICS_MARKS[:1], read_metrics),
)
