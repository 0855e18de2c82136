"""The pictures as matplotlib draws them: the data that were given, and words that can be read."""

import io
import math
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from gammaplan.report.drawing import image, our_style
from gammaplan.report.drawing.marks import legible, style
from gammaplan.report.drawing.page import figure
from gammaplan.report.drawing.pen import TEXT, Ruler
from gammaplan.report.picture import (
    Area,
    Axis,
    Line,
    Panel,
    Picture,
    Points,
    Rule,
    Span,
    Steps,
)
from tests.docs.pictures import HARDER, PICTURES, pictured, prepared

EVERY = PICTURES | HARDER
SVG = "{http://www.w3.org/2000/svg}"
SMALL = 0.6  # points: texts may come so near before they touch


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("inputs")
    prepared(where)
    return where


@pytest.fixture(scope="module")
def pictures(inputs):
    return {name: pictured(inputs, command) for name, command in EVERY.items()}


@pytest.fixture(scope="module")
def pages(pictures):
    return {name: drawn(picture) for name, picture in pictures.items()}


def drawn(picture: Picture) -> Figure:
    with our_style():
        return figure(picture)


def words(page: Figure) -> list[Text]:
    found = [*page.texts, *(text for axes in page.axes for text in axes.texts)]
    return [text for text in found if text.get_text()]


