"""TensorRT-LLM: engines.md section 6 (engine formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from . import tensorrt_bench
from .exposition import Labels, Style, counter, gauge
from .process import (
    Counts,
    Round,
    count,
    counters,
    draw_until,
    hazards,
    is_open,
    joined,
    simulate,
    totals,
    varies,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import cut, document, documents, encode

Json = dict[str, object]
Iteration = list[Round]
"""The requests of one iteration that had draft tokens."""


def _row(number: int, rounds: Iteration | None, rank: int | None = None) -> Json:
    """The statistics of one iteration; None: the key is absent, empty: nothing drafted."""
    requests = len(rounds or [])
    row: Json = {} if rank is None else {"attentionDpRank": rank}
    row |= {
        "cpuMemUsage": 0,
        "gpuMemUsage": 58231455744,
        "inflightBatchingStats": {"numContextRequests": 0, "numGenRequests": requests},
        "iter": number,
        "iterLatencyMS": 12.5,
        "kvCacheStats": None if number % 7 == 3 else {"usedNumBlocks": 6, "cacheHitRate": 0.1},
        "numActiveRequests": requests,
        "timestamp": f"09-18-2026 10:{number // 60 % 60:02d}:{number % 60:02d}.120021",
    }
    if rounds is None:
        return row
    accepted = sum(a for _, a in rounds)
    stats = {
        "acceptanceLength": (accepted + requests) / requests if requests else 0.0,
        "draftOverhead": 0.0,
        "iterLatencyMS": 0.0,
        "numAcceptedTokens": accepted,
        "numDraftTokens": sum(d for d, _ in rounds),
        "numRequestsWithDraftTokens": requests,
    }
    return row | {"specDecodingStats": stats}


def _iterations(rng: random.Random, gamma: int, *, short: float = 0.0) -> list[Iteration]:
    hazard = hazards(rng, gamma, extreme=not short)
    return [
        simulate(rng, gamma, rng.randint(1, 8), hazard, short=short)
        for _ in range(rng.randint(1, 40))
    ]


def _rows(
    rng: random.Random, iterations: Sequence[Iteration], ranks: Sequence[int | None] = (None,)
) -> list[Json]:
    """A row for each iteration and rank, among others that drafted nothing."""
    shown: list[Iteration | None] = [None]
    for iteration in iterations:
        shown.append(iteration)
        if rng.random() < 0.2:
            shown.append(rng.choice((None, [])))
    return [_row(i, rounds, rank) for i, rounds in enumerate(shown, start=1) for rank in ranks]


def _broken(rng: random.Random, text: str) -> str | None:
    if rng.random() < 0.75:
        return None
    start, stop = text.index("numAcceptedTokens"), text.rindex("}}")
    return text[: rng.randint(start, stop)]


def _iteration_log(
    rng: random.Random,
    name: str,
    iterations: Sequence[Iteration],
    total: Truth,
    write: Callable[[Json], str],
    codes: Sequence[str] = (),
) -> Sample:
    tail = _broken(rng, write(_row(999, [(4, 2), (4, 0)])))
    return pooled(
        f"tensorrt-llm.{name}",
        "tensorrt-llm",
        encode(rng, [write(row) for row in _rows(rng, iterations)], tail),
        total,
        codes=codes,
        dropped=int(tail is not None),
    )


def iterations_json(rng: random.Random) -> Sample:
    """JSON lines, a row an iteration: section 6."""
    gamma = rng.randint(1, 12)
    iterations = _iterations(rng, gamma)
    total = counters(joined(iterations), gamma, positions=False)
    return _iteration_log(rng, "iterations_json", iterations, total, json.dumps)


def iterations_repr(rng: random.Random) -> Sample:
    """The rows as Python prints them: section 6."""
    gamma = rng.randint(1, 12)
    iterations = _iterations(rng, gamma)
    total = counters(joined(iterations), gamma, positions=False)
    return _iteration_log(rng, "iterations_repr", iterations, total, repr)


def iterations_uneven(rng: random.Random) -> Sample:
    """Drafts of varying length and no positions: gamma stays unknown: section 6."""
    gamma = rng.randint(2, 12)
    iterations = draw_until(
        lambda: _iterations(rng, gamma, short=0.4), lambda drawn: varies(joined(drawn))
    )
    total, codes = totals(joined(iterations), drafts=True), ["variable_draft_length"]
    return _iteration_log(rng, "iterations_uneven", iterations, total, json.dumps, codes)


def iterations_attention_dp(rng: random.Random) -> Sample:
    """Attention DP: every rank's row repeats rank 0: section 6."""
    gamma, ranks = rng.randint(1, 12), list(range(rng.choice((2, 4, 8))))
    iterations = _iterations(rng, gamma)
    rows = _rows(rng, iterations, ranks)
    write = rng.choice((json.dumps, repr))
    return pooled(
        "tensorrt-llm.iterations_attention_dp",
        "tensorrt-llm",
        encode(rng, [write(row) for row in rows]),
        counters(joined(iterations), gamma, positions=False),
        codes=["duplicate_rank"],
    )


def metrics_endpoint(rng: random.Random) -> Sample:
    """GET /metrics: a list of the iterations since the last reading: section 6."""
    gamma = rng.randint(1, 12)
    iterations = _iterations(rng, gamma)
    total = counters(joined(iterations), gamma, positions=False)
    data = document(rng, _rows(rng, iterations))
    return pooled("tensorrt-llm.metrics_endpoint", "tensorrt-llm", data, total)


