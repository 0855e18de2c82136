"""What the terminal says: the answer first, in one line, then why; the figures of the issue."""

import csv
import io
import json

import pytest


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


def test_the_table_answers_first(cli):
    assert lines(cli("table --alpha 0.8 --c 0.1"))[0] == "γ = 6 is best: 2.47× (α 0.8, c 0.1)."


def test_the_table_marks_the_best_row_and_the_band_by_characters(cli):
    marks = [line[0] for line in lines(cli("table --alpha 0.8 --c 0.1"))[3:15]]
    assert marks == [" ", " ", " ", "|", "|", "*", "|", "|", " ", " ", " ", " "]


def test_the_table_has_a_number_beside_every_bar(cli):
    for line in lines(cli("table --alpha 0.8 --c 0.1"))[3:15]:
        assert " % █" in line


@pytest.mark.parametrize(
    "said",
    [
        "Within 3 % of it: γ 4..8.",
        "Continuous optimum: γ 5.756, 2.47×.",
        "Ceiling: 5.00×",
        "Break-even: γ 6 pays with α above 0.3757 or c below 0.4919",
    ],
)
@pytest.mark.parametrize("command", ["table", "optimum"])
def test_under_the_answer_stands_why(cli, command, said):
    assert said in cli(f"{command} --alpha 0.8 --c 0.1").stdout


def test_a_best_gamma_outside_the_rows_is_named(cli):
    found = lines(cli("table --alpha 0.9 --c 0.02"))
    assert "The best, γ = 19, lies outside the rows shown." in found
    assert found[0].startswith("γ = 19 is best: ")


def test_where_nothing_pays_the_answer_is_not_to_speculate(cli):
    found = lines(cli("table --alpha 0.3 --c 0.5"))
    assert found[0] == "γ = 0 is best: do not speculate (α 0.3, c 0.5)."


def test_where_no_length_is_best_the_supremum_is_named(cli):
    found = lines(cli("optimum --alpha 0.8 --c 0"))
    assert found[0].startswith("No best γ: longer drafts are always faster, towards 5.00×")


def test_raising_alpha_is_seen_to_beat_tuning_gamma(cli):
    result = json.loads(cli("optimum --alpha 0.8 --c 0.1 --gamma 4 --json").stdout)["result"]
    gains = {item["change"]: item["gain"] for item in result["helps"]}
    assert gains["alpha + 0.05"] > gains["gamma"] > 0
    assert gains["c / 2"] > gains["gamma"]


def test_what_helps_most_comes_first(cli):
    result = json.loads(cli("optimum --alpha 0.8 --c 0.1 --gamma 4 --json").stdout)["result"]
    gains = [item["gain"] for item in result["helps"]]
    assert gains == sorted(gains, reverse=True)


def test_the_gamma_in_use_is_compared_with_the_best(cli):
    text = cli("optimum --alpha 0.8 --c 0.1 --gamma 4").stdout
    assert "In use: γ 4, 2.40×, 2.8 % below the best." in text


@pytest.mark.parametrize("cost", ["--c 0.1", "--speed-ratio 10", "--draft-ms 1.5 --target-ms 15"])
def test_three_ways_to_give_c_are_one_answer(cli, cost):
    result = json.loads(cli(f"optimum --alpha 0.8 {cost} --json").stdout)["result"]
    assert result["gamma"] == 6
    assert result["costs"][0]["c"] == pytest.approx(0.1)


@pytest.mark.parametrize("alpha", ["0.8", "80%", "8e-1", " 0.8 "])
def test_a_fraction_may_be_written_in_percent_with_its_sign(cli, alpha):
    assert (
        cli(["optimum", "--alpha", alpha, "--c", "0.1", "--json"]).stdout
        == cli("optimum --alpha 0.8 --c 0.1 --json").stdout
    )


@pytest.mark.parametrize("tolerance", ["0.01", "1%"])
def test_a_tolerance_may_be_written_in_percent(cli, tolerance):
    result = cli(f"optimum --alpha 0.8 --c 0.1 --tolerance {tolerance} --json")
    band = json.loads(result.stdout)["result"]["band"]
    assert (band["low"], band["high"]) == (5, 7)


@pytest.mark.parametrize(
    ("text", "gammas"),
    [("4", [4]), ("1,2,4", [1, 2, 4]), ("0..3", [0, 1, 2, 3]), ("1,8..12:2", [1, 8, 10, 12])],
)
def test_lists_of_gamma(cli, text, gammas):
    result = json.loads(cli(f"tokens --alpha 0.8 --gamma {text} --json").stdout)["result"]
    assert [row["gamma"] for row in result["rows"]] == gammas


def test_a_decimal_range_holds_both_ends_exactly(cli):
    found = json.loads(cli("sweep --alpha 0.5..0.95:0.05 --c 0.1 --json").stdout)
    assert found["inputs"]["alpha"] == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


def test_max_gamma_limits_the_search_and_says_so(cli):
    found = json.loads(cli("optimum --alpha 0.8 --c 0.1 --max-gamma 4 --json").stdout)
    assert found["result"]["gamma"] == 4
    assert [w["code"] for w in found["warnings"]] == ["search_limit"]


def test_the_sweep_maps_every_pair(cli):
    rows = json.loads(cli("sweep --json").stdout)["result"]["rows"]
    assert len(rows) == 50
    for row in rows:
        args = f"optimum --alpha {row['alpha']} --c {row['c']} --json"
        one = json.loads(cli(args).stdout)["result"]
        assert (row["gamma"], row["band_low"], row["band_high"]) == (
            one["gamma"],
            one["band"]["low"],
            one["band"]["high"],
        )


