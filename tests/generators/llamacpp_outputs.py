"""llama.cpp responses, metrics and example programs: sections 5.2 to 5.4 (autumn 2026)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from .llamacpp_lines import statistics
from .process import (
    Counts,
    Round,
    count,
    counters,
    draw_until,
    hazards,
    is_open,
    joined,
    running,
    settle,
    simulate,
    totals,
    varies,
)
from .truth import Sample, Truth, pooled
from .wrap import cut, document, documents, encode

Json = dict[str, object]


def _uneven(rng: random.Random, *, empty: float = 0.0) -> list[Round]:
    """Rounds of one request whose rejections counting leaves open."""
    gamma = rng.randint(2, 16)
    hazard = hazards(rng, gamma, extreme=False)
    return draw_until(
        lambda: simulate(rng, gamma, rng.randint(3, 200), hazard, short=0.6, empty=empty), is_open
    )


def _timings(rounds: Sequence[Round]) -> Json:
    drafted, accepted = sum(d for d, _ in rounds), sum(a for _, a in rounds)
    tokens = 1 + len(rounds) + accepted
    value: Json = {
        "prompt_n": 20,
        "prompt_ms": 228.522,
        "predicted_n": tokens,
        "predicted_ms": 30.0 * tokens,
        "predicted_per_second": 33.333,
    }
    return value | ({"draft_n": drafted, "draft_n_accepted": accepted} if drafted else {})


def timings(rng: random.Random) -> Sample:
    """Responses with `timings`; nothing drafted, no key: section 5.2."""
    requests = [_uneven(rng) for _ in range(rng.randint(1, 5))]
    total = totals(joined(requests))
    if rng.random() < 0.3:
        requests.append([])
    rows: list[object] = []
    for i, request in enumerate(requests):
        message = {"role": "assistant", "content": "draft accepted"}
        choices = [{"finish_reason": "length", "index": 0, "message": message}]
        head = {"choices": choices, "model": "example", "id": f"chatcmpl-{i}"}
        rows.append(head | {"timings": _timings(request)})
    tail = None
    if rng.random() < 0.2:
        tail = cut(rng, json.dumps(rows[0]), '"draft_n"', "}}")
    return pooled(
        "llama.cpp.timings",
        "llama.cpp",
        documents(rng, rows, tail),
        total,
        codes=["variable_draft_length", "gamma_unknown"],
        dropped=int(tail is not None),
    )


def _events(rounds: Sequence[Round], *, each: bool) -> list[Json]:
    """One event a round, or one a token: figures run up within the stream."""
    events = [_event(1, None)]
    tokens = 1
    for (drafted, accepted), (_, step) in zip(running(rounds), rounds, strict=True):
        for emitted in range(1, step + 2) if each else (step + 1,):
            events.append(_event(tokens + emitted, (drafted, accepted)))
        tokens += step + 1
    return events


def _event(tokens: int, drafted: Round | None) -> Json:
    choices = [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]
    value: Json = {"prompt_n": 20, "predicted_n": tokens, "predicted_ms": 30.0 * tokens}
    if drafted is not None and drafted[0]:
        value |= {"draft_n": drafted[0], "draft_n_accepted": drafted[1]}
    return {"choices": choices, "timings": value}


def timings_stream(rng: random.Random) -> Sample:
    """`timings_per_token` in a stream: differences give every round: section 5.2."""
    gamma, short = rng.randint(1, 8), rng.choice((0.0, 0.4))
    hazard = hazards(rng, gamma)
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(1, 60), hazard, short=short),
        lambda drawn: any(d == gamma for d, _ in drawn),
    )
    lines = []
    for event in _events(rounds, each=rng.random() < 0.5):
        lines += [f"data: {json.dumps(event)}", ""]
    data = encode(rng, [*lines, "data: [DONE]", ""])
    total, codes = count(rounds, gamma).truth, ["cumulative_log"]
    if not all(d == gamma for d, _ in rounds):
        total, codes = replace(total, gamma=None), [*codes, "variable_draft_length"]
    return pooled("llama.cpp.timings_stream", "llama.cpp", data, total, codes=codes)


def ik_timings(rng: random.Random) -> Sample:
    """ik_llama.cpp: drafted and accepted by depth, d_i and c_i: section 5.4."""
    gamma, short = rng.randint(1, 8), rng.choice((0.0, 0.3))
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(1, 400), hazards(rng, gamma), short=short),
        lambda drawn: any(d == gamma for d, _ in drawn),
    )
    seen = count(rounds, gamma)
    by_depth = zip(seen.drafted_at_least, seen.accepted_at_least, strict=True)
    depths = [
        {"depth": i, "draft_n": d, "draft_n_accepted": c}
        for i, (d, c) in enumerate(by_depth, start=1)
    ]
    value = {"timings": _timings(rounds) | {"draft_by_depth": depths}}
    known = counters(rounds, gamma, positions=True)
    total = replace(known, drafted_at_least=seen.drafted_at_least)
    return pooled("llama.cpp.ik_timings", "llama.cpp", document(rng, value), total)


def _exposition(truth: Counts) -> list[str]:
    name = "llamacpp:spec_decode_num_"
    rows = (
        ("llamacpp:tokens_predicted_total", truth.rounds + truth.accepted),
        (f"{name}draft_tokens_total", truth.drafted),
        (f"{name}accepted_tokens_total", truth.accepted),
        (f"{name}drafts_total", truth.rounds),
    )
    lines = []
    for key, value in rows:
        lines += [f"# HELP {key} Counted.", f"# TYPE {key} counter", f"{key} {value:g}"]
    key = f"{name}accepted_tokens_per_pos_total"
    lines += [f"# HELP {key} Accepted tokens per draft position", f"# TYPE {key} counter"]
    for i, c in enumerate(truth.accepted_at_least):
        lines.append(f'{key}{{position="{i}"}} {c}')
    return lines


def prom(rng: random.Random) -> Sample:
    """Below a million six significant digits lose nothing: section 5.2."""
    gamma, short = rng.randint(1, 8), rng.choice((0.0, 0.3))
    rounds = simulate(rng, gamma, rng.randint(1, 3000), hazards(rng, gamma), short=short)
    data = encode(rng, _exposition(count(rounds, gamma)))
    return pooled("llama.cpp.prom", "llama.cpp", data, counters(rounds, gamma, positions=True))


def prom_six_digits(rng: random.Random) -> Sample:
    """Above that N and D are rounded and only the positions are exact: section 5.2."""
    gamma = rng.randint(2, 8)
    hazard = hazards(rng, gamma, extreme=False)
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(1000, 3000), hazard),
        lambda drawn: any(a == d for d, a in drawn),
    )
    seen = count(rounds, gamma).scaled(rng.randrange(1301, 9001, 2))
    total = Truth(
        accepted=seen.accepted,
        accepted_at_least=seen.accepted_at_least,
        full_accepts=seen.full_accepts,
        gamma=gamma,
        mean_length=seen.mean_length,
    )
    data, codes = encode(rng, _exposition(seen)), ["rounding_only"]
    name = "llama.cpp.prom_six_digits"
    return pooled(name, "llama.cpp", data, total, codes=codes, exact=False)


def _speed(tokens: int) -> list[str]:
    return [
        f"encoded {13:4d} tokens in {0.101:8.3f} seconds, speed: {128.713:8.3f} t/s",
        f"decoded {tokens:4d} tokens in {3.412:8.3f} seconds, speed: {tokens / 3.412:8.3f} t/s",
        "",
    ]


def _steps_total(rounds: Sequence[Round]) -> Truth:
    """N = n_predict - n_accept, the programs' own count, has steps without a draft in it."""
    actual, steps = count(rounds), len(rounds)
    known = Truth(
        steps,
        actual.drafted,
        actual.accepted,
        mean_length=1 + actual.accepted / steps,
    )
    return settle(known, actual)


