"""vLLM counters: engines.md section 3.2 (engine formats as of autumn 2026)."""

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
    simulate,
    told,
    totals,
    varies,
)
from .truth import Sample, grouped, pooled
from .wrap import encode

Row = tuple[Labels, Counts]
ENGINE_0 = {"engine": "0", "model_name": "example-org/target-8b"}


def _style(rng: random.Random, *, openmetrics: bool = False) -> Style:
    born = 1.7e9 + rng.randrange(10**8) if rng.random() < 0.5 else None
    return Style(openmetrics, born)


def _exposition(
    rows: Sequence[Row], style: Style, *, prefix: str = "vllm:", positions: bool = True
) -> list[str]:
    """The families of the rows, one row for each engine, and one that has nothing to do with it."""
    lines = gauge(f"{prefix}num_requests_running", "Running.", [(dict(r[0]), 2.0) for r in rows])
    for name, text, field in (
        ("num_drafts", "Number of spec decoding drafts.", "rounds"),
        ("num_draft_tokens", "Number of draft tokens.", "drafted"),
        ("num_accepted_tokens", "Number of accepted tokens.", "accepted"),
    ):
        points = [(labels, float(getattr(truth, field))) for labels, truth in rows]
        lines += counter(f"{prefix}spec_decode_{name}", text, points, style)
    if positions:
        points = [
            (labels | {"position": str(i)}, float(c))
            for labels, truth in rows
            for i, c in enumerate(truth.accepted_at_least)
        ]
        name = f"{prefix}spec_decode_num_accepted_tokens_per_pos"
        lines += counter(name, "Accepted tokens per draft position.", points, style)
    return [*lines, "# EOF"] if style.openmetrics else lines


def _full(rng: random.Random, gamma: int, largest: int = 3000) -> list[Round]:
    return simulate(rng, gamma, rng.randint(1, largest), hazards(rng, gamma))


def _engines(rng: random.Random, gamma: int, engines: int) -> tuple[list[Row], list[Round]]:
    parts = [_full(rng, gamma, 800) for _ in range(engines)]
    rows = [(ENGINE_0 | {"engine": str(i)}, count(part, gamma)) for i, part in enumerate(parts)]
    return rows, joined(parts)


def prom(rng: random.Random) -> Sample:
    """One engine, full drafts, perhaps with `_created` gauges: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    data = encode(rng, _exposition([(ENGINE_0, count(rounds, gamma))], _style(rng)))
    return pooled("vllm.prom", "vllm", data, counters(rounds, gamma, positions=True))


def prom_openmetrics(rng: random.Random) -> Sample:
    """An OpenMetrics scrape, ending in `# EOF`: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    lines = _exposition([(ENGINE_0, count(rounds, gamma))], _style(rng, openmetrics=True))
    total = counters(rounds, gamma, positions=True)
    return pooled("vllm.prom_openmetrics", "vllm", encode(rng, lines), total)


def prom_millions(rng: random.Random) -> Sample:
    """Counters above a million, in scientific notation with every digit: section 3.2."""
    gamma, times = rng.randint(1, 12), rng.randint(300, 9000)
    rounds = draw_until(lambda: _full(rng, gamma), lambda drawn: len(drawn) > 99)
    counts = count(rounds, gamma).scaled(times)
    lines = _exposition([(ENGINE_0, counts)], _style(rng))
    total = told(counts, positions=True)
    return pooled("vllm.prom_millions", "vllm", encode(rng, lines), total)