def test_the_sweep_shows_the_best_gamma_at_a_glance(cli):
    found = lines(cli("sweep --alpha 0.3,0.8 --c 0.1,0.5"))
    assert found[2].split() == ["α", "\\", "c", "0.1", "0.5"]
    assert found[3].split() == ["0.3", "1", "1.18×", "0", "plain"]
    assert found[4].split() == ["0.8", "6", "2.47×", "2", "1.22×"]


@pytest.mark.parametrize(
    ("args", "headline"),
    [
        (
            "--pooled-rate 0.59 --gamma 4",
            "α = 0.7998 at γ 4; certain without any assumption: α ≥ 0.59.",
        ),
        (
            "--pooled-rate 0.8 --gamma 5",
            "α = 0.9265 at γ 5; certain without any assumption: α ≥ 0.8.",
        ),
        ("--histogram 39,1,0,3", "α = 0.2000 at γ 3 (by the mean length alone 0.1897)."),
        ("--mean-length 4.739 --gamma 6", "α = 0.8662 at γ 6."),
        (
            "--survival 0.917,0.837,0.648,0.538,0.451,0.348",
            "α = 0.8515 at γ 6 (by the mean length alone 0.8662).",
        ),
        ("--alpha 0.8", "α = 0.8000."),
    ],
)
def test_convert_answers_in_one_line(cli, args, headline):
    assert lines(cli(f"convert {args}"))[0] == headline


def test_convert_of_the_reported_survival(cli):
    args = "convert --survival 0.917,0.837,0.648,0.538,0.451,0.348 --json"
    result = json.loads(cli(args).stdout)["result"]
    assert round(result["mean_length"], 3) == 4.739
    assert round(result["pooled_rate"], 3) == 0.623
    assert round(result["alpha_other"], 4) == 0.8662
    assert [round(h, 3) for h in result["hazards"]] == [0.917, 0.913, 0.774, 0.83, 0.838, 0.772]


def test_convert_of_the_reported_histogram(cli):
    result = json.loads(cli("convert --histogram 39,1,0,3 --json").stdout)["result"]
    counts = result["acceptance"]["counts"]
    assert (counts["rounds"], counts["accepted"]) == (43, 10)
    assert round(result["mean_length"], 5) == 1.23256


def test_convert_splits_no_name_of_an_engine(cli):
    words = cli("convert --alpha 0.8 --gamma 4").stdout.split()
    assert "spec_decode_token_weighted_acceptance_length" in words


def test_convert_says_that_hazards_are_not_constant(cli):
    assert "acceptance is not constant" in cli("convert --survival 0.9,0.5,0.4").stderr


def test_convert_says_that_it_assumes_full_drafts(cli):
    assert "--drafted-per-round" in cli("convert --pooled-rate 0.8 --gamma 5").stderr


def test_short_drafts_give_bounds_instead_of_a_point(cli):
    args = "convert --pooled-rate 0.8 --gamma 5 --drafted-per-round 3"
    found = json.loads(cli(f"{args} --json").stdout)
    assert found["result"]["alpha"] is None
    assert found["result"]["bounds"] == pytest.approx({"low": 0.8, "high": 2.4 / (2.4 + 0.6 / 5)})
    assert [w["code"] for w in found["warnings"]] == ["alpha_unknown"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp", "tensorrt-llm"])
def test_convert_says_what_each_engine_calls_it(cli, engine):
    args = "convert --alpha 0.8 --gamma 4"
    assert json.loads(cli(f"{args} --json").stdout)["result"]["engines"][engine]
    assert engine in cli(args).stdout


def test_vllm_calls_the_pooled_rate_draft_acceptance_rate(cli):
    result = json.loads(cli("convert --alpha 0.8 --gamma 4 --json").stdout)["result"]
    assert result["engines"]["vllm"]["Draft acceptance rate"] == pytest.approx(0.5904)


def test_csv_has_the_rows_of_the_json(cli):
    table = list(csv.DictReader(io.StringIO(cli("table --format csv").stdout)))
    rows = json.loads(cli("table --json").stdout)["result"]["rows"]
    assert [float(row["speedup"]) for row in table] == [row["speedup"] for row in rows]


def test_csv_without_rows_is_one_row_of_the_scalars(cli):
    (row,) = csv.DictReader(io.StringIO(cli("optimum --alpha 0.8 --c 0.1 --format csv").stdout))
    assert (row["gamma"], row["band_low"], row["band_high"]) == ("6", "4", "8")


def test_null_is_an_empty_cell(cli):
    (row,) = csv.DictReader(io.StringIO(cli("optimum --alpha 1 --c 0 --format csv").stdout))
    assert (row["gamma"], row["speedup"], row["unbounded"]) == ("", "", "true")


def test_markdown_is_a_table_of_the_same_rows(cli):
    header, rule, *rows = cli("tokens --alpha 0.8 --gamma 0..2 --format markdown").stdout.split(
        "\n"
    )
    assert header == "| gamma | expected_tokens | accepted_per_round | pooled_rate |"
    assert rule == "| --- | --- | --- | --- |"
    assert rows[0] == "| 0 | 1.0 | 0.0 |  |"


@pytest.mark.parametrize(
    "args",
    ["--alpha 0 --c 0.1", "--alpha 1 --c 0.5", "--alpha 0.8 --c 0", "--alpha 0.8 --c 5"],
)
@pytest.mark.parametrize("command", ["optimum", "table", "ceiling"])
def test_edges_are_legal(cli, command, args):
    assert cli(f"{command} {args}").exit_code == 0
