"""Prometheus text: what is taken of a page, and the difference of two."""

import io

import pytest

from gammaplan.engines import prometheus
from gammaplan.engines.base import Dropped, Sample
from gammaplan.engines.lines import Blocks
from gammaplan.engines.prometheus import difference, samples
from gammaplan.errors import Finding


def scrape(text, families=("spec_",)):
    """All that a page gives."""
    return list(samples(Blocks(io.BufferedReader(io.BytesIO(text.encode()))), families))


def counter(value, **labels):
    """A sample of a counter."""
    return Sample("spec_total", labels, value)


@pytest.mark.parametrize(
    ("line", "sample"),
    [
        ("spec_a 1", Sample("spec_a", {}, 1.0)),
        ("spec_a{} 1", Sample("spec_a", {}, 1.0)),
        ('vllm:spec_a{m="x",n="y"} 2e+06', Sample("vllm:spec_a", {"m": "x", "n": "y"}, 2e6)),
        ('spec_a{m="x",} 1 1717236641000', Sample("spec_a", {"m": "x"}, 1.0)),
        (r'spec_a{m="a\"b\\c\nd"} 1', Sample("spec_a", {"m": 'a"b\\c\nd'}, 1.0)),
        (r'spec_a{m="a\\nb"} 1', Sample("spec_a", {"m": r"a\nb"}, 1.0)),
        ('spec_a{m="}{,= 5"} 1', Sample("spec_a", {"m": "}{,= 5"}, 1.0)),
        ('spec_a{m="γ"} 1', Sample("spec_a", {"m": "γ"}, 1.0)),
        ('spec_a{m=""} 1', Sample("spec_a", {"m": ""}, 1.0)),
        ('spec_a_total 5 # {trace_id="x"} 0.67', Sample("spec_a_total", {}, 5.0)),
        ('spec_a_total{m="x"} 5 # {t="y"} 1.0 17.5', Sample("spec_a_total", {"m": "x"}, 5.0)),
        ("spec_a\t1\r", Sample("spec_a", {}, 1.0)),
        ('spec_a{ m = "x" , n="y" , } 1', Sample("spec_a", {"m": "x", "n": "y"}, 1.0)),
        ('spec_a {m="x"} 1', Sample("spec_a", {"m": "x"}, 1.0)),
        ('spec_a{m="x"}1', Sample("spec_a", {"m": "x"}, 1.0)),
        ("  \tspec_a 1", Sample("spec_a", {}, 1.0)),
    ],
)  # fmt: skip
def test_a_line_of_a_page(line, sample):
    assert scrape(line + "\n") == [sample]


def test_other_families_and_comments_are_passed_over():
    text = "# HELP spec_a Text.\n# TYPE spec_a counter\nother 3\nspec_a 1\n# EOF\n"
    assert scrape(text) == [Sample("spec_a", {}, 1.0)]


@pytest.mark.parametrize(
    "line", ["spec_a", "spec_a{", 'spec_a{m="x"}', 'spec_a{m="x', "spec_a one"]
)
def test_a_damaged_line_is_dropped_with_its_place(line):
    found = scrape(f"other 1\n{line}\nspec_b 2\n")
    assert found == [Dropped("a metrics line", 8), Sample("spec_b", {}, 2.0)]


@pytest.mark.parametrize("value", ["-1", "NaN", "+Inf", "-Inf", "1e300", "9.3e18"])
def test_what_no_counter_can_be_is_left_out(value):
    found = scrape(f"spec_a {value}\nspec_b 2\nspec_c {value}\n")
    assert found[0] == Sample("spec_b", {}, 2.0)
    assert len(found) == 2
    assert isinstance(found[1], Finding)
    assert found[1].code == "bad_sample"
    assert "spec_a" in found[1].message
    assert "(line 1, and 1 more)" in found[1].message


def test_lines_are_numbered_over_all_blocks():
    text = "other 1\n" * 100_000 + "spec_a -1\n"
    assert "(line 100001)" in scrape(text)[0].message


def test_label_sets_beyond_a_limit_are_not_read(monkeypatch):
    monkeypatch.setattr(prometheus, "MOST_SERIES", 3)
    found = scrape("".join(f'spec_a{{i="{i}"}} 1\n' for i in range(9)))
    assert [type(f) for f in found] == [Sample] * 3 + [Finding]
    assert found[-1].code == "too_many_series"


def test_the_difference_is_what_each_counter_gained():
    before = [counter(5.0, engine="0"), counter(7.0, engine="1")]
    after = [counter(9.0, engine="0"), counter(7.0, engine="1"), counter(2.0, engine="2")]
    assert [s.value for s in difference(before, after)] == [4.0, 0.0, 2.0]


def test_a_restart_of_one_process_leaves_the_others():
    before = [counter(50.0, engine="0"), counter(7.0, engine="1")]
    after = [counter(9.0, engine="0"), counter(8.0, engine="1")]
    *gained, found = difference(before, after)
    assert [s.value for s in gained] == [9.0, 1.0]
    assert found.code == "counter_reset"


def test_one_counter_that_fell_restarts_all_of_its_process():
    before = [Sample("spec_a_total", {"engine": "0"}, 5.0), counter(5.0, engine="0", position="1")]
    after = [Sample("spec_a_total", {"engine": "0"}, 9.0), counter(3.0, engine="0", position="1")]
    *gained, found = difference(before, after)
    assert [s.value for s in gained] == [9.0, 3.0]
    assert found.code == "counter_reset"


def test_gauges_are_as_they_are_in_the_later_page():
    before, after = [Sample("spec_length", {}, 3.0)], [Sample("spec_length", {}, 2.0)]
    assert list(difference(before, after)) == after


def test_labels_in_another_order_are_the_same_series():
    before = [Sample("spec_total", {"a": "1", "b": "2"}, 3.0)]
    after = [Sample("spec_total", {"b": "2", "a": "1"}, 5.0)]
    assert [s.value for s in difference(before, after)] == [2.0]
