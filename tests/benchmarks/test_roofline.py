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


def test_a_source_weighs_as_much_as_any_other(script):
    rows = [script.Row("a", "", 1.0, 1.0)] * 99 + [script.Row("b", "", 3.0, 1.0)]
    low, high = script.span(rows)
    assert low == 1.0
    assert high > 2.0
