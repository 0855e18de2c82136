"""MLC-LLM: engines.md section 14 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from .process import (
    Counts,
    Round,
    bounded,
    count,
    draw_until,
    hazards,
    moment,
    simulate,
    told,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import document, encode

Json = dict[str, object]


def _spec(counts: Counts) -> Json:
    """The object `spec_decode`: index 0 is the token of the base model."""
    drafts = [counts.rounds, *counts.drafted_at_least]
    accepts = [counts.rounds, *counts.accepted_at_least]
    probabilities = [a / d for a, d in zip(accepts, drafts, strict=True)]
    lengths = [sum(probabilities[: i + 1]) for i in range(len(drafts))]
    rates = [b / a if a else 0.0 for a, b in pairwise(accepts)]
    return {
        "draft_count": drafts,
        "accept_count": accepts,
        "accept_prob": {f"accept_prob{{step={i}}}": p for i, p in enumerate(probabilities)},
        "accept_rate": {f"accept_rate{{step={i}}}": r for i, r in enumerate(rates, start=1)},
        "accept_len": {f"accept_len{{step={i}}}": x for i, x in enumerate(lengths)},
    }


def _engine(rng: random.Random, spec: Json | None) -> Json:
    """The metrics of the engine around it."""
    metrics: Json = {
        "engine_prefill_time_sum": rng.uniform(0, 9),
        "engine_decode_time_sum": rng.uniform(0, 900),
        "completion_tokens_sum": rng.randint(1, 10**6),
        "last_finished_request": {"prompt_tokens": 21, "completion_tokens": 64, "ttft_s": 0.07},
    }
    if spec is not None:
        metrics["spec_decode"] = spec
    return metrics | {"verify_time_by_batch_size": {"mean{batch_size=1}": 0.012}}


def _usage(metrics: Json) -> Json:
    """The same as the engine answers a query for its metrics: in the usage of a response."""
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "extra": metrics}
    return {"id": "chatcmpl-1", "choices": [], "object": "chat.completion.chunk", "usage": usage}


def _full(rng: random.Random) -> tuple[list[Round], int]:
    gamma = rng.randint(1, 8)
    return simulate(rng, gamma, rng.randint(1, 900), hazards(rng, gamma)), gamma


def engine_metrics(rng: random.Random) -> Sample:
    """The JSON of the engine, full drafts."""
    rounds, gamma = _full(rng)
    counts = count(rounds, gamma)
    metrics = _engine(rng, _spec(counts))
    if rng.random() < 0.3:
        metrics = _usage(metrics)
    total = told(counts, positions=True)
    return pooled("mlc-llm.engine_metrics", "mlc-llm", document(rng, metrics), total)


def engine_metrics_adaptive(rng: random.Random) -> Sample:
    """Adaptive drafts (`spec_draft_length` 0): `draft_count` falls with the position."""
    gamma = rng.randint(2, 8)
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(5, 900), hazards(rng, gamma), short=0.4),
        lambda drawn: {gamma} < {d for d, _ in drawn},
    )
    counts = count(rounds, gamma)
    known = told(counts, positions=True)
    total = bounded(replace(known, drafted_at_least=counts.drafted_at_least), rounds)
    data = document(rng, _engine(rng, _spec(counts)))
    return pooled("mlc-llm.engine_metrics_adaptive", "mlc-llm", data, total)


def engine_metrics_no_spec(rng: random.Random) -> Sample:
    """An engine without speculation."""
    data = document(rng, _engine(rng, None))
    return grouped("mlc-llm.engine_metrics_no_spec", "mlc-llm", data, (), codes=["no_spec_data"])


def _text(metrics: Json, path: str = "", prefix: str = "") -> list[str]:
    """The metrics as text: a comment for each object, names joined, a tab before each number."""
    lines = []
    for key, value in metrics.items():
        name = f"{prefix}_{key}" if prefix else key
        if isinstance(value, dict):
            lines += ["", f"# {path}/{key}", *_text(value, f"{path}/{key}", name)]
        elif isinstance(value, int | float):
            lines.append(f"{name}\t{value}")
    return lines


def metrics_text(rng: random.Random) -> Sample:
    """The text of /metrics: labels without quotes, ratios without counts."""
    rounds, gamma = _full(rng)
    counts = count(rounds, gamma)
    lines = ["# NOTE: these metrics count tokens of the serving model", ""]
    lines += _text(_engine(rng, _spec(counts)))
    length = 1 + counts.accepted / counts.rounds
    total = Truth(gamma=gamma, mean_length=length, alpha=moment(length, gamma))
    codes = ["interval_average_only"]
    return pooled("mlc-llm.metrics_text", "mlc-llm", encode(rng, lines), total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    engine_metrics,
    engine_metrics_adaptive,
    engine_metrics_no_spec,
    metrics_text,
)
