"""How commands read documents: slots, precedence, groups, --pick, and findings carried on."""

import json

import pytest

ALPHA9 = {"model": "geometric", "parameters": {"alpha": 0.9}}
ALPHA7 = {"model": "geometric", "parameters": {"alpha": 0.7}}
GROUPS = {
    "schema": "gammaplan.fit/1",
    "result": {
        "groups": [
            {"labels": {"temperature": 0, "model": "[b]a[/b]\x1b[31m"}, "acceptance": ALPHA9},
            {"labels": {"temperature": 1, "model": "=b"}, "acceptance": ALPHA7},
        ]
    },
    "warnings": [
        {"code": "few_drafts", "level": "warning", "message": "9 rounds\x1b[31m are [b]few[/b]"}
    ],
}
COSTS = {
    "schema": "gammaplan.cost/1",
    "result": {"costs": [{"batch": 1, "c": 0.05}, {"batch": 8, "c": 0.2}]},
}
TABLE = {
    "schema": "gammaplan.cost/1",
    "result": {"costs": [{"table": [{"gamma": g, "round_cost": 1 + g / 10} for g in (1, 2, 3)]}]},
}


@pytest.fixture
def write(tmp_path):
    def save(name, document):
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return str(path)

    return save


@pytest.fixture
def groups(write):
    return write("groups.json", GROUPS)


@pytest.fixture
def costs(write):
    return write("costs.json", COSTS)


