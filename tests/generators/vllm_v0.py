"""vLLM V0: engines.md section 3.5 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .exposition import Style, counter, gauge
from .process import counters, in_parts
from .truth import Sample, Truth, grouped, pooled
from .wrap import Clock, cut, encode, interleave, log_file

MARK = "Speculative metrics: D"


def _record(gamma: int, counts: Sequence[int], doubled: str) -> str:
    rounds, good, emitted = counts
    drafted = rounds * gamma
    return (
        f"Speculative metrics: Draft acceptance rate: {good / drafted:.3f}, "
        f"System efficiency: {emitted / (rounds * (gamma + 1)):.3f}, "
        f"Number of speculative tokens: {gamma}, Number of accepted tokens: {good}, "
        f"Number of draft tokens{doubled}: {drafted}, "
        f"Number of emitted tokens{doubled}: {emitted}."
    )


def _log(rng: random.Random, name: str, doubled: str, alpha: float) -> Sample:
    """Totals since start; "accepted" judges every position, whatever came before it."""
    gamma, clock, pattern = rng.randint(1, 12), Clock(rng), rng.choice(("{}]", "[{}]"))
    marks = [[rng.random() < alpha for _ in range(gamma)] for _ in range(rng.randint(5, 900))]
    rounds = [(gamma, [*row, False].index(False)) for row in marks]
    lines, n = [], 0
    for part in in_parts(rng, rounds, rng.randint(1, 4)):
        n += len(part)
        counts = (n, sum(map(sum, marks[:n])), n + sum(a for _, a in rounds[:n]))
        head = f"INFO {clock.tick(5):%m-%d %H:%M:%S} {pattern.format('metrics.py:367')} "
        lines.append(head + _record(gamma, counts, doubled))
    tail = cut(rng, lines[-1], MARK, " Number of emitted") if rng.random() < 0.25 else None
    total = counters(rounds, gamma, positions=False)
    codes = ["cumulative_log"]
    if sum(map(sum, marks)) != total.accepted:
        codes.append("unconditional_positions")
    data = log_file(rng, interleave(rng, lines), tail)
    return pooled(name, "vllm", data, total, codes=codes, dropped=int(tail is not None))


def v0_log(rng: random.Random) -> Sample:
    """Wording since 0.5.4: section 3.5."""
    return _log(rng, "vllm.v0_log", "", rng.uniform(0.2, 0.95))


def v0_log_old_wording(rng: random.Random) -> Sample:
    """Up to 0.5.3, with a word doubled: section 3.5."""
    return _log(rng, "vllm.v0_log_old_wording", " tokens", rng.uniform(0.2, 0.95))


def v0_log_zero_accepted(rng: random.Random) -> Sample:
    """Nothing accepted: section 3.5."""
    return _log(rng, "vllm.v0_log_zero_accepted", rng.choice(("", " tokens")), 0.0)


def v0_prom(rng: random.Random) -> Sample:
    """Gauges beside counters that are sums of snapshots and have to be refused: section 3.5."""
    alpha, gamma, rounds = rng.uniform(0.2, 0.95), rng.randint(1, 12), rng.randint(10, 900)
    snapshots = [n * rounds for n in range(1, rng.randint(3, 40))]
    drafted, emitted = sum(snapshots) * gamma, int(sum(snapshots) * (1 + alpha))
    labels, style = {"model_name": "example-org/target"}, Style()
    lines = []
    for name, value in (
        ("draft_acceptance_rate", alpha),
        ("efficiency", (1 + alpha) / (gamma + 1)),
    ):
        lines += gauge(f"vllm:spec_decode_{name}", "Speculative decoding.", [(labels, value)])
    for name, value in (
        ("num_accepted_tokens", int(drafted * alpha)),
        ("num_draft_tokens", drafted),
        ("num_emitted_tokens", emitted),
    ):
        points = [(labels, float(value))]
        lines += counter(f"vllm:spec_decode_{name}", "Speculative decoding.", points, style)
    codes = ["snapshot_double_count", "gamma_unknown", "unconditional_positions"]
    return grouped("vllm.v0_prom", "vllm", encode(rng, lines), [({}, Truth())], codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    v0_log,
    v0_log_old_wording,
    v0_log_zero_accepted,
    v0_prom,
)
