"""guidellm: what a vLLM server counted during each benchmark, in its report (autumn 2026).

engines.md has no section on it; the shape is that of guidellm's own `server_metrics` schema, the
counters are those of section 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .exposition import Labels
from .process import Counts, Round, count, counters, hazards, joined, simulate
from .truth import Sample, grouped, pooled
from .wrap import document

Json = dict[str, object]
Edges = Callable[[int], float]
"""What interpolation at the ends of a benchmark makes of a count."""

MODEL = {"model_name": "example-org/target-8b"}


def _series(labels: Labels, increase: float) -> Json:
    return {"labels": labels, "increase": increase, "rate": increase / 60}


def _counters(engines: Sequence[Counts], edges: Edges) -> Json:
    """The counters by family, without `_total`, a series for each engine and position."""
    found: Json = {"vllm:prompt_tokens": [_series(MODEL | {"engine": "0"}, 81920.5)]}
    labels = [MODEL | {"engine": str(i)} for i in range(len(engines))]
    for name, field in (
        ("num_drafts", "rounds"),
        ("num_draft_tokens", "drafted"),
        ("num_accepted_tokens", "accepted"),
    ):
        gains = [edges(getattr(counts, field)) for counts in engines]
        rows = [_series(x, gain) for x, gain in zip(labels, gains, strict=True)]
        found[f"vllm:spec_decode_{name}"] = rows
    found["vllm:spec_decode_num_accepted_tokens_per_pos"] = [
        _series(x | {"position": str(i)}, edges(c))
        for x, counts in zip(labels, engines, strict=True)
        for i, c in enumerate(counts.accepted_at_least)
    ]
    return found


def _report(scraped: Sequence[Json]) -> Json:
    benchmarks = []
    for counted in scraped:
        source = {"source": "http://192.0.2.4:8000/metrics", "scrapes": 61, "scrape_errors": 0}
        summary = source | {"gauges": {}, "counters": counted, "histograms": {}}
        benchmark = {"type_": "generative_benchmark", "duration": 60.0, "metrics": {}}
        benchmarks.append(benchmark | {"server_metrics": [summary]})
    return {"type_": "generative_benchmarks_report", "args": {}, "benchmarks": benchmarks}


def _benchmarks(rng: random.Random, gamma: int, least: int, most: int) -> list[list[Round]]:
    hazard = hazards(rng, gamma)
    return [
        simulate(rng, gamma, rng.randint(least, most), hazard) for _ in range(rng.randint(1, 3))
    ]


def report(rng: random.Random) -> Sample:
    """A sweep of benchmarks, each with whole counts, which add up."""
    gamma = rng.randint(1, 8)
    parts = _benchmarks(rng, gamma, 1, 400)
    scraped = [_counters([count(part, gamma)], float) for part in parts]
    total = counters(joined(parts), gamma, positions=True)
    return pooled("guidellm.report", "guidellm", document(rng, _report(scraped)), total)


def report_engines(rng: random.Random) -> Sample:
    """Data parallelism: the engines of one server add up."""
    gamma = rng.randint(1, 8)
    parts = [simulate(rng, gamma, rng.randint(1, 300), 0.7) for _ in range(rng.randint(2, 4))]
    data = document(rng, _report([_counters([count(part, gamma) for part in parts], float)]))
    total = counters(joined(parts), gamma, positions=True)
    return pooled("guidellm.report_engines", "guidellm", data, total, codes=["multi_series"])


def report_interpolated(rng: random.Random) -> Sample:
    """Counts with a fraction: scrapes do not fall on the ends of a benchmark."""
    gamma = rng.randint(1, 8)
    parts = _benchmarks(rng, gamma, 1500, 2500)
    off = random.Random(rng.random())
    scraped = [
        _counters([count(part, gamma)], lambda n: n + off.uniform(0.01, 0.4) if n else 0.0)
        for part in parts
    ]
    data, codes = document(rng, _report(scraped)), ["rounding_only"]
    total = counters(joined(parts), gamma, positions=True)
    name = "guidellm.report_interpolated"
    return pooled(name, "guidellm", data, total, codes=codes, exact=False)


def report_no_spec(rng: random.Random) -> Sample:
    """Only what guidellm scrapes unless it is told: tokens and times."""
    tokens = {"vllm:generation_tokens": [_series(dict(MODEL), float(rng.randint(1, 10**6)))]}
    data = document(rng, _report([{"vllm:prompt_tokens": [], **tokens}]))
    return grouped("guidellm.report_no_spec", "guidellm", data, (), codes=["no_spec_data"])


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    report,
    report_engines,
    report_interpolated,
    report_no_spec,
)
