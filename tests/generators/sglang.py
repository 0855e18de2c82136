"""SGLang: engines.md section 4 (engine formats as of autumn 2026); this module, the decode log."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import sglang_responses
from .process import hazards, simulate
from .truth import Sample, Truth, pooled
from .wrap import Clock, interleave, log_file

Rate = Callable[[float, int], float]
"""The rate a version prints, given the length with the bonus token and gamma."""

ALGORITHMS = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE")


def with_bonus(length: float, gamma: int) -> float:
    """0.5.4 to 0.5.10: bonus in the numerator, root in the denominator: section 4.1."""
    return length / (gamma + 1)


def strict(length: float, gamma: int) -> float:
    """0.5.11 and later: accepted of proposed drafts: section 4.1."""
    return (length - 1) / gamma


@dataclass(frozen=True, slots=True)
class Interval:
    """Forty decode iterations of `running` requests, as one line tells them."""

    running: int
    length: str
    rate: str
    throughput: str
    seconds: int


def _interval(
    rng: random.Random, gamma: int, rate: Rate, hazard: Sequence[float], seconds: int
) -> Interval:
    running = rng.randint(1, 8)
    steps = 40 * running
    accepted = sum(a for _, a in simulate(rng, gamma, steps, hazard))
    length = (accepted + steps) / steps
    return Interval(
        running,
        f"{length:.2f}",
        f"{rate(length, gamma):.2f}",
        f"{(accepted + steps) / seconds:.2f}",
        seconds,
    )


def _intervals(rng: random.Random, gamma: int, rate: Rate = strict) -> list[Interval]:
    hazard = hazards(rng, gamma, extreme=False)
    return [
        _interval(rng, gamma, rate, hazard, rng.randint(1, 9)) for _ in range(rng.randint(1, 10))
    ]


def _mean(intervals: Sequence[Interval]) -> float:
    """Printed lengths weighted by running requests, the steps of a line being 40 times these."""
    weight = sum(x.running for x in intervals)
    return sum(x.running * float(x.length) for x in intervals) / weight


def _explained(intervals: Sequence[Interval]) -> set[tuple[bool, int]]:
    """Definitions (strict or not, gamma) that fit every printed pair within its rounding."""
    fits = set()
    for gamma in range(1, 257):
        for is_strict, rate, width in ((True, strict, gamma), (False, with_bonus, gamma + 1)):
            slack = 0.005 + 0.005 / width + 1e-9
            pairs = [(float(x.length), float(x.rate)) for x in intervals]
            if all(abs(rate(length, gamma) - shown) <= slack for length, shown in pairs):
                fits.add((is_strict, gamma))
    return fits


def _server_args(steps: int, topk: int, tokens: int, algorithm: str, ranks: int = 1) -> str:
    return (
        f"server_args=ServerArgs(model_path='example-org/target', tp_size={ranks}, "
        f"speculative_algorithm='{algorithm}', speculative_draft_model_path='example-org/eagle', "
        f"speculative_num_steps={steps}, speculative_eagle_topk={topk}, "
        f"speculative_num_draft_tokens={tokens}, decode_log_interval=40)"
    )


def _pool_usage(rng: random.Random, shape: str) -> str:
    if shape == "hybrid":
        return (
            f"#full token: {rng.randint(99, 9999)}, full token usage: 0.01, "
            f"mamba num: {rng.randint(1, 40)}, mamba usage: 0.60, "
        )
    return f"#token: {rng.randint(99, 9999)}, token usage: 0.0{rng.randint(0, 9)}, "


def _after_rate(rng: random.Random, shape: str) -> str:
    if shape == "disaggregated":
        return (
            "pre-allocated usage: 0.18, #prealloc-req: 0, #transfer-req: 22, #retracted-req: 0, "
            "cuda graph: True, "
        )
    if shape == "dspark":
        return (
            f"cap len: {rng.uniform(1, 4):.2f}, block accept len: {rng.uniform(1, 4):.2f}, "
            "cuda graph: True, "
        )
    return "cuda graph: True, "


def _line(rng: random.Random, interval: Interval, shape: str, number: int) -> str:
    """The text behind the bracket: `old` has no rate, the others differ in what is around it."""
    if shape == "old":
        head, rate, after = "Decode batch. ", "", ""
    else:
        head = f"Decode batch [{number}], " if shape != "hybrid" else "Decode batch, "
        rate, after = f"accept rate: {interval.rate}, ", _after_rate(rng, shape)
    return (
        f"{head}#running-req: {interval.running}, {_pool_usage(rng, shape)}"
        f"accept len: {interval.length}, {rate}{after}"
        f"gen throughput (token/s): {interval.throughput}, #queue-req: 0"
    )


def _stamp(clock: Clock, rank: str, *, fine: bool = False) -> str:
    text = f"{clock.now:%Y-%m-%d %H:%M:%S}" + (".000" if fine else "")
    return f"[{text}{rank}] "


def _noise(rng: random.Random) -> str:
    """Other lines of the server, still without their time."""
    return rng.choice(
        (
            "] Prefill batch. #new-seq: 1, #new-token: 6, #cached-token: 0, token usage: 0.00, "
            "#running-req: 0, #queue-req: 0",
            '] INFO:     192.0.2.3:50042 - "POST /generate?q=accept%20len HTTP/1.1" 200 OK',
            " TP0] ReqTimeStats(rid=accepted-one, input_len=4, output_len=128)",
        )
    )


def _among_others(rng: random.Random, lines: Sequence[str]) -> list[str]:
    """The lines with others in between, at the time of the line before."""
    width, stamped = len("[2025-11-20 03:01:50"), []
    time = lines[0][:width]
    for line in interleave(rng, lines, _noise):
        time = line[:width] if line.startswith("[") else time
        stamped.append(line if line.startswith("[") else time + line)
    return stamped


def _ranked_lines(
    rng: random.Random, intervals: Sequence[Interval], shape: str, ranks: Sequence[str]
) -> list[str]:
    """The lines of one batch, repeated by every rank that logs it."""
    clock, lines = Clock(rng), []
    for i, interval in enumerate(intervals):
        clock.tick(interval.seconds)
        text = _line(rng, interval, shape, 40 * (i + 1))
        lines += [_stamp(clock, rank) + text for rank in ranks]
    return lines


def _log(
    rng: random.Random,
    name: str,
    intervals: Sequence[Interval],
    shape: str,
    truth: Truth,
    *,
    start: str | None = None,
    codes: Sequence[str] = (),
    ranks: Sequence[str] | None = None,
) -> Sample:
    """A log of one batch; no counts, so the truth is a mean length and perhaps gamma."""
    names = ranks or [rng.choice(("", " TP0"))]
    lines = _ranked_lines(rng, intervals, shape, names)
    end = lines[-1].index("accept len: ") + len("accept len: ")
    tail = lines[-1][: end + rng.randint(0, 3)] if rng.random() < 0.25 else None
    if start:
        lines.insert(0, f"{lines[0][: len('[2025-11-20 03:01:50')]}] {start}")
    return pooled(
        f"sglang.{name}",
        "sglang",
        log_file(rng, _among_others(rng, lines), tail),
        truth,
        codes=["interval_average_only", *codes],
        dropped=int(tail is not None),
        exact=False,
    )


def log_no_rate(rng: random.Random) -> Sample:
    """Up to 0.5.3: no rate, gamma from the server arguments: section 4.1."""
    gamma = rng.randint(1, 12)
    intervals = _intervals(rng, gamma)
    start = _server_args(gamma, 1, gamma + 1, rng.choice(ALGORITHMS))
    truth = Truth(gamma=gamma, mean_length=_mean(intervals))
    return _log(rng, "log_no_rate", intervals, "old", truth, start=start)


def log_no_rate_gamma_unknown(rng: random.Random) -> Sample:
    """Up to 0.5.3 without the server arguments: section 4.1."""
    intervals = _intervals(rng, rng.randint(1, 12))
    truth, codes = Truth(mean_length=_mean(intervals)), ["gamma_unknown"]
    return _log(rng, "log_no_rate_gamma_unknown", intervals, "old", truth, codes=codes)


def _rated_log(rng: random.Random, name: str, rate: Rate, shape: str) -> Sample:
    """A log whose rates tell gamma, or server arguments where these admit several."""
    gamma = rng.randint(1, 12)
    intervals = _intervals(rng, gamma, rate)
    fits = _explained(intervals)
    told = len(fits) > 1 or rng.random() < 0.3
    start = _server_args(gamma, 1, gamma + 1, rng.choice(ALGORITHMS)) if told else None
    seen = rate is with_bonus and (True, gamma) not in fits
    codes = ["rate_includes_bonus"] if seen else []
    truth = Truth(gamma=gamma, mean_length=_mean(intervals))
    return _log(rng, name, intervals, shape, truth, start=start, codes=codes)


def log_rate_by_steps(rng: random.Random) -> Sample:
    """0.5.4 and 0.5.5: length over steps + 1: section 4.1."""
    return _rated_log(rng, "log_rate_by_steps", with_bonus, "plain")


def log_rate_by_draft_tokens(rng: random.Random) -> Sample:
    """0.5.6 to 0.5.10: length over draft tokens, the same number in a chain: section 4.1."""
    return _rated_log(rng, "log_rate_by_draft_tokens", with_bonus, "plain")


def log_strict(rng: random.Random) -> Sample:
    """0.5.11 and later: section 4.1."""
    return _rated_log(rng, "log_strict", strict, "plain")


def log_hybrid(rng: random.Random) -> Sample:
    """Hybrid models, whose pool fields shift the columns: section 4.1."""
    return _rated_log(rng, "log_hybrid", strict, "hybrid")


def log_disaggregated(rng: random.Random) -> Sample:
    """Disaggregated decoding, with fields behind the rate: section 4.1."""
    return _rated_log(rng, "log_disaggregated", strict, "disaggregated")


def log_dspark(rng: random.Random) -> Sample:
    """DSpark, with two more lengths that are not the one asked for: section 4.1."""
    return _rated_log(rng, "log_dspark", strict, "dspark")


def log_tensor_parallel(rng: random.Random) -> Sample:
    """Every TP rank logs the same batch: count it once: section 4.1."""
    gamma = rng.randint(1, 12)
    intervals = _intervals(rng, gamma)
    ranks = [f" TP{i}" for i in range(rng.choice((2, 4)))]
    start = _server_args(gamma, 1, gamma + 1, "EAGLE3", len(ranks))
    truth, codes = Truth(gamma=gamma, mean_length=_mean(intervals)), ["duplicate_rank"]
    name = "log_tensor_parallel"
    return _log(rng, name, intervals, "plain", truth, start=start, codes=codes, ranks=ranks)


def log_data_parallel(rng: random.Random) -> Sample:
    """DP ranks have batches of their own, which add up: section 4.1."""
    gamma, ranks = rng.randint(1, 8), rng.randint(2, 4)
    hazard, clock = hazards(rng, gamma, extreme=False), Clock(rng)
    lines = [_stamp(clock, "") + _server_args(gamma, 1, gamma + 1, "EAGLE", ranks)]
    every = []
    for i in range(rng.randint(1, 5)):
        clock.tick(3)
        for rank in range(ranks):
            every.append(_interval(rng, gamma, strict, hazard, 3))
            text = _line(rng, every[-1], "disaggregated", 40 * (i + 1))
            lines.append(_stamp(clock, f" DP{rank} TP{rank} EP{rank}", fine=True) + text)
    return pooled(
        "sglang.log_data_parallel",
        "sglang",
        log_file(rng, _among_others(rng, lines)),
        Truth(gamma=gamma, mean_length=_mean(every)),
        codes=["interval_average_only", "multi_series"],
        exact=False,
    )


def log_tree(rng: random.Random) -> Sample:
    """Tree drafts: the length is the accepted depth + 1, no chain alpha: section 4.1."""
    steps, topk = rng.randint(2, 6), rng.choice((2, 4, 8))
    intervals = _intervals(rng, steps)
    start = _server_args(steps, topk, rng.choice((8, 16, 64)), "EAGLE")
    truth = Truth(gamma=steps, mean_length=_mean(intervals))
    return _log(rng, "log_tree", intervals, "old", truth, start=start, codes=["tree_draft"])


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    log_no_rate,
    log_no_rate_gamma_unknown,
    log_rate_by_steps,
    log_rate_by_draft_tokens,
    log_strict,
    log_hybrid,
    log_disaggregated,
    log_dspark,
    log_tensor_parallel,
    log_data_parallel,
    log_tree,
    *sglang_responses.GENERATORS,
)
