"""What the picture of each command shows, read from the picture before it is drawn."""

import pytest

from gammaplan.report.picture import (
    Area,
    Bars,
    Cells,
    Edges,
    Line,
    Nodes,
    Points,
    Rule,
    Span,
    Steps,
)
from gammaplan.report.pictures import PICTURES as FUNCTIONS
from gammaplan.report.pictures.trees import placed
from tests.docs.pictures import HARDER, PICTURES, pictured, prepared

EVERY = PICTURES | HARDER


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    where = tmp_path_factory.mktemp("inputs")
    prepared(where)
    made = {}

    def show(name):
        if name not in made:
            made[name] = pictured(where, EVERY[name])
        return made[name]

    return show


def marks(picture, kind, panel=0):
    return [mark for mark in picture.panels[panel].marks if isinstance(mark, kind)]


def labels(picture, panel=0):
    return [m.label for m in picture.panels[panel].marks if getattr(m, "label", "")]


def test_every_command_with_a_document_has_a_picture_but_a_stream_of_them():
    from gammaplan.cli.schema import RESULTS

    assert set(FUNCTIONS) == set(RESULTS) - {"watch"}


def test_a_table_shows_its_rows_its_band_its_best_and_its_ceiling(shown):
    picture = shown("table")
    (line,) = marks(picture, Line)
    assert line.x == list(range(17))
    assert line.y[6] == pytest.approx(2.46964, abs=1e-5)
    assert [(s.low, s.high) for s in marks(picture, Span)] == [(3.5, 8.5)]
    assert {(r.axis, round(r.at, 9)) for r in marks(picture, Rule)} == {
        ("y", 1.0), ("y", 5.0), ("x", 6)
    }  # fmt: skip


def test_a_table_with_gaps_shows_the_best_between_them(shown):
    (line,) = marks(shown("long rows"), Line)
    assert list(line.x) == [1, 10, 100, 259, 1000]


def test_the_axis_of_lengths_far_apart_is_in_proportion(shown):
    assert shown("long rows").panels[0].x.scale == "log"
    assert shown("table").panels[0].x.scale == "linear"
    assert shown("forty rows").panels[0].x.scale == "linear"


def test_an_infinite_ceiling_is_not_drawn(shown):
    assert labels(shown("infinite")) == ["plain decoding", "speedup"]


def test_a_length_in_use_is_marked_beside_the_best(shown):
    assert "in use γ 5: 2.46×" in labels(shown("in use"))
    assert "best γ 6: 2.47×" in labels(shown("in use"))


