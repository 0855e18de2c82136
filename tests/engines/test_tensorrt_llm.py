"""TensorRT-LLM's formats: the samples, and input that is cut, odd or contradictory."""

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
from gammaplan.engines.tensorrt_llm import FORMATS, iterations
from gammaplan.engines.values import values
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

SAMPLES = Path(__file__).parent.parent / "data" / "samples" / "tensorrt_llm"
BY_NAME = {form.name: form for form in FORMATS}


def read(name: str, data: bytes) -> list[Item]:
    form, stream = BY_NAME[f"trtllm-{name}"], io.BytesIO(data)
    if isinstance(form, LogFormat):
        return list(form.read(iter(Blocks(stream))))
    if isinstance(form, JsonFormat):
        return list(form.read(values(stream)))
    assert isinstance(form, ExpositionFormat)
    found = list(samples(Blocks(stream), form.families))
    return [x for x in found if isinstance(x, Finding)] + list(
        form.read([x for x in found if not isinstance(x, Finding)])
    )


def records(items: Iterable[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def codes(items: Iterable[Item]) -> set[str]:
    return {item.code for item in items if isinstance(item, Finding)}


def dropped(items: Iterable[Item]) -> list[str]:
    return [item.what for item in items if isinstance(item, Dropped)]


def total(items: Iterable[Item]) -> Counts:
    return reduce(add, [record.counts for record in records(items)])


@pytest.mark.parametrize(
    ("file", "form", "counts", "gamma", "findings"),
    [
        ("iteration_stats.jsonl", "iter-stats", (17, 51, 32), 3, set()),
        ("iteration_stats_attention_dp.jsonl", "iter-stats", (14, 98, 59), 7, {"duplicate_rank"}),
        ("metrics_endpoint.json", "iter-stats", (4, 16, 13), 4, set()),
        ("perf_metrics.json", "perf-metrics", (None, 232, 130), None, {"zero_drafts"}),
        ("prometheus.prom", "prom", (15800, 47400, 29880), 3, {"gauge_only", "double_family"}),
        ("trtllm_bench_report.txt", "bench-text", (2240, 6720, 3584), 3,
         {"macro_average", "includes_prefill"}),
    ],
)  # fmt: skip
def test_samples(
    file: str, form: str, counts: tuple[int | None, ...], gamma: int | None, findings: set[str]
) -> None:
    items = read(form, (SAMPLES / file).read_bytes())
    found = total(items)
    assert (found.rounds, found.drafted, found.accepted) == counts
    assert {record.counts.gamma for record in records(items)} == {gamma}
    assert found.drafted_at_least == ((counts[0],) * gamma if gamma else None)
    assert codes(items) == findings
    assert not dropped(items)


def test_the_sample_with_positions() -> None:
    found = total(read("prom", (SAMPLES / "prometheus.prom").read_bytes()))
    assert found.accepted_at_least == (12440, 9930, 7510)
    assert (found.full_accepts, found.rejections) == (7510, 8290)


def row(requests: Any, drafted: Any, accepted: Any, **more: Any) -> dict[str, Any]:
    stats = {
        "numRequestsWithDraftTokens": requests,
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
    }
    return {"iter": 1, "iterLatencyMS": 1.0, "specDecodingStats": stats, **more}


def rows(*given: Any) -> list[Item]:
    return read("iter-stats", "\n".join(json.dumps(x) for x in given).encode())


def test_rows_of_another_draft_length_leave_it_unknown() -> None:
    items = rows(row(4, 12, 7), row(2, 5, 3), row(4, 12, 7))
    assert {r.counts.gamma for r in records(items)} == {None}
    assert (total(items).rounds, total(items).drafted) == (10, 29)
    assert "variable_draft_length" in codes(items)


def test_many_rows_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterations, "MOST_HELD", 3)
    items = rows(*[row(4, 12, 7)] * 5, row(4, 8, 7))
    assert [r.counts.gamma for r in records(items)] == [3] * 5 + [None]


def test_single_requests_are_rounds_told_one_by_one() -> None:
    found = total(rows(row(1, 3, 3), row(1, 3, 1), row(1, 3, 0)))
    assert found.accepted_at_least == (2, 1, 1)
    assert found.rejections == 2


def test_repeated_ranks_count_once_whichever_is_there() -> None:
    ranks = [row(4, 12, 7, attentionDpRank=rank) for rank in (2, 1, 3)]
    assert total(rows(*ranks)).rounds == 4
    items = rows(*ranks, row(4, 12, 5, attentionDpRank=0))
    assert total(items).accepted == 5
    assert "duplicate_rank" in codes(items)


def test_nothing_drafted_is_said() -> None:
    items = rows(row(0, 0, 0), {"iter": 2, "specDecodingStats": None}, {"iter": 3})
    assert codes(items) == {"zero_drafts"}
    assert not records(items)


@pytest.mark.parametrize(
    "bad",
    [
        row(4, 12, 13),
        row(4, -12, -13),
        row(4, "12", 7),
        row(4, 12.5, 7),
        row(4, 12, 10**30),
        row([4], 12, 7),
        row(0, 12, 7),
        row(13, 12, 7),
        {"iter": 10**400, "specDecodingStats": [1]},
    ],
)
def test_contradictions_are_dropped(bad: dict[str, Any]) -> None:
    items = rows(row(4, 12, 7), bad)
    assert total(items).rounds == 4
    assert len(dropped(items)) == 1


def test_rows_without_the_number_of_requests() -> None:
    (record,) = records(rows(row(None, 12, 7)))
    assert record.counts == Counts(drafted=12, accepted=7)


def test_rows_inside_other_values() -> None:
    assert total(rows({"stats": {"inner": [row(4, 12, 7), row(4, 12, 5)]}})).accepted == 12


def test_rows_in_a_log() -> None:
    whole = [
        f"[09/18/2026-10:00:01] [TRT-LLM] [I] {row(4, 12, 7, note=None)}",
        f"server  | {json.dumps(row(4, 12, 5))}",
        str(row(4, 12, 1, ratio=float("nan"))),
    ]
    items = read("iter-log", "\n".join([*whole, whole[0][:-20]]).encode())
    assert total(items).accepted == 13
    assert [r.group for r in records(items) if r.group] == [{"container": "server"}]
    assert len(dropped(items)) == 1


def test_times_put_the_year_first() -> None:
    (record,) = records(rows(row(4, 12, 7, timestamp="09-18-2026 10:00:01.12")))
    assert (record.unit, record.name) == ("window", "2026-09-18 10:00:01.12")


def prom(drafted: dict[str, float], accepted: dict[str, float], more: str = "") -> list[Item]:
    lines = [
        f'trtllm_spec_decode_{word}_tokens_total{{model_name="m",token_position="{i}"}} {n}\n'
        for word, counts in (("drafted", drafted), ("accepted", accepted))
        for i, n in counts.items()
    ]
    return read("prom", ("".join(lines) + more).encode())


def test_positions_of_varying_drafts() -> None:
    items = prom({"0": 9, "1": 7, "2": 0}, {"0": 5, "1": 2, "2": 0})
    (record,) = records(items)
    assert record.counts == Counts(9, 16, 7, (5, 2), (9, 7), gamma=2)


def test_positions_may_start_at_one() -> None:
    (record,) = records(prom({"1": 9, "2": 9}, {"1": 5, "2": 2}))
    assert record.counts == Counts.full(9, [5, 2])


@pytest.mark.parametrize(
    ("drafted", "accepted"),
    [
        ({"0": 9, "1": 9}, {"0": 2, "1": 5}),
        ({"0": 9, "1": 9}, {"0": 10, "1": 5}),
        ({"0": 7, "1": 9}, {"0": 5, "1": 2}),
        ({"0": 9}, {"0": 5, "1": 2}),
        ({"0": 9, "2": 9}, {"0": 5, "2": 2}),
    ],
)
def test_impossible_positions_are_unusable(
    drafted: dict[str, float], accepted: dict[str, float]
) -> None:
    items = prom(drafted, accepted)
    assert "impossible" in codes(items)
    assert all(record.unusable for record in records(items))


def test_odd_samples() -> None:
    assert "bad_sample" in codes(prom({"x": 9, "0": 4}, {"0": 2}))
    assert "bad_sample" in codes(prom({"9" * 50: 9, "0": 4}, {"0": 2}))
    assert "bad_sample" in codes(prom({"0": float("inf")}, {}))
    assert "zero_drafts" in codes(prom({"0": 0}, {"0": 0}))
    assert "impossible" in codes(prom({}, {"0": 3}))


def test_totals_of_iterations_alone() -> None:
    more = "trtllm_spec_decode_num_{}_tokens_total 9\n"
    items = prom({}, {}, more.format("draft") + more.format("accepted").replace("9", "4"))
    assert total(items) == Counts(drafted=9, accepted=4)
    items = prom({}, {}, more.format("draft") + more.format("accepted").replace("9", "14"))
    assert "impossible" in codes(items)


def test_a_gauge_alone_is_an_average() -> None:
    items = prom({}, {}, "trtllm_spec_decode_acceptance_length 2.5\n")
    assert [r.average for r in records(items)] == [(2.5, 1.0)]
    assert codes(items) == {"gauge_only", "interval_average_only"}


@pytest.mark.parametrize(
    "block",
    [
        {"total_draft_tokens": 4, "total_accepted_draft_tokens": 5},
        {"total_draft_tokens": 4},
        {"total_draft_tokens": "4", "total_accepted_draft_tokens": 3},
    ],
)
def test_contradicting_requests_are_dropped(block: dict[str, Any]) -> None:
    value = json.dumps({"request_id": 1, "perf_metrics": {"speculative_decoding": block}})
    items = read("perf-metrics", value.encode())
    assert not records(items)
    assert len(dropped(items)) == 1


def test_a_mean_in_the_response() -> None:
    value = {"id": "a", "model": "m", "usage": {"completion_tokens": 30},
             "choices": [{"index": 0, "avg_decoded_tokens_per_iter": 2.5}]}  # fmt: skip
    (record,) = records(read("response", json.dumps(value).encode()))
    assert (record.average, record.name) == ((2.5, 12.0), "a")
    value["choices"] = [{"avg_decoded_tokens_per_iter": "2.5"}]
    assert len(dropped(read("response", json.dumps(value).encode()))) == 1


def test_cut_reports_are_dropped() -> None:
    text = (SAMPLES / "trtllm_bench_report.txt").read_text()
    for end in ("[ADT] AVERAGE", "[DT] AVERAGE: 2"):
        items = read("bench-text", text[: text.index(end) + 4].encode())
        assert not records(items)
        assert len(dropped(items)) == 1
    assert total(read("bench-text", (text + text).encode())).drafted == 2 * 6720


def report(requests: int, output: float, drafted: float, accepted: float) -> list[Item]:
    text = (
        f"Number of requests:    {requests}\nAverage Output Length (tokens): {output:.4f}\n"
        f"= DECODING STATISTICS (MTP)\n[DT] AVERAGE: {drafted:.2f}\n[ADT] AVERAGE: {accepted:.2f}\n"
    )
    return read("bench-text", text.encode())


def test_rounded_averages_of_many_requests_give_the_nearest_sums() -> None:
    rounds, accepted, requests = 70_003, 90_001, 1_000
    items = report(
        requests, (rounds + accepted) / requests, 4 * rounds / requests, accepted / requests
    )
    found = total(items)
    assert found.gamma == 4
    assert found.rounds == pytest.approx(rounds, abs=5)
    assert found.accepted == pytest.approx(accepted, abs=5)
    assert "rounding_only" in codes(items)


def test_reports_that_tell_no_length() -> None:
    found = total(report(10, 9.0, 31.7, 5.0))
    assert found == Counts(drafted=317, accepted=50)
    assert len(dropped(report(10, 9.0, 4.0, 5.0))) == 1
    assert "zero_drafts" in codes(report(10, 9.0, 0.0, 0.0))


def test_the_json_report() -> None:
    stats = {"mode": "MTP", "num_draft_tokens_percentiles": {"average": 210.0},
             "num_accepted_draft_tokens_percentiles": {"average": 112.0}}  # fmt: skip
    value = {"request_info": {"num_requests": 32, "avg_output_length": 182.0},
             "decoding_stats": stats}  # fmt: skip
    found = total(read("bench-json", json.dumps(value).encode()))
    assert (found.rounds, found.drafted, found.accepted, found.gamma) == (2240, 6720, 3584, 3)
    stats["num_draft_tokens_percentiles"] = {"average": None}
    assert dropped(read("bench-json", json.dumps(value).encode()))
