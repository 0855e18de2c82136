"""trtllm-bench reports and the mean in a response: section 6 (formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .process import hazards, simulate
from .truth import Sample, Truth, pooled
from .wrap import document, encode

RULE = "=" * 59
STATISTICS = ("minimum", "maximum", "average", "p50", "p90", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Run:
    """What the report computes for each request, the prefill iteration being a step."""

    gamma: int
    iterations: Sequence[int]
    accepted: Sequence[int]

    @property
    def output(self) -> list[int]:
        """Output tokens: one an iteration and the accepted ones."""
        return [i + a for i, a in zip(self.iterations, self.accepted, strict=True)]

    @property
    def figures(self) -> dict[str, list[float]]:
        """D = gamma * iterations, A = output - iterations, A/D, output / iterations."""
        drafted = [float(self.gamma * i) for i in self.iterations]
        return {
            "num_draft_tokens": drafted,
            "num_accepted_draft_tokens": [float(a) for a in self.accepted],
            "draft_acceptance_rate": [a / d for a, d in zip(self.accepted, drafted, strict=True)],
            "acceptance_length": [o / i for o, i in zip(self.output, self.iterations, strict=True)],
        }

    @property
    def truth(self) -> Truth:
        """The printed counts; what the prefill iterations hide about R stays open."""
        n, accepted = sum(self.iterations), sum(self.accepted)
        return Truth(
            rounds=n,
            drafted=n * self.gamma,
            accepted=accepted,
            drafted_at_least=(n,) * self.gamma,
            gamma=self.gamma,
            mean_length=1 + accepted / n,
        )


def _run(rng: random.Random) -> Run:
    gamma = rng.randint(1, 8)
    hazard = hazards(rng, gamma, extreme=False)
    requests = [simulate(rng, gamma, rng.randint(5, 90), hazard) for _ in range(rng.randint(1, 60))]
    accepted = [sum(a for _, a in request) for request in requests]
    return Run(gamma, [len(request) + 1 for request in requests], accepted)


def _spread(values: Sequence[float]) -> Mapping[str, float]:
    """Minimum, maximum, unweighted average and percentiles over the requests."""
    ordered, n = sorted(values), len(values)
    found = {f"p{p}": ordered[min(n - 1, n * p // 100)] for p in (50, 90, 95, 99)}
    return found | {"minimum": ordered[0], "maximum": ordered[-1], "average": sum(ordered) / n}


def _section(title: str) -> list[str]:
    return [RULE, f"= {title}", RULE]


def _report(run: Run, mode: str) -> list[str]:
    requests = len(run.iterations)
    lines = [
        *_section("REQUEST DETAILS "),
        f"Number of requests:             {requests}",
        f"Number of concurrent requests:  {7.8125:.4f}",
        f"Average Input Length (tokens):  {1000:.4f}",
        f"Average Output Length (tokens): {sum(run.output) / requests:.4f}",
        *_section(f"DECODING STATISTICS ({mode})"),
        "",
    ]
    heads = (
        ("DT", "Number of Draft Tokens"),
        ("ADT", "Number of Accepted Draft Tokens"),
        ("DAR", "Draft Acceptance Rate"),
        ("AL", "Acceptance Length"),
    )
    for (tag, title), values in zip(heads, run.figures.values(), strict=True):
        lines += [f"-- {title} Details --------------------------------", ""]
        lines += [""] if tag == "DT" else []
        spread = _spread(values)
        lines += [f"[{tag}] {key.upper():<7}: {spread[key]:.2f}" for key in STATISTICS]
    return [*lines, RULE]


def bench_text(rng: random.Random) -> Sample:
    """The report; up to 99 requests two-decimal averages give the sums back: section 6."""
    run, mode = _run(rng), rng.choice(("MTP", "Eagle3", "NGram"))
    data = encode(rng, _report(run, mode))
    codes = ["macro_average"]
    return pooled("tensorrt-llm.bench_text", "tensorrt-llm", data, run.truth, codes=codes)


def bench_json(rng: random.Random) -> Sample:
    """The same report as a document: section 6."""
    run = _run(rng)
    stats = {f"{key}_percentiles": _spread(values) for key, values in run.figures.items()}
    requests = len(run.iterations)
    value = {
        "engine": {"model": "example-target", "backend": "Pytorch"},
        "request_info": {
            "num_requests": requests,
            "avg_num_concurrent_requests": 7.8125,
            "avg_input_length": 1000.0,
            "avg_output_length": sum(run.output) / requests,
        },
        "decoding_stats": {"mode": "MTP", **stats},
    }
    data, codes = document(rng, value), ["macro_average"]
    return pooled("tensorrt-llm.bench_json", "tensorrt-llm", data, run.truth, codes=codes)


def response_mean(rng: random.Random) -> Sample:
    """A response whose choice carries the mean length of its request: section 6."""
    length = rng.uniform(1, 5)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "..."},
        "finish_reason": "stop",
        "avg_decoded_tokens_per_iter": length,
    }
    value = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
    return pooled(
        "tensorrt-llm.response_mean",
        "tensorrt-llm",
        document(rng, value),
        Truth(mean_length=length),
        codes=["interval_average_only", "gamma_unknown"],
        exact=False,
    )


GENERATORS: tuple[Callable[[random.Random], Sample], ...] = (
    bench_text,
    bench_json,
    response_mean,
)