def test_cases_are_lines_on_one_axis_with_their_labels(shown):
    lines = marks(shown("temperatures"), Line)
    assert [line.label.partition(":")[0] for line in lines] == [
        f"temperature={t}" for t in (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
    ]
    assert [line.series for line in lines] == list(range(6))


def test_a_ceiling_is_what_tokens_rise_to(shown):
    picture = shown("ceiling")
    (line,), (rule,) = marks(picture, Line), marks(picture, Rule)
    assert rule.at == pytest.approx(5.0)
    assert line.y[0] == 1.0
    assert 4.9 < line.y[-1] < 5.0


def test_a_sweep_is_a_map_of_the_best_length_shaded_by_its_speedup(shown):
    picture = shown("sweep")
    (cells,) = marks(picture, Cells)
    panel = picture.panels[0]
    row, column = panel.y.names.index("0.8"), panel.x.names.index("0.1")
    assert cells.texts[row][column] == "6"
    assert cells.values[row][column] == pytest.approx(2.46964, abs=1e-5)
    assert panel.y.names[0] == "0.95"


def test_a_sweep_draws_a_line_for_each_alpha_over_c(shown):
    lines = marks(shown("sweep"), Line, 1)
    assert [line.label for line in lines] == [
        f"α {a}" for a in (0.5, 0.55, 0.65, 0.7, 0.75, 0.8, 0.9, 0.95)
    ]
    assert shown("sweep").notes == ("8 of 10 values of α are drawn.",)


def test_a_speedup_that_does_not_end_has_no_shade_and_no_point(shown):
    (cells,) = marks(shown("endless cells"), Cells)
    assert cells.texts[0][0] == "∞"
    assert cells.values[0][0] is None


@pytest.mark.parametrize("name", ["one alpha", "one c", "one cell"])
def test_a_sweep_of_one_row_is_curves(shown, name):
    assert marks(shown(name), Line, 0)
    assert not marks(shown(name), Cells, 0)


def test_a_fit_shows_each_hazard_with_its_interval_and_alpha_with_its_own(shown):
    picture = shown("fit")
    (points,), (span,) = marks(picture, Points), marks(picture, Span)
    assert points.y == pytest.approx([0.917, 0.914, 0.828], abs=1e-3)
    for low, value, high in zip(points.low, points.y, points.high, strict=True):
        assert low < value < high
    assert (span.low, span.high) == pytest.approx((0.8627, 0.9119), abs=1e-4)


def test_intervals_of_hazards_are_the_exact_ones(shown):
    from gammaplan.model.intervals import clopper_pearson

    (points,) = marks(shown("fit"), Points)
    exact = clopper_pearson(222, 242 - 222, 0.95)
    assert (points.low[0], points.high[0]) == pytest.approx((exact.low, exact.high))


def test_a_plan_shows_the_prediction_with_its_interval_and_the_run_on_it(shown):
    picture = shown("plan")
    (area,), (run,) = marks(picture, Area), marks(picture, Points)
    assert (run.x, run.y) == ([5], [pytest.approx(60.3 / 41.6)])
    assert all(lo <= hi for lo, hi in zip(area.low, area.high, strict=True))
    assert "The shaded interval is where 80 % of runs are predicted to fall." in picture.notes


def test_drafts_are_curves_on_one_axis_the_best_first(shown):
    assert [line.label for line in marks(shown("drafts"), Line)] == [
        "eagle3", "ngram", "draft-model"
    ]  # fmt: skip


def test_of_many_drafts_the_best_are_drawn(shown):
    picture = shown("names")
    assert len(marks(picture, Line)) == 8
    assert picture.panels[0].heading == "Drafts; the best 8 of 14"


def test_a_schedule_is_steps_with_the_best_of_each_batch(shown):
    (steps,), (points,) = marks(shown("schedule"), Steps), marks(shown("schedule"), Points)
    assert steps.edges == [1.0, 129.0, 512.0]
    assert steps.y == [4, 2]
    assert points.x == [1, 8, 64, 256]
    assert shown("schedule").panels[0].x.scale == "log"


def test_a_stated_line_of_cost_is_drawn_from_plain_decoding_on(shown):
    (line,) = marks(shown("timings"), Line)
    assert (line.x[0], line.y[0]) == (0, 1.0)
    assert line.y[4] == pytest.approx(1.3)


def test_runs_lie_over_the_cost_that_fits_them(shown):
    (points,) = marks(shown("measured"), Points)
    assert points.x == [1, 2, 3, 5, 7]
    assert labels(shown("measured")) == ["textbook 1 + cγ", "fitted", "measured"]


def test_estimated_costs_are_told_apart_by_what_differs(shown):
    assert labels(shown("cost"))[1:] == ["batch=1", "batch=8", "batch=64", "batch=256"]


def test_timed_passes_show_their_steps(shown):
    picture = shown("passes")
    assert [rule.at for rule in marks(picture, Rule)] == [33, 65]
    (line,) = marks(picture, Line)
    assert line.y[0] == 1.0


def test_alpha_is_drawn_over_temperature(shown):
    line = marks(shown("alpha"), Line)[0]
    assert line.x == [i / 8 for i in range(17)]
    assert line.y[0] == 1.0


def test_a_sweep_of_two_settings_is_a_line_for_each_of_the_second(shown):
    assert labels(shown("settings")) == ["top-k 0", "top-k 2", "top-k 3"]


def test_an_explanation_shows_parts_the_run_on_its_curve_and_levers(shown):
    picture = shown("explain")
    (bars,) = marks(picture, Bars, 0)
    assert sum(bars.x) == pytest.approx(4.0408, abs=1e-3)
    run = next(p for p in marks(picture, Points, 1) if p.label == "measured")
    assert (run.x, run.y) == ([8], [0.931])
    curve = next(line for line in marks(picture, Line, 1))
    assert curve.y[8] == pytest.approx(0.931, abs=0.01)


def test_a_tree_has_every_node_and_the_speedup_of_every_size(shown):
    picture = shown("tree")
    (nodes,), (edges,) = marks(picture, Nodes), marks(picture, Edges)
    assert len(nodes.x) == len(edges.ends) + 1 == 21
    (line,) = marks(picture, Line, 1)
    assert list(line.x) == list(range(4, 33))


def test_siblings_stand_apart_and_a_parent_over_the_middle_of_its_children():
    x, level = placed([0, 0, 1, 1, 2])
    assert level == [0, 1, 1, 2, 2, 2]
    assert x == [1.25, 0.5, 2.0, 0.0, 1.0, 2.0]


def test_policies_are_shown_by_gain_with_intervals_and_over_rounds(shown):
    picture = shown("adapt")
    gains, bounds = marks(picture, Points)
    assert gains.along == "x"
    assert len(gains.x) + len(bounds.x) == len(picture.panels[0].y.names)
    (cells,) = marks(picture, Cells, 1)
    assert len(cells.values) == len(gains.x)
    assert len(cells.values[0]) == 60


def test_rounds_played_out_stand_beside_the_formula(shown):
    (bars,), (points,) = marks(shown("simulate"), Bars), marks(shown("simulate"), Points)
    assert sum(bars.y) == pytest.approx(1.0)
    assert points.y[0] == pytest.approx(0.2)


def test_every_axis_says_what_it_measures(shown):
    for name in EVERY:
        for panel in shown(name).panels:
            assert panel.x is None or panel.x.label
            assert panel.y is None or panel.y.label or panel.y.names
