"""AIPerf, Dynamo, Spec-Bench and EAGLE: engines.md section 16 (formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from .process import (
    Round,
    bounded,
    count,
    draw_until,
    hazards,
    histogram,
    joined,
    simulate,
    told,
    totals,
    varies,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import document, documents, encode

Json = dict[str, object]


def _metric(unit: str, average: float, *, spread: bool = False) -> Json:
    more = {"min": 1.0, "max": 4.0, "p50": 2.7, "p99": 3.9, "std": 0.5} if spread else {}
    return {"unit": unit, "avg": average} | more


def _aiperf(rng: random.Random, requests: Sequence[Sequence[Round]]) -> Json:
    """Averages over requests next to pooled ones; the histogram has only what was seen."""
    rounds = joined(requests)
    n, drafted, accepted = len(rounds), sum(d for d, _ in rounds), sum(a for _, a in rounds)
    lengths = [1 + sum(a for _, a in part) / len(part) for part in requests]
    rates = [100 * sum(a for _, a in part) / sum(d for d, _ in part) for part in requests]
    prefix, number = "spec_decode_", rng.choice((int, float))
    return {
        "request_count": _metric("requests", len(requests)),
        f"{prefix}acceptance_length": _metric("ratio", sum(lengths) / len(lengths), spread=True),
        f"{prefix}draft_acceptance_rate": _metric("%", sum(rates) / len(rates), spread=True),
        "total_spec_decode_steps": _metric("count", number(n)),
        "total_accepted_draft_tokens": _metric("tokens", number(accepted)),
        "total_draft_tokens": _metric("tokens", number(drafted)),
        f"{prefix}token_weighted_acceptance_length": _metric("ratio", 1 + accepted / n),
        f"{prefix}overall_draft_acceptance_rate": _metric("%", 100 * accepted / drafted),
        "pooled_spec_decode_acceptance_histogram": {
            str(i): steps for i, steps in enumerate(histogram(rounds)) if steps
        },
    }


def _profile(rng: random.Random, gamma: int, short: float) -> list[list[Round]]:
    hazard = hazards(rng, gamma, extreme=not short)
    return [
        simulate(rng, gamma, rng.randint(2, 120), hazard, short=short)
        for _ in range(rng.randint(1, 6))
    ]


def export(rng: random.Random) -> Sample:
    """AIPerf, full drafts: gamma = D/N, the histogram gives every position."""
    gamma = rng.randint(1, 8)
    requests = _profile(rng, gamma, 0.0)
    total = told(count(joined(requests), gamma), positions=True)
    data = document(rng, _aiperf(rng, requests))
    return pooled("aiperf.export", "aiperf", data, total, codes=["macro_average"])


def export_uneven(rng: random.Random) -> Sample:
    """AIPerf, drafts of varying length: the positions, but not what was proposed."""
    gamma = rng.randint(2, 8)
    requests = draw_until(
        lambda: _profile(rng, gamma, 0.4),
        lambda drawn: varies(joined(drawn)) and any(a for _, a in joined(drawn)),
    )
    rounds = joined(requests)
    seen = count(rounds, max(a for _, a in rounds))
    known = replace(totals(rounds, drafts=True), accepted_at_least=seen.accepted_at_least)
    total = bounded(replace(known, rejections=None), rounds)
    codes = ["macro_average", "variable_draft_length"]
    data = document(rng, _aiperf(rng, requests))
    return pooled("aiperf.export_uneven", "aiperf", data, total, codes=codes)


def export_no_spec(rng: random.Random) -> Sample:
    """AIPerf of a server that reports no drafts."""
    metrics = {"request_count": _metric("requests", rng.randint(1, 99))}
    metrics["output_token_throughput"] = _metric("tokens/sec", 812.5, spread=True)
    data = document(rng, metrics | {"input_config": {"endpoint": {"type": "chat"}}})
    return grouped("aiperf.export_no_spec", "aiperf", data, (), codes=["no_spec_data"])


def load_message(rng: random.Random) -> Sample:
    """The statistics in a load message of a Dynamo worker."""
    gamma = rng.randint(1, 8)
    rounds = simulate(rng, gamma, rng.randint(1, 400), hazards(rng, gamma))
    counts = count(rounds, gamma)
    stats = {
        "num_spec_tokens": gamma,
        "num_drafts": counts.rounds,
        "num_draft_tokens": counts.drafted,
        "num_accepted_tokens": counts.accepted,
        "num_accepted_tokens_per_pos": list(counts.accepted_at_least),
    }
    load = {"worker_stats": {"request_active_slots": 3}, "kv_stats": {"kv_active_blocks": 9}}
    data, total = document(rng, load | {"spec_decode_stats": stats}), told(counts, positions=True)
    return pooled("dynamo.load_message", "dynamo", data, total)


def _trees(rng: random.Random) -> list[list[int]]:
    """Accepted depths of one turn after another."""
    return [
        [rng.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(rng.randint(1, 60))]
        for _ in range(rng.randint(1, 6))
    ]


def _tree_total(depths: Sequence[Sequence[int]]) -> Truth:
    rounds, accepted = sum(map(len, depths)), sum(map(sum, depths))
    length = 1 + accepted / rounds
    return Truth(rounds=rounds, accepted=accepted, mean_length=length, refused=True)


def _answer(number: int, model: str, choices: Sequence[Json], *, category: bool) -> Json:
    row: Json = {"question_id": 81 + number}
    row |= {"category": "writing"} if category else {}
    return row | {"answer_id": f"a{number}", "model_id": model, "choices": choices, "tstamp": 1.5}


def _broken(rng: random.Random, row: Json, key: str) -> str | None:
    if rng.random() < 0.8:
        return None
    whole = json.dumps(row)
    return whole[: rng.randint(whole.index(key) + len(key), whole.index('], "tstamp"') - 2)]


def answers(rng: random.Random) -> Sample:
    """Spec-Bench answers: the length of every step with the bonus token, of trees."""
    trees, rows = _trees(rng), []
    model = rng.choice(("vicuna-7b-v1.3-eagle", "vicuna-7b-v1.3-medusa"))
    for i, depths in enumerate(trees):
        lengths = [depth + 1 for depth in depths]
        stop = rng.choice((0, len(lengths) // 2))
        turns = [part for part in (lengths[:stop], lengths[stop:]) if part]
        choice: Json = {
            "index": 0,
            "turns": ["accepted"] * len(turns),
            "decoding_steps": [len(part) for part in turns],
            "new_tokens": [sum(part) for part in turns],
            "wall_time": [1.25] * len(turns),
            "accept_lengths": lengths,
        }
        rows.append(_answer(i, model, [choice], category=True))
    tail = _broken(rng, rows[-1], "accept_lengths")
    return pooled(
        "spec-bench.answers",
        "spec-bench",
        documents(rng, rows, tail),
        _tree_total(trees),
        codes=["tree_draft", "gamma_unknown"],
        dropped=int(tail is not None),
    )


def answers_two_models(rng: random.Random) -> Sample:
    """Answers of two methods in one file, which must not be pooled."""
    rows, groups = list[Json](), []
    for model in ("vicuna-7b-v1.3-eagle", "vicuna-7b-v1.3-hydra"):
        trees = _trees(rng)
        for depths in trees:
            choice: Json = {"index": 0, "accept_lengths": [depth + 1 for depth in depths]}
            rows.append(_answer(len(rows), model, [choice], category=True))
        groups.append(({"model_name": model}, _tree_total(trees)))
    data, codes = documents(rng, rows), ["multi_series", "tree_draft"]
    return grouped("spec-bench.answers_two_models", "spec-bench", data, groups, codes=codes)


def report(rng: random.Random) -> Sample:
    """What Spec-Bench prints of a task: a mean, with the bonus token, and no counts."""
    mean = _tree_total(_trees(rng)).mean_length
    lines = [
        "=" * 30 + " Task:  overall " + "=" * 30,
        f"#Mean accepted tokens:  {mean}",
        "Tokens per second:  71.25",
        "Speedup ratio:  2.41",
    ]
    total = Truth(mean_length=mean, refused=True)
    codes, data = ["interval_average_only"], encode(rng, lines)
    return pooled("spec-bench.report", "spec-bench", data, total, codes=codes)


def _eagle_choice(index: int, turns: Sequence[Sequence[int]]) -> Json:
    return {
        "index": index,
        "turns": ["accepted"] * len(turns),
        "idxs": [len(depths) - 1 for depths in turns],
        "new_tokens": [sum(depths) + len(depths) for depths in turns],
        "wall_time": [1.25] * len(turns),
    }


def eagle_answers(rng: random.Random) -> Sample:
    """EAGLE answers: the last loop index and the new tokens of every turn, of trees."""
    trees, rows = [_trees(rng) for _ in range(rng.randint(1, 4))], []
    for i, turns in enumerate(trees):
        stop = rng.choice((0, len(turns) // 2))
        choices = [part for part in (turns[:stop], turns[stop:]) if part]
        listed = [_eagle_choice(j, part) for j, part in enumerate(choices)]
        rows.append(_answer(i, "ess-vicuna-70b-fp16", listed, category=False))
    tail = _broken(rng, rows[-1], "idxs")
    return pooled(
        "spec-bench.eagle_answers",
        "spec-bench",
        documents(rng, rows, tail),
        _tree_total([depths for turns in trees for depths in turns]),
        codes=["tree_draft"],
        dropped=int(tail is not None),
    )


Generator = Callable[[random.Random], Sample]
AIPERF: tuple[Generator, ...] = (export, export_uneven, export_no_spec)
DYNAMO: tuple[Generator, ...] = (load_message,)
SPEC_BENCH: tuple[Generator, ...] = (answers, answers_two_models, report, eagle_answers)
