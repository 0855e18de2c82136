"""llama-server logs whose records mix or mislead: engines.md section 5.1 (autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable

from .llamacpp_lines import (
    Request,
    new_head,
    no_head,
    old_block,
    server_noise,
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
from .process import (
    Round,
    draw_until,
    hazards,
    is_open,
    joined,
    simulate,
    simulate_lengths,
    totals,
    varies,
)
from .truth import Sample, Truth, grouped
from .wrap import braid, interleave, log_file


def log_replay(rng: random.Random) -> Sample:
    """Checkpoint replays counted as accepted: A has to be refused: section 5.1."""
    gamma = rng.choice((1, 1, 2, 3))
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(5, 200), hazards(rng, gamma, extreme=False)),
        lambda drawn: any(a < d for d, a in drawn),
    )
    partly = [(d, a) for d, a in rounds if a < d]
    request = Request(rng.randint(0, 3), rng.randint(0, 99), rounds)
    restored = [
        f"slot update_slots: id {request.slot:2d} | task {request.task} | "
        f"accepted {a:2d}/{d:2d} draft tokens (restore checkpoint)"
        for d, a in partly
    ]
    block = slot_block(request, replayed=len(partly))
    block.append(statistics(rng, "draft-eagle3", rounds, 1, replayed=len(partly)))
    n = len(rounds)
    total = Truth(n, n * gamma, drafted_at_least=(n,) * gamma, gamma=gamma)
    codes = ["replay_inflation"]
    return server_log(rng, "log_replay", [restored, block], total, head=any_head(rng), codes=codes)


def log_ngram(rng: random.Random) -> Sample:
    """N-gram drafts of very uneven length, calls that found nothing: section 5.1."""
    old = rng.random() < 0.5
    kind = "ngram_mod" if old else rng.choice(("ngram-mod", "ngram-simple", "ngram-cache"))
    hazard = hazards(rng, 64, extreme=False)

    def draw() -> list[Round]:
        lengths = [rng.randint(48, 64) for _ in range(rng.randint(1, 25))]
        return simulate_lengths(rng, lengths, [max(p, 0.9) for p in hazard])

    requests = draw_until(
        lambda: draw_requests(rng, draw, most=3),
        lambda x: varies(rounds_of(x)) and is_open(rounds_of(x)),
    )
    blocks, done, idle = [], list[Round](), 0
    for i, request in enumerate(requests):
        done += request.rounds
        idle += rng.randint(10, 900)
        block = old_block(request) if old else slot_block(request)
        blocks.append([*block, statistics(rng, kind, done, i + 1, idle=idle)])
    codes = [*zero_codes(requests), "variable_draft_length"]
    total, head = totals(rounds_of(requests), drafts=True), no_head if old else any_head(rng)
    return server_log(rng, "log_ngram", blocks, total, head=head, codes=codes)


def _match(rng: random.Random) -> list[Round]:
    """A few n-gram drafts of one request, one of them short."""
    lengths = [64] * rng.randint(0, 4) + [rng.randint(48, 63)]
    return simulate_lengths(rng, lengths, [0.95] * 64)


def log_two_types(rng: random.Random) -> Sample:
    """Two implementations at once; the request lines mix what must stay apart: section 5.1."""
    gamma = rng.randint(1, 4)
    own = draft_requests(rng, gamma, short=0.3 if gamma > 1 else 0.0)
    matches = draw_until(lambda: [_match(rng) for _ in own], lambda found: varies(joined(found)))
    lines, done = list[str](), (list[Round](), list[Round]())
    for i, (request, found) in enumerate(zip(own, matches, strict=True)):
        done[0].extend(request.rounds)
        done[1].extend(found)
        mixed = Request(request.slot, request.task, [*request.rounds, *found])
        lines += slot_block(mixed)
        lines.append(statistics(rng, "ngram-mod", done[1], i + 1, idle=800))
        lines.append(statistics(rng, "draft-mtp", done[0], i + 1))
    groups = [
        ({"type": "draft-mtp"}, statistics_total(own, gamma)),
        ({"type": "ngram-mod"}, totals(done[1], drafts=True)),
    ]
    head = any_head(rng)
    data = log_file(rng, [head() + line for line in interleave(rng, lines, server_noise)])
    codes = ["lifetime_vs_request", "mixed_gamma", "variable_draft_length"]
    return grouped("llama.cpp.log_two_types", "llama.cpp", data, groups, codes=codes)


def log_two_ports(rng: random.Random) -> Sample:
    """Router mode: each port is a server with a model of its own: section 5.1."""
    ports = rng.sample(range(49152, 65535), 2)
    queues, groups = [], []
    for port in ports:
        requests, head = open_requests(rng), new_head(rng, port)
        queues.append([head() + line for x in requests for line in slot_block(x)])
        groups.append(({"port": str(port)}, totals(rounds_of(requests))))
    lines = braid(rng, queues)
    codes = ["multi_series", *UNTOLD]
    data = log_file(rng, lines)
    return grouped("llama.cpp.log_two_ports", "llama.cpp", data, groups, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    log_replay,
    log_ngram,
    log_two_types,
    log_two_ports,
)
