"""mlx-lm and mlx-vlm: engines.md section 9 (engine formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from .process import (
    Counts,
    Round,
    by_length,
    count,
    counters,
    draw_until,
    hazards,
    joined,
    simulate,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import documents, event_stream

Json = dict[str, object]


def _flags(rounds: Sequence[Round]) -> list[bool]:
    """Accepted tokens and the target's own behind them, round by round."""
    return [flag for _, a in rounds for flag in (*[True] * a, False)]


def _stream(rng: random.Random, flags: Sequence[bool]) -> list[Json]:
    """A response for each token, with the fields that can be written as JSON."""
    rows, full = list[Json](), rng.random() < 0.5
    for i, flag in enumerate(flags, start=1):
        row: Json = {"token": rng.randint(0, 151_935), "from_draft": flag}
        if full:
            row = {"text": " a", **row, "prompt_tokens": 21, "generation_tps": 71.3}
        reason = rng.choice(("stop", "length")) if i == len(flags) else None
        rows.append(row | {"generation_tokens": i, "finish_reason": reason})
    return rows


def _drawn(rng: random.Random) -> tuple[list[Round], int]:
    """Rounds of full drafts, accepted whole so often that no longer draft is thinkable."""
    gamma = rng.randint(1, 6)
    hazard, often = hazards(rng, gamma, extreme=False), 1 if gamma >= 3 else 12
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(1, 90), hazard),
        lambda drawn: sum(a == gamma for _, a in drawn) >= often,
    )
    return rounds, gamma


def from_draft(rng: random.Random) -> Sample:
    """The flags of every token; gamma is the longest run."""
    rounds, gamma = _drawn(rng)
    more = simulate(rng, gamma, rng.randint(1, 30), 0.5) if rng.random() < 0.3 else []
    rows = [*_stream(rng, _flags(rounds)), *_stream(rng, _flags(more))]
    tail = None
    if rng.random() < 0.2:
        whole = json.dumps(rows[-1])
        tail = whole[: rng.randint(whole.index("from_draft"), len(whole) - 1)]
    total = counters(joined([rounds, more]), gamma, positions=True)
    data, dropped = documents(rng, rows, tail), int(tail is not None)
    return pooled("mlx.from_draft", "mlx", data, total, dropped=dropped)


def from_draft_cut(rng: random.Random) -> Sample:
    """A request that ends within a draft: its last round has no end, and is no rejection."""
    rounds, gamma = _drawn(rng)
    run = rng.randint(1, gamma)
    flags, counts = [*_flags(rounds), *[True] * run], count(rounds, gamma)
    total = Truth(accepted=counts.accepted + run, rejections=counts.rejections)
    data, codes = documents(rng, _stream(rng, flags)), ["censored_by_stop"]
    return pooled("mlx.from_draft_cut", "mlx", data, total, codes=codes)


def no_draft(rng: random.Random) -> Sample:
    """No flag set: no draft model, or nothing accepted; nobody can tell."""
    rows = _stream(rng, [False] * rng.randint(2, 60))
    return grouped("mlx.no_draft", "mlx", documents(rng, rows), (), codes=["zero_drafts"])


def _timings(rng: random.Random, kind: str, counts: Counts) -> Json:
    return {
        "prompt_n": 20,
        "prompt_ms": 81.5,
        "predicted_n": counts.rounds + counts.accepted - rng.randint(0, 1),
        "predicted_per_second": 61.4,
        "draft_kind": kind,
        "draft_rounds": counts.rounds,
        "draft_n": counts.drafted,
        "draft_n_accepted": counts.accepted,
    }


def vlm_timings(rng: random.Random) -> Sample:
    """The timings of mlx-vlm's server: N, D and A, gamma = D/N."""
    gamma, kind = rng.randint(1, 8), rng.choice(("mtp", "dflash"))
    hazard = hazards(rng, gamma)
    requests = [simulate(rng, gamma, rng.randint(1, 90), hazard) for _ in range(rng.randint(1, 4))]
    rows = []
    for i, rounds in enumerate(requests):
        head: Json = {"id": f"chatcmpl-{i}", "object": "chat.completion"}
        rows.append(head | {"timings": _timings(rng, kind, count(rounds, gamma))})
    total = by_length(requests, gamma)
    return pooled("mlx.vlm_timings", "mlx", documents(rng, rows), total)


def vlm_two_kinds(rng: random.Random) -> Sample:
    """Responses with drafts of two kinds and lengths, which must not be pooled."""
    rows, groups = list[Json](), []
    for kind, gamma in zip(("mtp", "dflash"), rng.sample(range(1, 9), 2), strict=True):
        rounds = simulate(rng, gamma, rng.randint(1, 90), hazards(rng, gamma))
        rows.append({"id": kind, "timings": _timings(rng, kind, count(rounds, gamma))})
        groups.append(({"type": kind}, by_length([rounds], gamma)))
    data, codes = documents(rng, rows), ["multi_series", "mixed_gamma"]
    return grouped("mlx.vlm_two_kinds", "mlx", data, groups, codes=codes)


def vlm_stream(rng: random.Random) -> Sample:
    """A streamed response of it: the timings come with the last chunk."""
    gamma = rng.randint(1, 8)
    rounds = simulate(rng, gamma, rng.randint(1, 90), hazards(rng, gamma))
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
    chunk = head | {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    last = head | {"choices": [], "timings": _timings(rng, "mtp", count(rounds, gamma))}
    data, total = event_stream(rng, [chunk, chunk, last]), by_length([rounds], gamma)
    return pooled("mlx.vlm_stream", "mlx", data, total)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    from_draft,
    from_draft_cut,
    no_draft,
    vlm_timings,
    vlm_two_kinds,
    vlm_stream,
)