def prom_ray(rng: random.Random) -> Sample:
    """The names and tags of Ray Serve: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    tags = {
        "NodeAddress": "192.0.2.7",
        "ReplicaId": f"r{rng.randrange(10**6)}",
        "SessionName": "session_2026-06-01_10-00-00_000000_1",
        "WorkerId": f"{rng.getrandbits(112):028x}",
        "application": "llm",
    }
    row = (ENGINE_0 | tags, count(rounds, gamma))
    lines = _exposition([row], Style(), prefix="ray_vllm_")
    total = counters(rounds, gamma, positions=True)
    return pooled("vllm.prom_ray", "vllm", encode(rng, lines), total)


def prom_dynamo(rng: random.Random) -> Sample:
    """A Dynamo worker passes the engine's metrics on, with labels of its own: section 16."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    tags = {
        "dynamo_component": "backend",
        "dynamo_endpoint": "generate",
        "dynamo_namespace": "example",
    }
    lines = _exposition([(ENGINE_0 | tags, count(rounds, gamma))], _style(rng))
    total = counters(rounds, gamma, positions=True)
    return pooled("vllm.prom_dynamo", "vllm", encode(rng, lines), total)


def prom_engines(rng: random.Random) -> Sample:
    """Data parallelism: the engines of one model add up: section 3.2."""
    gamma = rng.randint(1, 12)
    rows, rounds = _engines(rng, gamma, rng.randint(2, 8))
    total = counters(rounds, gamma, positions=True)
    data = encode(rng, _exposition(rows, _style(rng)))
    return pooled("vllm.prom_engines", "vllm", data, total, codes=["multi_series"])


def prom_two_models(rng: random.Random) -> Sample:
    """Two models of different gamma, which must not be pooled: section 3.2."""
    rows, groups = [], []
    for i, gamma in enumerate(rng.sample(range(1, 9), 2)):
        model = {"model_name": f"example-org/model-{'ab'[i]}"}
        rounds = _full(rng, gamma)
        rows.append((model | {"engine": "0"}, count(rounds, gamma)))
        groups.append((model, counters(rounds, gamma, positions=True)))
    codes = ["multi_series", "mixed_gamma"]
    data = encode(rng, _exposition(rows, _style(rng)))
    return grouped("vllm.prom_two_models", "vllm", data, groups, codes=codes)


def prom_no_positions(rng: random.Random) -> Sample:
    """Position series dropped on the way, full drafts: gamma = D/N: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    lines = _exposition([(ENGINE_0, count(rounds, gamma))], _style(rng), positions=False)
    total = counters(rounds, gamma, positions=False)
    return pooled("vllm.prom_no_positions", "vllm", encode(rng, lines), total)


def prom_no_positions_uneven(rng: random.Random) -> Sample:
    """No positions and D/N no whole number, so that gamma stays unknown: section 3.2."""
    gamma = rng.randint(2, 12)
    hazard = hazards(rng, gamma, extreme=False)
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(10, 2000), hazard, short=0.3), varies
    )
    lines = _exposition([(ENGINE_0, count(rounds, gamma))], _style(rng), positions=False)
    total, codes = totals(rounds, drafts=True), ["variable_draft_length"]
    return pooled("vllm.prom_no_positions_uneven", "vllm", encode(rng, lines), total, codes=codes)


def prom_uneven(rng: random.Random) -> Sample:
    """Uneven drafts; the engine's N counts those that lost every token too: section 3.2."""
    gamma = rng.randint(2, 12)
    hazard, empty = hazards(rng, gamma, extreme=False), rng.choice((0.0, 0.05))
    rounds = draw_until(
        lambda: simulate(rng, gamma, rng.randint(5, 2000), hazard, short=0.3, empty=empty),
        lambda drawn: any(0 < d < gamma for d, _ in drawn),
    )
    counts = replace(count(rounds, gamma), rounds=len(rounds))
    data, total = (
        encode(rng, _exposition([(ENGINE_0, counts)], _style(rng))),
        told(counts, positions=True),
    )
    return pooled("vllm.prom_uneven", "vllm", data, total)


