"""vLLM: engines.md section 3 (engine formats as of autumn 2026); this module, the log lines."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from . import vllm_counters, vllm_reports, vllm_streams, vllm_v0
from .process import (
    Counts,
    Round,
    count,
    counters,
    draw_until,
    hazards,
    is_open,
    joined,
    recoverable,
    settle,
    simulate,
    simulate_lengths,
    totals,
)
from .truth import Sample, Truth, pooled
from .vllm_lines import (
    Template,
    broken,
    empty_window,
    full_windows,
    line_0102,
    line_083,
    line_085,
    line_090,
    line_nightly,
    printed_length,
    printed_positions,
    startup_line,
    window_lines,
)
from .wrap import interleave, log_file


def _v1_log(
    rng: random.Random,
    name: str,
    template: Template,
    windows: Sequence[Counts],
    total: Truth,
    *,
    start: Sequence[str] = (),
    codes: Sequence[str] = (),
    exact: bool = True,
) -> Sample:
    """A log of the windows, perhaps with one without a drafted token, perhaps broken off."""
    shown, found = list(windows), list(codes)
    if rng.random() < 0.25:
        shown.insert(rng.randint(0, len(shown)), empty_window(rng, windows[0].gamma))
        found.append("nan_rate")
    cut_off = rng.random() < 0.25
    if cut_off:
        shown.append(rng.choice(windows))
    lines = window_lines(rng, template, shown, start)
    tail = broken(rng, lines.pop()) if cut_off else None
    data = log_file(rng, interleave(rng, lines), tail)
    return pooled(
        f"vllm.{name}", "vllm", data, total, codes=found, dropped=int(cut_off), exact=exact
    )


def _full_log(
    rng: random.Random, name: str, template: Template, codes: Sequence[str] = ()
) -> Sample:
    """Windows of full drafts, from which N, c_i, F and R follow."""
    gamma = rng.randint(1, 12)
    windows = full_windows(rng, gamma)
    total = counters(joined(windows), gamma, positions=True)
    start = [startup_line(gamma)] if rng.random() < 0.3 else []
    shown = [count(window, gamma) for window in windows]
    return _v1_log(rng, name, template, shown, total, start=start, codes=codes)


def _windows_083(rng: random.Random, gamma: int) -> list[list[Round]]:
    def draw() -> list[list[Round]]:
        hazard, short = hazards(rng, gamma, extreme=False), rng.choice((0.0, 0.2))
        sizes = [rng.randint(1, 600) for _ in range(rng.randint(1, 5))]
        return [simulate(rng, gamma, size, hazard, short=short) for size in sizes]

    return draw_until(draw, lambda windows: is_open(joined(windows)))


def v1_log_083(rng: random.Random) -> Sample:
    """0.8.3 and 0.8.4: only A and D: section 3.1."""
    gamma = rng.randint(1, 12)
    windows = _windows_083(rng, gamma)
    shown = [count(window, gamma) for window in windows]
    total = totals(joined(windows))
    return _v1_log(rng, "v1_log_083", line_083, shown, total, codes=["gamma_unknown"])


def v1_log_083_startup(rng: random.Random) -> Sample:
    """0.8.3 and 0.8.4 with the start-up line that tells gamma: sections 3.1 and 3.6."""
    gamma = rng.randint(1, 12)
    windows = _windows_083(rng, gamma)
    known = replace(totals(joined(windows)), gamma=gamma, rejections=None)
    total = settle(known, count(joined(windows), gamma))
    shown = [count(window, gamma) for window in windows]
    start = [startup_line(gamma)]
    return _v1_log(rng, "v1_log_083_startup", line_083, shown, total, start=start)


def v1_log_085(rng: random.Random) -> Sample:
    """0.8.5: length without the bonus token: section 3.1."""
    return _full_log(rng, "v1_log_085", line_085, ["length_excludes_bonus"])


def v1_log_090(rng: random.Random) -> Sample:
    """0.9.0 to 0.10.1: same order, length with the bonus token: section 3.1."""
    return _full_log(rng, "v1_log_090", line_090)


def v1_log_nightly(rng: random.Random) -> Sample:
    """Nightlies between 0.10.1 and 0.10.2: rate first, both throughputs: section 3.1."""
    return _full_log(rng, "v1_log_nightly", line_nightly)


def v1_log_0102(rng: random.Random) -> Sample:
    """0.10.2 and later: section 3.1."""
    return _full_log(rng, "v1_log_0102", line_0102)


def v1_log_zero_accepted(rng: random.Random) -> Sample:
    """0.10.2 and later with nothing accepted at all: section 3.1."""
    gamma = rng.randint(1, 12)
    windows = [simulate(rng, gamma, rng.randint(1, 99), 0.0) for _ in range(rng.randint(1, 4))]
    total = counters(joined(windows), gamma, positions=True)
    shown = [count(window, gamma) for window in windows]
    return _v1_log(rng, "v1_log_zero_accepted", line_0102, shown, total)


def v1_log_gamma_one(rng: random.Random) -> Sample:
    """One drafted token a round: c_1 = A however large the window: section 3.1."""
    windows = full_windows(rng, 1, largest=4000)
    total = counters(joined(windows), 1, positions=True)
    shown = [count(window, 1) for window in windows]
    return _v1_log(rng, "v1_log_gamma_one", line_0102, shown, total)


def v1_log_large_windows(rng: random.Random) -> Sample:
    """Windows above 1000 rounds: three decimals leave c_i open by a few, so not exact."""
    gamma = rng.randint(2, 8)
    windows = full_windows(rng, gamma, largest=5_000, smallest=1_500)
    total = counters(joined(windows), gamma, positions=True)
    shown = [count(window, gamma) for window in windows]
    codes = ["rounding_only"]
    name = "v1_log_large_windows"
    return _v1_log(rng, name, line_0102, shown, total, codes=codes, exact=False)


def _uneven_log(
    rng: random.Random, name: str, gamma: int, draw: Callable[[], list[Round]]
) -> Sample:
    """Windows of uneven drafts, kept only where N and c_i follow from the printed figures."""

    def readable(window: list[Round]) -> bool:
        seen = count(window, gamma)
        if not seen.accepted:
            return False
        return recoverable(seen, printed_length(seen), printed_positions(seen))

    def uneven(windows: list[list[Round]]) -> bool:
        return any(d < gamma for d, _ in joined(windows))

    windows = draw_until(
        lambda: [draw_until(draw, readable) for _ in range(rng.randint(1, 4))], uneven
    )
    total = counters(joined(windows), gamma, positions=True)
    return _v1_log(rng, name, line_0102, [count(window, gamma) for window in windows], total)


def v1_log_uneven(rng: random.Random) -> Sample:
    """Drafts cut short by n-gram matches or the grammar: R stays open: section 3.1."""
    gamma, short = rng.randint(2, 8), rng.uniform(0.1, 0.9)
    hazard = hazards(rng, gamma, extreme=False)
    return _uneven_log(
        rng,
        "v1_log_uneven",
        gamma,
        lambda: simulate(rng, gamma, rng.randint(2, 120), hazard, short=short),
    )


def v1_log_schedule(rng: random.Random) -> Sample:
    """Draft length by batch size: more positions than the average draft: sections 3.1 and 3.6."""
    tiers = sorted(rng.sample(range(1, 9), 2))
    hazard = hazards(rng, tiers[-1], extreme=False)

    def draw() -> list[Round]:
        lengths = [rng.choice(tiers) for _ in range(rng.randint(2, 120))]
        return simulate_lengths(rng, lengths, hazard)

    return _uneven_log(rng, "v1_log_schedule", tiers[-1], draw)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    v1_log_083,
    v1_log_083_startup,
    v1_log_085,
    v1_log_090,
    v1_log_nightly,
    v1_log_0102,
    v1_log_zero_accepted,
    v1_log_gamma_one,
    v1_log_large_windows,
    v1_log_uneven,
    v1_log_schedule,
    *vllm_streams.GENERATORS,
    *vllm_v0.GENERATORS,
    *vllm_counters.GENERATORS,
    *vllm_reports.GENERATORS,
)
