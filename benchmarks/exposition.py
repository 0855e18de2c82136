"""The wanted families of a page of Prometheus text, against prometheus_client's parser in full.

Needs `prometheus_client`, which gammaplan itself does not.
"""

import io
import random
from importlib import import_module

from measure import call, ratio, report

from gammaplan.engines.base import Sample
from gammaplan.engines.lines import Blocks
from gammaplan.engines.prometheus import samples

SAMPLES = 50_000
MODELS, POSITIONS = 4, 5
FAMILIES = ("spec_decode",)
PAIRS = 15
parser = import_module("prometheus_client.parser")  # for benchmarks alone: no stubs are there


def page(rng: random.Random) -> str:
    """50,000 samples of a vLLM server: histograms by model and engine, and its few counters."""
    lines, left = [], SAMPLES
    wanted = []
    for model in range(MODELS):
        labels = f'engine="{model}",model_name="org/model-\\"{model}\\""'
        for name in ("drafts", "draft_tokens", "accepted_tokens"):
            value = float(rng.randrange(10**6, 10**9))
            wanted.append((f"num_{name}", f"vllm:spec_decode_num_{name}_total{{{labels}}} {value}"))
        for position in range(POSITIONS):
            name = "num_accepted_tokens_per_pos"
            series = f'{{{labels},position="{position}"}}'
            wanted.append((name, f"vllm:spec_decode_{name}_total{series} {rng.random() * 1e6}"))
    for name in dict.fromkeys(name for name, _ in wanted):
        lines.append(f"# HELP vllm:spec_decode_{name} Of speculative decoding.")
        lines.append(f"# TYPE vllm:spec_decode_{name} counter")
        lines += [line for key, line in wanted if key == name]
    left -= len(wanted)
    bounds = [str(2.0**i) for i in range(-10, 12)] + ["+Inf"]
    for number in range(left // (len(bounds) + 2)):
        name, labels = f"vllm:phase_{number}_seconds", 'engine="0",model_name="org/model-0"'
        lines += [f"# HELP {name} Time in a phase.", f"# TYPE {name} histogram"]
        lines += [
            f'{name}_bucket{{{labels},le="{bound}"}} {i * 7.0}' for i, bound in enumerate(bounds)
        ]
        lines += [f"{name}_count{{{labels}}} 154.0", f"{name}_sum{{{labels}}} {rng.random()}"]
        left -= len(bounds) + 2
    lines += ["# HELP process_threads Threads.", "# TYPE process_threads gauge"]
    lines += [f'process_threads{{thread="{i}"}} 1.0' for i in range(left)]
    return "\n".join(lines) + "\n"


def ours(text: bytes) -> list[object]:
    return list(samples(Blocks(io.BufferedReader(io.BytesIO(text))), FAMILIES))


def theirs(text: str) -> list[Sample]:
    return [
        Sample(sample.name, sample.labels, sample.value)
        for family in parser.text_fd_to_metric_families(io.StringIO(text))
        for sample in family.samples
    ]


def main() -> None:
    text = page(random.Random(0))
    data = text.encode()
    full = theirs(text)
    assert len(full) == SAMPLES, len(full)
    wanted = [sample for sample in full if any(family in sample.name for family in FAMILIES)]
    assert ours(data) == wanted
    print(f"{len(full):,} samples, {len(data) / 1e6:.1f} MB, {len(wanted)} wanted")
    found = ratio(call(lambda: theirs(text)), call(lambda: ours(data)), pairs=PAIRS)
    report("prometheus_client.parser in full / ours", found, at_least=5)


if __name__ == "__main__":
    main()
