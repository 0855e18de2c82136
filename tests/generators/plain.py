"""JSON lines with one verify step each: engines.md section 7 (formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from .process import Round, draw_until, hazards, round_by_round, simulate, simulate_lengths
from .truth import Sample, Truth, pooled
from .wrap import encode

Extra = Callable[[int], dict[str, object]]


def _lines(rng: random.Random, rounds: Sequence[Round], extra: Extra) -> list[str]:
    separators = rng.choice(((", ", ": "), (",", ":")))
    lines = []
    for i, (drafted, accepted) in enumerate(rounds):
        row = extra(i) | {"drafted": drafted, "accepted": accepted}
        if rng.random() < 0.2:
            row = dict(reversed(row.items()))
        lines.append(json.dumps(row, separators=separators))
        if rng.random() < 0.02:
            lines.append("")
    return lines


def _trace(rng: random.Random, name: str, rounds: Sequence[Round], extra: Extra) -> Sample:
    lines = _lines(rng, rounds, extra)
    tail = None
    if rng.random() < 0.25:
        whole = next(line for line in reversed(lines) if line)
        tail = whole[: rng.randint(3, len(whole) - 1)]
    total, codes = round_by_round(rounds)
    data, dropped = encode(rng, lines, tail), int(tail is not None)
    return pooled(f"plain.{name}", "plain", data, total, codes=codes, dropped=dropped)


def _nothing(index: int) -> dict[str, object]:
    return {}


def _steps(rng: random.Random, *, short: float = 0.0, empty: float = 0.0) -> list[Round]:
    gamma = rng.randint(1, 12)
    hazard = hazards(rng, gamma)
    return draw_until(
        lambda: simulate(rng, gamma, rng.randint(1, 300), hazard, short=short, empty=empty),
        lambda drawn: any(d for d, _ in drawn),
    )


def trace(rng: random.Random) -> Sample:
    """Drafts of one length."""
    return _trace(rng, "trace", _steps(rng), _nothing)


def trace_uneven(rng: random.Random) -> Sample:
    """Drafts of varying length, some steps without one: every rejection is seen."""
    return _trace(rng, "trace_uneven", _steps(rng, short=0.4, empty=0.1), _nothing)


def trace_requests(rng: random.Random) -> Sample:
    """Steps of several requests in turn, told apart by an id."""
    names = [f"r{i}" for i in range(rng.randint(1, 12))]
    mixed = rng.choices(names, k=300)
    return _trace(rng, "trace_requests", _steps(rng), lambda i: {"request": mixed[i]})


def trace_extras(rng: random.Random) -> Sample:
    """The optional keys, and one that no reader knows."""
    start, label = rng.uniform(0, 1e9), rng.choice(("chat", "code"))
    confidence = [round(rng.random(), 4) for _ in range(300)]

    def extra(i: int) -> dict[str, object]:
        row: dict[str, object] = {"step": i, "request": i // 40, "label": label}
        return row | {"time": start + 0.03 * i, "confidence": confidence[i]}

    return _trace(rng, "trace_extras", _steps(rng, short=0.2), extra)


def trace_heuristic(rng: random.Random) -> Sample:
    """transformers' heuristic schedule: two tokens more after a full acceptance, else one less."""
    length, hazard, rounds = rng.randint(1, 8), rng.uniform(0.3, 0.9), list[Round]()
    for _ in range(rng.randint(2, 150)):
        rounds += simulate_lengths(rng, [length], [hazard] * length)
        drafted, accepted = rounds[-1]
        length = max(1, length + (2 if accepted == drafted else -1))
    return _trace(rng, "trace_heuristic", rounds, _nothing)


def trace_no_drafts(rng: random.Random) -> Sample:
    """Steps without any draft."""
    lines = _lines(rng, [(0, 0)] * rng.randint(1, 40), _nothing)
    total, codes = Truth(rounds=0, drafted=0, accepted=0), ["zero_drafts"]
    return pooled("plain.trace_no_drafts", "plain", encode(rng, lines), total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    trace,
    trace_uneven,
    trace_requests,
    trace_extras,
    trace_heuristic,
    trace_no_drafts,
)
