"""Estimates against public measurements: the page has the tables, and `cost` prints their range."""

from pathlib import Path

import pytest

from gammaplan.data.roofline_errors import HIGH, LOW

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        import roofline

        yield roofline


def test_the_range_of_an_estimate_is_that_of_the_errors(script):
    assert script.span(script.found()) == pytest.approx((LOW, HIGH), abs=0.005)


def test_the_page_has_the_tables_that_the_script_prints(script):
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert "\n".join(script.lines()) in page
    assert "\n".join(script.sizes()) in page


def test_every_named_source_is_there(script):
    sources = {row.source for row in script.found()}
    assert {s.split(",")[0].split()[0] for s in sources} == {
        "MagicDec", "EAGLE-3", "vLLM", "TensorRT-LLM", "AngelSlim", "verify",
    }  # fmt: skip


def test_figures_of_every_named_source_are_scored(script):
    scored = {row.source.split(",")[0].split()[0] for row in script.found() if row.scored}
    assert scored == {row.source.split(",")[0].split()[0] for row in script.found()}


def test_rounds_of_the_tensorrt_llm_posts_are_their_lengths_by_their_speedups(script):
    found = {row.what: row.measured for row in script.tensorrt()}
    assert found["DeepSeek-R1, 8 B200, MTP 3"] == pytest.approx(2.82 / 2.28)
    assert found["DeepSeek-R1, 8 B200, MTP 3, strict, second post"] == pytest.approx(2.82 / 2.16)
    assert found["DeepSeek-R1, 8 B200, MTP 3, relaxed, second post"] == pytest.approx(3.10 / 2.33)


def test_a_source_weighs_as_much_as_any_other(script):
    rows = [script.Row("a", "", 1.0, 1.0)] * 99 + [script.Row("b", "", 3.0, 1.0)]
    low, high = script.span(rows)
    assert low == 1.0
    assert high > 2.0
