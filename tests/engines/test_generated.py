"""Reports written at random, from counts that are known, are read back as these counts."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gammaplan.cli import fitting
from gammaplan.cli.fitting import Assumed, fitted
from gammaplan.engines import files
from gammaplan.engines.base import Batch, Item, Record
from gammaplan.engines.files import Asked, Input, collect_difference, collect_files
from gammaplan.engines.reading import Reading
from gammaplan.model.estimate import Counts
from gammaplan.model.estimation import Estimate, estimate
from tests.generators import ALL, Sample, Truth

SEEDS = range(20)
COUNTS = (
    "rounds",
    "drafted",
    "accepted",
    "accepted_at_least",
    "drafted_at_least",
    "full_accepts",
    "rejections",
)
CLOSE, ROUNDED = 1e-9, 1e-3
NARROW = 0.02

Figures = dict[str, Any]

every_generator = pytest.mark.parametrize("name", ALL)


def inputs(sample: Sample, folder: Path) -> list[Input]:
    """What the reader and the collector make of a sample."""
    path = folder / "report"
    path.write_bytes(sample.data)
    if sample.before is None:
        return collect_files([str(path)])
    earlier = folder / "before"
    earlier.write_bytes(sample.before)
    return [collect_difference(str(earlier), str(path))]


def differences(found: Figures, truth: Truth, *, exact: bool = True) -> list[str]:
    """Where the figures of one group are not the truth; None in it claims nothing."""
    counts = found["counts"] or {}
    wrong = []
    for name in COUNTS:
        theirs, mine = getattr(truth, name), counts.get(name)
        if theirs is None or (not theirs and mine is None):
            continue
        theirs = list(theirs) if isinstance(theirs, tuple) else theirs
        close = ROUNDED * (truth.rounds or 0)
        if mine != (theirs if exact else pytest.approx(theirs, rel=0, abs=close)):
            wrong.append(f"{name} is {mine}, not {theirs}")
    if truth.gamma is not None and found["gamma"] != truth.gamma:
        wrong.append(f"gamma is {found['gamma']}, not {truth.gamma}")
    length, close = truth.mean_length, CLOSE if exact else ROUNDED
    if length is not None and found["mean_length"] != pytest.approx(length, rel=close):
        wrong.append(f"mean_length is {found['mean_length']}, not {length}")
    if exact and truth.accepted and truth.rejections is not None:
        alpha = truth.accepted / (truth.accepted + truth.rejections)
        if found["alpha"] != pytest.approx(alpha, rel=CLOSE):
            wrong.append(f"alpha is {found['alpha']}, not {alpha}")
    return wrong + alpha_differences(found, truth, close)


def alpha_differences(found: Figures, truth: Truth, close: float) -> list[str]:
    """Where a point is not the one that a length gives, or is given where only bounds can be."""
    wrong, alpha, bounds = [], found["alpha"], found["bounds"]
    for name in ("alpha", "pooled_rate"):
        theirs = getattr(truth, name)
        if theirs is not None and found[name] != pytest.approx(theirs, rel=close, abs=close):
            wrong.append(f"{name} is {found[name]}, not {theirs}")
    if truth.refused and alpha is not None:
        wrong.append(f"alpha is {alpha}, and must be refused")
    if truth.hidden_alpha is None:
        return wrong
    if bounds is None:
        return [*wrong, "there are no bounds"]
    if not bounds["low"] - CLOSE <= truth.hidden_alpha <= bounds["high"] + CLOSE:
        wrong.append(f"bounds are {bounds}, without {truth.hidden_alpha}")
    if alpha is not None and bounds["high"] - bounds["low"] >= NARROW:
        wrong.append(f"alpha is {alpha}, and cannot be known")
    return wrong


def matches(labels: dict[str, str], group: Figures) -> bool:
    """Whether a group carries the labels that its generator gave it."""
    return all(
        str(v) in map(str, group["labels"].values()) or k in ("rank", "window")
        for k, v in labels.items()
    )


def check(sample: Sample, said: list[Input]) -> list[str]:
    """Every difference between a sample's truth and what was said of it."""
    result, findings = fitted(said, Assumed())
    wrong = [f"{code} is missing" for code in sample.codes - {f.code for f in findings}]
    if result["engine"] not in (None, sample.engine):
        wrong.append(f"the engine is {result['engine']}, not {sample.engine}")
    lost = sum(one.said.lost for one in said)
    if lost != sample.dropped:
        wrong.append(f"{lost} records were dropped, not {sample.dropped}")
    if sample.total is not None:
        if not result["pooled"]:
            wrong.append("the groups were not pooled")
        return wrong + differences(dict(result), sample.total, exact=sample.exact)
    groups = [dict(g) for g in result["groups"]]
    if result["alpha"] is not None:
        wrong.append("groups were pooled that must not be")
    for labels, truth in sample.groups:
        mine = [g for g in groups if matches(labels, g)]
        if len(mine) != 1 and truth != Truth():
            wrong.append(f"{len(mine)} groups have the labels {labels}")
            continue
        for group in mine:
            wrong += differences(group, truth, exact=sample.exact)
    return wrong


@every_generator
def test_the_counts_come_back(name, tmp_path):
    wrong = {}
    for seed in SEEDS:
        sample = ALL[name](random.Random(seed))
        if found := check(sample, inputs(sample, tmp_path)):
            wrong[seed] = found
    assert wrong == {}


