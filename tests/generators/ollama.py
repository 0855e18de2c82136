"""Ollama: engines.md section 11 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .llamacpp import readable_requests, trace_endings
from .llamacpp_lines import slot_block
from .llamacpp_requests import rounds_of, zero_codes
from .process import (
    Round,
    bounded,
    by_length,
    count,
    counters,
    draw_until,
    hazards,
    is_open,
    joined,
    simulate,
    simulate_lengths,
)
from .truth import Sample, Truth, grouped, pooled
from .wrap import Clock, cut, interleave, log_file


def _head(clock: Clock, level: str, source: str) -> str:
    return f"time={clock.now:%Y-%m-%dT%H:%M:%S}.120Z level={level} source={source} "


def _noise(rng: random.Random) -> str:
    return rng.choice(
        (
            '[GIN] 2026/09/14 - 12:00:06 | 200 |  4.301022119s |  127.0.0.1 | POST "/api/chat"',
            'time=2026-08-07T19:33:35.120Z level=INFO source=sched.go:9 msg="drafted accepted=3"',
            "",
        )
    )


def _depths(rounds: Sequence[Round]) -> str:
    """Mean and largest depth in up to eight equal parts."""
    parts, size = min(8, len(rounds)), len(rounds)
    shown = []
    for i in range(parts):
        depths = [d for d, _ in rounds[i * size // parts : (i + 1) * size // parts]]
        shown.append(f"{sum(depths) / len(depths):.1f}/{max(depths)}")
    return " ".join(shown)


def _stats(clock: Clock, rounds: Sequence[Round]) -> str:
    """The line of a finished request; 0/0 is printed as 0.00."""
    n, drafted, accepted = len(rounds), sum(d for d, _ in rounds), sum(a for _, a in rounds)
    rate = accepted / drafted if drafted else 0.0
    return (
        _head(clock, "INFO", "speculate_stats.go:62")
        + f'msg="speculative decode stats" iterations={n} drafted={drafted} accepted={accepted} '
        f"acceptance={rate:.2f} avg_draft={drafted / n:.2f} max_draft={max(d for d, _ in rounds)} "
        f'avg_accepted={accepted / n:.2f} depth_over_time="{_depths(rounds)}"'
    )


def _controller(clock: Clock) -> str:
    """The debug line: rates over several requests, no counts."""
    return (
        _head(clock, "DEBUG", "speculate_stats.go:81")
        + 'msg="speculation depth controller" cost="1:9.1 4:11.0" '
        'acceptance="1:0.81 2:0.74" expected_tps="0:41.0 1:60.2" probe_interval=16'
    )


def _mlx_log(
    rng: random.Random,
    name: str,
    requests: Sequence[Sequence[Round]],
    total: Truth,
    codes: Sequence[str] = (),
) -> Sample:
    clock, lines, debug, tail = Clock(rng), list[str](), rng.random() < 0.4, None
    for rounds in requests:
        clock.tick(rng.uniform(1, 40))
        lines.append(_stats(clock, rounds))
        if debug:
            lines.append(_controller(clock))
    if rng.random() < 0.25:
        tail = cut(rng, _stats(clock, requests[0]), " iterations=", " acceptance=")
    return pooled(
        f"ollama.{name}",
        "ollama",
        log_file(rng, interleave(rng, lines, _noise), tail),
        total,
        codes=codes,
        dropped=int(tail is not None),
    )


def _walk(rng: random.Random, deepest: int) -> list[Round]:
    """Rounds whose depth a controller moves, sometimes down to none."""
    depth, lengths = rng.randint(0, deepest), []
    for _ in range(rng.randint(8, 120)):
        lengths.append(depth)
        depth = min(deepest, max(0, depth + rng.choice((-1, 0, 1))))
    return simulate_lengths(rng, lengths, hazards(rng, deepest, extreme=False))


def mlx_log(rng: random.Random) -> Sample:
    """The MLX runner: adaptive depth; iterations have the rounds of depth 0 in them."""
    deepest = rng.randint(2, 8)
    requests = draw_until(
        lambda: [_walk(rng, deepest) for _ in range(rng.randint(1, 4))],
        lambda drawn: (
            is_open(joined(drawn)) and all(len({d for d, _ in rounds}) > 1 for rounds in drawn)
        ),
    )
    codes = ["variable_draft_length"]
    if rng.random() < 0.3:
        requests.append([(0, 0)] * rng.randint(8, 99))
        codes.append("zero_drafts")
    rounds = joined(requests)
    seen = count(rounds)
    total = Truth(
        rounds=len(rounds),
        drafted=seen.drafted,
        accepted=seen.accepted,
        mean_length=1 + seen.accepted / len(rounds),
    )
    return _mlx_log(rng, "mlx_log", requests, bounded(total, rounds), codes)


def mlx_log_constant(rng: random.Random) -> Sample:
    """Each round drafted as many: the average depth is the largest, so gamma is told."""
    gamma = rng.randint(1, 8)
    hazard = hazards(rng, gamma)
    requests = [simulate(rng, gamma, rng.randint(1, 150), hazard) for _ in range(rng.randint(1, 4))]
    total = by_length(requests, gamma)
    return _mlx_log(rng, "mlx_log_constant", requests, total)


def mlx_log_idle(rng: random.Random) -> Sample:
    """Requests that never drafted: 0.00 stands for 0/0."""
    clock = Clock(rng)
    lines = [_stats(clock, [(0, 0)] * rng.randint(1, 99)) for _ in range(rng.randint(1, 3))]
    data = log_file(rng, interleave(rng, lines, _noise))
    return grouped("ollama.mlx_log_idle", "ollama", data, (), codes=["zero_drafts"])


def llama_server_log(rng: random.Random) -> Sample:
    """The llama.cpp runner: trace lines without a prefix among Ollama's own."""
    gamma, clock = rng.randint(1, 8), Clock(rng)
    requests = readable_requests(rng, gamma)
    lines = [
        _head(clock, "INFO", "llama_server.go:433")
        + 'msg="starting llama-server" cmd="/opt/ollama/llama-server --model model.gguf '
        "--log-verbosity 4 --no-log-prefix --no-log-timestamps --spec-type draft-mtp "
        f'--spec-draft-n-max {gamma}"'
    ]
    for request in requests:
        lines += slot_block(request, *trace_endings(request.rounds, gamma))
    total = counters(rounds_of(requests), gamma, positions=True)
    data = log_file(rng, interleave(rng, lines, _noise))
    codes = zero_codes(requests)
    return pooled("ollama.llama_server_log", "ollama", data, total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    mlx_log,
    mlx_log_constant,
    mlx_log_idle,
    llama_server_log,
)
