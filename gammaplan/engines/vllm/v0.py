"""The V0 engine: running totals whose accepted tokens are no accepted prefix."""

import re
from collections.abc import Iterator, Sequence

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record, Sample
from gammaplan.engines.lines import Block, matching
from gammaplan.model.estimate import Counts

MARKS = (b"Speculative metrics: ",)
PROOFS = ("spec_decode_efficiency", "spec_decode_num_emitted_tokens")
FAMILIES = ("spec_decode_",)

_KEYS = {
    "gamma": re.compile(r"Number of speculative tokens: (\d+)[,.]"),
    "accepted": re.compile(r"Number of accepted tokens: (\d+)[,.]"),
    "drafted": re.compile(r"Number of draft tokens(?: tokens)?: (\d+)[,.]"),
    "emitted": re.compile(r"Number of emitted tokens(?: tokens)?: (\d+)\."),
}


def read_log(blocks: Iterator[Block]) -> Iterator[Item]:
    """The last line of each engine process: they are running totals.

    A fall means that the process was restarted, so what it had before counts too.
    """
    last: dict[str, tuple[int, int, int]] = {}
    seen = False
    for line in matching(blocks, MARKS):
        found = {name: key.search(line.text) for name, key in _KEYS.items()}
        figures = [int(match[1]) for match in found.values() if match]
        if len(figures) < len(found) or "Number of emitted" not in line.text:
            yield Dropped("a Speculative metrics line", line.offset)
            continue
        gamma, _, drafted, emitted = figures
        key = line.instance or ""
        before = last.get(key)
        if before and (drafted < before[1] or emitted < before[2]):
            yield finding("counter_reset", processes=1)
            yield from _record(key, *before)
        last[key] = (gamma, drafted, emitted)
        seen = True
    if seen:
        yield finding("cumulative_log")
        if any(emitted > drafted // max(gamma, 1) for gamma, drafted, emitted in last.values()):
            yield finding("unconditional_positions")
    for key, totals in last.items():
        yield from _record(key, *totals)


def _record(instance: str, gamma: int, drafted: int, emitted: int) -> Iterator[Item]:
    """Every round emits its accepted prefix and one more token."""
    group = {"container": instance} if instance else {}
    if gamma == 0 or drafted == 0:
        yield finding("zero_drafts", records="a log")
        return
    rounds, rest = divmod(drafted, gamma)
    accepted = emitted - rounds
    if rest or not 0 <= accepted <= drafted:
        yield Dropped(
            f"totals that no rounds of {gamma} tokens give: {drafted} drafted, {emitted} emitted"
        )
    elif accepted == 0:
        yield Record(Counts.full(rounds, (0,) * gamma), group)
    else:
        yield Record(Counts(rounds, drafted, accepted, gamma=gamma), group)


def read_exposition(samples: Sequence[Sample]) -> Iterator[Item]:
    """Nothing to count with: this exporter adds running totals at every interval."""
    yield finding("snapshot_double_count")
    yield finding("unconditional_positions")
    rates = {
        s.labels.get("model_name", ""): s.value
        for s in samples
        if s.name.endswith("spec_decode_draft_acceptance_rate")
    }
    for model, rate in rates.items() or {"": None}.items():
        group = {"model_name": model} if model else {}
        yield Record(Counts(), group, rate=rate, unusable=True)