@every_generator
def test_asking_for_the_records_changes_no_counts(name, tmp_path):
    for seed in range(4):
        sample = ALL[name](random.Random(seed))
        if sample.before is None:
            (plain,) = inputs(sample, tmp_path)
            (listed,) = collect_files([str(tmp_path / "report")], asked=Asked(by="window"))
            totals = [
                [replace(g.total, tried=g.total.at_risk) for g in one.said.groups.values()]
                for one in (plain, listed)
            ]
            assert totals[0] == totals[1]
            assert listed.said.lost == plain.said.lost


READ_BY_COMMAND = (
    "vllm.v1_log_0102",
    "vllm.prom_pair",
    "vllm.v1_log_two_containers",
    "sglang.meta_info_059",
    "llama.cpp.log_old_rate",
    "tensorrt-llm.prom",
    "plain.trace_requests",
    "lmdeploy.log_ranks",
    "tgi.prom_histogram_pair",
    "exllama.tabby_log",
    "lm-studio.log",
    "ollama.mlx_log",
)


@pytest.mark.parametrize("name", READ_BY_COMMAND)
def test_the_command_prints_the_same_counts(cli, name, tmp_path):
    sample = ALL[name](random.Random(7))
    said = inputs(sample, tmp_path)
    before = ["--before", str(tmp_path / "before")] if sample.before else []
    document = json.loads(cli(["fit", *before, str(tmp_path / "report"), "--json"]).stdout)
    assert document["result"] == json.loads(json.dumps(fitted(said, Assumed()).result))
    assert sample.codes <= {w["code"] for w in document["warnings"]}


# A comparison is worth something if it fails for a reader that is wrong.

MUTATED = (
    "vllm.v1_log_090",
    "vllm.v1_log_0102",
    "vllm.v1_log_json_lines",
    "vllm.prom",
    "vllm.prom_pair",
    "vllm.per_request_summary",
    "vllm.bench_json",
    "sglang.meta_info_059",
    "llama.cpp.prom",
    "tensorrt-llm.prom",
    "lmdeploy.log",
    "lmdeploy.prom",
    "mlc-llm.engine_metrics",
    "tgi.prom_histogram",
    "aiperf.export",
)
UNPLACED = (  # reports without positions
    "exllama.result",
    "exllama.tabby_log",
    "exllama.tabby_usage",
    "lm-studio.sdk_stats",
    "lm-studio.rest",
    "lm-studio.log",
    "mlx.vlm_timings",
    "ollama.mlx_log",
    "ollama.mlx_log_constant",
    "openvino.console",
)


def swapped(counts: Counts) -> Counts:
    """Accepted read as drafted, and drafted as accepted."""
    return replace(counts, drafted=counts.accepted, accepted=counts.drafted)


def without_last_position(counts: Counts) -> Counts:
    """One position lost."""
    at_least = counts.accepted_at_least
    if not at_least or len(at_least) < 2 or counts.rounds is None:
        return counts
    return Counts.full(counts.rounds, at_least[:-1])


def without_bonus(counts: Counts) -> Counts:
    """Rounds taken from a length that was thought to have no bonus token."""
    if not counts.rounds or not counts.accepted:
        return counts
    return replace(counts, rounds=counts.rounds + counts.accepted)


def doubled(counts: Counts) -> Counts:
    """The same work counted twice."""
    return counts + counts


def mutate(mutation: Callable[[Counts], Counts], monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the counts of every item that a reader yields."""

    def changed(item: Item) -> Item:
        if isinstance(item, Record):
            return replace(item, counts=mutation(item.counts))
        return item._replace(counts=mutation(item.counts)) if isinstance(item, Batch) else item

    def around(real: Callable[..., Reading]) -> Callable[..., Reading]:
        def wrapped(*args: Any, **options: Any) -> Reading:
            reading = real(*args, **options)
            return reading._replace(items=map(changed, reading.items))

        return wrapped

    for name in ("read", "read_difference"):
        monkeypatch.setattr(files, name, around(getattr(files, name)))


def found_wrong(name: str, folder: Path, seeds: Sequence[int] = SEEDS) -> bool:
    """Whether some seed shows that the figures are wrong."""
    for seed in seeds:
        sample = ALL[name](random.Random(seed))
        if check(sample, inputs(sample, folder)):
            return True
    return False


@pytest.mark.parametrize("name", MUTATED)
@pytest.mark.parametrize("mutation", [swapped, without_last_position, without_bonus, doubled])
def test_a_reader_that_is_wrong_is_found_out(mutation, name, monkeypatch, tmp_path):
    mutate(mutation, monkeypatch)
    assert found_wrong(name, tmp_path)


@pytest.mark.parametrize("name", UNPLACED)
@pytest.mark.parametrize("mutation", [swapped, doubled])
def test_a_reader_of_totals_that_is_wrong_is_found_out(mutation, name, monkeypatch, tmp_path):
    mutate(mutation, monkeypatch)
    assert found_wrong(name, tmp_path)


@pytest.mark.parametrize("name", [*MUTATED, *UNPLACED])
def test_the_pooled_rate_read_as_alpha_is_found_out(name, monkeypatch, tmp_path):
    def naive(counts: Counts, **options: Any) -> Estimate:
        return replace(estimate(counts, **options), alpha=counts.pooled_rate)

    monkeypatch.setattr(fitting, "estimate", naive)
    assert found_wrong(name, tmp_path)


def test_the_reader_as_it_is_is_not_found_out(monkeypatch, tmp_path):
    mutate(lambda counts: counts, monkeypatch)
    assert not any(found_wrong(name, tmp_path, range(3)) for name in (*MUTATED, *UNPLACED))
