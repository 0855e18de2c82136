"""Estimated against measured round costs, on public figures whose models' configurations are known.

    python benchmarks/roofline.py

Only ratios are scored: a round, or a pass over n tokens, in plain passes of the same set-up. A
source that prints no tokens per round is anchored at its smallest batch. Nothing was fitted to a
row: efficiency and overheads are the defaults. The range that `cost` prints is the middle 80 % of
measured ÷ estimated, each source counting as much as any other.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gammaplan.data.devices import DEVICES
from gammaplan.data.formats import QUANTS
from gammaplan.documents.configs import read_config
from gammaplan.model.architecture import ModelShape, eagle_head, mtp_head
from gammaplan.model.roofline import EFFICIENCY, Machine, Precision, pass_over

DATA = Path(__file__).parents[1] / "tests" / "data"
WIDE = Precision(2, 2, 2, 2)
MTBENCH = 512  # cached tokens of a request on MT-bench, about; the tables do not state it
BUDGET = 512  # cached tokens of MagicDec's self-speculating draft
M4 = Machine(120e9, 3.6e12, 3.6e12, 16e9)  # Apple states no speed of the M4: that of an M2 is taken
# No data sheet of the H20 is public: bandwidth and speed of NVIDIA's ai-dynamo/aiconfigurator,
# systems/h20_sxm.yaml (1641793); its memory is not needed here.
H20 = Machine(4000e9, 148e12, 148e12, 96e9, 8)


class Row(NamedTuple):
    """One figure: its source, measured and estimated; `scored` where it counts for the range."""

    source: str
    what: str
    measured: float
    estimated: float
    scored: bool = True

    @property
    def ratio(self) -> float:
        """Measured ÷ estimated."""
        return self.measured / self.estimated


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def shape(name: str) -> ModelShape:
    with (DATA / "configs" / f"{name}.json").open("rb") as stream:
        return read_config(stream, name).shape


def machine(name: str, dtype: str = "bf16", devices: int = 1) -> Machine:
    row = DEVICES[name]
    flops = row.flops[dtype]
    return Machine(row.bandwidth, flops, row.flops["bf16"], row.memory, devices, EFFICIENCY)


def ms(model: ModelShape, on: Machine, n: int, batch: int, context: float, p: Precision) -> float:
    return float(pass_over(model, on, p, n, batch=batch, context=context).ms)


def tokens(alpha: float, gamma: int) -> float:
    return float(sum(alpha**k for k in range(gamma + 1)))


def magicdec() -> Iterator[Row]:
    """Self-speculation with a short cache: acceptance by context, speedup at the best length."""
    accepted = {
        float(r["sequence_length"]): float(r["acceptance_rate"])
        for r in rows("published/magicdec_acceptance_vs_context")
    }
    models = {"Llama3.1-8B": "llama-3.1-8b-instruct", "Llama2-7B": "llama-2-7b"}
    devices = {"8xA100": "a100-sxm", "8xH100_SXM": "h100-sxm"}
    for row in rows("published/magicdec_optimal_length"):
        if row["draft"] != "Selfspec":
            continue
        context, batch, gamma = (int(row[k]) for k in ("prefill", "batch_size", "optimal_gamma"))
        model, on = shape(models[row["target"]]), machine(devices[row["hardware"]], devices=8)
        plain = ms(model, on, 1, batch, context, WIDE)
        draft = ms(model, on, 1, batch, BUDGET, WIDE)
        estimated = (gamma * draft + ms(model, on, gamma + 1, batch, context, WIDE)) / plain
        measured = tokens(accepted[context], gamma) / float(row["speedup"])
        what = f"{row['target']}, {row['hardware']}, {context // 1000}k, batch {batch}, γ {gamma}"
        yield Row("MagicDec, self-speculation", what, measured, estimated)


def magicdec_steps() -> Iterator[Row]:
    """Plain steps at 8,000 tokens against the first; the target is taken to be Llama 2 7B."""
    model, on = shape("llama-2-7b"), machine("a100-sxm", devices=8)
    series = [
        r
        for r in rows("published/magicdec_throughput_latency")
        if r["series"] == "(AutoReg) Prefill 8000"
    ]
    first = None
    for row in series:
        taken = float(row["latency_ms_per_token"])
        batch = round(float(row["value"]) * taken / 1e3)  # tokens in flight
        pair = taken, ms(model, on, 1, batch, 8000, WIDE)
        first = first or pair
        if pair is not first:
            what = f"plain step, batch {batch} ÷ batch 32"
            yield Row("MagicDec, plain steps", what, pair[0] / first[0], pair[1] / first[1], False)


def eagle3() -> Iterator[Row]:
    """EAGLE and EAGLE-3 by batch; tokens per round follow from the smallest batch."""
    model = shape("llama-3.1-8b-instruct")
    heads = {
        "EAGLE": eagle_head(model, inputs=2),
        "EAGLE-3": eagle_head(model, inputs=3, vocabulary=32_000),
    }
    devices = {"SGLang v0.4.4": "h100-sxm", "vLLM": "a100-sxm"}
    anchors: dict[tuple[str, str], float] = {}
    for row in rows("published/eagle3_batch_throughput"):
        on, gamma, batch = (
            machine(devices[row["engine"]]),
            int(row["gamma"]),
            int(row["batch_size"]),
        )
        drafted = gamma * ms(heads[row["method"]], on, 1, batch, MTBENCH, WIDE)
        plain = ms(model, on, 1, batch, MTBENCH, WIDE)
        estimated = (drafted + ms(model, on, gamma + 1, batch, MTBENCH, WIDE)) / plain
        key = row["engine"], row["method"]
        if key not in anchors:
            anchors[key] = estimated * float(row["throughput_ratio"])
            continue
        measured = anchors[key] / float(row["throughput_ratio"])
        what = f"{row['method']}, γ {gamma}, batch {batch}"
        yield Row(f"EAGLE-3 tables, {row['engine']}", what, measured, estimated)


def vllm_posts() -> Iterator[Row]:
    """DeepSeek V3.2 with and without MTP, batch 1."""
    model, on = shape("deepseek-v3"), machine("b300", "fp8", 8)
    p = Precision(1, 1, 2, 2)
    found = {r["setting"]: float(r["value"]) for r in rows("published/vllm_blog_points")}
    plain = found["no MTP, concurrency 1"]
    fast = found["MTP=1, ~90% draft acceptance, concurrency 1"]
    step = ms(model, on, 1, 1, 4096, p)
    estimated = (ms(mtp_head(model), on, 1, 1, 4096, p) + ms(model, on, 2, 1, 4096, p)) / step
    yield Row("vLLM posts", "DeepSeek V3.2, 8 B300, MTP 1: round", 1.9 / (fast / plain), estimated)
    yield Row("vLLM posts", "the same, plain step in ms", 1e3 / plain, step, scored=False)


def tensorrt() -> Iterator[Row]:
    """DeepSeek-R1 with MTP on 8 B200: both posts; acceptance lengths are those of the first.

    Attention and the MTP module are in 16 bits, the feed-forward layers in nvfp4, as it says.
    """
    model, on = shape("deepseek-v3"), machine("b200", "fp4", 8)
    head, plain_head = mtp_head(model), machine("b200", "bf16", 8)
    attention = sum(group.count * group.attention.parameters for group in model.layers)
    narrow, share = QUANTS["nvfp4"].bits / 8, attention / model.linear
    p = Precision(2 * share + narrow * (1 - share), narrow, 2, 2)
    plain = ms(model, on, 1, 1, 2048, p)
    drafted = ms(head, plain_head, 1, 1, 2048, WIDE)

    def estimated(gamma: int) -> float:
        return (gamma * drafted + ms(model, on, gamma + 1, 1, 2048, p)) / plain

    lengths = {}
    for row in rows("published/trtllm_mtp_acceptance"):
        gamma, length = int(row["nextn"]), float(row["acceptance_length"])
        lengths[row["verification"].split(",")[0], gamma] = length
        if gamma and row["speedup"]:
            what = f"DeepSeek-R1, 8 B200, MTP {gamma}"
            yield Row("TensorRT-LLM posts", what, length / float(row["speedup"]), estimated(gamma))
    for row in rows("published/trtllm_mtp_deepseek_r1"):
        how = "relaxed" if "relaxed" in row["setting"] else "strict"
        measured = lengths[how, 3] / float(row["value"])
        what = f"DeepSeek-R1, 8 B200, MTP 3, {how}, second post"
        yield Row("TensorRT-LLM posts", what, measured, estimated(3))


def angelslim() -> Iterator[Row]:
    """MTP-3 of Hy3, 295B-A21B, on 8 H20 by concurrency; weights are taken to be in 16 bits."""
    model = shape("hy3")
    head = mtp_head(model)
    lengths = {
        r["benchmark"]: float(r["accept_length"])
        for r in rows("published/angelslim_accept_length")
        if (r["target"], r["drafter"]) == ("Hy3-A21B", "MTP")
    }
    for row in rows("published/angelslim_concurrency_moe"):
        if row["method"] != "MTP-3" or row["benchmark"] == "avg":
            continue
        batch = int(row["concurrency"])
        plain = ms(model, H20, 1, batch, 2048, WIDE)
        drafted = 3 * ms(head, H20, 1, batch, 2048, WIDE)
        estimated = (drafted + ms(model, H20, 4, batch, 2048, WIDE)) / plain
        measured = lengths[row["benchmark"]] / float(row["speedup"])
        what = f"{row['benchmark']}, MTP 3, batch {batch}"
        yield Row("AngelSlim, Hy3 on 8 H20", what, measured, estimated)


def verify_curves() -> Iterator[Row]:
    """V(n) of Qwen2.5-7B, 4 bit, on an Apple M4; the other curves are of models not had."""
    model = shape("qwen2.5-7b-instruct")
    narrow = QUANTS["mlx4"].bits / 8
    p = Precision(narrow, narrow, narrow, 2)
    for row in rows("sweeps/verify_curves"):
        n = int(row["n_tokens"])
        if "7b" not in row["curve_id"].replace("27b", "") or n == 1:
            continue
        batch = int(row["batch"])
        estimated = ms(model, M4, n, batch, 512, p) / ms(model, M4, 1, batch, 512, p)
        what = f"V({n}), batch {batch} ({row['curve_id']})"
        yield Row("verify curves, M4", what, float(row["relative"]), estimated)


def found() -> list[Row]:
    """Every figure."""
    parts = (magicdec, magicdec_steps, eagle3, vllm_posts, tensorrt, angelslim, verify_curves)
    return [row for part in parts for row in part()]


def span(figures: list[Row], share: float = 0.8) -> tuple[float, float]:
    """Ends of the middle `share` of the ratios, each source with the same weight."""
    sources: dict[str, list[float]] = defaultdict(list)
    for row in figures:
        if row.scored:
            sources[row.source].append(row.ratio)
    pairs = sorted((r, 1 / len(rs)) for rs in sources.values() for r in rs)
    ratios, weights = (np.array(side) for side in zip(*pairs, strict=True))
    below = (np.cumsum(weights) - weights / 2) / weights.sum()
    low, high = np.interp([(1 - share) / 2, (1 + share) / 2], below, ratios)
    return float(low), float(high)


def lines() -> list[str]:
    """The tables of docs/validation.md."""
    figures = found()
    out = [
        "| source | figures | median error | worst | measured ÷ estimated |",
        "|---|---|---|---|---|",
    ]
    for source in dict.fromkeys(row.source for row in figures):
        mine = [row for row in figures if row.source == source and row.scored]
        if not mine:
            continue
        errors = sorted(100 * abs(row.ratio - 1) for row in mine)
        ends = min(r.ratio for r in mine), max(r.ratio for r in mine)
        out.append(
            f"| {source} | {len(mine)} | {np.median(errors):.0f} % | {errors[-1]:.0f} % | "
            f"{ends[0]:.2f} to {ends[1]:.2f} |"
        )
    low, high = span(figures)
    out.append(f"| **middle 80 %, every source alike** | | | | **{low:.2f} to {high:.2f}** |")
    out += ["", "| source | figure | measured | estimated | ratio |", "|---|---|---|---|---|"]
    for row in figures:
        mark = "" if row.scored else " (not scored)"
        out.append(
            f"| {row.source} | {row.what}{mark} | {row.measured:.2f} | {row.estimated:.2f} | "
            f"{row.ratio:.2f} |"
        )
    return out


def sizes() -> list[str]:
    """The table of parameters of docs/validation.md."""
    out = ["| configuration | published | from config.json | off |", "|---|---|---|---|"]
    for row in rows("configs/published"):
        printed, ours = float(row["parameters"]), shape(row["config"]).parameters
        out.append(
            f"| `{row['config']}` | {printed / 1e9:.5g}e9 | {ours / 1e9:.5g}e9 | "
            f"{100 * (ours / printed - 1):+.2f} % |"
        )
    return out


def caches() -> list[str]:
    """The table of caches of docs/validation.md."""
    out = [
        "| configuration | layers | published, bytes a token | from config.json | off |",
        "|---|---|---|---|---|",
    ]
    for row in rows("configs/caches"):
        groups = shape(row["config"]).layers
        counted = [g for g in groups if row["layers"] == "all" or g.window is None]
        printed = float(row["kv_bytes"])
        ours = 2 * sum(g.count * g.attention.kv_elements for g in counted)
        out.append(
            f"| `{row['config']}` | {row['layers']} | {printed:,.0f} | {ours:,} | "
            f"{100 * (ours / printed - 1):+.2f} % |"
        )
    return out


if __name__ == "__main__":
    print("\n".join([*lines(), "", *sizes(), "", *caches()]))
