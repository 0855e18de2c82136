"""cost and explain: public figures, verdicts, and their documents."""

import json

import jsonschema
import pytest

from gammaplan.cli.schema import document_schema
from tests.support import rows

PUBLIC = "--target-ms 27.95 --draft-round-ms {} --verify-ms {}"


def document(done):
    assert done.exit_code == 0, done.stderr
    whole = json.loads(done.stdout)
    jsonschema.validate(whole, document_schema(whole["schema"].split(".")[1].split("/")[0]))
    return whole


@pytest.mark.parametrize(
    ("gamma", "length", "draft", "verify", "measured", "timed"),
    [
        (1, 1.792, 7.69, 30.49, 1.251, 1.312),
        (7, 3.762, 39.03, 63.54, 0.931, 1.025),
        (7, 3.955, 40.27, 62.69, 0.988, 1.074),
    ],
)
def test_the_difference_is_named(cli, gamma, length, draft, verify, measured, timed):
    timings = PUBLIC.format(draft, verify)
    done = cli(f"explain --gamma {gamma} --speedup {measured} --mean-length {length} "
               f"{timings} --json")  # fmt: skip
    result = document(done)["result"]
    assert round(result["timed_speedup"], 3) == timed
    assert result["measured_speedup"] == pytest.approx(measured)
    parts = {part["name"]: part for part in result["parts"]}
    assert parts["draft"]["ms"] == pytest.approx(draft)
    assert parts["unexplained"]["target_passes"] > 0.05
    assert sum(p["share"] for p in result["parts"]) == pytest.approx(1)
    assert result["verdict"] == ("wrong_gamma" if measured < 1 else result["verdict"])


def test_alpha_and_c_alone(cli):
    result = document(cli("explain --alpha 0.44 --gamma 5 --c 0.11 --json"))["result"]
    assert round(result["textbook_speedup"], 4) == 1.1437
    assert result["measured_speedup"] is None


def test_chen2023(cli):
    table = [r for r in rows("published/chen2023_table1") if r["gamma"] == "4"]
    found = [
        document(cli(f"explain --gamma 4 --speedup {r['speedup']} --target-ms 14.1 --draft-ms 1.8 "
                     "--json"))["result"]
        for r in table
    ]  # fmt: skip
    assert [round(f["mean_length"], 2) for f in found] == [2.9, 3.04, 3.72]
    assert [round(f["alpha"], 2) for f in found] == [0.72, 0.75, 0.85]


def test_needed_reaches_the_goal(cli):
    result = document(cli("explain --alpha 0.6 --gamma 4 --c 0.2 --goal 1.5 --json"))["result"]
    for change in ("alpha", "c"):
        given = {"alpha": 0.6, "c": 0.2} | {change: result["needed"][change]}
        again = document(cli(f"explain --alpha {given['alpha']!r} --gamma 4 --c {given['c']!r} "
                             "--json"))["result"]  # fmt: skip
        assert again["textbook_speedup"] == pytest.approx(1.5)


