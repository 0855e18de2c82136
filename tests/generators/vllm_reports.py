"""vLLM per-request objects, bench results and the offline example: sections 3.2 to 3.4.

Formats of engines.md as of autumn 2026.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from .process import Counts, Round, count, counters, hazards, histogram, joined, simulate, told
from .truth import Sample, pooled
from .wrap import cut, document, documents, encode, event_stream

Json = dict[str, object]


def _rounds(rng: random.Random, gamma: int, fewest: int, most: int) -> list[Round]:
    """Full drafts, or drafts of which some are shorter."""
    short = rng.choice((0.0, 0.0, 0.3))
    hazard = hazards(rng, gamma, extreme=False)
    return simulate(rng, gamma, rng.randint(fewest, most), hazard, short=short)


def _offline_lines(truth: Counts) -> list[str]:
    rates = [f"{c / truth.rounds:.2f}" for c in truth.accepted_at_least]
    return [
        "-" * 50,
        f"total_num_output_tokens: {truth.rounds + truth.accepted + 17}",
        f"num_drafts: {truth.rounds}",
        f"num_draft_tokens: {truth.drafted}",
        f"num_accepted_tokens: {truth.accepted}",
        f"mean acceptance length: {1 + truth.accepted / truth.rounds:.2f}",
        "-" * 50,
        *(f"acceptance at token {i}: {rate}" for i, rate in enumerate(rates)),
    ]


def offline_example(rng: random.Random) -> Sample:
    """Below 100 drafts two decimals give every c_i back: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _rounds(rng, gamma, 1, 95)
    data = encode(rng, _offline_lines(count(rounds, gamma)))
    return pooled("vllm.offline_example", "vllm", data, counters(rounds, gamma, positions=True))


def offline_example_large(rng: random.Random) -> Sample:
    """Above that c_i is open by a few, so that only N, D and A are told: section 3.2."""
    gamma = rng.randint(2, 12)
    rounds = _rounds(rng, gamma, 400, 2500)
    data = encode(rng, _offline_lines(count(rounds, gamma)))
    total, codes = counters(rounds, gamma, positions=False), ["rounding_only"]
    name = "vllm.offline_example_large"
    return pooled(name, "vllm", data, total, codes=codes, exact=False)


def _speculative(rounds: Sequence[Round], gamma: int, *, steps: bool) -> Json:
    """The object of section 3.3."""
    truth = count(rounds, gamma)
    value: Json = {
        "mean_acceptance_length": truth.mean_length or 1.0,
        "draft_acceptance_rate": truth.accepted / (truth.drafted or 1),
        "acceptance_histogram": histogram(rounds, gamma + 1),
        "num_spec_steps": truth.rounds,
        "num_accepted_draft_tokens": truth.accepted,
        "num_draft_tokens": truth.drafted,
        "num_spec_tokens": gamma,
    }
    if steps:
        value["per_step_accepted"] = [a for _, a in rounds]
        value["per_step_drafted"] = [d for d, _ in rounds]
    return value


def _response(rng: random.Random, index: int, tokens: int, speculative: object) -> Json:
    message = {"role": "assistant", "content": "An accepted draft. " * rng.randint(0, 2)}
    return {
        "id": f"chatcmpl-{index:04d}",
        "object": "chat.completion",
        "model": "example-org/target-8b",
        "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 24, "completion_tokens": tokens, "total_tokens": 24 + tokens},
        "metrics": {"time_to_first_token_ms": 31.2, "speculative_decoding": speculative},
    }


def _per_request(rng: random.Random, name: str, *, steps: bool) -> Sample:
    gamma = rng.randint(1, 12)
    requests = [_rounds(rng, gamma, 1, 60) for _ in range(rng.randint(1, 6))]
    rounds = joined(requests)
    empty = rng.random() < 0.3
    if empty:
        requests.insert(rng.randint(0, len(requests)), [])
    rows: list[object] = [
        _response(
            rng, i, 1 + sum(a + 1 for _, a in request), _speculative(request, gamma, steps=steps)
        )
        for i, request in enumerate(requests)
    ]
    if rng.random() < 0.2:
        rows.append(_response(rng, 99, 40, None))
    last = json.dumps(rows[0])
    tail = cut(rng, last, '"speculative_decoding": {', "}}}") if rng.random() < 0.2 else None
    total = count(rounds, gamma).truth if steps else counters(rounds, gamma, positions=True)
    return pooled(
        name,
        "vllm",
        documents(rng, rows, tail),
        total,
        codes=["zero_drafts"] if empty else [],
        dropped=int(tail is not None),
    )


