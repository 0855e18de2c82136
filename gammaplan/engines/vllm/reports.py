"""What vLLM's benchmark and its offline example print after a run."""

import re
from collections.abc import Iterator
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.values import fractions, whole_number
from gammaplan.model.consistency import rounded_counts
from gammaplan.model.estimate import Counts

BENCH_MARKS = (
    b"-Speculative Decoding-",
    b"Draft tokens:",
    b"Drafts:",
    b"Accepted tokens:",
    b"  Position ",
)
OFFLINE_MARKS = (
    b"num_drafts:",
    b"num_draft_tokens:",
    b"num_accepted_tokens:",
    b"acceptance at token ",
)
_BENCH = re.compile(r"^\s*(Drafts|Draft tokens|Accepted tokens|Position (\d+)):\s+([\d.,]+)\s*$")
_OFFLINE = re.compile(
    r"^\s*(num_drafts|num_draft_tokens|num_accepted_tokens|acceptance at token (\d+)): ([\d.]+)\s*$"
)
_FIELDS = {
    "Drafts": "rounds",
    "Draft tokens": "drafted",
    "Accepted tokens": "accepted",
    "num_drafts": "rounds",
    "num_draft_tokens": "drafted",
    "num_accepted_tokens": "accepted",
}


def read_bench_text(blocks: Iterator[Block]) -> Iterator[Item]:
    """One record a benchmark; positions are percent with two decimals."""
    yield from _read(blocks, BENCH_MARKS, _BENCH, scale=100, half_unit=5e-5)


def read_offline(blocks: Iterator[Block]) -> Iterator[Item]:
    """One record a run of the example; positions are fractions with two decimals."""
    yield from _read(blocks, OFFLINE_MARKS, _OFFLINE, scale=1, half_unit=5e-3)


def _read(
    blocks: Iterator[Block],
    marks: tuple[bytes, ...],
    pattern: re.Pattern[str],
    *,
    scale: float,
    half_unit: float,
) -> Iterator[Item]:
    totals: dict[str, int] = {}
    rates: list[float] = []
    for line in matching(blocks, marks):
        match = pattern.match(line.text)
        if match is None:
            if "Speculative Decoding" in line.text and totals:
                yield from _report(totals, rates, half_unit)
                totals, rates = {}, []
            continue
        if match[2] is not None:
            if int(match[2]) == len(rates):
                rates.append(float(match[3]) / scale)
            continue
        field = _FIELDS[match[1]]
        if field == "rounds" and "rounds" in totals:
            yield from _report(totals, rates, half_unit)
            totals, rates = {}, []
        totals[field] = int(match[3].replace(",", "").partition(".")[0])
    if totals or rates:
        yield from _report(totals, rates, half_unit)


def claims_bench(value: Any) -> bool:  # Any: parsed JSON
    """The result file of vllm bench serve."""
    return isinstance(value, dict) and any(
        isinstance(k, str) and k.startswith("spec_decode_") for k in value
    )


def read_bench_json(values: Iterator[Any]) -> Iterator[Item]:
    """One record a result file; positions are exact fractions."""
    for value in values:
        if isinstance(value, Dropped):
            yield value
        elif claims_bench(value):
            names = ("num_drafts", "draft_tokens", "accepted_tokens")
            found = [whole_number(value.get(f"spec_decode_{name}")) for name in names]
            figures = [figure for figure in found if figure is not None]
            if len(figures) < len(names):
                yield Dropped("a benchmark result without drafts, draft tokens or accepted tokens")
                continue
            totals = dict(zip(("rounds", "drafted", "accepted"), figures, strict=True))
            rates = fractions(value.get("spec_decode_per_position_acceptance_rates")) or []
            model = value.get("model_id")
            group = {"model_name": model} if isinstance(model, str) else {}
            yield from _report(totals, rates, 1e-9, group)


def _report(
    totals: dict[str, int],
    rates: list[float],
    half_unit: float,
    group: dict[str, str] | None = None,
) -> Iterator[Item]:
    group = group or {}
    if len(totals) < 3:
        yield Dropped("a benchmark report without drafts, draft tokens or accepted tokens")
        return
    rounds, drafted, accepted = (totals[k] for k in ("rounds", "drafted", "accepted"))
    if drafted == 0:
        yield finding("zero_drafts", records="the run")
        return
    gamma = len(rates) or (drafted // rounds if rounds and drafted % rounds == 0 else None)
    if accepted > drafted or (gamma and drafted > rounds * gamma):
        yield Dropped(
            f"a report of {accepted} accepted of {drafted} drafted tokens, {rounds} drafts"
        )
        return
    rebuilt = rounded_counts(rates, rounds, accepted, half_unit) if rates else None
    if rates and rebuilt is None:
        yield finding("impossible", what="the positions do not add up to the accepted tokens")
    if rebuilt and not rebuilt[1]:
        yield finding("rounding_only")
    if rebuilt and gamma and drafted == rounds * gamma:
        yield Record(Counts.full(rounds, rebuilt[0]), group)
    else:
        at_least = rebuilt[0] if rebuilt else None
        yield Record(Counts(rounds, drafted, accepted, at_least, gamma=gamma), group)