def answer(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_convert_feeds_optimum(cli):
    evidence = cli("convert --mean-length 4.739 --gamma 6 --json").stdout
    found = answer(cli("optimum - --c 0.05 --json", input=evidence))
    assert found["result"]["gamma"] == 11
    assert found["sources"]["alpha"] == "evidence:standard input"


def test_evidence_is_named_as_the_source_of_its_inputs(cli, write):
    path = write("alpha.json", {"schema": "gammaplan.convert/1", "result": {"acceptance": ALPHA9}})
    found = answer(cli(["optimum", path, "--c", "0.05", "--json"]))
    assert found["inputs"]["alpha"] == 0.9
    assert found["sources"]["alpha"] == f"evidence:{path}"
    assert found["sources"]["c"] == "flag"


def test_a_flag_beats_evidence(cli, groups):
    found = answer(cli(["optimum", groups, "--alpha", "0.5", "--c", "0.05", "--json"]))
    assert (found["inputs"]["alpha"], found["sources"]["alpha"]) == (0.5, "flag")


def test_evidence_beats_the_worked_example(cli, groups, costs):
    found = answer(cli(["optimum", groups, costs, "--pick", "temperature=0", "--json"]))
    assert "worked_example" not in [w["code"] for w in found["warnings"]]


def test_several_groups_are_answered_each(cli, groups):
    found = answer(cli(["optimum", groups, "--c", "0.1", "--json"]))["result"]["groups"]
    assert [part["labels"]["temperature"] for part in found] == [0, 1]
    assert [part["gamma"] for part in found] == [10, 4]


@pytest.mark.parametrize(("value", "gamma"), [("0", 10), ("1", 4), ("1.0", 4)])
def test_pick_chooses_one_group(cli, groups, value, gamma):
    args = ["optimum", groups, "--c", "0.1", "--pick", f"temperature={value}", "--json"]
    assert answer(cli(args))["result"]["gamma"] == gamma


def test_pick_chooses_one_cost(cli, costs):
    args = ["optimum", costs, "--alpha", "0.8", "--pick", "batch=8", "--json"]
    assert answer(cli(args))["inputs"]["c"] == 0.2


def test_picks_add_up(cli, groups, costs):
    picks = ["--pick", "temperature=1", "--pick", "batch=1"]
    assert answer(cli(["optimum", groups, costs, *picks, "--json"]))["result"]["gamma"] == 6


def test_every_group_meets_every_cost(cli, groups, costs):
    found = answer(cli(["optimum", groups, costs, "--json"]))["result"]["groups"]
    assert [(p["labels"]["temperature"], p["labels"]["batch"]) for p in found] == [
        (0, 1),
        (0, 8),
        (1, 1),
        (1, 8),
    ]


def test_a_pick_that_matches_nothing_says_what_there_is(cli, groups):
    result = cli(["optimum", groups, "--c", "0.1", "--pick", "temperature=2"])
    assert result.exit_code == 2
    assert "temperature is 0, 1" in result.stderr


def test_two_files_for_one_slot_are_a_contradiction(cli, groups, write):
    other = write("other.json", GROUPS)
    result = cli(["optimum", groups, other, "--c", "0.1"])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert groups in result.stderr
    assert other in result.stderr


def test_overhead_changes_a_linear_cost_of_evidence(cli, costs):
    args = ["--alpha", "0.8", "--overhead", "0.5", "--pick", "batch=1", "--json"]
    found = answer(cli(["optimum", costs, *args]))
    assert found["result"]["costs"][0]["overhead"] == 0.5


def test_overhead_does_not_change_a_measured_table(cli, write):
    result = cli(["optimum", write("t.json", TABLE), "--alpha", "0.8", "--overhead", "0.5"])
    assert result.exit_code == 2
    assert "has a table of round costs" in result.stderr


def test_a_measured_table_is_searched_to_its_end(cli, write):
    found = answer(cli(["optimum", write("t.json", TABLE), "--alpha", "0.9", "--json"]))
    assert found["result"]["gamma"] == 3
    assert [w["code"] for w in found["warnings"]] == ["search_limit"]


def test_rows_beyond_a_measured_table_have_no_cost(cli, write):
    args = ["table", write("t.json", TABLE), "--alpha", "0.9", "--gamma", "3,4", "--json"]
    rows = answer(cli(args))["result"]["rows"]
    assert [row["round_cost"] for row in rows] == [pytest.approx(1.3), None]
    assert rows[1]["speedup"] is None


def test_findings_of_evidence_are_carried_on(cli, groups):
    found = answer(cli(["optimum", groups, "--c", "0.1", "--json"]))["warnings"]
    assert [(w["code"], w["from"]) for w in found] == [("few_drafts", groups)]


def test_markup_and_escapes_in_findings_are_text(cli, groups):
    stderr = cli(["optimum", groups, "--c", "0.1"]).stderr
    assert "\x1b" not in stderr
    assert "9 rounds\\x1b[31m are [b]few[/b]" in stderr


@pytest.mark.parametrize("command", ["optimum", "table", "ceiling", "tokens"])
def test_markup_and_escapes_in_labels_are_text(cli, groups, command):
    cost = [] if command == "tokens" else ["--c", "0.1"]
    stdout = cli([command, groups, *cost]).stdout
    assert "\x1b" not in stdout
    assert "[b]a[/b]" in stdout


def test_measured_positions_are_planned_with_as_they_are(cli):
    evidence = cli("convert --survival 0.930,0.845,0.683 --json").stdout
    found = answer(cli("optimum - --c 0.6 --json", input=evidence))["result"]
    assert found["acceptance"]["model"] == "per_position"
    assert found["gamma"] == 2
    assert found["gamma_continuous"] is None


def test_past_the_last_position_the_smaller_of_last_hazard_and_alpha_holds(cli):
    evidence = cli("convert --survival 0.930,0.845,0.683 --json").stdout
    found = answer(cli("optimum - --c 0.05 --json", input=evidence))
    law = found["result"]["acceptance"]
    assert law["observed_to"] == 3
    assert law["beyond"] == pytest.approx(min(0.683 / 0.845, law["alpha"]))
    assert found["result"]["gamma"] > 3
    assert "extrapolated" in [w["code"] for w in found["warnings"]]


@pytest.mark.parametrize("command", ["optimum", "table"])
@pytest.mark.parametrize(
    "figure",
    [
        "--alpha 0.8",
        "--survival 0.9,0.8,0.6",
        "--histogram 39,1,0,3",
        "--pooled-rate 0.8 --gamma 5",
    ],
)
def test_every_point_of_convert_is_evidence(cli, command, figure):
    evidence = cli(f"convert {figure} --json").stdout
    assert cli(f"{command} - --c 0.05 --json", input=evidence).exit_code == 0


def test_an_optimum_is_evidence_of_its_acceptance_and_its_cost(cli):
    first = cli("optimum --alpha 0.7 --c 0.08 --json").stdout
    again = cli("optimum - --json", input=first)
    assert json.loads(again.stdout)["result"] == json.loads(first)["result"]


@pytest.mark.parametrize("name", ["worst_residual", "run_noise"])
@pytest.mark.parametrize("value", [-1, 21, 1e308])
def test_a_cost_further_from_its_runs_than_any_can_be_is_refused(cli, write, name, value):
    cost = {"kind": "fitted", "c": 0.1, name: value}
    path = write("cost.json", {"schema": "gammaplan.cost/1", "result": {"costs": [cost]}})
    done = cli(f"plan {path} --alpha 0.7 --json")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert f"{name} must be from 0 to 20" in done.stderr
