"""llama.cpp: engines.md section 5 (engine formats as of autumn 2026); this module, the server."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from . import llamacpp_outputs, llamacpp_special
from .llamacpp_lines import (
    Request,
    listed,
    mean_length,
    old_block,
    positions,
    slot_block,
    statistics,
)
from .llamacpp_requests import (
    UNTOLD,
    any_head,
    draft_requests,
    draw_requests,
    open_requests,
    rounds_of,
    server_log,
    statistics_total,
    zero_codes,
)
from .process import Round, count, counters, draw_until, hazards, recoverable, simulate, totals
from .truth import Sample
from .wrap import braid


def log_old_rate(rng: random.Random) -> Sample:
    """Until May 2026: a line after the timing block, D and A only: section 5.1."""
    requests = open_requests(rng)
    blocks = [old_block(request) for request in requests]
    broken = old_block(Request(0, 9999, [(9, 4), (7, 7)]))
    codes = [*UNTOLD, *zero_codes(requests)]
    total = totals(rounds_of(requests))
    return server_log(rng, "log_old_rate", blocks, total, broken=broken, codes=codes)


def log_slot_rate(rng: random.Random) -> Sample:
    """Since May 2026: slot and task on the line, D and A only: section 5.1."""
    requests = open_requests(rng)
    blocks = [slot_block(request) for request in requests]
    broken = slot_block(Request(0, 9999, [(9, 4), (7, 7)]))
    codes, head = [*UNTOLD, *zero_codes(requests)], any_head(rng)
    total = totals(rounds_of(requests))
    return server_log(rng, "log_slot_rate", blocks, total, head=head, broken=broken, codes=codes)


def _with_statistics(
    rng: random.Random,
    requests: Sequence[Request],
    kind: str,
    block: Callable[[Request], list[str]],
) -> list[list[str]]:
    """Each block followed by the totals since start."""
    blocks, done = [], list[Round]()
    for i, request in enumerate(requests):
        done += request.rounds
        blocks.append([*block(request), statistics(rng, kind, done, i + 1)])
    return blocks


def log_statistics(rng: random.Random) -> Sample:
    """May and June 2026: totals since start behind each request tell N: section 5.1."""
    gamma, kind = rng.randint(1, 8), rng.choice(("draft-mtp", "draft-eagle3", "draft-simple"))
    short = rng.choice((0.0, 0.3)) if gamma > 1 else 0.0
    requests = draft_requests(rng, gamma, short=short)
    blocks = _with_statistics(rng, requests, kind, slot_block)
    codes = zero_codes(requests) + (["variable_draft_length"] if short else [])
    broken = slot_block(Request(0, 9999, [(gamma, 0)]))
    total, head = statistics_total(requests, gamma), any_head(rng)
    return server_log(rng, "log_statistics", blocks, total, head=head, broken=broken, codes=codes)


def ik_log(rng: random.Random) -> Sample:
    """ik_llama.cpp: the old rate line and the statistics line: section 5.4."""
    gamma = rng.randint(2, 8)
    requests = draft_requests(rng, gamma, short=0.3)
    blocks = _with_statistics(rng, requests, "draft", old_block)
    codes = [*zero_codes(requests), "variable_draft_length"]
    broken = old_block(Request(0, 9999, [(gamma, 0)]))
    total = totals(rounds_of(requests), drafts=True)
    return server_log(rng, "ik_log", blocks, total, broken=broken, codes=codes)


def readable_requests(rng: random.Random, gamma: int) -> list[Request]:
    """Requests whose N and c_i follow from the printed length and positions."""
    short, hazard = rng.choice((0.0, 0.3)), hazards(rng, gamma, extreme=False)

    def readable(rounds: list[Round]) -> bool:
        seen = count(rounds, gamma)
        shown = mean_length(rounds).strip()
        return bool(seen.accepted) and recoverable(seen, shown, positions(rounds, gamma))

    def draw() -> list[Round]:
        return simulate(rng, gamma, rng.randint(1, 120), hazard, short=short)

    return draw_requests(rng, lambda: draw_until(draw, readable))


def log_inline_positions(rng: random.Random) -> Sample:
    """June 2026: length and positions on the request line: section 5.1."""
    gamma, done, blocks = rng.randint(1, 8), list[Round](), []
    requests, shown = readable_requests(rng, gamma), rng.random() < 0.5
    for i, request in enumerate(requests):
        ending = _inline(request.rounds, gamma) if request.rounds else ""
        blocks.append(slot_block(request, ending))
        done += request.rounds
        if shown and done:
            blocks[-1].append(statistics(rng, "draft-mtp", done, i + 1, gamma=gamma))
    broken, head = slot_block(Request(0, 9999, [(gamma, 0)])), any_head(rng)
    total, codes = counters(rounds_of(requests), gamma, positions=True), zero_codes(requests)
    return server_log(
        rng, "log_inline_positions", blocks, total, head=head, broken=broken, codes=codes
    )


def _inline(rounds: Sequence[Round], gamma: int) -> str:
    rates = listed(positions(rounds, gamma))
    return (
        f", mean acceptance length = {mean_length(rounds)}, acceptance rate per position = {rates}"
    )


def log_mean_length(rng: random.Random) -> Sample:
    """Since July 2026 at info level: a two-decimal length, which rarely tells N: section 5.1."""
    requests, head = open_requests(rng), any_head(rng)
    blocks = [
        slot_block(x, f", mean len = {mean_length(x.rounds)}" if x.rounds else "") for x in requests
    ]
    broken = slot_block(Request(0, 9999, [(9, 4), (7, 7)]))
    total, codes = totals(rounds_of(requests)), zero_codes(requests)
    return server_log(rng, "log_mean_length", blocks, total, head=head, broken=broken, codes=codes)


def log_trace(rng: random.Random) -> Sample:
    """Since July 2026 at trace level: positions on a line of their own, lifetime totals: 5.1."""
    gamma, blocks = rng.randint(1, 8), []
    requests, hazard = readable_requests(rng, gamma), hazards(rng, gamma, extreme=False)
    earlier = simulate(rng, gamma, rng.randint(50, 400), hazard) if rng.random() < 0.6 else []
    done = list(earlier)
    for i, request in enumerate(requests):
        blocks.append(slot_block(request, *trace_endings(request.rounds, gamma)))
        done += request.rounds
        if done:
            text = statistics(rng, "draft-mtp", done, 4 * bool(earlier) + i + 1, gamma=gamma)
            blocks[-1].append(f"spec  print_stats: {text}")
    codes = zero_codes(requests) + (["lifetime_vs_request"] if earlier else [])
    total, head = counters(rounds_of(requests), gamma, positions=True), any_head(rng)
    broken = slot_block(Request(0, 9999, [(gamma, 0)]), f", mean len = {1:5.2f}")
    return server_log(rng, "log_trace", blocks, total, head=head, broken=broken, codes=codes)


def trace_endings(rounds: Sequence[Round], gamma: int) -> list[str]:
    """The mean length behind the ratio, and the positions on the next line."""
    if not rounds:
        return []
    rates = listed(positions(rounds, gamma))
    return [f", mean len = {mean_length(rounds)}", f"     acc per pos = {rates}"]


def log_trace_two_slots(rng: random.Random) -> Sample:
    """Two slots finish at once and their trace lines interleave: section 5.1."""
    gamma = rng.randint(1, 8)
    drawn = [readable_requests(rng, gamma) for _ in range(2)]
    queues = [
        [
            line
            for x in requests
            for line in slot_block(
                Request(slot, 2 * x.task + slot, x.rounds), *trace_endings(x.rounds, gamma)
            )
        ]
        for slot, requests in enumerate(drawn)
    ]
    lines = braid(rng, queues)
    total = counters(rounds_of(drawn[0]) + rounds_of(drawn[1]), gamma, positions=True)
    codes = zero_codes([*drawn[0], *drawn[1]])
    return server_log(rng, "log_trace_two_slots", [lines], total, head=any_head(rng), codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    log_old_rate,
    log_slot_rate,
    log_statistics,
    ik_log,
    log_inline_positions,
    log_mean_length,
    log_trace,
    log_trace_two_slots,
    *llamacpp_special.GENERATORS,
    *llamacpp_outputs.GENERATORS,
)
