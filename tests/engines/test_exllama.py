"""exllamav2, exllamav3, tabbyAPI: drafts by outcome, rounds only where they are written."""

import json

import pytest


def job(tokens: int, accepted: int, rejected: int, **more: object) -> dict[str, object]:
    counts = {"accepted_draft_tokens": accepted, "rejected_draft_tokens": rejected}
    return {"stage": "streaming", "eos": True, "new_tokens": tokens, **counts, **more}


LINE = "INFO:     Metrics (ID: {id}): {n} tokens generated in 9.31 seconds (Queue: 0.0 s, "
REST = "Process: 0 cached tokens and 9 new tokens at 9.0 T/s, Context: 9 tokens, "
DRAFT = "Draft: {a} / {d} tokens accepted ({p:.2f}%))"


def line(id_: str, a: int, d: int, n: int = 400) -> str:
    share = 100 * a / d if d else 0.0
    return (LINE + REST + DRAFT).format(id=id_, a=a, d=d, n=n, p=share) + "\n"


def test_drafted_is_accepted_and_rejected(fit):
    found = fit([job(301, 196, 212), job(45, 20, 80)])
    assert found.counted == (None, 508, 216)
    assert "censored_by_stop" in found.codes


def test_the_default_length_is_taken_where_the_steps_fit_it(fit):
    found = fit(job(301, 196, 212))
    assert found.result["gamma"] == 4
    assert found.bounds[1] == pytest.approx(196 / (196 + 53))
    assert "gamma_assumed" in found.codes


@pytest.mark.parametrize("tokens", [250, 400, None])
def test_the_default_length_is_not_taken_where_they_do_not(fit, tokens):
    found = fit(job(tokens, 196, 212))
    assert found.result["gamma"] is None
    assert found.bounds[1] == pytest.approx(196 / 197)
    assert "gamma_unknown" in found.codes


def test_one_odd_job_leaves_all_lengths_open(fit):
    found = fit([job(301, 196, 212), job(300, 20, 80)])
    assert found.result["gamma"] is None
    assert found.result["pooled"]


@pytest.mark.parametrize("gamma", ["2", "8"])
def test_a_stated_length_beats_the_default(fit, gamma):
    found = fit(job(301, 196, 212), "--gamma", gamma)
    assert found.result["gamma"] == int(gamma)
    assert "gamma_assumed" not in found.codes


def test_results_on_the_way_have_no_counts_yet(fit):
    assert fit(
        [{"stage": "streaming", "eos": False, "new_tokens": 3}, job(45, 20, 80)]
    ).counted == (
        None,
        100,
        20,
    )


def test_a_job_without_drafts_says_so(fit):
    assert "zero_drafts" in fit([job(45, 0, 0)]).codes
    assert "zero_drafts" in fit([{"stage": "streaming", "eos": True, "new_tokens": 3}]).codes


@pytest.mark.parametrize("bad", [-1, 1.5, None, "9"])
def test_counts_that_are_none_are_dropped(fit, bad):
    found = fit([job(45, 20, 80), job(45, bad, 80)])
    assert found.counted == (None, 100, 20)
    assert "truncated_line" in found.codes


def test_python_prints_results_too(fit):
    assert fit(repr(job(45, 20, 80)) + "\n").counted == (None, 100, 20)


ROUNDS = [[5, 4, 2, 1.5], [8, 4, 4, 2.0], [13, 3, 0, 1.0], [14, 0, 0, 1.0]]


@pytest.mark.parametrize(
    "report",
    [
        json.dumps([{"category": "code", "stats": ROUNDS}]),
        json.dumps({"stats": [row[:3] for row in ROUNDS]}),
        json.dumps(
            [dict(zip(("position", "window", "accepted"), row, strict=False)) for row in ROUNDS]
        ),
        json.dumps(ROUNDS),
    ],
    ids=["lists", "without a mean", "objects", "one list"],
)
def test_rounds_are_told_one_by_one(fit, report):
    found = fit(report)
    assert found.counted == (3, 11, 6)
    assert found.result["counts"]["rejections"] == 2
    assert found.result["alpha"] == pytest.approx(6 / 8)