LABELS: Labels = {"engine_type": "trtllm", "model_name": "example-target"}


def _by_position(counts: Counts) -> list[str]:
    """Totals of finished requests: d_i and c_i."""
    lines = []
    for word, values in (
        ("drafted", counts.drafted_at_least),
        ("accepted", counts.accepted_at_least),
    ):
        points = [
            (LABELS | {"token_position": str(i)}, float(value)) for i, value in enumerate(values)
        ]
        name = f"trtllm_spec_decode_{word}_tokens"
        lines += counter(name, f"Total {word} tokens per position.", points, Style())
    return lines


def _by_iteration(drafted: int, accepted: int, length: float) -> list[str]:
    """Totals of every iteration, and gauges of the last one."""
    name, lines = "trtllm_spec_decode_", []
    for word, value in (("draft", drafted), ("accepted", accepted)):
        points = [(LABELS, float(value))]
        lines += counter(f"{name}num_{word}_tokens", f"Total {word} tokens.", points, Style())
    lines += gauge(f"{name}acceptance_length", "Acceptance length.", [(LABELS, length)])
    return lines + gauge(f"{name}draft_overhead", "Draft overhead.", [(LABELS, 0.1)])


def _finished(rng: random.Random) -> tuple[list[Round], int]:
    gamma, short = rng.randint(1, 12), rng.choice((0.0, 0.0, 0.3))
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(1, 3000), hazards(rng, gamma), short=short),
        lambda drawn: any(d == gamma for d, _ in drawn),
    )
    return rounds, gamma


def _position_total(rounds: Sequence[Round], gamma: int) -> Truth:
    known = counters(rounds, gamma, positions=True)
    return replace(known, drafted_at_least=count(rounds, gamma).drafted_at_least)


def prom(rng: random.Random) -> Sample:
    """Both counter families, which overlap: the positions count: section 6."""
    rounds, gamma = _finished(rng)
    running = simulate(rng, gamma, rng.randint(1, 50), 0.6)
    everything = count([*rounds, *running], gamma)
    lines = _by_iteration(everything.drafted, everything.accepted, rng.uniform(1, gamma + 1))
    lines += _by_position(count(rounds, gamma))
    total, codes = _position_total(rounds, gamma), ["gauge_only", "double_family"]
    return pooled("tensorrt-llm.prom", "tensorrt-llm", encode(rng, lines), total, codes=codes)


def prom_positions_only(rng: random.Random) -> Sample:
    """Only the family of finished requests: section 6."""
    rounds, gamma = _finished(rng)
    data = encode(rng, _by_position(count(rounds, gamma)))
    total = _position_total(rounds, gamma)
    return pooled("tensorrt-llm.prom_positions_only", "tensorrt-llm", data, total)


def prom_totals_only(rng: random.Random) -> Sample:
    """Only the family of iterations: D and A, no N: section 6."""
    rounds = draw_until(lambda: _finished(rng)[0], is_open)
    total, codes = totals(rounds), ["gauge_only", "gamma_unknown"]
    counts = count(rounds)
    data = encode(rng, _by_iteration(counts.drafted, counts.accepted, 2.5))
    return pooled("tensorrt-llm.prom_totals_only", "tensorrt-llm", data, total, codes=codes)


def prom_no_spec(rng: random.Random) -> Sample:
    """1.1: only basic request metrics: section 6."""
    points = [(LABELS, float(rng.randint(1, 999)))]
    data = encode(rng, counter("trtllm_request_success", "Requests.", points, Style()))
    name = "tensorrt-llm.prom_no_spec"
    return grouped(name, "tensorrt-llm", data, (), codes=["no_spec_data"])


def _perf_row(index: int, rounds: Sequence[Round]) -> Json:
    perf: Json = {"first_iter": 3 + index, "last_iter": 3 + index + len(rounds)}
    perf["timing_metrics"] = {"arrival_time": 100.1, "last_token_time": 101.9}
    if rounds:
        drafted, accepted = sum(d for d, _ in rounds), sum(a for _, a in rounds)
        perf["speculative_decoding"] = {
            "acceptance_rate": accepted / drafted,
            "total_accepted_draft_tokens": accepted,
            "total_draft_tokens": drafted,
        }
    return {"request_id": index, "perf_metrics": perf}


def perf_metrics(rng: random.Random) -> Sample:
    """Per request D and A; no key where nothing was drafted: section 6."""
    gamma = rng.randint(1, 8)
    hazard = hazards(rng, gamma, extreme=False)
    requests = draw_until(
        lambda: [
            simulate(rng, gamma, rng.randint(1, 90), hazard) for _ in range(rng.randint(1, 6))
        ],
        lambda drawn: is_open(joined(drawn)),
    )
    total = totals(joined(requests))
    if rng.random() < 0.4:
        requests.append([])
    rows = [_perf_row(i, request) for i, request in enumerate(requests)]
    last, tail = json.dumps(rows[0]), None
    if rng.random() < 0.2:
        tail = cut(rng, last, '"speculative_decoding": {', "}}}")
    return pooled(
        "tensorrt-llm.perf_metrics",
        "tensorrt-llm",
        documents(rng, rows, tail),
        total,
        codes=["gamma_unknown"],
        dropped=int(tail is not None),
    )


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    iterations_json,
    iterations_repr,
    iterations_uneven,
    iterations_attention_dp,
    metrics_endpoint,
    prom,
    prom_positions_only,
    prom_totals_only,
    prom_no_spec,
    perf_metrics,
    *tensorrt_bench.GENERATORS,
)