def _program(rng: random.Random, rounds: Sequence[Round], width: int = 9) -> list[str]:
    """The five figures of the example programs; 0/0 is printed as the C library does."""
    drafted, accepted = sum(d for d, _ in rounds), sum(a for _, a in rounds)
    ratio = f"{100.0 * accepted / drafted:.3f}" if drafted else rng.choice(NANS)
    rows = (
        ("n_draft", "16"),
        ("n_predict", f"{len(rounds) + accepted}"),
        ("n_drafted", f"{drafted}"),
        ("n_accept", f"{accepted}"),
        ("accept", f"{ratio}%"),
    )
    return [f"{key:<{width}} = {value}" for key, value in rows]


NANS = ("nan", "-nan", "-nan(ind)")


def speculative_2023(rng: random.Random) -> Sample:
    """llama-speculative of 2023: section 5.3."""
    rounds = _uneven(rng, empty=0.1)
    tokens = len(rounds) + sum(a for _, a in rounds)
    lines = [f"generated {tokens} tokens in 248.340 seconds, speed: {tokens / 248.34:.3f} t/s", ""]
    lines += [*_program(rng, rounds), "", "draft:", ""]
    lines.append("llama_print_timings:        load time = 42345.19 ms")
    total, codes = _steps_total(rounds), ["variable_draft_length"]
    name = "llama.cpp.speculative_2023"
    return pooled(name, "llama.cpp", encode(rng, lines), total, codes=codes)


def speculative_simple(rng: random.Random) -> Sample:
    """llama-speculative-simple, perhaps with the statistics of the drafter: section 5.3."""
    told = rng.random() < 0.5
    rounds = draw_until(lambda: _uneven(rng, empty=0.0 if told else 0.1), varies)
    lines = ["", *_speed(len(rounds) + sum(a for _, a in rounds)), *_program(rng, rounds)]
    lines += ["", "draft:", ""]
    if told:
        lines += [statistics(rng, "draft", rounds, 1), ""]
    lines += ["target:", ""]
    total, codes = _steps_total(rounds), ["variable_draft_length"]
    name = "llama.cpp.speculative_simple"
    return pooled(name, "llama.cpp", encode(rng, lines), total, codes=codes)


def lookup(rng: random.Random) -> Sample:
    """llama-lookup, with timings among the figures: section 5.3."""
    rounds = _uneven(rng, empty=0.2)
    lines = ["", *_speed(len(rounds) + sum(a for _, a in rounds))]
    figures = _program(rng, rounds, width=12)
    figures[3:3] = [
        "t_draft_flat = 0.36 ms",
        "t_draft      = 2.80 ms, 37.29 us per token, 26817.89 tokens per second",
    ]
    lines += [*figures, "", "target:", ""]
    total, codes = _steps_total(rounds), ["variable_draft_length"]
    return pooled("llama.cpp.lookup", "llama.cpp", encode(rng, lines), total, codes=codes)


def speculative_nothing_drafted(rng: random.Random) -> Sample:
    """0/0 in the example programs: section 5.1, traps."""
    steps = [(0, 0)] * rng.randint(3, 200)
    lines = ["", *_speed(len(steps)), *_program(rng, steps, width=rng.choice((9, 12)))]
    total, codes = Truth(drafted=0, accepted=0), ["nan_rate"]
    name = "llama.cpp.speculative_nothing_drafted"
    return pooled(name, "llama.cpp", encode(rng, lines), total, codes=codes)


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    timings,
    timings_stream,
    ik_timings,
    prom,
    prom_six_digits,
    speculative_2023,
    speculative_simple,
    lookup,
    speculative_nothing_drafted,
)