def assert_words_are_apart(page: Figure) -> None:
    """No text leaves the page, and none lies on another."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in words(page)]
    width, height = page.get_size_inches() * page.dpi
    for text, box in boxes:
        assert -SMALL <= box.x0 < box.x1 <= width + SMALL, text
        assert -SMALL <= box.y0 < box.y1 <= height + SMALL, text
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across <= SMALL or up <= 3.0, f"{one!r} lies on {other!r}"  # 3: of empty descenders


@pytest.mark.parametrize("name", EVERY)
def test_no_word_lies_on_another_or_leaves_the_page(pages, name):
    assert_words_are_apart(pages[name])


@pytest.mark.parametrize("name", EVERY)
def test_what_is_drawn_is_what_the_picture_says(pictures, pages, name):
    every = [axes for axes in pages[name].axes if axes.get_gid()]
    for panel, axes in zip(pictures[name].panels, every, strict=True):
        if panel.x:
            assert axes.get_xlim() == pytest.approx((panel.x.low, panel.x.high))
        if panel.y:
            assert axes.get_ylim() == pytest.approx((panel.y.low, panel.y.high))
        lines = {line.get_gid(): line for line in axes.lines}
        for i, mark in enumerate(panel.marks):
            if isinstance(mark, Line | Points):
                line = next(one for gid, one in lines.items() if (gid or "").endswith(f"mark-{i}"))
                assert same(line.get_xdata(), mark.x)
                assert same(line.get_ydata(), mark.y)


def same(drawn, given) -> bool:
    pairs = zip(drawn, given, strict=True)
    return all(math.isnan(d) if g is None else d == g for d, g in pairs)


@pytest.mark.parametrize("name", EVERY)
def test_every_label_is_written(pictures, pages, name):
    written = " ".join(text.get_text() for text in words(pages[name]))
    for panel in pictures[name].panels:
        for mark in panel.marks:
            label = getattr(mark, "label", "")
            assert label[:12] in written
        for axis in (panel.x, panel.y):
            assert axis is None or axis.label in written


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_picture_is_the_same_file(pictures, kind):
    assert image(pictures["table"], kind) == image(pictures["table"], kind)


def test_a_file_says_nothing_of_when_it_was_made(pictures):
    assert b"<dc:date>" not in image(pictures["table"], "svg")
    assert b"CreationDate" not in image(pictures["table"], "pdf")


def test_words_of_an_svg_are_words(pictures):
    root = ElementTree.fromstring(image(pictures["table"], "svg"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "speedup (× plain decoding)" in texts
    assert "best γ 6: 2.47×" in texts


def test_an_svg_has_a_white_ground_of_its_own(pictures):
    root = ElementTree.fromstring(image(pictures["table"], "svg"))
    ground = next(g for g in root.iter(f"{SVG}g") if g.get("id") == "patch_1")
    assert "#ffffff" in ground[0].get("style", "")


def test_letters_of_a_pdf_are_a_font_that_can_be_edited(pictures):
    file = image(pictures["table"], "pdf")
    assert b"/Type3" not in file
    assert b"/CIDFontType2" in file


def panel(*marks, x=None, y=None) -> Picture:
    axis = Axis("x", 0.0, 10.0)
    return Picture("title", (Panel(x or axis, y or axis, marks),))


@pytest.mark.parametrize(
    "text",
    [
        r"$\frac{1}{2}$",
        "$x^2$ and $y$",
        "a & b < c > d",
        "[red]x[/red]",
        r"\alpha \n",
        "%s {} %(x)d",
    ],
)
def test_nothing_in_a_label_is_interpreted(text):
    picture = panel(Line([1, 2], [1, 2], text))._replace(title=text, notes=(text,))
    root = ElementTree.fromstring(image(picture, "svg"))
    assert ["".join(t.itertext()) for t in root.iter(f"{SVG}text")].count(text) == 3


def test_control_characters_are_shown_and_the_file_stays_valid():
    picture = panel(Line([1, 2], [1, 2], "a\x1b[31m\x00b\nc\u202e"))
    root = ElementTree.fromstring(image(picture, "svg"))
    assert r"a\x1b[31m\x00b\nc\u202e" in ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("count", [1, 8, 40])
def test_labels_of_many_curves_are_apart(count):
    marks = [Line([1, 9], [1, 5 + i / 100], f"{'a long name ' * 4}{i}", i) for i in range(count)]
    assert_words_are_apart(drawn(panel(*marks)))


@pytest.mark.parametrize("count", [1, 5, 12])
def test_labels_above_a_panel_are_apart(count):
    marks = [Rule("x", 9.0 + i / 20, f"a rather long label of rule {i}") for i in range(count)]
    spans = [Span("x", 0.0, 10.0, "a band that is as wide as the panel")]
    assert_words_are_apart(drawn(panel(*marks, *spans)))


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e-12), (-1e15, 1e15), (1e300, 2e300), (0.999999, 1.000001)]
)
def test_extreme_limits_are_drawn(low, high):
    axis = Axis("a quantity", low, high, "unit")
    assert_words_are_apart(drawn(panel(Line([low, high], [low, high], "line"), x=axis, y=axis)))


def test_forty_names_are_all_written_beside_the_panel():
    names = tuple(f"a name that is really rather long, number {i}" for i in range(30))
    page = drawn(
        panel(Points([5.0] * 30, list(range(30)), along="x"), y=Axis("", 29.5, -0.5, names=names))
    )
    assert_words_are_apart(page)
    assert sum("number" in text.get_text() for text in words(page)) == 30


def test_long_names_and_long_labels_leave_room_for_the_panel():
    names = tuple(f"a name that is really rather long {i}" for i in range(3))
    points = Points([5.0] * 3, [0, 1, 2], "a label that is really rather long", along="x")
    flags = [Rule("x", 9.9, "a label that is really rather long too")]
    page = drawn(panel(points, *flags, y=Axis("", 2.5, -0.5, names=names)))
    assert_words_are_apart(page)
    assert page.axes[0].get_position().width * page.get_size_inches()[0] > 3


def test_a_wide_character_has_room_for_a_square():
    ruler = Ruler(FigureCanvasAgg(Figure()))
    assert ruler.width("日本語" * 10) >= 30 * TEXT / 72


def test_a_missing_value_breaks_a_line_and_an_interval():
    page = drawn(
        panel(Line([1, 2, 3], [1, None, 3]), Points([1, 2], [1, 2], "", 0, [0.5, None], [2, None]))
    )
    assert math.isnan(page.axes[0].lines[0].get_ydata()[1])


def test_marks_of_no_points_are_drawn():
    drawn(panel(Line([], [], "none"), Points([], [], "none"), Area([], [], [], "none")))


def test_series_differ_without_colour_too():
    looks = [style(i) for i in range(8)]
    assert len({str(look.dashes) for look in looks}) == 8
    assert len({look.shape for look in looks}) == 8


@pytest.mark.parametrize("series", range(8))
def test_a_word_in_the_colour_of_its_series_stands_out_on_white(series):
    red, green, blue = (int(style(series).colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5  # WCAG 2, level AA


def test_a_number_in_a_cell_is_dark_on_light_and_light_on_dark():
    assert legible((1.0, 1.0, 1.0)) != "white"
    assert legible((0.0, 0.0, 0.2)) == "white"


def test_steps_hold_their_values_from_edge_to_edge():
    page = drawn(panel(Steps([1, 4, 9], [2, 5], "schedule")))
    values, edges, _ = page.axes[0].patches[0].get_data()
    assert list(values) == [2, 5]
    assert list(edges) == [1, 4, 9]


def test_the_users_own_style_changes_nothing(pictures, monkeypatch):
    import matplotlib

    before = image(pictures["table"], "svg")
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert image(pictures["table"], "svg") == before
        assert matplotlib.rcParams["font.size"] == 30


def test_a_picture_can_be_read_back_as_an_image(pictures):
    from PIL import Image

    read = Image.open(io.BytesIO(image(pictures["sweep"], "png")))
    assert re.match(r"RGB", read.mode)
    assert read.size[0] > 1000
