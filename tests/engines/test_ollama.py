"""Ollama: two runners in one log; idle rounds count for the length, never for alpha."""

import pytest

from tests.support import DATA

LLAMA = (DATA / "samples/ollama/llama_server_runner.log").read_text()


def line(n: int, d: int, a: int, longest: int, share: str | None = None) -> str:
    rate = share or f"{a / d if d else 0:.2f}"
    return (
        'time=2026-08-07T19:33:35.120Z level=INFO source=speculate_stats.go:62 msg="speculative '
        f'decode stats" iterations={n} drafted={d} accepted={a} acceptance={rate} '
        f"avg_draft={d / n if n else 0:.2f} max_draft={longest} avg_accepted=0.00 "
        f'depth_over_time="1.2/3"\n'
    )


def test_one_depth_is_the_draft_length(fit):
    found = fit(line(120, 360, 251, 3) + line(80, 240, 177, 3))
    assert found.counted == (200, 600, 428)
    assert found.result["gamma"] == 3
    assert found.result["method"] == "mean_length"
    assert "length_excludes_bonus" in found.codes


@pytest.mark.parametrize("other", [line(80, 200, 150, 3), line(80, 320, 250, 4)])
def test_another_depth_leaves_all_of_them_open(fit, other):
    found = fit(line(120, 360, 251, 3) + other)
    assert found.result["gamma"] is None
    assert found.result["pooled"]
    assert found.result["alpha"] is None
    assert "variable_draft_length" in found.codes


def test_idle_rounds_leave_the_estimate_alone(fit):
    without = fit(line(120, 360, 251, 3)).result
    found = fit(line(120, 360, 251, 3) + line(96, 0, 0, 0))
    assert found.result["alpha"] == without["alpha"]
    assert found.counted == (216, 360, 251)
    assert found.result["mean_length"] == pytest.approx(1 + 251 / 216)
    assert "zero_drafts" in found.codes


def test_only_idle_rounds_are_no_data(fit):
    found = fit(line(96, 0, 0, 0))
    assert found.result["alpha"] is None
    assert "zero_drafts" in found.codes


@pytest.mark.parametrize(
    "bad",
    [
        line(20, 30, 40, 3, "1.33"),
        line(20, 90, 40, 3),
        line(0, 30, 20, 3),
        line(20, 60, 40, 3, "0.50"),
        line(20, 60, 40, 3)[:150],
    ],
    ids=["more than drafted", "deeper than the deepest", "no rounds", "another rate", "cut"],
)
def test_a_line_that_contradicts_itself_is_dropped_and_named(fit, bad):
    found = fit(line(120, 360, 251, 3) + bad)
    assert found.counted == (120, 360, 251)
    assert "report:2" in found.said


def test_both_runners_are_read_and_kept_apart(fit):
    for text in (LLAMA + line(120, 360, 251, 3), line(120, 360, 251, 3) + LLAMA):
        found = fit(text).result
        assert found["engine"] == "ollama"
        assert sorted(g["counts"]["rounds"] for g in found["groups"]) == [96, 120]
        assert not found["pooled"]


def test_the_controllers_line_is_no_request(fit):
    debug = 'level=DEBUG msg="speculation depth controller" acceptance="1:0.81 2:0.74"\n'
    assert fit(line(120, 360, 251, 3) + debug).counted == (120, 360, 251)


def test_requests_carry_their_time(fit):
    late = line(80, 240, 177, 3).replace("19:33", "20:33")
    assert fit(line(120, 360, 251, 3) + late, "--since", "2026-08-07 20:00").counted == (
        80,
        240,
        177,
    )


def test_a_log_of_a_server_that_never_drafted_says_so(fit):
    start = LLAMA.splitlines(keepends=True)[0]
    assert fit(start).result["engine"] == "ollama"
    assert fit(start).result["alpha"] is None
