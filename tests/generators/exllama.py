"""exllamav2, exllamav3 and tabbyAPI: engines.md section 8 (engine formats as of autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .process import (
    Round,
    bounded,
    draw_until,
    hazards,
    is_open,
    joined,
    round_by_round,
    simulate,
    totals,
)
from .truth import Sample, Truth, pooled
from .wrap import Clock, cut, document, documents, encode, event_stream, interleave, log_file

Json = dict[str, object]
GAMMA = 4
"""`num_draft_tokens` unless it is set: a result does not tell it."""


@dataclass(frozen=True, slots=True)
class Job:
    """A finished job: its rounds, and the tokens that it delivered."""

    rounds: Sequence[Round]
    tokens: int

    @property
    def accepted(self) -> int:
        """Accepted draft tokens."""
        return sum(a for _, a in self.rounds)

    @property
    def rejected(self) -> int:
        """Rejected draft tokens."""
        return sum(d - a for d, a in self.rounds)


def _job(rng: random.Random, gamma: int, hazard: Sequence[float], least: int = 1) -> Job:
    """Full drafts, the last perhaps cut by a stop: what comes after it is in neither count."""
    rounds = simulate(rng, gamma, rng.randint(least, 120), hazard)
    tokens = 1 + len(rounds) + sum(a for _, a in rounds)
    if rng.random() < 0.5:
        seen = rng.randint(1, gamma)
        rounds.append((seen, seen))
        tokens += seen
    return Job(rounds, tokens)


def _jobs(rng: random.Random, gamma: int, most: int = 5, least: int = 1) -> list[Job]:
    hazard = hazards(rng, gamma, extreme=False)
    return draw_until(
        lambda: [_job(rng, gamma, hazard, least) for _ in range(rng.randint(1, most))],
        lambda jobs: is_open(_rounds(jobs)),
    )


def _rounds(jobs: Sequence[Job]) -> list[Round]:
    return joined([job.rounds for job in jobs])


def _open_total(jobs: Sequence[Job]) -> Truth:
    """D and A; the rejections stay open."""
    rounds = _rounds(jobs)
    return bounded(totals(rounds), rounds)


def _result(rng: random.Random, job: Job) -> Json:
    """The last result of a job."""
    return {
        "job": None,
        "stage": "streaming",
        "eos": True,
        "serial": rng.randint(1, 99),
        "eos_reason": rng.choice(("stop_token", "stop_string", "max_new_tokens")),
        "full_completion": "accepted_draft_tokens: 7",
        "new_tokens": job.tokens,
        "prompt_tokens": 55,
        "cached_tokens": 0,
        "time_generate": 3.9,
        "accepted_draft_tokens": job.accepted,
        "rejected_draft_tokens": job.rejected,
    }


def _chunk(rng: random.Random) -> Json:
    """A result on the way, which has no counts yet."""
    text = rng.choice(("once", " upon", " rejected"))
    return {"job": None, "stage": "streaming", "eos": False, "serial": 1, "text": text}


def _without_draft(row: Json) -> Json:
    """The result of a generator that has no drafter."""
    return {key: value for key, value in row.items() if "draft" not in key}


def result(rng: random.Random) -> Sample:
    """Results of jobs as the caller dumped them, perhaps with those on the way."""
    jobs, rows, codes = _jobs(rng, GAMMA), list[Json](), ["censored_by_stop"]
    for job in jobs:
        rows += [_chunk(rng) for _ in range(rng.choice((0, 0, 2)))]
        rows.append(_result(rng, job))
    if rng.random() < 0.3:
        rows.insert(0, _result(rng, Job([], 12)))
        codes.append("zero_drafts")
    if rng.random() < 0.3:
        rows.insert(0, _without_draft(_result(rng, jobs[0])))
    tail = None
    if rng.random() < 0.2:
        tail = cut(rng, json.dumps(rows[-1]), '"accepted_draft_tokens": ', "}")
    return pooled(
        "exllama.result",
        "exllama",
        documents(rng, rows, tail),
        _open_total(jobs),
        codes=codes,
        dropped=int(tail is not None),
    )


def result_repr(rng: random.Random) -> Sample:
    """The same as Python prints it."""
    jobs = _jobs(rng, GAMMA)
    data = encode(rng, [repr(_result(rng, job)) for job in jobs])
    total, codes = _open_total(jobs), ["censored_by_stop"]
    return pooled("exllama.result_repr", "exllama", data, total, codes=codes)


def result_other_length(rng: random.Random) -> Sample:
    """Drafts of another length, DFlash's for one, which the steps of a long job betray."""
    jobs = _jobs(rng, rng.choice((1, 2, 3, 6, 7, 15)), least=40)
    data = documents(rng, [_result(rng, job) for job in jobs])
    total, codes = _open_total(jobs), ["censored_by_stop", "gamma_unknown"]
    return pooled("exllama.result_other_length", "exllama", data, total, codes=codes)


