"""The tables of trees in docs/validation.md are what the script prints."""

from .examples import ROOT
from .trees import eagle, lines, specbundle


def test_the_page_has_every_row_that_the_script_prints():
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    for line in lines():
        assert line in page


def test_the_sign_of_every_tree_of_eagle_is_right_and_the_size_near():
    for pair in eagle():
        assert abs(pair.predicted - pair.measured) < 0.11


def test_specbundles_trees_mostly_lose_and_the_model_does_not_say_so():
    pairs = specbundle()
    assert len(pairs) == 176
    assert sum(pair.measured < 0 for pair, _ in pairs) == 136
    assert sum(speed < 1 for _, speed in pairs) == 152
    assert all(pair.predicted > -1e-9 for pair, _ in pairs)
