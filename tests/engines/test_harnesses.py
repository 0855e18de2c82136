"""AIPerf, Dynamo, Spec-Bench and EAGLE: pooled totals, messages, answers of trees."""

import pytest

HISTOGRAM = {"0": 40, "1": 30, "2": 20, "3": 10}  # 100 rounds, 100 accepted


def export(
    drafted: int | None = 300, histogram: dict[str, int] | None = None, **more: object
) -> dict[str, object]:
    totals = {"total_spec_decode_steps": 100, "total_accepted_draft_tokens": 100}
    if drafted is not None:
        totals["total_draft_tokens"] = drafted
    return {
        "spec_decode_acceptance_length": {"unit": "ratio", "avg": 2.9},
        **{key: {"unit": "count", "avg": value} for key, value in totals.items()},
        "pooled_spec_decode_acceptance_histogram": HISTOGRAM if histogram is None else histogram,
        **more,
    }


def test_the_histogram_gives_every_position(fit):
    found = fit(export())
    assert found.counted == (100, 300, 100)
    assert found.result["counts"]["accepted_at_least"] == [60, 30, 10]
    assert found.result["counts"]["rejections"] == 90
    assert "macro_average" in found.codes


def test_drafts_longer_than_what_was_accepted_have_empty_positions(fit):
    assert fit(export(500)).result["counts"]["accepted_at_least"] == [60, 30, 10, 0, 0]


@pytest.mark.parametrize("drafted", [250, 200])
def test_drafts_that_varied_only_bound_alpha(fit, drafted):
    found = fit(export(drafted))
    assert found.result["alpha"] is None
    assert found.result["gamma"] is None
    assert found.bounds[0] == pytest.approx(100 / 200)
    assert "variable_draft_length" in found.codes


@pytest.mark.parametrize(
    "bad",
    [
        export(90),
        export(300, {"0": 40, "1": 31, "2": 20, "3": 10}),
        export(300, {"0": 40, "x": 60}),
        export(300, {"0": 40, "1": -1}),
    ],
    ids=["more than drafted", "another sum", "no number", "negative"],
)
def test_an_export_that_contradicts_itself_is_dropped(fit, bad):
    found = fit(bad)
    assert found.result["alpha"] is None
    assert "truncated_line" in found.codes


def test_averages_are_used_where_there_are_no_totals(fit):
    found = fit(
        {
            "spec_decode_acceptance_length": {"avg": 2.9},
            "spec_decode_token_weighted_acceptance_length": {"avg": 2.5},
            "spec_decode_draft_acceptance_rate": {"avg": 57.0},
        }
    )
    assert found.result["mean_length"] == 2.5
    assert found.result["pooled_rate"] == pytest.approx(0.57)
    assert {"interval_average_only", "macro_average", "gamma_unknown"} <= found.codes


def message(n: int, positions: list[int], **more: object) -> dict[str, object]:
    stats = {
        "num_spec_tokens": len(positions),
        "num_drafts": n,
        "num_draft_tokens": n * len(positions),
        "num_accepted_tokens": sum(positions),
        "num_accepted_tokens_per_pos": positions,
    }
    return {"worker_id": 7, "spec_decode_stats": {**stats, **more}}


def test_messages_are_summed(fit):
    found = fit([message(10, [6, 2]), message(20, [15, 9])])
    assert found.counted == (30, 60, 32)
    assert found.result["counts"]["rejections"] == 30 - 11


def test_messages_may_lack_figures(fit):
    lean = message(10, [6, 2], num_accepted_tokens_per_pos=None)
    assert fit(lean).counted == (10, 20, 8)
    assert "zero_drafts" in fit(message(0, [0, 0])).codes


@pytest.mark.parametrize(
    "bad", [message(10, [6, 2], num_accepted_tokens=9), message(10, [2, 6]), message(10, [60, 2])]
)
def test_a_message_that_contradicts_itself_is_dropped(fit, bad):
    found = fit([message(10, [6, 2]), bad])
    assert found.counted == (10, 20, 8)
    assert "truncated_line" in found.codes


def answer(model: str = "vicuna-eagle", **choice: object) -> dict[str, object]:
    return {"question_id": 81, "model_id": model, "choices": [{"index": 0, **choice}]}


@pytest.mark.parametrize(
    "choice",
    [
        {"accept_lengths": [4, 1, 3], "decoding_steps": [3], "new_tokens": [8]},
        {"decoding_steps": [2, 1], "new_tokens": [5, 3]},
        {"idxs": [1, 0], "new_tokens": [5, 3]},
    ],
    ids=["lengths", "steps", "indexes"],
)
def test_lengths_have_the_bonus_token_and_trees_no_alpha(fit, choice):
    found = fit([answer(**choice)])
    assert found.counted == (3, None, 5)
    assert found.result["mean_length"] == pytest.approx(8 / 3)
    assert found.result["alpha"] is None
    assert found.bounds is None
    assert {"tree_draft", "gamma_unknown"} <= found.codes


@pytest.mark.parametrize("model", ["vicuna-7b-v1.3-sps-68m-temp-0.0", "vicuna-7b-v1.3-pld-float16"])
def test_chains_are_bounded(fit, model):
    found = fit([answer(model, accept_lengths=[4, 1, 3])])
    assert found.bounds == (pytest.approx(5 / 8), 1.0)
    assert "tree_draft" not in found.codes


def test_the_baseline_drafts_nothing(fit):
    found = fit([answer("vicuna-7b-v1.3-vanilla-float16-temp-0.0", accept_lengths=[1, 1, 1])])
    assert found.result["alpha"] is None
    assert "zero_drafts" in found.codes


@pytest.mark.parametrize(
    "bad",
    [
        {"accept_lengths": [4, 0, 3]},
        {"accept_lengths": "cut"},
        {"idxs": [5, 4], "new_tokens": [3, 3]},
        {"idxs": [5], "new_tokens": [9, 9]},
    ],
)
def test_an_answer_that_contradicts_itself_is_dropped(fit, bad):
    found = fit([answer(accept_lengths=[4, 1, 3]), answer(**bad)])
    assert found.counted == (3, None, 5)
    assert "truncated_line" in found.codes


def test_a_printed_mean_has_no_counts(fit):
    found = fit("==== Task:  overall ====\n#Mean accepted tokens:  2.85\nSpeedup ratio:  2.4\n")
    assert found.result["mean_length"] == 2.85
    assert found.result["interval"] is None
    assert "interval_average_only" in found.codes


@pytest.mark.parametrize("mean", ["0.5", "nan", "2.8x"])
def test_a_printed_mean_that_is_none_is_not_used(fit, mean):
    found = fit(f"#Mean accepted tokens:  {mean}\n")
    assert found.result["mean_length"] is None
    assert found.codes & {"truncated_line", "nan_rate"}
