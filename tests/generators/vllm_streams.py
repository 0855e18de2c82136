"""vLLM logs that are more, or less, than one plain stream: sections 3.1 and 18 (autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from .process import count, counters, joined
from .truth import Sample, grouped, pooled
from .vllm_lines import MARK, engine_line, full_windows, line_0102, window_lines
from .wrap import (
    Clock,
    braid,
    compose,
    cut,
    encode,
    interleave,
    log_file,
    noise,
    vllm_prefix,
)


def v1_log_json_lines(rng: random.Random) -> Sample:
    """0.33 with the JSON formatter, access lines in between: section 3.1."""
    gamma, clock = rng.randint(1, 12), Clock(rng)
    windows = full_windows(rng, gamma)
    rows = []
    for window in windows:
        rows.append(_json_row(clock, "vllm.v1.metrics.loggers", engine_line(rng)))
        record = line_0102(count(window, gamma), 10.0)
        rows.append(_json_row(clock, "vllm.v1.spec_decode.metrics", record))
        clock.tick(10)
    tail = cut(rng, rows[-1], "SpecDecoding metrics: ", " tokens") if rng.random() < 0.3 else None
    total = counters(joined(windows), gamma, positions=True)
    data = log_file(rng, interleave(rng, rows), tail)
    dropped = int(tail is not None)
    return pooled("vllm.v1_log_json_lines", "vllm", data, total, dropped=dropped)


def _json_row(clock: Clock, logger: str, message: str) -> str:
    head = {
        "asctime": clock.now.strftime("%Y-%m-%d %H:%M:%S,118"),
        "levelname": "INFO",
        "name": logger,
        "processName": "MainProcess",
        "process": 71,
    }
    return json.dumps(head | {"message": message})


def v1_log_data_parallel(rng: random.Random) -> Sample:
    """Several ranks, whose records look alike and add up: section 3.1."""
    gamma, clock, head = rng.randint(1, 12), Clock(rng), vllm_prefix(rng)
    ranks = [full_windows(rng, gamma) for _ in range(rng.randint(2, 4))]
    lines = []
    for i in range(max(map(len, ranks))):
        time = clock.tick(10)
        for windows in (w for w in ranks if i < len(w)):
            lines.append(head(time, "metrics.py:101") + line_0102(count(windows[i], gamma), 10.0))
    total = counters(joined(map(joined, ranks)), gamma, positions=True)
    data = log_file(rng, interleave(rng, lines))
    return pooled("vllm.v1_log_data_parallel", "vllm", data, total)


def v1_log_two_containers(rng: random.Random) -> Sample:
    """Two services of different gamma under docker compose: sections 3.1 and 18."""
    names, gammas = ("vllm-chat-1", "vllm-code-1"), rng.sample(range(1, 9), 2)
    queues, groups = [], []
    for name, gamma in zip(names, gammas, strict=True):
        windows = full_windows(rng, gamma)
        shown = [count(window, gamma) for window in windows]
        dress = compose(name, 13)
        lines = interleave(rng, window_lines(rng, line_0102, shown))
        queues.append([dress(line, True) for line in lines])
        groups.append(({"container": name}, counters(joined(windows), gamma, positions=True)))
    codes = ["mixed_gamma", "multi_series"]
    data = encode(rng, braid(rng, queues))
    return grouped("vllm.v1_log_two_containers", "vllm", data, groups, codes=codes)


def v1_log_diffusion(rng: random.Random) -> Sample:
    """A diffusion model's line from the same data path, which is not speculative: section 3.1."""
    clock, head = Clock(rng), vllm_prefix(rng)
    lines = []
    for _ in range(rng.randint(1, 5)):
        steps, tokens = rng.randint(1, 400), rng.randint(1, 9000)
        record = (
            f"DiffusionDecoding metrics: Committed token throughput: {tokens / 10:.2f} tokens/s, "
            f"Mean tokens committed per denoising step: {tokens / steps:.2f}, "
            f"Committed: {tokens} tokens, Denoising steps: {steps}"
        )
        lines.append(head(clock.tick(10), "metrics.py:160") + record)
    data = log_file(rng, interleave(rng, lines))
    return grouped("vllm.v1_log_diffusion", "vllm", data, (), codes=["not_speculative"])


def no_spec_log(rng: random.Random) -> Sample:
    """A server without speculation, only access and throughput lines: section 3.2."""
    clock, head = Clock(rng), vllm_prefix(rng)
    lines = [head(clock.tick(10), "loggers.py:271") + engine_line(rng) for _ in range(5)]
    data = log_file(rng, interleave(rng, [*lines, noise(rng)]))
    return grouped("vllm.no_spec_log", "vllm", data, (), codes=["no_spec_data"])


def v1_log_head_lost(rng: random.Random) -> Sample:
    """A log that begins inside the prefix of a line: nothing is lost: section 18."""
    gamma = rng.randint(1, 12)
    windows = full_windows(rng, gamma)
    lines = window_lines(rng, line_0102, [count(window, gamma) for window in windows])
    lines[0] = lines[0][rng.randint(1, 25) :]
    total = counters(joined(windows), gamma, positions=True)
    return pooled("vllm.v1_log_head_lost", "vllm", encode(rng, interleave_after(rng, lines)), total)


def v1_log_first_record_cut(rng: random.Random) -> Sample:
    """A log that begins inside a record, which has to be dropped: section 18."""
    gamma = rng.randint(1, 12)
    windows = full_windows(rng, gamma)
    shown = [count(window, gamma) for window in [windows[0], *windows]]
    lines = window_lines(rng, line_0102, shown)
    first = next(i for i, line in enumerate(lines) if MARK in line)
    start, stop = lines[first].index(MARK) + len(MARK), lines[first].index("Accepted: ")
    lines[: first + 1] = [lines[first][rng.randint(start, stop) :]]
    data = encode(rng, interleave_after(rng, lines))
    total = counters(joined(windows), gamma, positions=True)
    return pooled("vllm.v1_log_first_record_cut", "vllm", data, total, dropped=1)


def interleave_after(rng: random.Random, lines: list[str]) -> list[str]:
    """The first line as it is, the others among unrelated ones."""
    return [lines[0], *interleave(rng, lines[1:])]


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    v1_log_json_lines,
    v1_log_data_parallel,
    v1_log_two_containers,
    v1_log_diffusion,
    v1_log_head_lost,
    v1_log_first_record_cut,
    no_spec_log,
)