def per_request_summary(rng: random.Random) -> Sample:
    """`summary`: a histogram a request; uneven drafts leave R open: section 3.3."""
    return _per_request(rng, "vllm.per_request_summary", steps=False)


def per_request_detailed(rng: random.Random) -> Sample:
    """`detailed`: every step, which gives R whatever the draft lengths: section 3.3."""
    return _per_request(rng, "vllm.per_request_detailed", steps=True)


def per_request_stream(rng: random.Random) -> Sample:
    """A stream, whose last usage chunk carries the object: section 3.3."""
    gamma = rng.randint(1, 12)
    rounds = _rounds(rng, gamma, 1, 60)
    head: Json = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "model": "example"}
    chunks: list[Json] = []
    for _ in rounds:
        chunks.append(head | {"choices": [{"index": 0, "delta": {"content": "x"}}]})
    tokens = 1 + sum(a + 1 for _, a in rounds)
    usage = {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}
    metrics = {"speculative_decoding": _speculative(rounds, gamma, steps=False)}
    chunks.append(head | {"choices": [], "usage": usage, "metrics": metrics})
    total = counters(rounds, gamma, positions=True)
    return pooled("vllm.per_request_stream", "vllm", event_stream(rng, chunks), total)


def _bench_lines(truth: Counts) -> list[str]:
    rows: list[tuple[str, object]] = [
        ("Successful requests:", 64),
        ("Failed requests:", 0),
        ("Output token throughput (tok/s):", "855.85"),
    ]
    figures: list[tuple[str, object]] = [
        ("Acceptance rate (%):", f"{truth.accepted / truth.drafted * 100:.2f}"),
        ("Acceptance length:", f"{1 + truth.accepted / truth.rounds:.2f}"),
        ("Drafts:", truth.rounds),
        ("Draft tokens:", truth.drafted),
        ("Accepted tokens:", truth.accepted),
    ]
    rates = [
        (f"  Position {i}:", f"{c / truth.rounds * 100:.2f}")
        for i, c in enumerate(truth.accepted_at_least)
    ]
    return [
        f"{' Serving Benchmark Result ':=^50}",
        *(f"{name:<40} {value!s:<10}" for name, value in rows),
        f"{'Speculative Decoding':-^50}",
        *(f"{name:<40} {value!s:<10}" for name, value in figures),
        "Per-position acceptance (%):",
        *(f"{name:<40} {value:<10}" for name, value in rates),
        "=" * 50,
    ]


def bench_text(rng: random.Random) -> Sample:
    """Below 10 000 drafts two-decimal percentages give every c_i back: section 3.4."""
    gamma = rng.randint(1, 12)
    rounds = _rounds(rng, gamma, 1, 3000)
    data = encode(rng, _bench_lines(count(rounds, gamma)))
    return pooled("vllm.bench_text", "vllm", data, counters(rounds, gamma, positions=True))


def bench_text_large(rng: random.Random) -> Sample:
    """Above that c_i is open by a few, so not exact: section 3.4."""
    gamma, times = rng.randint(2, 12), rng.randint(17, 60)
    hazard = hazards(rng, gamma, extreme=False)
    rounds = simulate(rng, gamma, rng.randint(1000, 3000), hazard)
    counts = count(rounds, gamma).scaled(times)
    data, total = encode(rng, _bench_lines(counts)), told(counts, positions=True)
    codes = ["rounding_only"]
    return pooled("vllm.bench_text_large", "vllm", data, total, codes=codes, exact=False)


def bench_json(rng: random.Random) -> Sample:
    """The result file: a percentage beside fractions: section 3.4."""
    gamma = rng.randint(1, 12)
    rounds = _rounds(rng, gamma, 1, 3000)
    truth = count(rounds, gamma)
    rates = [c / truth.rounds for c in truth.accepted_at_least]
    value = {
        "date": "20260614-101502",
        "backend": "openai",
        "model_id": "example-org/target-32b",
        "num_prompts": 400,
        "completed": 400,
        "total_output_tokens": truth.rounds + truth.accepted,
        "spec_decode_acceptance_rate": truth.accepted / truth.drafted * 100,
        "spec_decode_acceptance_length": truth.mean_length,
        "spec_decode_num_drafts": truth.rounds,
        "spec_decode_draft_tokens": truth.drafted,
        "spec_decode_accepted_tokens": truth.accepted,
        "spec_decode_per_position_acceptance_rates": rates,
    }
    total = counters(rounds, gamma, positions=True)
    return pooled("vllm.bench_json", "vllm", document(rng, value), total)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    offline_example,
    offline_example_large,
    per_request_summary,
    per_request_detailed,
    per_request_stream,
    bench_text,
    bench_text_large,
    bench_json,
)
