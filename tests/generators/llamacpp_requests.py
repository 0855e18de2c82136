"""Finished requests of llama-server and the log they make: engines.md section 5.1 (autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .llamacpp_lines import Head, Request, new_head, no_head, server_noise
from .process import Round, counters, draw_until, hazards, is_open, simulate, totals, varies
from .truth import Sample, Truth, pooled
from .wrap import cut, interleave, log_file

UNTOLD = ("variable_draft_length", "gamma_unknown")


def rounds_of(requests: Sequence[Request]) -> list[Round]:
    return [step for request in requests for step in request.rounds]


def draw_requests(
    rng: random.Random, draw: Callable[[], list[Round]], *, most: int = 5
) -> list[Request]:
    """Requests in order of their tasks, one perhaps without any draft."""
    drawn = [draw() for _ in range(rng.randint(1, most))]
    if rng.random() < 0.3:
        drawn.insert(rng.randint(0, len(drawn)), [])
    task, requests = 0, []
    for rounds in drawn:
        requests.append(Request(rng.randint(0, 3), task, rounds))
        task += rng.randint(1, 900)
    return requests


def open_requests(rng: random.Random) -> list[Request]:
    """Requests of uneven drafts whose rejections counting leaves open."""
    gamma = rng.randint(2, 16)
    hazard = hazards(rng, gamma, extreme=False)
    return draw_until(
        lambda: draw_requests(
            rng, lambda: simulate(rng, gamma, rng.randint(1, 150), hazard, short=0.6)
        ),
        lambda requests: is_open(rounds_of(requests)),
    )


def server_log(
    rng: random.Random,
    name: str,
    blocks: Sequence[Sequence[str]],
    total: Truth,
    *,
    head: Head = no_head,
    broken: Sequence[str] | None = None,
    codes: Sequence[str] = (),
) -> Sample:
    """The blocks in order, perhaps followed by the block of a request that is cut."""
    noise = server_noise
    lines = interleave(rng, [line for block in blocks for line in block], noise)
    tail = None
    if broken is not None and rng.random() < 0.25:
        acceptance = next(i for i, line in enumerate(broken) if " accepted / " in line)
        lines += broken[:acceptance]
        tail = cut(rng, broken[acceptance], " (", " generated)")
    dressed = [head() + line for line in lines]
    data = log_file(rng, dressed, None if tail is None else head() + tail)
    dropped = int(tail is not None)
    return pooled(f"llama.cpp.{name}", "llama.cpp", data, total, codes=codes, dropped=dropped)


def zero_codes(requests: Sequence[Request]) -> list[str]:
    return ["zero_drafts"] if any(not request.rounds for request in requests) else []


def any_head(rng: random.Random) -> Head:
    return rng.choice((no_head, new_head(rng), new_head(rng, rng.randint(49152, 65535))))


def draft_requests(rng: random.Random, gamma: int, *, short: float) -> list[Request]:
    """Requests of one drafter, with drafts all full or visibly not."""
    hazard = hazards(rng, gamma, extreme=False)

    def draw() -> list[Request]:
        return draw_requests(
            rng, lambda: simulate(rng, gamma, rng.randint(1, 150), hazard, short=short)
        )

    return draw_until(draw, lambda requests: short == 0 or varies(rounds_of(requests)))


def statistics_total(requests: Sequence[Request], gamma: int) -> Truth:
    """Full drafts give gamma = D/N, and #acc drafts = c_1 up to gamma 2 every position."""
    rounds = rounds_of(requests)
    if all(d == gamma for d, _ in rounds):
        return counters(rounds, gamma, positions=gamma <= 2)
    return totals(rounds, drafts=True)
