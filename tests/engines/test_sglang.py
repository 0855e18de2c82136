"""SGLang's formats: the samples, the versions, and input that is cut, odd or contradictory."""

import io
import json
from collections.abc import Iterable
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest

from gammaplan.engines.base import Dropped, ExpositionFormat, Item, JsonFormat, LogFormat, Record
from gammaplan.engines.lines import Blocks
from gammaplan.engines.prometheus import samples
from gammaplan.engines.sglang import FORMATS
from gammaplan.engines.sglang.rates import Fit, Printed
from gammaplan.engines.values import values
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

SAMPLES = Path(__file__).parent.parent / "data" / "samples" / "sglang"
BY_NAME = {form.name: form for form in FORMATS}
ARGS = (
    "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE', "
    "speculative_num_steps={0}, speculative_eagle_topk={1}, speculative_num_draft_tokens={2}{3})\n"
)


def read(name: str, data: bytes) -> list[Item]:
    form, stream = BY_NAME[name], io.BytesIO(data)
    if isinstance(form, LogFormat):
        return list(form.read(iter(Blocks(stream))))
    if isinstance(form, JsonFormat):
        return list(form.read(values(stream)))
    assert isinstance(form, ExpositionFormat)
    found = list(samples(Blocks(stream), form.families))
    return [x for x in found if isinstance(x, Finding)] + list(
        form.read([x for x in found if not isinstance(x, Finding)])
    )


def log(text: str) -> list[Item]:
    return read("sglang-decode-log", text.encode())


def answers(*rows: Any) -> list[Item]:
    return read("sglang-meta-info", "\n".join(json.dumps(row) for row in rows).encode())