def test_a_round_cheaper_than_a_pass(cli):
    whole = document(cli("explain --gamma 5 --speedup 3.9 --pooled-rate 0.4 --json"))
    assert whole["result"]["verdict"] == "baseline_suspect"
    assert "round_cheaper_than_pass" in [w["code"] for w in whole["warnings"]]
    assert cli("explain --gamma 5 --speedup 3.9 --pooled-rate 0.4 --strict").exit_code == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--c 0.1 --alpha 0.5", "--gamma is missing"),
        ("--gamma 5 --alpha 0.5 --pooled-rate 0.4 --c 0.1", "give it once"),
        ("--gamma 5 --speedup 1.2 --verify-ms 20", "--target-ms"),
        ("--gamma 3 --run gamma=5,speedup=1.2", "no run has γ 3"),
        ("--gamma 5 --alpha 0.5 --c 0.1 --goal 0", "above 0"),
    ],
)
def test_one_sentence(cli, args, words):
    done = cli(f"explain {args}")
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        "cost --target-ms 14.1 --draft-ms 1.8 --verify-ms 18.5 --gamma 4",
        "cost --gamma 5 --speedup 1.45 --pooled-rate 0.55 --run gamma=2,speedup=1.4",
        "cost --run gamma=1,speedup=1.3,mean_length=1.8 --run gamma=3,speedup=1.5,mean_length=2.9 "
        "--run gamma=6,speedup=0.8,mean_length=3.6 --run gamma=8,speedup=1.4,mean_length=4",
        "explain --gamma 5 --speedup 0.93 --pooled-rate 0.4 --c 0.11",
        "explain --alpha 0.44 --gamma 5 --c 0.11 --goal 1.5",
    ],
)
def test_help_examples_at_80_columns(cli, args):
    document(cli(f"{args} --json"))
    done = cli(args)
    assert done.exit_code == 0
    assert done.stdout.strip()
    assert max(map(len, done.stdout.splitlines())) <= 80
    for form in ("csv", "markdown"):
        assert cli(f"{args} --format {form}").exit_code == 0


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ("cost --target-ms 14 --draft-ms 1 --verify-ms 13 --gamma 4", "verify_below_target"),
        ("cost --gamma 4 --speedup 1.3 --mean-length 2", "line_from_prior"),
        ("explain --gamma 4 --speedup 1.3", "acceptance_assumed"),
        ("explain --gamma 4 --speedup 1.3 --c 0.1", "mean_length_from_cost"),
    ],
)
def test_what_was_assumed_is_said(cli, args, code):
    assert code in [found["code"] for found in document(cli(f"{args} --json"))["warnings"]]


def test_cost_is_evidence(cli, tmp_path):
    path = tmp_path / "cost.json"
    path.write_text(cli("cost --target-ms 14.1 --draft-ms 1.8 --json").stdout)
    best = json.loads(cli(["optimum", "--alpha", "0.8", str(path), "--json"]).stdout)["result"]
    same = json.loads(cli("optimum --alpha 0.8 --draft-ms 1.8 --target-ms 14.1 --json").stdout)
    assert best["gamma"] == same["result"]["gamma"]


def test_explained_acceptance_and_cost_are_evidence(cli, tmp_path):
    path = tmp_path / "explain.json"
    path.write_text(cli("explain --gamma 5 --speedup 1.4 --pooled-rate 0.5 --json").stdout)
    known = json.loads(path.read_text())["result"]
    found = json.loads(cli(["optimum", str(path), "--json"]).stdout)["result"]
    assert found["gamma"] == known["best"]["gamma"]
    assert found["speedup"] == pytest.approx(known["best"]["speedup"])


def test_evidence_gives_a_run_its_acceptance(cli, tmp_path):
    path = tmp_path / "law.json"
    path.write_text(cli("convert --survival 0.8,0.6,0.4 --json").stdout)
    done = cli(["cost", str(path), "--gamma", "3", "--speedup", "1.4", "--json"])
    assert document(done)["result"]["rows"][0]["round_cost"] == pytest.approx(2.8 / 1.4)


@pytest.mark.parametrize("command", ["cost", "explain", "plan"])
def test_a_run_has_the_draft_length_that_the_evidence_was_at(cli, tmp_path, command):
    evidence = tmp_path / "fit.json"
    evidence.write_text(cli("convert --mean-length 3.1 --gamma 4 --json").stdout)
    done = cli([command, str(evidence), "--speedup", "1.5", "--json"])
    stated = cli([command, str(evidence), "--speedup", "1.5", "--gamma", "4", "--json"])
    assert document(done)["result"] == document(stated)["result"]
    assert document(done)["inputs"]["gamma"] == 4


def test_a_cost_is_evidence_for_explain(cli, tmp_path):
    path = tmp_path / "cost.json"
    path.write_text(cli("cost --target-ms 10 --draft-ms 1.1 --json").stdout)
    whole = document(cli(["explain", str(path), "--alpha", "0.44", "--gamma", "5", "--json"]))
    assert round(whole["result"]["textbook_speedup"], 4) == 1.1437
    assert whole["sources"]["c"].startswith("evidence:")
    refused = cli(["cost", str(path), "--gamma", "5", "--speedup", "1.2"])
    assert refused.exit_code == 2
    assert "is a cost already" in refused.stderr
