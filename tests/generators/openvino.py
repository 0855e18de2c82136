"""OpenVINO GenAI: engines.md section 15 (engine formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .process import (
    Round,
    bounded,
    count,
    draw_until,
    hazards,
    is_open,
    joined,
    simulate,
    totals,
    varies,
)
from .truth import Sample, Truth, pooled
from .wrap import encode


def _drawn(rng: random.Random) -> list[Round]:
    """Drafts of varying length: the scheme adapts, and the last one is cut."""
    gamma = rng.randint(2, 8)
    hazard = hazards(rng, gamma, extreme=False)
    return draw_until(
        lambda: simulate(rng, gamma, rng.randint(3, 200), hazard, short=0.3),
        lambda drawn: varies(drawn) and is_open(drawn),
    )


def _main(rng: random.Random, rounds: Sequence[Round]) -> list[str]:
    """Iterations have the prefill in them, which makes one token."""
    accepted, iterations = sum(a for _, a in rounds), len(rounds) + 1
    plus_minus = rng.choice(("±", "+/-"))
    return [
        "MAIN MODEL ",
        f"  Generate time: {rng.uniform(100, 9000):.2f} ms",
        f"  TTFT: 402.1 {plus_minus} 0 ms",
        f"  TPOT: 84.2 {plus_minus} 11.3 ms/iteration ",
        f"  Num generated token: {iterations + accepted} tokens",
        f"  Total iteration number: {iterations}",
        f"  Num accepted token: {accepted} tokens",
    ]


def _draft(rng: random.Random, rounds: Sequence[Round]) -> list[str]:
    drafted = sum(d for d, _ in rounds)
    return [
        "DRAFT MODEL ",
        f"  Generate time: {rng.uniform(100, 9000):.2f} ms",
        f"  Num generated token: {drafted} tokens",
        f"  Total iteration number: {drafted + rng.randint(0, 5)}",
    ]


def console(rng: random.Random) -> Sample:
    """The sample's console, run after run: N is one less than the iterations, gamma is unknown."""
    runs = [_drawn(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    lines = list[str]()
    for run in runs:
        lines += ["The answer is 42: accepted token rate, %: 7.", ""]
        lines += [*_main(rng, run), "", *_draft(rng, run), ""]
    rounds = joined(runs)
    total = bounded(totals(rounds, drafts=True), rounds)
    codes = ["gamma_unknown", "variable_draft_length"]
    return pooled("openvino.console", "openvino", encode(rng, lines), total, codes=codes)


def internal_print(rng: random.Random) -> Sample:
    """The internal print: two rates, of which only the second is A/D."""
    rounds = _drawn(rng)
    counts = count(rounds)
    rate = f"{100 * counts.accepted / counts.drafted:.6g}"
    average = sum(100 * a // d for d, a in rounds) // len(rounds)
    bar = "=============================== "
    lines = [
        bar,
        f"Total duration, sec: {rng.uniform(1, 99):.6g}",
        f"AVG acceptance rate, %: {average}",
        bar,
        "REQUEST_ID: 0",
        f"Main model iterations: {len(rounds) + 1}",
        f"AVG acceptance rate, %: {average}",
        f"Accepted token rate, %: {rate}",
        bar,
    ]
    total = Truth(pooled_rate=float(rate) / 100, refused=True)
    codes = ["macro_average", "gamma_unknown"]
    return pooled("openvino.internal_print", "openvino", encode(rng, lines), total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (console, internal_print)
