"""TGI: engines.md section 12 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate

from .process import (
    Round,
    bounded,
    count,
    counters,
    draw_until,
    hazards,
    histogram,
    joined,
    simulate,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import encode

NAME = "tgi_request_skipped_tokens"
FILLER = [
    "# TYPE tgi_queue_size gauge",
    "tgi_queue_size 0",
    "",
    "# TYPE tgi_request_generated_tokens histogram",
    'tgi_request_generated_tokens_bucket{le="8"} 3',
    'tgi_request_generated_tokens_bucket{le="+Inf"} 64',
    "tgi_request_generated_tokens_sum 8191",
    "tgi_request_generated_tokens_count 64",
    "",
]


def _requests(requests: int) -> list[str]:
    return ["# TYPE tgi_request_count counter", f"tgi_request_count {requests}", ""]


def _histogram(rounds: Sequence[Round], gamma: int, requests: int) -> list[str]:
    """1.3 to 2.0: buckets 0 to gamma; every request adds a 0 for its prefill."""
    steps = histogram(rounds, gamma + 1)
    steps[0] += requests
    below = list(accumulate(steps))
    buckets = [(str(i), n) for i, n in enumerate(below)] + [("+Inf", below[-1])]
    lines = [f"# TYPE {NAME} histogram"]
    lines += [f'{NAME}_bucket{{le="{edge}"}} {n}' for edge, n in buckets]
    lines += [f"{NAME}_sum {sum(a for _, a in rounds)}", f"{NAME}_count {below[-1]}", ""]
    return lines


def _summary(rounds: Sequence[Round], requests: int) -> list[str]:
    """2.1 and later: quantiles, whose values say nothing of the draft length."""
    seen = sorted([0] * requests + [a for _, a in rounds])
    lines = [f"# TYPE {NAME} summary"]
    for quantile in ("0", "0.5", "0.9", "0.95", "0.99", "0.999", "1"):
        value = seen[min(len(seen) - 1, int(float(quantile) * len(seen)))]
        lines.append(f'{NAME}{{quantile="{quantile}"}} {value}')
    return [*lines, f"{NAME}_sum {sum(seen)}", f"{NAME}_count {len(seen)}", ""]


def _page(rng: random.Random, *blocks: list[str]) -> bytes:
    """The blocks in any order, among others: the exporter's order is that of a hash map."""
    shuffled = [*blocks, FILLER]
    rng.shuffle(shuffled)
    return encode(rng, joined_lines(shuffled))


def joined_lines(blocks: Sequence[list[str]]) -> list[str]:
    return [line for block in blocks for line in block]


def _served(rng: random.Random, gamma: int) -> tuple[list[Round], int]:
    rounds = simulate(rng, gamma, rng.randint(1, 900), hazards(rng, gamma))
    return rounds, rng.randint(1, 64)


def prom_histogram(rng: random.Random) -> Sample:
    """1.3 to 2.0: the exact histogram, prefill steps in it."""
    gamma = rng.randint(1, 8)
    rounds, requests = _served(rng, gamma)
    data = _page(rng, _histogram(rounds, gamma, requests), _requests(requests))
    total = counters(rounds, gamma, positions=True)
    return pooled("tgi.prom_histogram", "tgi", data, total, codes=["includes_prefill"])


def prom_histogram_pair(rng: random.Random) -> Sample:
    """Two scrapes of it, whose difference counts."""
    gamma = rng.randint(1, 8)
    (first, m), (gained, n) = _served(rng, gamma), _served(rng, gamma)
    later = joined([first, gained])
    return pooled(
        "tgi.prom_histogram_pair",
        "tgi",
        _page(rng, _histogram(later, gamma, m + n), _requests(m + n)),
        counters(gained, gamma, positions=True),
        codes=["includes_prefill"],
        before=_page(rng, _histogram(first, gamma, m), _requests(m)),
    )


def _summary_total(rounds: Sequence[Round]) -> Truth:
    counts = count(rounds)
    known = Truth(counts.rounds, accepted=counts.accepted, mean_length=counts.mean_length)
    return bounded(known, rounds)


def prom_summary(rng: random.Random) -> Sample:
    """2.1 and later: N and A; neither D nor gamma."""
    gamma = rng.randint(1, 8)
    rounds, requests = draw_until(
        lambda: _served(rng, gamma), lambda served: any(a for _, a in served[0])
    )
    data = _page(rng, _summary(rounds, requests), _requests(requests))
    codes = ["includes_prefill", "gamma_unknown"]
    return pooled("tgi.prom_summary", "tgi", data, _summary_total(rounds), codes=codes)


def prom_summary_pair(rng: random.Random) -> Sample:
    """Two scrapes of it: the quantiles are gauges, sum and count are counters."""
    gamma = rng.randint(1, 8)
    (first, m), (gained, n) = draw_until(
        lambda: (_served(rng, gamma), _served(rng, gamma)),
        lambda both: any(a for _, a in both[1][0]),
    )
    return pooled(
        "tgi.prom_summary_pair",
        "tgi",
        _page(rng, _summary(joined([first, gained]), m + n), _requests(m + n)),
        _summary_total(gained),
        codes=["includes_prefill", "gamma_unknown"],
        before=_page(rng, _summary(first, m), _requests(m)),
    )


def prom_no_spec(rng: random.Random) -> Sample:
    """A router whose exporter has no such family yet: no request came."""
    data = _page(rng, _requests(rng.randint(1, 99)))
    return grouped("tgi.prom_no_spec", "tgi", data, (), codes=["no_spec_data"])


def prom_no_drafts(rng: random.Random) -> Sample:
    """A server without speculation: every step has one token, and the only bucket is 0."""
    requests = rng.randint(1, 99)
    data = _page(rng, _requests(requests), _histogram([(0, 0)] * 50, 0, requests))
    return grouped("tgi.prom_no_drafts", "tgi", data, (), codes=["zero_drafts"])


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    prom_histogram,
    prom_histogram_pair,
    prom_summary,
    prom_summary_pair,
    prom_no_spec,
    prom_no_drafts,
)
