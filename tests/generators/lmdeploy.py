"""LMDeploy: engines.md section 13 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from .exposition import Labels, Style, counter, gauge
from .process import (
    Counts,
    Round,
    count,
    counters,
    draw_until,
    hazards,
    joined,
    recoverable,
    simulate,
    told,
)
from .truth import Sample, Truth, grouped, pooled
from .vllm_lines import full_windows, printed_length, printed_positions
from .wrap import Clock, braid, compose, cut, encode, interleave, log_file

Rank = Callable[[int], str]
"""How a version names a data-parallel rank in the brackets."""

RANKS: tuple[Rank, ...] = (lambda rank: f"DP{rank}", lambda rank: f"Engine {rank:03d}")


def _head(rng: random.Random, clock: Clock, rank: str) -> str:
    """The part of the line that every interval has."""
    return (
        f"[{clock.now:%Y-%m-%d %H:%M:%S} {rank}] Avg thr (in/out): {rng.uniform(0, 900):.1f} / "
        f"{rng.uniform(0, 900):.1f} tokens/s, Server (succeeded/failed/routed/waiting): 9 / 0 / 4 "
        f"/ 0, Engine (running/waiting): {rng.randint(0, 9)} / 0, KV cache: 4.1%, "
    )


def _record(window: Counts) -> str:
    rate = f"{window.accepted / window.drafted * 100:.2f}" if window.drafted else "nan"
    return (
        f"SpecDecoding metrics: Draft acceptance rate: {rate}%, Mean acceptance length: "
        f"{printed_length(window)}, Accepted: {window.accepted} tokens, Drafted: {window.drafted} "
        f"tokens, Per-position acceptance rate: {', '.join(printed_positions(window))}"
    )


def _log(
    rng: random.Random,
    name: str,
    ranks: Sequence[Sequence[Counts]],
    total: Truth,
    codes: Sequence[str] = (),
) -> Sample:
    """A line every ten seconds and rank, some of them idle, the last one perhaps cut."""
    clock, rank_name, lines = Clock(rng), rng.choice(RANKS), []
    for i in range(max(map(len, ranks))):
        clock.tick(10)
        for rank, windows in enumerate(ranks):
            head = _head(rng, clock, rank_name(rank))
            if i < len(windows):
                lines.append(head + _record(windows[i]))
            elif rng.random() < 0.5:
                lines.append(head)
    while lines[-1].endswith("%, "):  # without a newline it might be a record that is cut
        lines.pop()
    tail = None
    if rng.random() < 0.25:
        whole = _head(rng, clock, rank_name(0)) + _record(ranks[0][-1])
        tail = cut(rng, whole, "SpecDecoding metrics: ", " tokens")
    return pooled(
        f"lmdeploy.{name}",
        "lmdeploy",
        log_file(rng, interleave(rng, lines), tail),
        total,
        codes=codes,
        dropped=int(tail is not None),
    )


def log(rng: random.Random) -> Sample:
    """One rank, full drafts: the lines are windows."""
    gamma = rng.randint(1, 12)
    windows = full_windows(rng, gamma, 400)
    total = counters(joined(windows), gamma, positions=True)
    return _log(rng, "log", [[count(window, gamma) for window in windows]], total)


def log_ranks(rng: random.Random) -> Sample:
    """Data-parallel ranks, each with windows of its own, which add up."""
    gamma = rng.randint(1, 12)
    ranks = [full_windows(rng, gamma, 200) for _ in range(rng.randint(2, 4))]
    shown = [[count(window, gamma) for window in windows] for windows in ranks]
    total = counters(joined(map(joined, ranks)), gamma, positions=True)
    return _log(rng, "log_ranks", shown, total, ["multi_series"])


def log_uneven(rng: random.Random) -> Sample:
    """Drafts cut short, where N and c_i still follow from the printed figures: section 3.1."""
    gamma, short = rng.randint(2, 8), rng.uniform(0.1, 0.9)
    hazard = hazards(rng, gamma, extreme=False)

    def readable(window: list[Round]) -> bool:
        seen = count(window, gamma)
        if not seen.accepted or seen.drafted == seen.rounds * gamma:
            return False
        return recoverable(seen, printed_length(seen), printed_positions(seen))

    def draw() -> list[Round]:
        return simulate(rng, gamma, rng.randint(2, 120), hazard, short=short)

    windows = [draw_until(draw, readable) for _ in range(rng.randint(1, 3))]
    total = counters(joined(windows), gamma, positions=True)
    return _log(rng, "log_uneven", [[count(window, gamma) for window in windows]], total)


def log_nan(rng: random.Random) -> Sample:
    """A window whose drafts lost all their tokens: 0/0 is printed as nan: section 3.1."""
    gamma = rng.randint(1, 12)
    windows = full_windows(rng, gamma, 400)
    zeros = (0,) * gamma
    empty = Counts(rng.randint(1, 40), 0, 0, zeros, zeros, 0, 0, gamma)
    shown = [count(window, gamma) for window in windows]
    shown.insert(rng.randint(0, len(shown)), empty)
    total = counters(joined(windows), gamma, positions=True)
    return _log(rng, "log_nan", [shown], total, ["nan_rate"])


def log_two_containers(rng: random.Random) -> Sample:
    """Two services of different gamma under docker compose: section 18."""
    groups, queues = [], []
    for name, gamma in zip(("lmd-chat-1", "lmd-code-1"), rng.sample(range(1, 9), 2), strict=True):
        windows, clock, dress = full_windows(rng, gamma, 200), Clock(rng), compose(name, 12)
        heads = [_head(rng, clock, "DP0") for _ in windows]
        records = [_record(count(window, gamma)) for window in windows]
        queues.append([dress(h + r, True) for h, r in zip(heads, records, strict=True)])
        groups.append(({"container": name}, counters(joined(windows), gamma, positions=True)))
    codes = ["mixed_gamma", "multi_series"]
    data = encode(rng, braid(rng, queues))
    return grouped("lmdeploy.log_two_containers", "lmdeploy", data, groups, codes=codes)


def no_spec_log(rng: random.Random) -> Sample:
    """A server without speculation: the line ends behind the cache."""
    clock = Clock(rng)
    lines = [_head(rng, clock, "DP0") for _ in range(4)]
    data = log_file(rng, interleave(rng, lines))
    return grouped("lmdeploy.no_spec_log", "lmdeploy", data, (), codes=["no_spec_data"])


NAME = "lmdeploy:spec_decode_"


def _exposition(rows: Sequence[tuple[Labels, Counts]], *, gauges: bool = True) -> list[str]:
    lines, style = gauge("lmdeploy:num_requests_running", "Running.", [({}, 2.0)]), Style()
    for name, field in (
        ("num_drafts", "rounds"),
        ("num_draft_tokens", "drafted"),
        ("num_accepted_tokens", "accepted"),
    ):
        points = [(labels, float(getattr(counts, field))) for labels, counts in rows]
        lines += counter(NAME + name, "Counted since start.", points, style)
    steps = [
        (labels | {"position": str(i)}, float(c))
        for labels, counts in rows
        for i, c in enumerate(counts.accepted_at_least)
    ]
    lines += counter(f"{NAME}num_accepted_tokens_per_pos", "By position.", steps, style)
    if not gauges:
        return lines
    for name, value in (("mean_accept_rate", 0.41), ("mean_accept_length", 2.25)):
        lines += gauge(
            NAME + name, "Of the last interval.", [(labels, value) for labels, _ in rows]
        )
    last = [(labels, 0.5) for labels, _ in steps]
    return lines + gauge(f"{NAME}per_position_accept_rate", "Of the last interval.", last)


def _labels(engine: int) -> Labels:
    return {"engine": str(engine), "model_name": "example-org/target-8b"}


def _rows(rng: random.Random, gamma: int, engines: int) -> list[tuple[Labels, Counts]]:
    hazard = hazards(rng, gamma)
    return [
        (_labels(i), count(simulate(rng, gamma, rng.randint(1, 800), hazard), gamma))
        for i in range(engines)
    ]


def _sum(rows: Sequence[tuple[Labels, Counts]]) -> Counts:
    first, *others = (counts for _, counts in rows)
    for other in others:
        first = first.plus(other)
    return first


def prom(rng: random.Random) -> Sample:
    """Counters, and gauges of the last interval next to them."""
    rows = _rows(rng, rng.randint(1, 12), 1)
    if rng.random() < 0.3:
        rows = [(rows[0][0], rows[0][1].scaled(rng.randint(300, 9000)))]
    total, data = told(_sum(rows), positions=True), encode(rng, _exposition(rows))
    return pooled("lmdeploy.prom", "lmdeploy", data, total, codes=["gauge_only"])


def prom_ranks(rng: random.Random) -> Sample:
    """Data-parallel engines, which add up."""
    rows = _rows(rng, rng.randint(1, 12), rng.randint(2, 4))
    total, data = told(_sum(rows), positions=True), encode(rng, _exposition(rows))
    codes = ["gauge_only", "multi_series"]
    return pooled("lmdeploy.prom_ranks", "lmdeploy", data, total, codes=codes)


def prom_uneven(rng: random.Random) -> Sample:
    """Drafts of varying length: the positions do not tell what was proposed."""
    gamma = rng.randint(2, 8)
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(5, 900), hazards(rng, gamma), short=0.3),
        lambda drawn: any(d < gamma for d, _ in drawn),
    )
    data = encode(rng, _exposition([(_labels(0), count(rounds, gamma))]))
    total = counters(rounds, gamma, positions=True)
    return pooled("lmdeploy.prom_uneven", "lmdeploy", data, total, codes=["gauge_only"])


def prom_pair(rng: random.Random) -> Sample:
    """Two scrapes, whose difference counts."""
    gamma, engines = rng.randint(1, 12), rng.randint(1, 2)
    earlier, gained = _rows(rng, gamma, engines), _rows(rng, gamma, engines)
    later = [(x, a.plus(b)) for (x, a), (_, b) in zip(earlier, gained, strict=True)]
    return pooled(
        "lmdeploy.prom_pair",
        "lmdeploy",
        encode(rng, _exposition(later)),
        told(replace(_sum(gained), gamma=gamma), positions=True),
        codes=["gauge_only", *(["multi_series"] if engines > 1 else [])],
        before=encode(rng, _exposition(earlier)),
    )


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    log,
    log_ranks,
    log_uneven,
    log_nan,
    log_two_containers,
    no_spec_log,
    prom,
    prom_ranks,
    prom_uneven,
    prom_pair,
)
