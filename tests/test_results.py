"""Results as plain data, as rows for data frames, and as tables in notebooks."""

import json
import math
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gammaplan as gp
from gammaplan.model.estimate import Counts
from gammaplan.results import Result

LINEAR = gp.LinearCost(0.1)
SURVIVAL = [0.917, 0.837, 0.648, 0.538, 0.451, 0.348]
COUNTS = Counts.from_histogram([39, 10, 2, 3])
CALIBRATED = gp.calibrate([gp.Run(5, 1.45, pooled_rate=0.55)])
EVIL = "<script>alert('α')</script> & \"quoted\" \x1b[31m"


def adapted():
    blocks = gp.drawn(gp.Regimes(0.9, 0.4, 100), requests=20, tokens=200, seed=0)
    return gp.compare_policies(blocks, {"mine": gp.Heuristic()}, LINEAR)


def reported(folder):
    for name, drafted in (("a", 4), ("b", 6)):
        line = json.dumps({"drafted": drafted, "accepted": 2}) + "\n"
        (folder / f"{name}.jsonl").write_text(line * 3)
    return gp.read_reports(sorted(folder.glob("*.jsonl")))


def verified():
    p = np.full((3, 2), 0.5)
    return gp.verify_chain(p, p[:2], [[0, 1]] * 4, rng=np.random.default_rng(0))


MADE = {
    "Geometric": lambda _: gp.Geometric(0.8),
    "PerPosition": lambda _: gp.PerPosition.from_survival(SURVIVAL),
    "BetaGeometric": lambda _: gp.BetaGeometric(2.8, 1.2),
    "Curve": lambda _: gp.curve(gp.Geometric(0.8), gp.TableCost((2, 4), (1.2, 1.6)), range(6)),
    "Band": lambda _: gp.decide(gp.Geometric(1.0), gp.LinearCost(0.0)).band,
    "Decision": lambda _: gp.decide(gp.Geometric(1.0), LINEAR),
    "Counts": lambda _: COUNTS,
    "Estimate": lambda _: gp.estimate(COUNTS),
    "bounded Estimate": lambda _: gp.estimate(Counts(rounds=10, drafted=40, accepted=20)),
    "Calibration": lambda _: CALIBRATED,
    "Comparison": lambda _: adapted(),
    "Tree": lambda _: gp.optimal_tree([0.6, 0.2], 6),
    "Verified": lambda _: verified(),
    "Report": reported,
}


@pytest.fixture(params=MADE)
def result(request, tmp_path):
    return MADE[request.param](tmp_path)


def test_every_public_class_that_is_a_result_is_tried_here():
    classes = [getattr(gp, name) for name in gp.__all__]
    public = {c.__name__ for c in classes if isinstance(c, type) and issubclass(c, Result)}
    assert public <= MADE.keys()


def test_a_result_is_json_without_nan_or_infinity(result):
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


def test_a_result_is_still_immutable(result):
    with pytest.raises((AttributeError, TypeError)):  # which of them differs between Pythons
        result.surprise = 1


def test_rows_are_flat_and_have_the_same_keys(result):
    assert result.rows
    for row, following in pairwise([*result.rows, result.rows[0]]):
        assert row.keys() == following.keys()
        assert not any(isinstance(v, dict | tuple | np.generic) for v in row.values())


def test_rows_go_into_pandas(result):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(result.rows)
    assert (len(frame), list(frame)) == (len(result.rows), list(result.rows[0]))


def test_rows_go_into_polars(result):
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result.rows).to_dicts() == result.rows


