"""MLC-LLM: step 0 is the target's own token; the page has ratios only."""

import pytest

PROB = "spec_decode_accept_prob_accept_prob{{step={}}}\t{}\n"


def page(*probs: float) -> str:
    return "# /spec_decode/accept_prob\n" + "".join(PROB.format(i, p) for i, p in enumerate(probs))


def metrics(drafted: list[object], accepted: list[object]) -> dict[str, object]:
    return {"spec_decode": {"draft_count": drafted, "accept_count": accepted}}


def test_step_0_is_no_drafted_token(fit):
    found = fit(metrics([500, 500, 500], [500, 372, 261]))
    assert found.counted == (500, 1000, 633)
    assert found.result["gamma"] == 2
    assert found.result["counts"]["rejections"] == 500 - 261


def test_steps_that_accepted_nothing_may_be_missing(fit):
    found = fit(metrics([50, 50, 50], [50, 20]))
    assert found.result["counts"]["accepted_at_least"] == [20, 0]


def test_adaptive_drafts_are_bounded_by_what_each_step_drafted(fit):
    found = fit(metrics([100, 90, 40], [100, 60, 20]))
    assert found.result["alpha"] is None
    assert found.counted == (100, 130, 80)
    assert found.result["counts"]["drafted_at_least"] == [90, 40]
    assert "variable_draft_length" in found.codes
    low, high = found.bounds
    assert low == pytest.approx(80 / 130)
    assert high <= 80 / 105


@pytest.mark.parametrize(
    ("drafted", "accepted"),
    [
        ([50, 50], [50, 60]),
        ([50, 60], [50, 20]),
        ([50, 50, 50], [50, 20, 30]),
        ([50, 50], [50, 20, 10]),
        ([50, 50], [50, -1]),
        ([50, 50], [50, 1.5]),
        ([50, 50], "cut"),
    ],
)
def test_counts_that_contradict_each_other_are_dropped(fit, drafted, accepted):
    found = fit(metrics(drafted, accepted))
    assert found.result["alpha"] is None
    assert found.counted == (None, None, None)
    assert "truncated_line" in found.codes


def test_an_engine_without_drafts_says_so(fit):
    assert "zero_drafts" in fit(metrics([50], [50])).codes
    assert "zero_drafts" in fit(page(1.0)).codes
    assert "zero_drafts" in fit(page(float("nan"), float("nan"))).codes


def test_the_page_gives_the_length_and_no_interval(fit):
    found = fit(page(1.0, 0.75, 0.5))
    assert found.result["mean_length"] == pytest.approx(2.25)
    assert found.result["gamma"] == 2
    assert found.result["interval"] is None
    assert "interval_average_only" in found.codes


@pytest.mark.parametrize("probs", [(1.0, 0.5, 0.6), (0.9, 0.5), (1.0, -0.5)])
def test_a_page_that_contradicts_itself_is_dropped(fit, probs):
    assert "truncated_line" in fit(page(*probs)).codes


def test_a_missing_step_is_a_cut_page(fit):
    found = fit(PROB.format(0, 1.0) + PROB.format(2, 0.3))
    assert found.result["mean_length"] is None
    assert "truncated_line" in found.codes
