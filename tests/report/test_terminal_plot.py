"""Pictures in the terminal: every datum in its cell, every word whole, at any width."""

import io
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from gammaplan.report.picture import (
    Area,
    Axis,
    Bars,
    Cells,
    Edges,
    Line,
    Nodes,
    Panel,
    Picture,
    Points,
    Rule,
    Span,
    Steps,
    fitted,
)
from gammaplan.report.terminal_marks import SHAPES
from gammaplan.report.terminal_plot import draw
from tests.docs.pictures import HARDER, PICTURES, pictured, prepared

LENGTHS = Axis("draft length γ", -0.5, 12.5, "tokens", whole=True)
SPEEDS = Axis("speedup", 0.0, 4.0, "× plain decoding")
WIDTHS = (40, 80, 120)


def text_of(picture, width=80, **options):
    out = io.StringIO()
    draw(picture, Console(file=out, width=width, **options))
    return out.getvalue()


def lines_of(marks, *, x=LENGTHS, y=SPEEDS, width=80, height=1.0):
    return text_of(Picture("Title.", (Panel(x, y, tuple(marks), "", height),)), width).splitlines()


class Drawn:
    """A panel read back: its rows, and where its ticks stand."""

    def __init__(self, marks, **options):
        self.lines = lines_of(marks, **options)
        foot = next(i for i, line in enumerate(self.lines) if line.lstrip().startswith("╰"))
        self.left = self.lines[foot].index("╰") + 1
        self.axis = self.lines[foot][self.left :]
        body = [line for line in self.lines[:foot] if line[self.left - 1 : self.left] in ("│", "┤")]
        width = len(self.axis)
        self.rows = [line[self.left : self.left + width].ljust(width) for line in body]
        self.y_ticks = {
            float(line[: self.left - 1]): i
            for i, line in enumerate(body)
            if line.strip()[:1] != "│"
        }
        columns = [i for i, mark in enumerate(self.axis) if mark == "┬"]
        texts = self.lines[foot + 1].split()
        self.x_ticks = dict(zip(map(float, texts), columns, strict=True))

    def cells(self, marks):
        found = [(x, y) for y, row in enumerate(self.rows) for x, m in enumerate(row) if m in marks]
        return sorted(found)


lengths = st.lists(st.integers(0, 12), min_size=1, max_size=13, unique=True)


@settings(max_examples=25)
@given(lengths, st.data(), st.sampled_from(WIDTHS))
def test_a_point_stands_over_its_length_and_between_the_ticks_of_its_value(gammas, data, width):
    values = [data.draw(st.floats(0.0, 4.0)) for _ in gammas]
    drawn = Drawn([Line(gammas, values, "speedup")], width=width)
    points = dict(drawn.cells(SHAPES))
    assert len(points) == len(gammas)
    by_column = sorted(zip(gammas, values, strict=True))
    for (column, row), (gamma, value) in zip(sorted(points.items()), by_column, strict=True):
        assert drawn.x_ticks.get(float(gamma), column) == column
        assert all(r >= row for tick, r in drawn.y_ticks.items() if tick <= value)
        assert all(r <= row for tick, r in drawn.y_ticks.items() if tick >= value)


@settings(max_examples=25)
@given(st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=20), st.booleans())
def test_no_range_is_too_large_or_too_small(values, log):
    values = [*values, 1.0, 10.0]
    low, high = fitted(values, scale="log" if log else "linear")
    y = Axis("v", low, high, scale="log" if log else "linear")
    drawn = Drawn([Line(range(len(values)), values)], x=Axis("n", -0.5, 21.5), y=y)
    assert len(drawn.cells(SHAPES)) == len(values)


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0, 2.0]])
def test_points_of_one_value_stand_in_one_row(values):
    y = Axis("v", *fitted(values))
    rows = {row for _, row in Drawn([Line(range(len(values)), values)], y=y).cells(SHAPES)}
    assert len(rows) == 1


