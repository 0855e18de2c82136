"""LM Studio: engines.md section 10 (engine formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from .process import Round, bounded, draw_until, hazards, is_open, joined, simulate, totals
from .truth import Sample, Truth, grouped, pooled
from .wrap import Clock, documents, event_stream, log_file

Json = dict[str, object]
DRAFTER: Json = {"draft_model": "example-draft-1b"}
KEYS = {
    "total": ("totalDraftTokensCount", "total_draft_tokens_count"),
    "accepted": ("acceptedDraftTokensCount", "accepted_draft_tokens_count"),
    "rejected": ("rejectedDraftTokensCount", "rejected_draft_tokens_count"),
    "ignored": ("ignoredDraftTokensCount", "ignored_draft_tokens_count"),
}


def _requests(rng: random.Random, most: int = 4) -> list[list[Round]]:
    gamma = rng.randint(1, 8)
    hazard = hazards(rng, gamma, extreme=False)

    def draw() -> list[Round]:
        return simulate(rng, gamma, rng.randint(1, 90), hazard, short=rng.choice((0.0, 0.4)))

    return draw_until(
        lambda: [draw() for _ in range(rng.randint(1, most))],
        lambda drawn: is_open(joined(drawn)),
    )


def _total(requests: Sequence[Sequence[Round]]) -> Truth:
    rounds = joined(requests)
    return bounded(totals(rounds), rounds)


def _counts(rounds: Sequence[Round], ignored: int, *, snake: bool) -> Json:
    """The four counts; the total has the tokens in it that never reached the target."""
    drafted, accepted = sum(d for d, _ in rounds), sum(a for _, a in rounds)
    values = {
        "total": drafted + ignored,
        "accepted": accepted,
        "rejected": drafted - accepted,
        "ignored": ignored,
    }
    return {KEYS[name][snake]: value for name, value in values.items()}


def _ignored(rng: random.Random, requests: Sequence[object]) -> tuple[list[int], list[str]]:
    """Drafts too short to be worth a pass, and the findings with or without them."""
    ignored = [rng.choice((0, 0, rng.randint(1, 30))) for _ in requests]
    return ignored, ["gamma_unknown", *(["ignored_drafts"] if any(ignored) else [])]


def _sample(
    rng: random.Random,
    name: str,
    requests: Sequence[Sequence[Round]],
    rows: Sequence[Json],
    codes: Sequence[str],
) -> Sample:
    data = documents(rng, rows)
    return pooled(f"lm-studio.{name}", "lm-studio", data, _total(requests), codes=codes)


def sdk_stats(rng: random.Random) -> Sample:
    """The stats of a prediction in the SDK, camelCase, alone or with the text."""
    requests = _requests(rng)
    ignored, codes = _ignored(rng, requests)
    whole, rows = rng.random() < 0.5, list[Json]()
    for rounds, left in zip(requests, ignored, strict=True):
        stats: Json = {
            "stopReason": "eosFound",
            "tokensPerSecond": 61.2,
            "predictedTokensCount": len(rounds) + sum(a for _, a in rounds),
            "usedDraftModelKey": "example-draft-1b",
        }
        stats |= _counts(rounds, left, snake=False)
        rows.append({"content": "yes", "stats": stats} if whole else stats)
    return _sample(rng, "sdk_stats", requests, rows, codes)


def _response(rounds: Sequence[Round], usage: Json, stats: Json) -> Json:
    tokens = len(rounds) + sum(a for _, a in rounds)
    message = {"role": "assistant", "content": "accepted"}
    return {
        "id": "chatcmpl-x",
        "object": "chat.completion",
        "model": "example-target",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 66, "completion_tokens": tokens} | usage,
        "stats": {"tokens_per_second": 17.9, "stop_reason": "eosFound"} | stats,
        "model_info": {"arch": "qwen3", "quant": "4bit"},
    }


def rest(rng: random.Random) -> Sample:
    """REST since 0.3.10: snake_case in `stats`."""
    requests = _requests(rng)
    ignored, codes = _ignored(rng, requests)
    rows = []
    for rounds, left in zip(requests, ignored, strict=True):
        rows.append(_response(rounds, {}, DRAFTER | _counts(rounds, left, snake=True)))
    if rng.random() < 0.3:
        rows.append(_response([(0, 0)] * 9, {}, DRAFTER | _counts([], 0, snake=True)))
        codes.append("zero_drafts")
    if rng.random() < 0.3:
        rows.insert(0, _response([(0, 0)] * 9, {}, {}))
    return _sample(rng, "rest", requests, rows, codes)


def rest_two_drafters(rng: random.Random) -> Sample:
    """Responses with two draft models, which must not be pooled."""
    rows, groups = [], []
    for name in ("example-draft-0.5b", "example-draft-1b"):
        requests = _requests(rng, most=2)
        for rounds in requests:
            stats: Json = {"draft_model": name} | _counts(rounds, 0, snake=True)
            rows.append(_response(rounds, {}, stats))
        groups.append(({"draft_model": name}, _total(requests)))
    rng.shuffle(rows)
    data, codes = documents(rng, rows), ["multi_series", "gamma_unknown"]
    return grouped("lm-studio.rest_two_drafters", "lm-studio", data, groups, codes=codes)


def rest_embedded(rng: random.Random) -> Sample:
    """Embedded MTP: the counts are in `usage`, none is ignored and no draft model is named."""
    requests, rows = _requests(rng), []
    for rounds in requests:
        usage = _counts(rounds, 0, snake=True)
        usage.pop("ignored_draft_tokens_count")
        rows.append(_response(rounds, usage, {}))
    return _sample(rng, "rest_embedded", requests, rows, ["gamma_unknown"])


def log(rng: random.Random) -> Sample:
    """The server's log: JSON over many lines behind a remark, others between them: section 18."""
    requests, clock, lines = _requests(rng), Clock(rng), list[str]()
    ignored, codes = _ignored(rng, requests)
    blocks, indent = [], rng.choice((2, 2, 2, None))
    for rounds, left in zip(requests, ignored, strict=True):
        stats = DRAFTER | _counts(rounds, left, snake=True)
        text = json.dumps({"model": "example-target", "stats": stats}, indent=indent)
        blocks.append(f"[DEBUG] [example-target] Generated prediction: {text}".split("\n"))
    for block in blocks:
        if rng.random() < 0.5:
            lines.append(f"{clock.now:%Y-%m-%d %H:%M:%S} [INFO] [example-target] Prompt accepted")
        clock.tick(8)
        lines += [f"{clock.now:%Y-%m-%d %H:%M:%S} {block[0]}", *block[1:]]
    tail = None
    if indent and rng.random() < 0.4:
        first, *rest_ = blocks[-1]
        lines += [f"{clock.now:%Y-%m-%d %H:%M:%S} {first}"]
        stop = rng.randint(3, 5)
        lines += rest_[:stop]
        tail = rest_[stop][: rng.randint(4, len(rest_[stop]))]
    return pooled(
        "lm-studio.log",
        "lm-studio",
        log_file(rng, lines, tail),
        _total(requests),
        codes=codes,
        dropped=int(tail is not None),
    )


def rest_stream(rng: random.Random) -> Sample:
    """A streamed response: the stats come with the last chunk."""
    (rounds,) = requests = _requests(rng, most=1)
    stats = DRAFTER | _counts(rounds, 0, snake=True)
    head: Json = {"id": "chatcmpl-x", "object": "chat.completion.chunk"}
    chunk = head | {"choices": [{"index": 0, "delta": {"content": "accepted"}}]}
    data = event_stream(rng, [chunk, chunk, head | {"choices": [], "stats": stats}])
    total, codes = _total(requests), ["gamma_unknown"]
    return pooled("lm-studio.rest_stream", "lm-studio", data, total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    sdk_stats,
    rest,
    rest_two_drafters,
    rest_embedded,
    rest_stream,
    log,
)
