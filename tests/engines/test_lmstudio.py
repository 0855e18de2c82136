"""LM Studio: ignored tokens were never verified; the log's JSON spans lines."""

import json

import pytest


def stats(
    total: object, accepted: object, rejected: object, ignored: object = 0
) -> dict[str, object]:
    values = {"total": total, "accepted": accepted, "rejected": rejected, "ignored": ignored}
    return {f"{k}_draft_tokens_count": v for k, v in values.items() if v is not None}


def response(figures: dict[str, object], **more: object) -> dict[str, object]:
    base = {"id": "c", "model": "m", "stats": {"tokens_per_second": 9.0, "stop_reason": "eosFound"}}
    return {**base, "stats": {**base["stats"], **figures}, **more}


def logged(figures: dict[str, object], model: str = "m", draft: str = "d") -> str:
    value = {"model": model, "stats": {"draft_model": draft, **figures}}
    head = f"2026-02-11 10:02:11 [DEBUG] [{model}] Generated prediction: "
    return head + json.dumps(value, indent=2) + "\n"


def test_ignored_tokens_were_not_drafted(fit):
    found = fit(response(stats(398, 171, 207, 20)))
    assert found.counted == (None, 378, 171)
    assert "ignored_drafts" in found.codes
    assert "ignored_drafts" not in fit(response(stats(378, 171, 207, 0))).codes


def test_the_sdk_spells_them_otherwise(fit):
    sdk = {
        "predictedTokensCount": 9,
        "stopReason": "eosFound",
        "totalDraftTokensCount": 50,
        "acceptedDraftTokensCount": 20,
        "rejectedDraftTokensCount": 25,
        "ignoredDraftTokensCount": 5,
    }
    assert fit(sdk).counted == (None, 45, 20)
    assert fit([{"content": "yes", "stats": sdk}]).counted == (None, 45, 20)


def test_counts_of_one_response_in_two_places_count_once(fit):
    twice = response(stats(90, 41, 49), usage=stats(90, 41, 49))
    assert fit(twice).counted == (None, 90, 41)
    assert fit(response({}, usage=stats(90, 41, 49, None))).counted == (None, 90, 41)


def test_what_is_missing_follows_from_the_total(fit):
    assert fit(response(stats(90, 41, None, 9))).counted == (None, 81, 41)
    found = fit(response(stats(90, 41, None, None)))
    assert found.counted == (None, 90, 41)
    assert "ignored_drafts" in found.codes


@pytest.mark.parametrize(
    "bad",
    [
        stats(90, 41, 60),
        stats(90, 95, None),
        stats(90, -1, 49),
        stats(90, 4.5, 49),
        stats(90, None, 49),
        stats("90", 41, 49),
    ],
)
def test_counts_that_contradict_each_other_are_dropped(fit, bad):
    found = fit([response(stats(90, 41, 49)), response(bad)])
    assert found.counted == (None, 90, 41)
    assert "truncated_line" in found.codes


def test_a_response_without_a_draft_model_says_so(fit):
    found = fit([response({}), response(stats(90, 41, 49))])
    assert found.counted == (None, 90, 41)
    assert "zero_drafts" in found.codes
    assert "zero_drafts" in fit(response({})).codes


def test_models_and_draft_models_are_groups(fit):
    rows = [
        response(stats(90, 41, 49)),
        response(stats(90, 41, 49), model="n"),
        response({**stats(90, 41, 49), "draft_model": "d"}),
    ]
    assert len(fit(rows).result["groups"]) == 3


def test_predictions_of_the_log_are_summed(fit):
    found = fit(logged(stats(99, 53, 46)) + "noise\n" + logged(stats(191, 121, 70)))
    assert found.counted == (None, 290, 174)


def test_two_alike_predictions_count_twice(fit):
    assert fit(logged(stats(99, 53, 46)) * 2).counted == (None, 198, 106)


def test_counts_of_one_prediction_in_two_places_count_once(fit):
    value = {"usage": stats(99, 53, 46), "stats": stats(99, 53, 46)}
    text = "2026-02-11 10:02:11 [DEBUG] [m] Generated prediction: " + json.dumps(value, indent=1)
    assert fit(text + "\n").counted == (None, 99, 53)


def test_models_of_the_log_are_groups(fit):
    found = fit(logged(stats(99, 53, 46)) + logged(stats(99, 53, 46), model="n")).result
    assert [g["labels"]["model_name"] for g in found["groups"]] == ["m", "n"]


def test_a_request_that_names_a_draft_model_is_no_prediction(fit):
    asked = '2026-02-11 [DEBUG] Received request: {"draft_model": "other", "messages": []}\n'
    plain = '2026-02-11 10:02:19 [DEBUG] [m] Generated prediction: {"model": "m"}\n'
    found = fit(logged(stats(99, 53, 46)) + asked + plain + asked)
    assert found.counted == (None, 99, 53)
    assert found.result["groups"][0]["labels"]["draft_model"] == "d"
    assert "truncated_line" not in found.codes
    assert "zero_drafts" in found.codes


@pytest.mark.parametrize(
    "end", ['"total_draft', '"accepted_draft_tokens_count": 5', '"rejected_dra']
)
def test_a_prediction_that_is_cut_is_dropped_and_named(fit, end):
    whole = logged(stats(191, 121, 70))
    found = fit(logged(stats(99, 53, 46)) + whole[: whole.index(end.split(":")[0]) + len(end)])
    assert found.counted == (None, 99, 53)
    assert "truncated_line" in found.codes
    assert "report:1" in found.said


def test_one_line_objects_are_read_too(fit):
    line = "[m] Generated prediction: " + json.dumps({"stats": stats(99, 53, 46)}) + "\n"
    assert fit("start\n" + line + line).counted == (None, 198, 106)
    found = fit("start\n" + line + line.rstrip())
    assert found.counted == (None, 198, 106)
    assert "truncated_line" not in found.codes
    assert fit("start\n" + line + line[:-4]).counted == (None, 99, 53)