def test_a_line_is_broken_where_there_is_no_value():
    whole = Drawn([Line([0, 6, 12], [1.0, 2.0, 1.0])])
    broken = Drawn([Line([0, 6, 12], [1.0, None, 1.0])])
    dots = "".join(map(chr, range(0x2801, 0x2900)))
    assert whole.cells(dots)
    assert not broken.cells(dots)
    assert len(broken.cells(SHAPES)) == 2


def test_what_lies_outside_the_limits_is_cut():
    drawn = Drawn([Line([0, 6, 12], [1.0, 400.0, 1.0]), Line([-90, 90], [1.0, 2.0])])
    assert len(drawn.cells(SHAPES)) == 2


def test_series_differ_by_shape():
    drawn = Drawn([Line([0, 12], [i / 2, i / 2], "", i) for i in range(8)])
    assert all(len(drawn.cells(shape)) == 2 for shape in SHAPES)


def test_predicted_points_are_hollow_and_measured_ones_filled():
    drawn = Drawn([Points([2], [1.0], hollow=True), Points([4], [1.0])])
    assert (len(drawn.cells("○")), len(drawn.cells("●"))) == (1, 1)


def test_an_interval_reaches_from_its_low_to_its_high_end():
    drawn = Drawn([Points([6], [2.0], low=[1.0], high=[3.0])])
    column = drawn.x_ticks[6.0]
    rows = [row for x, row in drawn.cells("│●") if x == column]
    assert (min(rows), max(rows)) == (drawn.y_ticks[3.0], drawn.y_ticks[1.0])


def test_an_interval_of_names_lies():
    names = ("one", "two")
    points = Points([1.0, 2.0], [0, 1], low=[0.5, None], high=[3.0, None], along="x")
    lines = lines_of([points], x=SPEEDS, y=Axis("", 1.5, -0.5, names=names), height=0.2)
    one, two = (next(line for line in lines if name in line) for name in names)
    assert ("─" in one, "─" in two) == (True, False)


def test_an_area_stands_at_the_measured_lengths_only():
    drawn = Drawn([Area([2, 8], [1.0, 1.0], [3.0, 3.0])])
    assert {x for x, _ in drawn.cells("┊")} == {drawn.x_ticks[2.0], drawn.x_ticks[8.0]}


def test_steps_hold_from_edge_to_edge():
    drawn = Drawn([Steps([0, 6, 12], [1.0, 3.0], "schedule")])
    dots = drawn.cells("".join(map(chr, range(0x2801, 0x2900))))
    before = {y for x, y in dots if x < drawn.x_ticks[6.0]}
    after = {y for x, y in dots if x > drawn.x_ticks[6.0]}
    assert before == {drawn.y_ticks[1.0]}
    assert after == {drawn.y_ticks[3.0]}


@settings(max_examples=25)
@given(st.floats(0.3, 4.0))
def test_a_bar_is_as_high_as_its_value(value):
    drawn = Drawn([Bars([6], [value], width=1.0)])
    column = drawn.x_ticks[6.0]
    eighths = sum(" ▁▂▃▄▅▆▇█".index(row[column]) for row in drawn.rows)
    assert abs(eighths / 8 - value / 4 * len(drawn.rows)) <= 1 / 8


@settings(max_examples=25)
@given(st.floats(0.3, 4.0))
def test_a_lying_bar_is_as_long_as_its_value(value):
    bars = Bars([value], [0], along="x")
    lines = lines_of([bars], x=SPEEDS, y=Axis("", 0.5, -0.5, names=("a",)), height=0.2)
    bar = next(line for line in lines if line.startswith("a│"))[2:]
    room = len(next(line for line in lines if "╰" in line).strip()) - 1
    assert abs(sum(" ▏▎▍▌▋▊▉█".index(c) for c in bar) / 8 - value / 4 * room) <= 1 / 8


