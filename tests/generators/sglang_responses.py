"""SGLang responses, metrics and reports: sections 4.2 and 4.3 (formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

from .exposition import Labels, Style, counter, gauge
from .process import Round, count, counters, hazards, histogram, joined, settle, simulate, told
from .truth import Sample, Truth, pooled
from .wrap import cut, document, documents, encode

Json = dict[str, object]

KEYS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "042": (),
    "054": (),
    "056": (("spec_accept_token_num", "A"), ("spec_draft_token_num", "D")),
    "059": (
        ("spec_accept_token_num", "A"),
        ("spec_draft_token_num", "D"),
        ("spec_accept_histogram", "H"),
    ),
    "0511": (
        ("spec_accepted_drafts", "A"),
        ("spec_proposed_drafts", "D"),
        ("spec_accept_histogram", "H"),
    ),
    "0512": (
        ("spec_num_correct_drafts", "A"),
        ("spec_num_proposed_drafts", "D"),
        ("spec_correct_drafts_histogram", "H"),
        ("spec_accepted_drafts", "A"),
        ("spec_proposed_drafts", "D"),
        ("spec_accept_histogram", "H"),
    ),
    "0523": (
        ("spec_num_correct_drafts", "A"),
        ("spec_num_proposed_drafts", "D"),
        ("spec_correct_drafts_histogram", "H"),
    ),
}


def _spec_fields(version: str, rounds: Sequence[Round]) -> Json:
    """The speculative keys of one request by version: section 4.2."""
    truth = count(rounds)
    fields: Json = {}
    if version != "042":
        tokens = 1 + truth.rounds + truth.accepted
        fields["spec_accept_rate"] = truth.accepted / truth.drafted if rounds else 0.0
        fields["spec_accept_length"] = tokens / truth.rounds if rounds else 0.0
    values = {"A": truth.accepted, "D": truth.drafted, "H": histogram(rounds)}
    fields |= {key: values[kind] for key, kind in KEYS[version]}
    return fields | {"spec_verify_ct": truth.rounds}


def _meta_row(rng: random.Random, version: str, index: int, rounds: Sequence[Round]) -> Json:
    tokens = 1 + len(rounds) + sum(a for _, a in rounds)
    meta: Json = {
        "id": f"{rng.getrandbits(64):016x}",
        "finish_reason": {"type": "stop", "matched": 2},
        "prompt_tokens": 31,
        "completion_tokens": tokens,
        "cached_tokens": 0,
    }
    placeholder = version in {"054", "056"} and rng.random() < 0.5
    if rounds or placeholder:
        meta |= _spec_fields(version, rounds)
    return {"text": f"accepted {index}", "meta_info": meta}


def _requests(rng: random.Random, gamma: int) -> list[list[Round]]:
    """Requests of full drafts, one perhaps finished by its first token."""
    hazard = hazards(rng, gamma)
    drawn = [simulate(rng, gamma, rng.randint(1, 90), hazard) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.3:
        drawn.insert(rng.randint(0, len(drawn)), [])
    return drawn


def _meta_total(version: str, rounds: Sequence[Round], gamma: int) -> Truth:
    actual = count(rounds, gamma)
    if version in {"042", "054"}:
        known = Truth(actual.rounds, accepted=actual.accepted, mean_length=actual.mean_length)
        return settle(known, actual)
    return counters(rounds, gamma, positions=version != "056")


def _meta_info(rng: random.Random, version: str) -> Sample:
    gamma = rng.randint(1, 12)
    requests = _requests(rng, gamma)
    rows = [_meta_row(rng, version, i, request) for i, request in enumerate(requests)]
    whole = next(row for row, request in zip(rows, requests, strict=True) if request)
    tail = None
    if rng.random() < 0.2:
        tail = cut(rng, json.dumps(whole), '"completion_tokens": ', "}}")
    codes = ["zero_drafts"] if [] in requests else []
    if version == "042" and any(a for _, a in joined(requests)):
        codes.append("gamma_unknown")  # alpha is 0 for any gamma where nothing was accepted
    return pooled(
        f"sglang.meta_info_{version}",
        "sglang",
        documents(rng, rows, tail),
        _meta_total(version, joined(requests), gamma),
        codes=codes,
        dropped=int(tail is not None),
    )


def meta_info_042(rng: random.Random) -> Sample:
    """0.4.2 and later: only the number of verify steps, A from the tokens: section 4.2."""
    return _meta_info(rng, "042")


def meta_info_054(rng: random.Random) -> Sample:
    """0.5.4 and 0.5.5: rate and length besides, zeros as placeholders: section 4.2."""
    return _meta_info(rng, "054")


def meta_info_056(rng: random.Random) -> Sample:
    """0.5.6 and later: A and D, no histogram: section 4.2."""
    return _meta_info(rng, "056")


def meta_info_059(rng: random.Random) -> Sample:
    """0.5.9 and 0.5.10: with the histogram: section 4.2."""
    return _meta_info(rng, "059")


def meta_info_0511(rng: random.Random) -> Sample:
    """0.5.11: renamed: section 4.2."""
    return _meta_info(rng, "0511")


def meta_info_0512(rng: random.Random) -> Sample:
    """0.5.12 to 0.5.19: both names for each figure: section 4.2."""
    return _meta_info(rng, "0512")


def meta_info_0523(rng: random.Random) -> Sample:
    """0.5.23: only the latest names: section 4.2."""
    return _meta_info(rng, "0523")


def openai_sglext(rng: random.Random) -> Sample:
    """The OpenAI endpoint with `return_spec_tokens_details`: section 4.2."""
    gamma = rng.randint(1, 12)
    requests = [request for request in _requests(rng, gamma) if request]
    rows: list[object] = []
    for i, request in enumerate(requests):
        tokens = 1 + len(request) + sum(a for _, a in request)
        details = _spec_fields("0523", request)
        details |= {"spec_cap_length": 0.0, "spec_cap_lens_histogram": []}
        message = {"role": "assistant", "content": "..."}
        rows.append(
            {
                "id": f"chatcmpl-{i}",
                "object": "chat.completion",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": tokens},
                "sglext": {"spec_tokens_details": details},
            }
        )
    total = counters(joined(requests), gamma, positions=True)
    return pooled("sglang.openai_sglext", "sglang", documents(rng, rows), total)


MODEL = {"engine_type": "unified", "model_name": "example-org/target-27b"}


def _rank_labels(ranks: int) -> list[Labels]:
    inner = {"moe_ep_rank": "0", "pp_rank": "0"}
    return [MODEL | inner | {"tp_rank": str(i)} for i in range(ranks)]


def prom(rng: random.Random) -> Sample:
    """0.5.16 and later: gauges of the last interval beside counters: section 4.3."""
    gamma, ranks, times = rng.randint(1, 12), rng.randint(1, 4), rng.choice((1, 1, 500))
    rounds = simulate(rng, gamma, rng.randint(1, 3000), hazards(rng, gamma))
    truth, requests = count(rounds, gamma).scaled(times), rng.randint(1, 2000)
    tokens = truth.rounds + truth.accepted + requests
    streamed = rng.randint(0, tokens)
    lines = []
    for name, value in (
        ("accept_length", rng.uniform(1, gamma + 1)),
        ("accept_rate", rng.random()),
        ("num_steps", gamma),
        ("num_draft_tokens", gamma + 1),
    ):
        points = [(labels, float(value)) for labels in _rank_labels(ranks)]
        lines += gauge(f"sglang:spec_{name}", f"Speculative decoding: {name}.", points)
    split = [
        (MODEL | {"is_streaming": "false"}, float(tokens - streamed)),
        (MODEL | {"is_streaming": "true"}, float(streamed)),
    ]
    lines += counter("sglang:generation_tokens", "Generated.", split, Style())
    lines += counter(
        "sglang:spec_verify_calls", "Verified.", [(MODEL, float(truth.rounds))], Style()
    )
    lines += counter("sglang:num_requests", "Requests.", [(MODEL, float(requests))], Style())
    total = told(truth, positions=False)
    codes = ["gauge_only"] + (["duplicate_rank"] if ranks > 1 else [])
    return pooled("sglang.prom", "sglang", encode(rng, lines), total, codes=codes)


def prom_gauges(rng: random.Random) -> Sample:
    """Before the counters: only the mean of the last interval: section 4.3."""
    gamma, ranks = rng.randint(1, 8), rng.randint(1, 4)
    length = 1 + gamma * rng.uniform(0.2, 0.9)
    points = [(labels, length) for labels in _rank_labels(ranks)]
    lines = gauge("sglang:spec_accept_length", "The average acceptance length.", points)
    lines += gauge("sglang:num_running_reqs", "Running.", [(x, 2.0) for x, _ in points])
    codes = ["gauge_only", "interval_average_only"] + (["duplicate_rank"] if ranks > 1 else [])
    total = Truth(mean_length=length)
    data = encode(rng, lines)
    return pooled("sglang.prom_gauges", "sglang", data, total, codes=codes, exact=False)


def server_info(rng: random.Random) -> Sample:
    """/server_info: the mean since start and the settings: section 4.3."""
    gamma = rng.randint(1, 12)
    length = round(1 + gamma * rng.uniform(0.1, 0.95), rng.choice((4, 12)))
    value = {
        "status": "ready",
        "model_path": "example-org/target-8b",
        "speculative_algorithm": "EAGLE3",
        "speculative_num_steps": gamma,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": gamma + 1,
        "internal_states": [{"last_gen_throughput": 211.4, "avg_spec_accept_length": length}],
    }
    return pooled(
        "sglang.server_info",
        "sglang",
        document(rng, value),
        Truth(gamma=gamma, mean_length=length),
        codes=["interval_average_only"],
        exact=False,
    )


def bench_serving(rng: random.Random) -> Sample:
    """The report of bench_serving: the mean of the server's whole life: section 4.3."""
    length = f"{rng.uniform(1, 6):.2f}"
    rows = (
        ("Backend:", "sglang"),
        ("Successful requests:", "64"),
        ("Total generated tokens:", "19200"),
        ("Accept length:", length),
    )
    lines = [f"{' Serving Benchmark Result ':=^50}"]
    lines += [f"{name:<40} {value:<10}" for name, value in rows]
    lines += [f"{'End-to-End Latency':-^50}", "=" * 50]
    return pooled(
        "sglang.bench_serving",
        "sglang",
        encode(rng, lines),
        Truth(mean_length=float(length)),
        codes=["interval_average_only", "gamma_unknown"],
        exact=False,
    )


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    meta_info_042,
    meta_info_054,
    meta_info_056,
    meta_info_059,
    meta_info_0511,
    meta_info_0512,
    meta_info_0523,
    openai_sglext,
    prom,
    prom_gauges,
    server_info,
    bench_serving,
)