def prom_pair(rng: random.Random) -> Sample:
    """Two scrapes, whose difference counts: section 3.2."""
    gamma, engines, style = rng.randint(1, 12), rng.randint(1, 2), _style(rng)
    earlier, _ = _engines(rng, gamma, engines)
    gained, rounds = _engines(rng, gamma, engines)
    later = [(x, a.plus(b)) for (x, a), (_, b) in zip(earlier, gained, strict=True)]
    return pooled(
        "vllm.prom_pair",
        "vllm",
        encode(rng, _exposition(later, style)),
        counters(rounds, gamma, positions=True),
        codes=["multi_series"] if engines > 1 else [],
        before=encode(rng, _exposition(earlier, style)),
    )


def prom_pair_restart(rng: random.Random) -> Sample:
    """Every counter fell between the scrapes: the later value is the increase: section 17."""
    gamma = rng.randint(1, 12)
    hazard = hazards(rng, gamma)
    rounds = simulate(rng, gamma, rng.randint(1, 300), hazard)
    later = count(rounds, gamma)

    def fell(earlier: Counts) -> bool:
        pairs = zip(earlier.accepted_at_least, later.accepted_at_least, strict=True)
        return all(b > a or b == a == 0 for b, a in pairs)

    earlier = draw_until(lambda: count(simulate(rng, gamma, 3000, hazard), gamma), fell)
    born = 1.7e9 + rng.randrange(10**8)
    return pooled(
        "vllm.prom_pair_restart",
        "vllm",
        encode(rng, _exposition([(ENGINE_0, later)], Style(born=born + 86_400))),
        counters(rounds, gamma, positions=True),
        codes=["counter_reset"],
        before=encode(rng, _exposition([(ENGINE_0, earlier)], Style(born=born))),
    )


def prom_no_spec(rng: random.Random) -> Sample:
    """Metrics of a server without speculation: section 3.2."""
    lines = gauge("vllm:num_requests_running", "Running.", [(ENGINE_0, 2.0)])
    tokens = [(ENGINE_0, float(rng.randint(1, 10**7)))]
    lines += counter("vllm:generation_tokens", "Generated.", tokens, _style(rng))
    data = encode(rng, lines)
    return grouped("vllm.prom_no_spec", "vllm", data, (), codes=["no_spec_data"])


def _reader_rows(truth: Counts) -> list[tuple[str, str, object]]:
    name = "vllm:spec_decode_num_"
    return [
        ("Gauge", "vllm:num_requests_running", 0.0),
        ("Counter", f"{name}drafts", truth.rounds),
        ("Counter", f"{name}draft_tokens", truth.drafted),
        ("Counter", f"{name}accepted_tokens", truth.accepted),
        ("Vector", f"{name}accepted_tokens_per_pos", list(truth.accepted_at_least)),
    ]


def reader_repr(rng: random.Random) -> Sample:
    """What the V1 metric reader returns, printed as it is: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    items = []
    for kind, name, value in _reader_rows(count(rounds, gamma)):
        field = "values" if kind == "Vector" else "value"
        items.append(f"{kind}(name={name!r}, labels={ENGINE_0!r}, {field}={value!r})")
    data = encode(rng, [f"[{', '.join(items)}]"])
    return pooled("vllm.reader_repr", "vllm", data, counters(rounds, gamma, positions=True))


def reader_print(rng: random.Random) -> Sample:
    """The V1 metric reader's figures printed one a line: section 3.2."""
    gamma = rng.randint(1, 12)
    rounds = _full(rng, gamma)
    rows = _reader_rows(count(rounds, gamma))
    lines = [f"{name} ({kind.lower()}) = {value}" for kind, name, value in rows]
    data = encode(rng, ["-" * 50, *lines])
    return pooled("vllm.reader_print", "vllm", data, counters(rounds, gamma, positions=True))


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    prom,
    prom_openmetrics,
    prom_millions,
    prom_ray,
    prom_dynamo,
    prom_engines,
    prom_two_models,
    prom_no_positions,
    prom_no_positions_uneven,
    prom_uneven,
    prom_pair,
    prom_pair_restart,
    prom_no_spec,
    reader_repr,
    reader_print,
)