def test_a_rule_stands_at_its_length_and_is_named_above():
    drawn = Drawn([Rule("x", 6, "best γ 6")])
    assert {x for x, _ in drawn.cells("┆")} == {drawn.x_ticks[6.0]}
    head = next(line for line in drawn.lines if "best γ 6" in line)
    assert head.index("┆") - drawn.left == drawn.x_ticks[6.0]


def test_a_stretch_is_marked_above_and_on_the_axis():
    drawn = Drawn([Span("x", 4, 8, "within 3 %")])
    head = next(line for line in drawn.lines if "├" in line)
    ends = head.index("├") - drawn.left, head.index("┤") - drawn.left
    assert ends == (drawn.x_ticks[4.0], drawn.x_ticks[8.0])
    thick = {i for i, mark in enumerate(drawn.axis) if mark in "━┬"}
    assert set(range(ends[0], ends[1] + 1)) <= thick


def test_a_label_stands_beside_the_end_of_its_line():
    lines = Drawn([Line([0, 12], [0.0, 3.0], "speedup")]).lines
    assert any(line.endswith("● speedup") and "┤" in line and "3" in line for line in lines)


def test_labels_at_one_height_keep_their_order():
    marks = [Rule("y", 2.0 - i / 1e3, f"rule {i}") for i in range(5)]
    found = [line[-6:] for line in Drawn(marks).lines if "rule" in line]
    assert found == [f"rule {i}" for i in range(5)]


def test_a_map_shows_its_numbers_and_nothing_where_there_is_none():
    cells = Cells([[1.0, None], [2.0, 4.0]], [["10", "-"], ["7", "8"]], "speedup")
    names = Axis("c", -0.5, 1.5, names=("0.1", "0.2")), Axis("α", 1.5, -0.5, names=("a", "b"))
    lines = lines_of([cells], x=names[0], y=names[1], height=0.2)
    assert "a│░░10    -" in lines
    assert "b│▒▒ 7 ██ 8" in lines
    assert "speedup ░ 1 to █ 4" in lines


def test_a_map_wider_than_the_terminal_goes_on_below_with_the_same_shades():
    cells = Cells([list(map(float, range(60)))], label="γ")
    x, y = Axis("round", -0.5, 59.5, whole=True), Axis("", 0.5, -0.5, names=("a",))
    lines = lines_of([cells], x=x, y=y, width=40, height=0.2)
    row = "".join(line[2:] for line in lines if line.startswith("a│"))
    assert row == "".join(mark * 15 for mark in "░▒▓█")
    assert lines.count("γ ░ 0 to █ 59") == 2


def test_a_map_without_room_for_its_numbers_says_so():
    cells = Cells([[1.0] * 30], [["100"] * 30], "speedup")
    x, y = Axis("c", -0.5, 29.5, whole=True), Axis("", 0.5, -0.5, names=("a",))
    assert "no room for the numbers" in "".join(lines_of([cells], x=x, y=y, width=40, height=0.2))


def test_a_tree_has_its_nodes_at_their_levels_and_their_texts_below():
    nodes = Nodes([0.5, 0.25, 0.75], [0, 1, 1], ["1", "0.6", "0.2"])
    edges = Edges([(0.5, 0, 0.25, 1), (0.5, 0, 0.75, 1)])
    drawn = Drawn([edges, nodes], x=Axis("", 0, 1), y=Axis("level", 1.45, -0.3, whole=True))
    rows = [row for _, row in drawn.cells("●")]
    assert sorted(rows) == [drawn.y_ticks[0.0], drawn.y_ticks[1.0], drawn.y_ticks[1.0]]
    assert drawn.rows[drawn.y_ticks[1.0] + 1].split() == ["0.6", "0.2"]


def test_texts_of_nodes_are_left_out_together_where_they_have_no_room():
    at = [i / 99 for i in range(100)]
    drawn = Drawn([Nodes(at, [0] * 100, ["0.123"] * 100)], y=Axis("level", 1.5, -0.5))
    assert not drawn.cells("0123.")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    where = tmp_path_factory.mktemp("inputs")
    prepared(where)
    made = {name: pictured(where, c) for name, c in (PICTURES | HARDER).items()}
    return {name: picture for name, picture in made.items() if picture is not None}