def records(items: Iterable[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def codes(items: Iterable[Item]) -> set[str]:
    return {item.code for item in items if isinstance(item, Finding)}


def dropped(items: Iterable[Item]) -> list[str]:
    return [item.what for item in items if isinstance(item, Dropped)]


def total(items: Iterable[Item]) -> Counts:
    return reduce(add, [record.counts for record in records(items)])


def mean(items: Iterable[Item]) -> float:
    pairs = [record.average for record in records(items) if record.average]
    return sum(length * weight for length, weight in pairs) / sum(w for _, w in pairs)


def line(length: str, rate: str | None = None, *, rank: str = "", running: int = 1) -> str:
    share = f"accept rate: {rate}, " if rate else ""
    return (
        f"[2026-01-01 00:00:01{rank}] Decode batch [40], #running-req: {running}, #token: 9, "
        f"token usage: 0.00, accept len: {length}, {share}cuda graph: True, "
        "gen throughput (token/s): 9.00, #queue-req: 0\n"
    )


@pytest.mark.parametrize(
    ("file", "form", "gamma", "length", "rounds", "findings"),
    [
        ("decode_log_043_tree.log", "decode-log", 5, 3.0125, 160, {"tree_draft"}),
        ("decode_log_dp4_interleaved.log", "decode-log", 5, 4.1975, 480, {"multi_series"}),
        ("decode_log_rate_with_bonus.log", "decode-log", 3, 2.8331, 520, {"rate_includes_bonus"}),
        ("decode_log_strict_hybrid.log", "decode-log", 3, 3.0257, 1400, set()),
        ("bench_serving.txt", "bench-serving", None, 2.91, 1, set()),
        ("server_info.json", "server-info", 3, 2.8713, 1, set()),
    ],
)
def test_samples_of_averages(
    file: str, form: str, gamma: int | None, length: float, rounds: int, findings: set[str]
) -> None:
    items = read(f"sglang-{form}", (SAMPLES / file).read_bytes())
    assert mean(items) == pytest.approx(length, abs=5e-5)
    assert {record.counts for record in records(items)} == {Counts(gamma=gamma)}
    assert sum(r.average[1] for r in records(items) if r.average) == rounds
    assert codes(items) == findings | {"interval_average_only"}
    assert all(record.tree == ("tree" in file) for record in records(items))
    assert not dropped(items)


@pytest.mark.parametrize(
    ("file", "form", "histogram", "findings"),
    [
        ("meta_info_0523_batch.json", "meta-info", [14, 9, 9, 7, 32], {"zero_drafts"}),
        ("meta_info_059.json", "meta-info", [23, 17, 14, 38], set()),
        ("openai_sglext.json", "openai-sglext", [6, 5, 9], set()),
    ],
)
def test_samples_of_responses(
    file: str, form: str, histogram: list[int], findings: set[str]
) -> None:
    items = read(f"sglang-{form}", (SAMPLES / file).read_bytes())
    found, expected = total(items), Counts.from_histogram(histogram)
    for field in ("rounds", "drafted", "accepted", "accepted_at_least", "rejections", "gamma"):
        assert getattr(found, field) == getattr(expected, field)
    assert codes(items) == findings


def test_sample_of_counters() -> None:
    items = read("sglang-prom", (SAMPLES / "metrics_tp2.prom").read_bytes())
    found = total(items)
    assert (found.rounds, found.drafted, found.accepted) == (112866, 338598, 195264)
    assert found.gamma == 3
    assert found.full_drafts
    assert codes(items) == {"duplicate_rank", "gauge_only"}


def test_both_definitions_of_the_rate_are_tried_over_all_lines() -> None:
    ambiguous = line("2.50", "0.50")
    assert {r.counts.gamma for r in records(log(ambiguous))} == {None}
    strict = log(ambiguous + line("2.20", "0.40"))
    assert {r.counts.gamma for r in records(strict)} == {3}
    assert "rate_includes_bonus" not in codes(strict)
    bonus = log(ambiguous + line("2.20", "0.44"))
    assert {r.counts.gamma for r in records(bonus)} == {4}
    assert "rate_includes_bonus" in codes(bonus)


def test_another_draft_length_starts_another_group() -> None:
    items = log(line("3.04", "0.68") + line("2.98", "0.66") + line("4.40", "0.68"))
    assert [r.counts.gamma for r in records(items)] == [3, 3, 5]


def test_a_fit_is_narrowed_by_every_pair() -> None:
    fit = Fit().narrowed(Printed(1.0, 0.005), Printed(0.0, 0.005))
    assert fit.gamma is None
    assert fit.narrowed(Printed(4.0, 0.005), Printed(1.0, 0.005)).gamma == 3


def test_rates_that_fit_no_stated_length_are_impossible() -> None:
    items = log(ARGS.format(3, 1, 4, "") + line("2.00", "0.90"))
    assert "impossible" in codes(items)
    assert mean(items) == 2.0


def test_tensor_parallel_ranks_repeat_and_data_parallel_ranks_add_up() -> None:
    text = "".join(line("2.00", "0.50", rank=f" DP{d} TP{t}") for d in (0, 1) for t in (0, 1))
    items = log(ARGS.format(2, 1, 3, "") + text)
    assert [r.part for r in records(items)] == [{"rank": "DP0 TP0"}, {"rank": "DP1 TP0"}]
    assert {"duplicate_rank", "multi_series"} <= codes(items)


def test_the_interval_of_the_arguments_weighs() -> None:
    text = ARGS.format(3, 1, 4, ", decode_log_interval=10") + line("2.00", running=3)
    (record,) = records(log(text))
    assert record.average == (2.0, 30.0)


@pytest.mark.parametrize(
    ("arguments", "gamma", "tree"),
    [
        ("speculative_algorithm='EAGLE', speculative_num_steps=3, speculative_eagle_topk=1", 3, 0),
        ("speculative_algorithm='EAGLE', speculative_num_steps=5, speculative_eagle_topk=8", 5, 1),
        ("speculative_algorithm='DFLASH', speculative_num_steps=1, speculative_eagle_topk=1, "
         "speculative_num_draft_tokens=16", 15, 0),
        ("speculative_algorithm='DSPARK', speculative_dspark_block_size=7", 7, 0),
        ("speculative_num_draft_tokens=12, speculative_ngram_max_bfs_breadth=10, "
         "speculative_algorithm='NGRAM'", None, 1),
        ("speculative_algorithm='EAGLE', speculative_num_steps=None", None, 0),
    ],
)  # fmt: skip
def test_arguments_tell_the_draft(arguments: str, gamma: int | None, tree: int) -> None:
    (record,) = records(log(f"server_args=ServerArgs({arguments})\n" + line("1.50")))
    assert (record.counts.gamma, record.tree) == (gamma, bool(tree))


def test_a_command_line_tells_the_draft() -> None:
    start = "python -m sglang.launch_server --speculative-num-steps 3 --speculative-eagle-topk 1\n"
    (record,) = records(log(start + line("1.50")))
    assert record.counts.gamma == 3


def test_faked_and_lossy_acceptance_are_told() -> None:
    items = log("SGLANG_SIMULATE_ACC_LEN=3.5\n" + line("3.50"))
    assert "synthetic_acceptance" in codes(items)
    assert all(record.unusable for record in records(items))
    lossy = ARGS.format(3, 1, 4, ", speculative_accept_threshold_single=0.9") + line("2.00")
    assert "lossy_acceptance" in codes(log(lossy))
    assert "synthetic_acceptance" not in codes(log("SGLANG_SIMULATE_ACC_LEN=-1\n" + line("3.50")))


@pytest.mark.parametrize("end", range(60, 185, 5))
def test_a_cut_line_is_dropped(end: int) -> None:
    items = log(line("2.00", "0.50") + line("2.00", "0.50")[:end])
    assert len(records(items)) == 1
    assert len(dropped(items)) == 1


def test_a_last_line_without_newline_counts() -> None:
    assert len(records(log(line("2.00", "0.50").rstrip()))) == 1


def test_interleaved_lines_lose_only_what_was_cut() -> None:
    items = log(line("2.00", "0.50")[:100] + line("3.00", "1.00"))
    assert [r.average for r in records(items)] == [(3.0, 40.0)]
    assert len(dropped(items)) == 1


@pytest.mark.parametrize(
    ("text", "lost", "code"),
    [
        (line("0.50"), 1, None),
        (line("2.00", "1.20"), 1, None),
        (line("9.00", "0.50").replace("9.00,", "9.0,", 1), 1, None),
        (line("nan"), 0, "nan_rate"),
        (line("0.00", "0.00"), 0, "zero_drafts"),
        (ARGS.format(3, 1, 4, "") + line("4.50", "0.90"), 1, None),
        ("INFO: GET /?q=accept len: 2.00, ok\n", 0, None),
    ],
)
def test_odd_lines(text: str, lost: int, code: str | None) -> None:
    items = log(text)
    assert not records(items)
    assert len(dropped(items)) == lost
    assert code is None or code in codes(items)


def test_containers_are_groups() -> None:
    items = log("llm-1  | " + line("2.00") + "llm-2  | " + line("3.00"))
    assert [r.group for r in records(items)] == [{"container": "llm-1"}, {"container": "llm-2"}]


def meta(**fields: Any) -> dict[str, Any]:
    return {"text": "x", "meta_info": {"id": "r", "finish_reason": {}, **fields}}


def test_old_versions_tell_accepted_by_tokens() -> None:
    (record,) = records(answers(meta(completion_tokens=31, spec_verify_ct=10)))
    assert record.counts == Counts(rounds=10, accepted=20)


def test_a_full_precision_rate_tells_the_draft_length() -> None:
    row = meta(completion_tokens=31, spec_verify_ct=10, spec_accept_rate=20 / 50)
    (record,) = records(answers(row))
    assert (record.counts.gamma, record.counts.drafted) == (5, 50)


def test_short_histograms_are_filled_up() -> None:
    row = meta(spec_verify_ct=4, spec_num_correct_drafts=1, spec_num_proposed_drafts=12,
               spec_correct_drafts_histogram=[3, 1])  # fmt: skip
    (record,) = records(answers(row))
    assert record.counts == Counts.from_histogram([3, 1, 0, 0])


def test_requests_without_an_accepted_token_take_the_length_of_the_others() -> None:
    rows = [
        meta(completion_tokens=5, spec_verify_ct=4, spec_accept_rate=0.0),
        {"meta_info": {"completion_tokens": 31, "spec_verify_ct": 10, "spec_accept_rate": 0.4}},
    ]
    assert {r.counts.gamma for r in records(answers(*rows))} == {5}


def test_repeated_and_streamed_reports_count_once() -> None:
    done = meta(completion_tokens=31, spec_verify_ct=10)
    part = meta(completion_tokens=11, spec_verify_ct=4, finish_reason=None)
    assert len(records(answers(part, part, done, done))) == 1
    (record,) = records(answers(part))
    assert record.counts.accepted == 6


@pytest.mark.parametrize(
    "fields",
    [
        {"spec_verify_ct": -1},
        {"spec_verify_ct": "4"},
        {"spec_verify_ct": 4, "completion_tokens": 3},
        {"spec_verify_ct": 4, "completion_tokens": float(10**300)},
        {"spec_verify_ct": 4, "spec_num_correct_drafts": 9, "spec_num_proposed_drafts": 8},
        {"spec_verify_ct": 4, "spec_num_proposed_drafts": 4, "spec_accept_histogram": [1, 1, 2]},
        {"spec_verify_ct": 4, "spec_num_proposed_drafts": 8, "spec_accept_histogram": [1, 1]},
        {"spec_verify_ct": 4, "spec_accept_histogram": [3, -1, 2]},
        {"spec_verify_ct": 4, "spec_accept_histogram": {"a": 1}},
        {"spec_num_correct_drafts": 4, "spec_num_proposed_drafts": 8},
        {"spec_verify_ct": 4, "spec_num_proposed_drafts": 8, "spec_proposed_drafts": 9,
         "completion_tokens": 9},
    ],
)  # fmt: skip
def test_contradictions_are_dropped(fields: dict[str, Any]) -> None:
    items = answers(meta(**fields))
    assert not records(items)
    assert len(dropped(items)) == 1


def test_caps_mean_that_drafts_were_not_full() -> None:
    row = meta(spec_verify_ct=4, spec_num_correct_drafts=1, spec_num_proposed_drafts=12,
               spec_correct_drafts_histogram=[3, 1], spec_cap_length=1.5)  # fmt: skip
    items = answers(row)
    assert not total(items).full_drafts
    assert "variable_draft_length" in codes(items)


def test_nested_and_deep_values() -> None:
    deep: Any = meta(completion_tokens=31, spec_verify_ct=10)
    for _ in range(400):
        deep = {"outputs": [deep]}
    assert total(answers(deep)).accepted == 20


def prom(*rows: tuple[str, float], labels: str = "") -> list[Item]:
    text = "".join(f'sglang:{name}{{model_name="m"{labels}}} {value}\n' for name, value in rows)
    return read("sglang-prom", text.encode())


def test_gauges_alone_are_an_average() -> None:
    items = prom(("spec_accept_length", 2.8), ("spec_accept_rate", 0.7))
    assert {"gauge_only", "interval_average_only", "rate_includes_bonus"} <= codes(items)
    (record,) = records(items)
    assert (record.average, record.counts.gamma) == ((2.8, 1.0), 3)


def test_impossible_counters_are_unusable() -> None:
    counters = (("generation_tokens_total", 9), ("num_requests_total", 3))
    items = prom(*counters, ("spec_verify_calls_total", 8))
    assert "impossible" in codes(items)
    assert all(record.unusable for record in records(items))
    assert "bad_sample" in codes(prom(("spec_verify_calls_total", float("inf"))))
    assert "zero_drafts" in codes(prom(*counters, ("spec_verify_calls_total", 0)))


def test_trees_on_the_metrics_page() -> None:
    items = prom(
        ("generation_tokens_total", 103),
        ("num_requests_total", 3),
        ("spec_verify_calls_total", 50),
        ("spec_num_steps", 3),
        ("spec_num_draft_tokens", 8),
    )
    assert "tree_draft" in codes(items)
    assert all(record.tree for record in records(items))


def test_later_means_of_one_server_replace_earlier_ones() -> None:
    rows = [{"internal_states": [{"avg_spec_accept_length": x}]} for x in (2.0, 3.0)]
    items = read("sglang-server-info", "\n".join(map(json.dumps, rows)).encode())
    assert mean(items) == 3.0
    assert "cumulative_log" in codes(items)
    text = "Accept length:      2.00 \nAccept length:    3.00\n"
    assert mean(read("sglang-bench-serving", text.encode())) == 3.0


@pytest.mark.parametrize("value", ["x", None, [], 10**400, 0.5, True])
def test_means_that_are_none(value: Any) -> None:
    row = json.dumps({"internal_states": [{"avg_spec_accept_length": value}, None, 3]})
    assert not records(read("sglang-server-info", row.encode()))


def test_the_json_report_of_a_benchmark() -> None:
    row = json.dumps({"backend": "sglang", "completed": 9, "accept_length": 2.5})
    assert mean(read("sglang-bench-serving-json", row.encode())) == 2.5
