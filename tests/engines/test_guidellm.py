"""guidellm: counters that were scraped during a benchmark, interpolated at its ends."""

from typing import Any

import pytest


def series(gain: object, **labels: str) -> dict[str, object]:
    return {"labels": {"model_name": "m", "engine": "0", **labels}, "increase": gain, "rate": 1.0}


def scraped(rounds: float, positions: list[float], more: float = 0.0) -> dict[str, Any]:
    name = "vllm:spec_decode_num_"
    return {
        f"{name}drafts": [series(rounds)],
        f"{name}draft_tokens": [series(rounds * len(positions) - more)],
        f"{name}accepted_tokens": [series(sum(positions))],
        f"{name}accepted_tokens_per_pos": [
            series(c, position=str(i)) for i, c in enumerate(positions)
        ],
        "vllm:prompt_tokens": [series(9.5)],
    }


def report(*counters: dict[str, Any] | None) -> dict[str, Any]:
    benchmarks = [
        {
            "requests": {"successful": [{"counters": {"spec_decode_num_drafts": "no"}}]},
            "server_metrics": [] if c is None else [{"source": "url", "scrapes": 9, "counters": c}],
        }
        for c in counters
    ]
    return {"metadata": {"guidellm_version": "0.8.1"}, "args": {}, "benchmarks": benchmarks}


def test_counters_are_read_as_the_servers(fit):
    found = fit(report(scraped(100.0, [60.0, 30.0])))
    assert found.result["engine"] == "guidellm"
    assert found.counted == (100, 200, 90)
    assert found.result["counts"]["rejections"] == 70
    assert "rounding_only" not in found.codes


def test_interpolated_counters_are_rounded_so_that_they_agree(fit):
    found = fit(report(scraped(100.4, [60.4, 30.4])))
    assert found.counted == (100, 200, 90)
    assert found.result["alpha"] == pytest.approx(90 / 160)
    assert "rounding_only" in found.codes


def test_benchmarks_are_summed_and_listed(fit):
    both = report(scraped(100.0, [60.0, 30.0]), None, scraped(10.0, [5.0, 1.0]))
    assert fit(both).counted == (110, 220, 96)
    groups = fit(both, "--by", "benchmark").result["groups"]
    assert [g["counts"]["rounds"] for g in groups] == [100, 10]


def test_drafts_that_varied_stay_so(fit):
    found = fit(report(scraped(100.0, [60.0, 30.0], more=50.0)))
    assert found.counted == (100, 150, 90)
    assert found.result["alpha"] is None


def test_a_report_without_the_counters_says_what_to_do(fit):
    found = fit(report(None))
    assert "no_spec_data" in found.codes
    assert "spec_decode_num_*" in found.said


@pytest.mark.parametrize("gain", [-1, None, "9", 1e300])
def test_a_gain_that_is_none_is_dropped(fit, gain):
    bad = scraped(100.0, [60.0, 30.0]) | {"vllm:spec_decode_num_drafts": [series(gain)]}
    found = fit(report(scraped(10.0, [5.0, 1.0]), bad))
    assert found.counted == (10, 20, 6)
    assert "truncated_line" in found.codes