@pytest.mark.parametrize("width", [20, *WIDTHS])
def test_no_picture_of_a_command_is_wider_than_the_terminal(pictures, width):
    for name, picture in pictures.items():
        wide = [line for line in text_of(picture, width).splitlines() if cell_len(line) > width]
        assert (name, wide) == (name, [])


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_picture_is_cut(pictures, width):
    for name, picture in pictures.items():
        shown = "".join(text_of(picture, width).split())
        labels = [m.label for p in picture.panels for m in p.marks if getattr(m, "label", "")]
        for text in [picture.title, *picture.notes, *labels]:
            assert "".join(text.split()) in shown, name


HOSTILE = "[red]γ[/red] :smile: \x1b[31m$x^2$ 速い"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("markup", [True, False])
def test_nothing_in_a_text_is_interpreted(width, markup):
    axis = Axis("", 0.5, -0.5, names=(HOSTILE,))
    named = Panel(SPEEDS, axis, (Points([1.0], [0], HOSTILE),), HOSTILE, 0.2)
    marks = (Rule("x", 4, HOSTILE), Line([0, 4], [1, 2], HOSTILE), Span("x", 1, 2, HOSTILE))
    plot = Panel(Axis(HOSTILE, 0, 9, HOSTILE), Axis(HOSTILE, 0, 4), marks)
    text = text_of(Picture(HOSTILE, (named, plot), (HOSTILE,)), width, markup=markup)
    assert "\x1b" not in text
    shown = "".join(text.split())
    assert shown.count("[red]γ[/red]:smile:\\x1b[31m$x^2$速い") >= 8
    assert max(map(cell_len, text.splitlines())) <= width


def test_colour_is_for_terminals_and_can_be_refused(monkeypatch):
    picture = Picture("T.", (Panel(LENGTHS, SPEEDS, (Line([0, 4], [1, 2]),)),))
    terminal = {"force_terminal": True, "color_system": "standard", "_environ": {"TERM": "xterm"}}
    assert "\x1b[36m" in text_of(picture, **terminal)
    assert "\x1b[36m" not in text_of(picture, **terminal, no_color=True)
    assert "\x1b" not in text_of(picture)


@pytest.mark.parametrize("command", ["table --alpha 0.8 --c 0.1", "sweep"])
def test_where_there_is_only_ascii_the_picture_is_of_ascii(program, command):
    utf8, ascii_ = (
        program(*command.split(), "--plot", "-", PYTHONUTF8="0", PYTHONIOENCODING=name)
        for name in ("utf-8", "ascii")
    )
    assert ascii_.stdout.isascii()
    assert "?" not in ascii_.stdout
    assert list(map(len, ascii_.stdout.splitlines())) == list(map(len, utf8.stdout.splitlines()))


def test_in_ascii_all_shapes_differ():
    from gammaplan.cli.output import ASCII
    from gammaplan.report.terminal_marks import HOLLOW, SHADES

    for signs in (SHAPES + HOLLOW, SHADES[1:]):
        plain = [ASCII[sign] for sign in signs]
        assert len(set(plain)) == len(plain)


def test_the_picture_follows_the_answer_in_the_terminal(cli):
    command = "table --alpha 0.8 --c 0.1"
    done = cli(f"{command} --plot -")
    answer = cli(command).stdout
    assert done.exit_code == 0
    assert done.stdout.startswith(answer)
    assert "best γ 6: 2.47×" in done.stdout.removeprefix(answer)


def test_lines_cross_every_cell_between_their_ends():
    drawn = Drawn([Line([0, 12], [0.0, 4.0], points=False)])
    rows = {y for _, y in drawn.cells("".join(map(chr, range(0x2801, 0x2900))))}
    assert all(b - a == 1 for a, b in itertools.pairwise(sorted(rows)))
    assert len(rows) == len(drawn.rows)