def test_a_round_that_accepted_more_than_its_window_is_dropped(fit):
    found = fit(json.dumps([{"stats": [[5, 4, 2, 1.5], [8, 4, 5, 2.0]]}]))
    assert found.counted == (1, 4, 2)
    assert "truncated_line" in found.codes


def test_requests_of_the_log_are_summed(fit):
    found = fit(line("a", 263, 588) + "noise\n" + line("b", 10, 40))
    assert found.counted == (None, 628, 273)


def test_requests_of_the_log_have_names(fit):
    groups = fit(line("a", 263, 588) + line("b", 10, 40), "--by", "request").result["groups"]
    assert [g["labels"]["request"] for g in groups] == ["a", "b"]


def test_a_single_step_is_a_single_draft(fit):
    found = fit(line("a", 0, 4, n=1))
    assert found.counted == (1, 4, 0)
    assert found.result["alpha"] == 0


def test_versions_without_an_id_are_read(fit):
    old = line("x", 3, 8).replace(" (ID: x)", "")
    assert fit(old + old).counted == (None, 16, 6)


@pytest.mark.parametrize("width", range(40, 130, 7))
def test_a_line_that_the_terminal_wrapped_is_joined(fit, width):
    words, rows = line("a", 263, 588).split(), [""]
    for word in words:
        if len(rows[-1]) + len(word) > width:
            rows.append("")
        rows[-1] += word + " "
    found = fit("\n".join(rows) + "\n" + line("b", 10, 40))
    assert found.counted == (None, 628, 273)
    assert "truncated_line" not in found.codes


@pytest.mark.parametrize(
    "bad",
    [
        line("b", 50, 40),
        line("b", 10, 40).replace("25.00", "26.00"),
        line("b", 10, 40)[:-18],
    ],
    ids=["more than drafted", "another rate", "cut"],
)
def test_a_line_that_is_damaged_is_dropped_and_named(fit, bad):
    found = fit(line("a", 263, 588) + bad)
    assert found.counted == (None, 588, 263)
    assert "report:2" in found.said


def test_requests_without_a_draft_model_say_so(fit):
    plain = (LINE + REST).format(id="a", n=40).rstrip(", ") + ")\n"
    assert "zero_drafts" in fit(plain * 3).codes
    assert fit(plain + line("b", 10, 40)).counted == (None, 40, 10)


def test_a_request_that_ended_is_not_joined_with_what_follows(fit):
    plain = (LINE + REST).format(id="a", n=40).rstrip(", ") + ")\n"
    found = fit(line("b", 10, 40) + plain + "INFO:     upload accepted: 5 files")
    assert found.counted == (None, 40, 10)
    assert "truncated_line" not in found.codes


def usage(accepted: object, rejected: object, **more: object) -> dict[str, object]:
    details = {"accepted_prediction_tokens": accepted, "rejected_prediction_tokens": rejected}
    return {"id": "c", "model": "m", "usage": {"completion_tokens_details": details, **more}}


def test_usage_with_timings_is_tabbyapis(fit):
    found = fit(usage(263, 325, completion_time=8.78))
    assert found.counted == (None, 588, 263)
    assert "predicted_outputs" not in found.codes


def test_usage_without_them_may_be_a_hosted_services(fit):
    assert "predicted_outputs" in fit(usage(263, 325)).codes
    assert "predicted_outputs" not in fit(usage(0, 0)).codes


def test_usage_of_a_stream_is_its_last(fit):
    chunks = [
        {**usage(a, 2 * a, total_time=1), "object": "chat.completion.chunk"} for a in (1, 3, 9)
    ]
    assert fit(chunks).counted == (None, 27, 9)


def test_models_are_groups(fit):
    other = {**usage(5, 5, total_time=1), "model": "other"}
    assert not fit([usage(9, 9, total_time=1), other]).result["pooled"]


def test_the_consoles_percentage_is_no_alpha(fit):
    found = fit("New tokens:  256 t\nSD efficiency:   61.27%\n")
    assert found.result["pooled_rate"] == pytest.approx(0.6127)
    assert found.result["alpha"] is None
    assert {"rounding_only", "gamma_unknown"} <= found.codes


def test_several_percentages_are_an_unweighted_mean(fit):
    found = fit("SD efficiency: 60.00%\nSD efficiency: 40.00%\n")
    assert found.result["pooled_rate"] == pytest.approx(0.5)
    assert "macro_average" in found.codes
