"""mlx-lm and mlx-vlm: rounds rebuilt from flags, timings of requests."""

import pytest


def tokens(*runs: int, end: str | None = "stop", flag: bool = False) -> list[dict[str, object]]:
    """One request: runs of drafted tokens, each with the target's own token behind it."""
    flags = [f for run in runs for f in (*[True] * run, False)]
    flags += [True] * (runs[-1] if flag else 0)
    rows = [{"from_draft": f, "generation_tokens": i} for i, f in enumerate(flags, 1)]
    rows[-1]["finish_reason"] = end
    return rows


def test_a_round_ends_with_the_targets_own_token(fit):
    found = fit(tokens(2, 0, 3, 3, 1))
    assert found.counted == (5, 15, 9)
    assert found.result["counts"]["accepted_at_least"] == [4, 3, 2]
    assert found.result["alpha"] == pytest.approx(9 / 12)


@pytest.mark.parametrize(
    ("runs", "gamma"),
    [
        ([5, 2, 0, 1], 5),
        ([3, 2, 0, 1], 3),
        ([2, 2, 0, 1], 3),
        ([2] * 12 + [1, 0, 1], 2),
        ([1] * 20 + [0] * 9, 1),
        ([1, 0, 0, 0, 0, 0, 0], 3),
    ],
)
def test_the_longest_run_is_the_length_unless_a_default_is_likelier(fit, runs, gamma):
    found = fit(tokens(*runs))
    assert found.result["gamma"] == gamma
    assert "gamma_assumed" in found.codes


def test_a_request_that_ends_in_a_draft_has_no_refusal_there(fit):
    rows = tokens(3, 1, 3, 2, end="length", flag=True)
    found = fit(rows)
    assert found.result["counts"]["accepted"] == 3 + 1 + 3 + 2 + 2
    assert found.result["counts"]["rejections"] == 2
    assert "censored_by_stop" in found.codes


def test_requests_are_told_apart(fit):
    for rows in (
        tokens(3, 1) + tokens(3, 0, 2),
        tokens(3, 1, end=None) + tokens(3, 0, 2, end=None),
    ):
        groups = fit(rows, "--by", "request").result["groups"]
        assert [g["counts"]["rounds"] for g in groups] == [2, 3]


def test_nothing_drafted_says_nothing_of_alpha(fit):
    found = fit(tokens(0, 0, 0, 0))
    assert found.result["alpha"] is None
    assert "zero_drafts" in found.codes


def test_a_damaged_token_costs_its_round_only(fit):
    rows = tokens(3, 2, 3)
    rows[5] = {"from_draft": "maybe", "generation_tokens": 6}
    found = fit(rows)
    assert found.result["counts"]["rounds"] == 2
    assert found.result["counts"]["accepted"] == 6
    assert "truncated_line" in found.codes


def test_a_stated_length_makes_the_longest_runs_refusals(fit):
    found = fit(tokens(3, 3, 1, 3), "--gamma", "4")
    assert found.counted == (4, 16, 10)
    assert found.result["counts"]["rejections"] == 4


def timings(n: int, d: int, a: int, name: str = "x", **more: object) -> dict[str, object]:
    figures = {"predicted_n": n + a, "draft_kind": "mtp", "draft_rounds": n, "draft_n": d}
    return {"id": name, "timings": {**figures, "draft_n_accepted": a, **more}}


def test_timings_of_full_drafts_give_the_length(fit):
    found = fit([timings(30, 90, 81), timings(10, 30, 20, "y")])
    assert found.counted == (40, 120, 101)
    assert found.result["gamma"] == 3
    assert found.result["method"] == "mean_length"


def test_timings_of_short_drafts_only_bound_alpha(fit):
    found = fit(timings(30, 80, 50))
    assert found.result["gamma"] is None
    assert found.bounds == (pytest.approx(50 / 80), pytest.approx(50 / 51))
    assert "variable_draft_length" in found.codes


def test_timings_of_a_stream_are_its_last(fit):
    chunks = [
        {**timings(n, 3 * n, 2 * n), "object": "chat.completion.chunk"} for n in (1, 2, 5, 30)
    ]
    assert fit(chunks).counted == (30, 90, 60)


def test_tokens_past_the_stop_are_said(fit):
    assert "censored_by_stop" in fit(timings(30, 90, 81, predicted_n=100)).codes
    assert "censored_by_stop" not in fit(timings(30, 90, 81)).codes


def test_a_response_without_drafts_says_so(fit):
    assert "zero_drafts" in fit(timings(0, 0, 0)).codes


@pytest.mark.parametrize("bad", [timings(30, 90, 91), timings(95, 90, 81), timings(30, 90, -1)])
def test_timings_that_contradict_each_other_are_dropped(fit, bad):
    found = fit([timings(30, 90, 81, "y"), bad])
    assert found.counted == (30, 90, 81)
    assert "truncated_line" in found.codes


def test_kinds_of_draft_are_groups(fit):
    found = fit([timings(30, 90, 81), timings(10, 30, 20, draft_kind="dflash")]).result
    assert not found["pooled"]
    assert {g["labels"]["type"] for g in found["groups"]} == {"mtp", "dflash"}