def console(rng: random.Random) -> Sample:
    """The example's console: a percentage and nothing else, perhaps coloured."""
    (job,) = _jobs(rng, rng.randint(1, 8), most=1)
    percent = f"{100 * job.accepted / (job.accepted + job.rejected):.2f}"
    grey, pink, plain = rng.choice((("", "", ""), ("\x1b[90m", "\x1b[95m", "\x1b[0m")))
    lines = [
        "Once upon a time, 40 / 60 tokens were accepted.",
        f"New tokens:         {job.tokens:8} t",
        "Cached tokens:           0 t /      64 t",
        "Enqueued:               0.00 s",
        "Job output             73.14 t/s",
        f"{grey}SD efficiency:     {plain}{pink}  {percent:>7}%{plain}",
    ]
    total, codes = (
        Truth(pooled_rate=float(percent) / 100, refused=True),
        [
            "rounding_only",
            "gamma_unknown",
        ],
    )
    return pooled("exllama.console", "exllama", encode(rng, lines), total, codes=codes)


def draft_stats(rng: random.Random) -> Sample:
    """`-dstats` of exllamav3: a window and what was accepted of it, round by round."""
    gamma, averaged = rng.randint(1, 8), rng.random() < 0.5
    short, empty = rng.choice(((0.0, 0.0), (0.5, 0.1)))
    hazard = hazards(rng, gamma)

    def draw() -> list[Round]:
        return simulate(rng, gamma, rng.randint(1, 60), hazard, short=short, empty=empty)

    drawn = draw_until(
        lambda: [draw() for _ in range(rng.randint(1, 4))],
        lambda drawn: any(d for d, _ in joined(drawn)),
    )
    traces = []
    for i, rounds in enumerate(drawn):
        stats, position = list[list[float]](), rng.randint(1, 99)
        for window, accepted in rounds:
            position += accepted + 1
            stats.append([position, window, accepted, *([rng.uniform(0, 4)] if averaged else [])])
        traces.append({"category": "Coding", "file": f"coding_{i:02d}.json", "stats": stats})
    total, codes = round_by_round(joined(drawn))
    data = document(rng, traces)
    return pooled("exllama.draft_stats", "exllama", data, total, codes=codes)


def _tabby_line(rng: random.Random, clock: Clock, job: Job | None) -> str:
    """The metrics of a request; None: it ran without a draft model."""
    draft, tokens = "", rng.randint(2, 900)
    if job is not None:
        drafted, tokens = job.accepted + job.rejected, job.tokens
        percent = 100 * job.accepted / drafted if drafted else 0.0
        draft = f", Draft: {job.accepted} / {drafted} tokens accepted ({percent:.2f}%)"
    clock.tick(rng.uniform(0.1, 40))
    level = rng.choice(("INFO:", "INFO:", "\x1b[32mINFO\x1b[0m:"))
    return (
        f"{clock.now:%Y-%m-%d %H:%M:%S}.976 {level}     Metrics (ID: {rng.getrandbits(128):032x}): "
        f"{tokens} tokens generated in 9.31 seconds (Queue: 0.0 s, Process: 15766 cached tokens "
        f"and 231 new tokens at 801.2 T/s, Generate: 46.9 T/s, Context: 15997 tokens{draft})"
    )


def tabby_log(rng: random.Random) -> Sample:
    """tabbyAPI: a line a request, some without a draft model, some that drafted nothing."""
    jobs, clock, codes = _jobs(rng, rng.randint(1, 8)), Clock(rng), ["gamma_unknown"]
    shown: list[Job | None] = [*jobs, *([None] if rng.random() < 0.4 else [])]
    if rng.random() < 0.3:
        shown.append(Job([], 12))
        codes.append("zero_drafts")
    rng.shuffle(shown)
    lines, tail = [_tabby_line(rng, clock, job) for job in shown], None
    if rng.random() < 0.25:
        tail = cut(rng, _tabby_line(rng, clock, jobs[0]), "Draft: ", " tokens accepted")
    return pooled(
        "exllama.tabby_log",
        "exllama",
        log_file(rng, interleave(rng, lines), tail),
        _open_total(jobs),
        codes=codes,
        dropped=int(tail is not None),
    )


def _usage(job: Job) -> Json:
    details = {
        "accepted_prediction_tokens": job.accepted,
        "rejected_prediction_tokens": job.rejected,
    }
    return {
        "prompt_tokens": 231,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens": job.tokens,
        "completion_tokens_details": details,
        "total_tokens": job.tokens + 231,
    }


def tabby_usage(rng: random.Random) -> Sample:
    """tabbyAPI since August 2026: the usage of a response."""
    jobs, rows = _jobs(rng, rng.randint(1, 8), most=3), []
    for i, job in enumerate(jobs):
        message = {"role": "assistant", "content": "accepted"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        head = {"id": f"chatcmpl-{i}", "object": "chat.completion", "choices": [choice]}
        rows.append(head | {"usage": _usage(job)})
    data, total = documents(rng, rows), _open_total(jobs)
    return pooled("exllama.tabby_usage", "exllama", data, total, codes=["gamma_unknown"])


def tabby_stream(rng: random.Random) -> Sample:
    """The same response streamed: the usage comes with the last chunk."""
    (job,) = jobs = _jobs(rng, rng.randint(1, 8), most=1)
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
    chunk = head | {"choices": [{"index": 0, "delta": {"content": "accepted"}}]}
    data = event_stream(rng, [*[chunk] * 5, head | {"choices": [], "usage": _usage(job)}])
    total, codes = _open_total(jobs), ["gamma_unknown"]
    return pooled("exllama.tabby_stream", "exllama", data, total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    result,
    result_repr,
    result_other_length,
    console,
    draft_stats,
    tabby_log,
    tabby_usage,
    tabby_stream,
)
