"""A table that is too wide goes on below; no figure is ever cut."""

import pytest
from rich.console import Console

from gammaplan.report.grids import print_grid

HEADS = ("rule", "α", "tokens", "says")
ROWS = [("residual", "0.7003", "3.1144", "a sentence of some length"), ("block", "-", "3.64", "")]


def printed(width, **more):
    out = Console(width=width, color_system=None, legacy_windows=False)
    with out.capture() as said:
        print_grid(out, HEADS, ROWS, left=[0], prose=True, **more)
    return [line.rstrip() for line in said.get().splitlines()]


def test_a_wide_terminal_gets_one_table():
    assert printed(80) == [
        "rule           α  tokens  says",
        "residual  0.7003  3.1144  a sentence of some length",
        "block          -    3.64",
    ]


def test_a_narrow_one_gets_parts_that_begin_with_the_keys():
    lines = printed(26)
    assert lines[:3] == [
        "rule           α  tokens",
        "residual  0.7003  3.1144",
        "block          -    3.64",
    ]
    assert lines[3:] == [
        "",
        "rule      says",
        "residual  a sentence of",
        "          some length",
        "block",
    ]


@pytest.mark.parametrize("width", range(16, 60))
def test_every_figure_is_there_at_every_width(width):
    lines = printed(width)
    assert max(map(len, lines)) <= width
    assert all(any(figure in line for line in lines) for figure in ("0.7003", "3.1144", "3.64"))
