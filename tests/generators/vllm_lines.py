"""The text of vLLM log records: engines.md sections 3.1 and 3.5 (formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .process import Counts, Round, hazards, simulate
from .wrap import Clock, cut, vllm_prefix

Template = Callable[[Counts, float], str]
"""Writes the record of a window, given its counts and its length in seconds."""

MARK = "SpecDecoding metrics: "
POSITIONS = "Per-position acceptance rate: "


def printed_rate(window: Counts) -> str:
    """A/D in percent with one decimal."""
    return f"{window.accepted / window.drafted * 100:.1f}" if window.drafted else "nan"


def printed_length(window: Counts, bonus: int = 1) -> str:
    """A/N, with the bonus token unless it is left out."""
    return f"{bonus + window.accepted / window.rounds:.2f}"


def printed_positions(window: Counts) -> list[str]:
    """c_i/N with three decimals."""
    return [f"{c / window.rounds:.3f}" for c in window.accepted_at_least]


def _tokens(window: Counts) -> str:
    return f"Accepted: {window.accepted} tokens, Drafted: {window.drafted} tokens"


def _throughput(window: Counts, seconds: float) -> str:
    return (
        f"Accepted throughput: {window.accepted / seconds:.2f} tokens/s, "
        f"Drafted throughput: {window.drafted / seconds:.2f} tokens/s"
    )


def _positions(window: Counts) -> str:
    return POSITIONS + ", ".join(printed_positions(window))


def line_083(window: Counts, seconds: float) -> str:
    """0.8.3 and 0.8.4."""
    return f"{MARK}Draft acceptance rate: {printed_rate(window)}%, {_tokens(window)}"


def line_085(window: Counts, seconds: float) -> str:
    """0.8.5 and its post1: the length is A/N."""
    return (
        f"{MARK}Draft acceptance rate: {printed_rate(window)}%, Mean acceptance length: "
        f"{printed_length(window, bonus=0)}, {_tokens(window)}, {_positions(window)}"
    )


def line_090(window: Counts, seconds: float) -> str:
    """0.9.0 to 0.10.1: the length is 1 + A/N."""
    return (
        f"{MARK}Draft acceptance rate: {printed_rate(window)}%, Mean acceptance length: "
        f"{printed_length(window)}, {_tokens(window)}, {_positions(window)}"
    )


def line_nightly(window: Counts, seconds: float) -> str:
    """Nightlies between 0.10.1 and 0.10.2."""
    return (
        f"{MARK}Draft acceptance rate: {printed_rate(window)}%, Mean acceptance length: "
        f"{printed_length(window)}, {_throughput(window, seconds)}, {_tokens(window)}, "
        f"{_positions(window)}"
    )


def line_0102(window: Counts, seconds: float) -> str:
    """0.10.2 and later."""
    return (
        f"{MARK}Mean acceptance length: {printed_length(window)}, "
        f"{_throughput(window, seconds)}, {_tokens(window)}, {_positions(window)}, "
        f"Avg Draft acceptance rate: {printed_rate(window)}%"
    )


def startup_line(gamma: int) -> str:
    """The start-up line, which tells the draft length: section 3.6."""
    return (
        "Initializing a V1 LLM engine (v0.20.0) with config: model='example-org/target', "
        "speculative_config=SpeculativeConfig(method='eagle3', model='example-org/drafter', "
        f"num_spec_tokens={gamma}), tokenizer='example-org/target', dtype=torch.bfloat16"
    )


def engine_line(rng: random.Random) -> str:
    """The throughput line that comes with every interval."""
    return (
        f"Engine 000: Avg prompt throughput: {rng.uniform(0, 600):.1f} tokens/s, Avg generation "
        f"throughput: {rng.uniform(0, 400):.1f} tokens/s, Running: {rng.randint(0, 9)} reqs, "
        f"Waiting: 0 reqs, GPU KV cache usage: {rng.uniform(0, 90):.1f}%, "
        f"Prefix cache hit rate: {rng.uniform(0, 90):.1f}%"
    )


def empty_window(rng: random.Random, gamma: int) -> Counts:
    """A window whose drafts lost all their tokens to the grammar: D = 0, N > 0."""
    zeros = (0,) * gamma
    return Counts(rng.randint(1, 40), 0, 0, zeros, zeros, 0, 0, gamma)


def full_windows(
    rng: random.Random, gamma: int, largest: int = 900, smallest: int = 1
) -> list[list[Round]]:
    """Windows of full drafts; below 1000 rounds three decimals give every c_i back."""
    hazard = hazards(rng, gamma)
    windows = []
    for _ in range(rng.randint(1, 6)):
        size = rng.randint(smallest, rng.choice((max(30, smallest), largest)))
        chances = (0.0,) * gamma if rng.random() < 0.1 else hazard
        windows.append(simulate(rng, gamma, size, chances))
    return windows


def window_lines(
    rng: random.Random, template: Template, windows: Sequence[Counts], start: Sequence[str] = ()
) -> list[str]:
    """A record every ten seconds or more, the last one at the end."""
    clock, head = Clock(rng), vllm_prefix(rng)
    lines = [head(clock.now, "core.py:101") + text for text in start]
    for window in windows:
        seconds = rng.choice((10.0, 10.0, rng.uniform(10.0, 200.0)))
        time = clock.tick(seconds)
        if rng.random() < 0.5:
            lines.append(head(time, "loggers.py:271") + engine_line(rng))
        lines.append(head(time, "metrics.py:101") + template(window, seconds))
    return lines


def broken(rng: random.Random, record: str) -> str:
    """A V1 record broken off where it cannot be taken for a whole one."""
    if ", Avg Draft" not in record or rng.random() < 0.5:
        return cut(rng, record, MARK, " tokens")
    stop = record.rindex(", Avg Draft")
    first = record.index(POSITIONS) + len(POSITIONS)
    return record[: rng.randint(first - 8, max(first, record.rfind(" ", 0, stop)))]