class Tags(HTMLParser):
    """The texts of cells; every tag must be closed by its own, and heads have a scope."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert all("color" not in value and "background" not in value for _, value in attrs)
        assert (tag == "th") == ("scope" in dict(attrs))
        self.open.append(tag)
        self.cells += [""] * (tag in {"th", "td"})

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in {"th", "td"}:
            self.cells[-1] += data


def test_html_is_a_whole_table_without_colours(result):
    assert len(Tags(result._repr_html_()).cells) > 1


def test_html_shows_the_figures_by_their_paths():
    cells = Tags(gp.decide(gp.Geometric(0.8), LINEAR)._repr_html_()).cells
    figures = dict(zip(cells[::2], cells[1::2], strict=True))
    assert (figures["gamma"], figures["speedup"], figures["band.high"]) == ("6", "2.46964", "8")


def test_html_aligns_numbers_to_the_right():
    html = gp.curve(gp.Geometric(0.8), LINEAR, [4])._repr_html_()
    assert '<td style="text-align: right">1.4</td>' in html


def test_text_from_outside_is_escaped_in_html(tmp_path):
    group = gp.read_reports(_one_round(tmp_path)).groups[0]._replace(labels={EVIL: EVIL})
    html = gp.Report(counts=None, groups=(group,), findings=())._repr_html_()
    assert "<script" not in html
    assert EVIL in unescape(html)
    assert Tags(html).cells.count(EVIL) == 1


def test_html_of_many_rows_says_how_many_are_left_out():
    cells = Tags(gp.curve(gp.Geometric(0.8), LINEAR, range(1_100))._repr_html_()).cells
    assert cells[-1] == "1,040 more rows"


def test_a_curve_is_the_rows_of_the_table_command(cli):
    table = json.loads(cli("table --alpha 0.8 --c 0.1 --gamma 0..9 --json").stdout)["result"]
    rows = gp.curve(gp.Geometric(0.8), LINEAR, range(10)).rows
    assert [{name: row[name] for name in rows[0]} for row in table["rows"]] == rows


@pytest.mark.parametrize(
    ("law", "cost", "args"),
    [
        (gp.Geometric(0.8), LINEAR, "--alpha 0.8 --c 0.1"),
        (gp.Geometric(1.0), gp.LinearCost(0.1), "--alpha 1 --c 0.1"),
        (gp.Geometric(1.0), gp.LinearCost(0.0), "--alpha 1 --c 0"),
        (gp.Geometric(0.8), gp.LinearCost(0.3, overhead=0.5), "--alpha 0.8 --c 0.3 --overhead 0.5"),
    ],
)
def test_a_decision_agrees_with_the_optimum_document(cli, law, cost, args):
    document = json.loads(cli(f"optimum {args} --json").stdout)["result"]
    found = gp.decide(law, cost).to_dict()
    assert found.keys() - document.keys() == {"round_cost", "at_limit", "extrapolated"}
    assert {name: document[name] for name in found.keys() & document.keys()} == {
        name: value for name, value in found.items() if name in document
    }


def test_an_estimate_agrees_with_the_fit_document(cli, tmp_path):
    document = json.loads(cli(["fit", _one_round(tmp_path), "--json"]).stdout)["result"]
    found = gp.estimate(gp.read_reports(_one_round(tmp_path)).counts).to_dict()
    for name in ("alpha", "method", "bounds"):
        assert found[name] == document[name]
    assert found["interval"].keys() == document["interval"].keys()  # rounds in a row: by blocks
    for name in ("counts", "constancy", "acceptance"):
        same = found[name].keys() & document[name].keys()
        assert len(same) >= 3
        assert {key: found[name][key] for key in same} == {key: document[name][key] for key in same}


def test_a_comparison_has_the_keys_of_the_adapt_document(cli):
    args = "adapt --alpha 0.8 --spread 0.1 --c 0.1 --requests 20 --tokens 100 --json"
    document = json.loads(cli(args).stdout)["result"]
    found = adapted().to_dict()
    assert found.keys() - document.keys() == {"fixed"}
    assert found["policies"][0].keys() <= document["policies"][0].keys()
    assert found["best_fixed"].keys() == document["best_fixed"].keys()


def test_a_finding_keeps_where_it_comes_from():
    found = gp.Finding("code", "note", "Something.", "a.log")
    assert found.to_dict() == {
        "code": "code",
        "level": "note",
        "message": "Something.",
        "from": "a.log",
    }


def test_the_rows_of_a_tree_are_its_nodes():
    first, second, *_ = gp.Tree.from_children([2, 0, 0]).rows
    assert first == {"node": 0, "parent": None, "rank": None, "level": 0, "children": 2}
    assert second == {"node": 1, "parent": 0, "rank": 0, "level": 1, "children": 0}


def test_the_rows_of_verified_drafts_are_their_rounds():
    assert [row["accepted"] for row in verified().rows] == verified().accepted.tolist()


def test_the_rows_of_a_report_are_its_groups(tmp_path):
    rows = reported(tmp_path).rows
    assert [(row["file"], row["counts_drafted"]) for row in rows] == [
        ("a.jsonl", 12),
        ("b.jsonl", 18),
    ]


@given(st.floats(0, 1), st.floats(0, 10), st.integers(0, 2_000))
def test_no_figure_loses_a_digit(alpha, c, gamma):
    found = gp.curve(gp.Geometric(alpha), gp.LinearCost(c), [gamma])
    (row,) = found.rows
    assert row["gamma"] == gamma
    for name, value in (("speedup", found.speedup[0]), ("round_cost", found.round_cost[0])):
        assert row[name] == (value if math.isfinite(value) else None)


def _one_round(folder):
    path = folder / "rounds.jsonl"
    rounds = [(4, 2), (4, 4), (4, 0), (4, 1)] * 2
    lines = (json.dumps({"drafted": d, "accepted": a}) + "\n" for d, a in rounds)
    path.write_text("".join(lines))
    return str(path)
