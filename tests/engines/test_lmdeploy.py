"""LMDeploy: windows at the end of throughput lines, ranks that add up, gauges that do not."""

import pytest

LINE = (
    "[2026-08-01 12:00:{s}{rank}] Avg thr (in/out): 1.0 / 2.0 tokens/s, KV cache: 4.1%, "
    "SpecDecoding metrics: Draft acceptance rate: {rate}%, Mean acceptance length: {length}, "
    "Accepted: {a} tokens, Drafted: {d} tokens, Per-position acceptance rate: {positions}\n"
)
ONE = LINE.format(
    s=10, rank=" DP0", rate="63.10", length="2.89", a=761, d=1206, positions="0.821, 0.624, 0.448"
)
TWO = LINE.format(
    s=20, rank=" DP1", rate="62.33", length="2.87", a=705, d=1131, positions="0.798, 0.618, 0.454"
)
HEAD = "# TYPE lmdeploy:spec_decode_num_drafts_total counter\n"


def test_windows_are_summed_over_ranks(fit):
    found = fit(ONE + TWO)
    assert found.counted == (779, 2337, 1466)
    assert "multi_series" in found.codes


def test_ranks_are_listed_on_request(fit):
    groups = fit(ONE + TWO, "--by", "dp").result["groups"]
    assert [(g["labels"]["dp"], g["counts"]["rounds"]) for g in groups] == [("0", 402), ("1", 377)]


def test_windows_carry_their_time(fit):
    assert fit(ONE + TWO, "--since", "2026-08-01 12:00:15").counted == (377, 1131, 705)


def test_one_rank_is_no_series(fit):
    assert "multi_series" not in fit(ONE).codes


@pytest.mark.parametrize("cut", [50, 80, 200, len(ONE) - 3, len(ONE) - 12])
def test_a_cut_line_is_dropped_and_named(fit, cut):
    found = fit(TWO + ONE[:cut])
    assert found.counted == (377, 1131, 705)
    assert "truncated_line" in found.codes
    assert "report:2" in found.said


def test_an_empty_window_says_so(fit):
    empty = LINE.format(
        s=30, rank="", rate="nan", length="nan", a=0, d=0, positions="nan, nan, nan"
    )
    found = fit(ONE + empty)
    assert found.counted == (402, 1206, 761)
    assert "nan_rate" in found.codes


def series(name: str, value: float, rank: int = 0, **labels: object) -> str:
    more = "".join(f',{k}="{v}"' for k, v in labels.items())
    return f'lmdeploy:spec_decode_{name}{{dp_rank="{rank}",model_name="m"{more}}} {value}\n'


def counters(rank: int, n: int, positions: list[int]) -> str:
    rows = [
        series("num_drafts_total", n, rank),
        series("num_draft_tokens_total", n * len(positions), rank),
        series("num_accepted_tokens_total", sum(positions), rank),
        *(
            series("num_accepted_tokens_per_pos_total", c, rank, position=i)
            for i, c in enumerate(positions)
        ),
    ]
    return "".join(rows)


def test_counters_of_ranks_add_up(fit):
    found = fit(HEAD + counters(0, 100, [60, 30]) + counters(1, 50, [20, 10]))
    assert found.counted == (150, 300, 120)
    assert found.result["counts"]["rejections"] == 150 - 40
    assert "multi_series" in found.codes


def test_gauges_are_not_used_beside_counters(fit):
    gauge = series("mean_accept_length", 9.0)
    found = fit(HEAD + counters(0, 100, [60, 30]) + gauge)
    assert found.result["mean_length"] == pytest.approx(1.9)
    assert "gauge_only" in found.codes


def test_gauges_alone_are_an_average(fit):
    found = fit(HEAD + series("mean_accept_length", 2.5))
    assert found.result["mean_length"] == 2.5
    assert found.result["interval"] is None
    assert {"gauge_only", "interval_average_only"} <= found.codes


def test_a_gauge_that_is_no_length_is_named(fit):
    found = fit(HEAD + series("mean_accept_length", 0.5))
    assert found.result["mean_length"] is None
    assert "bad_sample" in found.codes
