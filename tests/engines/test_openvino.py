"""OpenVINO GenAI: the prefill is an iteration; two rates that are not the same."""

import pytest


def sample(iterations: int, accepted: int, drafted: int) -> str:
    return (
        "MAIN MODEL \n  TPOT: 84.2 ± 11.3 ms/iteration \n"
        f"  Num generated token: {iterations + accepted} tokens\n"
        f"  Total iteration number: {iterations}\n  Num accepted token: {accepted} tokens\n"
        f"\nDRAFT MODEL \n  Num generated token: {drafted} tokens\n  Total iteration number: 7\n"
    )


def internal(rate: str, *lines: str) -> str:
    return "\n".join(
        [
            "AVG acceptance rate, %: 31",
            "REQUEST_ID: 7",
            "Main model iterations: 38",
            "AVG acceptance rate, %: 31",
            *lines,
            f"Accepted token rate, %: {rate}",
            "",
        ]
    )


def test_the_prefill_is_no_round(fit):
    found = fit(sample(38, 62, 183))
    assert found.counted == (37, 183, 62)
    assert {"includes_prefill", "variable_draft_length", "gamma_unknown"} <= found.codes


def test_runs_are_summed(fit):
    assert fit(sample(38, 62, 183) + sample(11, 12, 50)).counted == (47, 233, 74)


def test_a_stated_length_narrows_the_bounds(fit):
    low, high = fit(sample(38, 62, 183), "--gamma", "5").bounds
    assert (low, high) == (pytest.approx(62 / 99), pytest.approx(62 / 87))


@pytest.mark.parametrize(
    "bad",
    [
        sample(11, 60, 50),
        sample(11, 12, 50).replace("Num accepted token: 12 tokens", ""),
        sample(11, 12, 50)[:-60],
    ],
    ids=["more than drafted", "a figure is missing", "cut"],
)
def test_a_run_that_is_damaged_is_dropped_and_named(fit, bad):
    found = fit(sample(38, 62, 183) + bad)
    assert found.counted == (37, 183, 62)
    assert "truncated_line" in found.codes


def test_a_run_without_drafts_says_so(fit):
    assert "zero_drafts" in fit(sample(38, 0, 0)).codes


def test_the_internal_average_is_not_used(fit):
    found = fit(internal("33.8798"))
    assert found.result["pooled_rate"] == pytest.approx(0.338798)
    assert found.result["alpha"] is None
    assert {"macro_average", "gamma_unknown"} <= found.codes


def test_the_internal_rate_gives_the_count_that_is_missing(fit):
    by_drafts = fit(internal("33.8798", "Generated tokens by draft model: 183"))
    by_accepted = fit(internal("33.8798", "Accepted tokens by draft model: 62"))
    assert by_drafts.counted == by_accepted.counted == (None, 183, 62)
    assert "rounding_only" in by_drafts.codes


def test_a_rate_of_the_output_is_no_rate_of_drafts(fit):
    lines = ("Accepted tokens by draft model: 62", "Generated tokens: 100")
    found = fit(internal("62", *lines))
    assert found.result["pooled_rate"] is None
    assert "rate_of_output" in found.codes


@pytest.mark.parametrize("rate", ["nan", "-nan"])
def test_a_rate_of_nothing_is_named(fit, rate):
    assert "nan_rate" in fit(internal(rate)).codes


@pytest.mark.parametrize("rate", ["133.2", "3.4.5", "x"])
def test_a_rate_that_is_none_is_dropped(fit, rate):
    assert "truncated_line" in fit(internal(rate)).codes
