"""Several set-ups at once, priors where nothing was given, and options that would do nothing."""

import json

import jsonschema
import pytest

from gammaplan.cli.schema import document_schema

SGLANG = [
    {"batch_size": 1, "steps": 0, "topk": 0, "acc_length": 1.0, "throughput": 100.0},
    {"batch_size": 1, "steps": 3, "topk": 1, "acc_length": 2.4, "throughput": 160.0},
    {"batch_size": 8, "steps": 0, "topk": 0, "acc_length": 1.0, "throughput": 600.0},
    {"batch_size": 8, "steps": 3, "topk": 1, "acc_length": 2.4, "throughput": 700.0},
]


@pytest.fixture
def batches(tmp_path):
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in SGLANG))
    return str(path)


def document(done):
    assert done.exit_code == 0, done.stderr
    whole = json.loads(done.stdout)
    jsonschema.validate(whole, document_schema(whole["schema"].split(".")[1].split("/")[0]))
    return whole


def answer(cli, line):
    return document(cli([*(line.split() if isinstance(line, str) else line), "--json"]))["result"]


@pytest.mark.parametrize("command", ["cost", "explain"])
def test_every_batch_is_answered(cli, batches, command):
    whole = document(cli([command, "--runs", batches, "--json"]))
    groups = whole["result"]["groups"]
    assert [g["labels"] for g in groups] == [{"batch": 1}, {"batch": 8}]
    assert [g["costs"][0]["batch"] for g in groups] == [1, 8]
    one = answer(cli, [command, "--runs", batches, "--pick", "batch=8"])
    del groups[1]["labels"]
    assert one == groups[1]
    text = cli([command, "--runs", batches])
    assert "batch=1" in text.stdout
    assert "batch=8" in text.stdout
    assert cli([command, "--runs", batches, "--format", "csv"]).stdout.startswith("batch,")


def test_the_costs_of_several_batches_are_evidence(cli, batches, tmp_path):
    path = tmp_path / "cost.json"
    path.write_text(cli(["cost", "--runs", batches, "--json"]).stdout)
    assert [c["batch"] for c in json.loads(path.read_text())["result"]["costs"]] == [1, 8]
    lengths = [g["gamma"] for g in answer(cli, ["optimum", str(path), "-a", "0.8"])["groups"]]
    picked = ["optimum", str(path), "-a", "0.8", "--pick", "batch=8"]
    assert lengths[0] > lengths[1] == answer(cli, picked)["gamma"]


def test_every_group_of_evidence_is_explained(cli, tmp_path):
    law = json.loads(cli("convert --survival 0.8,0.6,0.4 --json").stdout)
    result = law["result"]
    other = json.loads(cli("convert --survival 0.6,0.3,0.1 --json").stdout)["result"]
    law["result"] = {
        "groups": [
            {"labels": {"temperature": t}, "acceptance": r["acceptance"], "gamma": 3}
            for t, r in ((0, result), (1, other))
        ]
    }
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(law))
    foretold = answer(cli, ["explain", str(path), "--c", "0.1"])["groups"]
    assert [round(g["textbook_speedup"], 4) for g in foretold] == [round(2.8 / 1.3, 4), 1.5385]
    run = ["--gamma", "3", "--speedup", "1.4"]
    measured = answer(cli, ["explain", str(path), *run])["groups"]
    assert [g["mean_length"] for g in measured] == pytest.approx([2.8, 2.0])
    costs = answer(cli, ["cost", str(path), *run])
    assert [g["rows"][0]["round_cost"] for g in costs["groups"]] == pytest.approx([2.0, 2 / 1.4])
    assert "costs" not in costs
    one = answer(cli, ["explain", str(path), *run, "--pick", "temperature=1"])
    assert one["mean_length"] == pytest.approx(2.0)


def test_without_c_the_textbook_takes_that_of_public_sweeps(cli):
    line = "explain --gamma 5 --speedup 0.93 --pooled-rate 0.4"
    whole = document(cli(f"{line} --json"))
    book = whole["result"]["textbook"]
    assert book["kind"] == whole["sources"]["c"] == "prior"
    assert book["low"] < book["speedup"] == whole["result"]["textbook_speedup"] < book["high"]
    assert [p["name"] for p in whole["result"]["parts"]] == ["target", "unexplained"]
    assert "of public sweeps (--c replaces it)" in " ".join(cli(line).stdout.split())
    known = answer(cli, f"{line} --c 0.1")["textbook"]
    assert known == {"c": 0.1, "kind": "given", "speedup": 2.0, "low": None, "high": None}


@pytest.mark.parametrize(
    ("line", "slot"), [("--alpha 0.6 --gamma 4", "costs"), ("--c 0.1 --gamma 4", "acceptance")]
)
def test_what_nobody_gave_is_the_prior(cli, line, slot):
    found = answer(cli, f"explain {line}")
    part = found[slot][0] if slot == "costs" else found[slot]
    assert part["kind"] == "prior"
    assert found["textbook"]["low"] < found["textbook_speedup"] < found["textbook"]["high"]
    assert answer(cli, f"explain {line} --method eagle3")["best"] != found["best"]


def test_evidence_brings_its_length(cli, tmp_path):
    path = tmp_path / "law.json"
    path.write_text(cli("convert --mean-length 2.8 --gamma 3 --json").stdout)
    assert answer(cli, ["explain", str(path), "--c", "0.1"])["gamma"] == 3


def test_a_fixed_part_is_a_part(cli, tmp_path):
    path = tmp_path / "cost.json"
    runs = "--run gamma=2,speedup=1.3,mean_length=2.2 --run gamma=5,speedup=1.2,mean_length=3"
    path.write_text(cli(f"cost {runs} --json").stdout)
    fixed = json.loads(path.read_text())["result"]["costs"][0]["overhead"]
    found = answer(cli, ["explain", str(path), "--alpha", "0.6", "--gamma", "4"])
    parts = {part["name"]: part["target_passes"] for part in found["parts"]}
    assert parts["overhead"] == pytest.approx(fixed)
    assert sum(parts.values()) == pytest.approx(found["round_cost"])
    best = answer(cli, ["optimum", str(path), "--alpha", "0.6"])
    assert best["gamma"] == found["best"]["gamma"]


def test_short_drafts_are_paid_for_as_drafted(cli):
    line = "explain --gamma 8 --speedup 1.2 --pooled-rate 0.5 --drafted-per-round 4 --c 0.1"
    assert answer(cli, line)["textbook_speedup"] == pytest.approx(3 / 1.4)


def test_verification_is_timed_for_cost_as_for_explain(cli):
    line = "--gamma 5 --speedup 1.4 --pooled-rate 0.5 --target-ms 10 --draft-round-ms 5"
    line += " --verify-ms 12"
    cost = answer(cli, f"cost {line}")["costs"][0]
    parts = {p["name"]: p["target_passes"] for p in answer(cli, f"explain {line}")["parts"]}
    assert cost["c"] * 5 == pytest.approx(parts["draft"])
    assert cost["verify_slope"] * 5 == pytest.approx(parts["verify"])
    assert cost["overhead"] == pytest.approx(parts["unexplained"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cost --target-ms 10 --draft-ms 1 --baseline-tps 40", "--baseline-tps needs a run"),
        ("cost --target-ms 10 --draft-ms 1 --method eagle3", "--method needs a run"),
        ("cost --target-ms 10 --draft-ms 1 --pick batch=3", "--pick needs a run"),
        ("cost --target-ms 10 --verify-ms 12 --gamma 4", "--verify-ms needs --draft-ms"),
        ("cost --target-ms 10 --gamma 5 --speedup 1.4", "--target-ms needs"),
        ("cost --gamma 5 --speedup 1.4 --mean-length 3 --method mtp", "--method chooses"),
        ("cost --c 0.1 --draft-round-ms 1 --target-ms 10 --gamma 4", "give it once"),
        ("cost --c 0.1 --draft-ms 1 --target-ms 10", "give it once"),
        ("explain --gamma 4 --alpha 0.5 --c 0.1 --baseline-ms 30", "--baseline-ms needs"),
        ("explain --gamma 4 --alpha 0.5 --c 0.1 --method mtp", "--method chooses"),
        ("explain --gamma 4 --drafted-per-round 3 --c 0.1", "--drafted-per-round needs"),
        ("explain --gamma 0 --speedup 1.2", "at least 1"),
        ("explain --gamma 4 --speedup 1.2 --pick x=1", "matches nothing"),
        (
            "explain --gamma 4 --alpha 0.5 --c 0.1 --target-ms 9 --verify-ms 9 --verify-slope 0",
            "by --verify-ms and by --verify-slope",
        ),
        ("explain --alpha 0.5 --run gamma=4,speedup=1.2,mean_length=3", "give it once"),
        ("plan --mix name=a,share=1,gamma=3,speedup=1.5 --c 0.1", "leave out --c"),
        ("plan --mix name=a,share=1,alpha=0.5 --c 0.1 --textbook", "--textbook"),
        ("plan --mix name=a,share=1,alpha=0.5,speedup=1.4 --c 0.1", "one of evidence, alpha"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(cli, line, said):
    done = cli(line)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["plan", "cost", "explain"])
def test_an_unknown_method_is_said_with_the_known_ones(cli, command):
    whole = document(cli(f"{command} --gamma 5 --speedup 1.4 --method medussa --json"))
    (said,) = [w["message"] for w in whole["warnings"] if w["code"] == "unknown_method"]
    assert "medussa" in said
    assert "eagle" in said
    known = document(cli(f"{command} --gamma 5 --speedup 1.4 --method EAGLE-3 --json"))
    assert "unknown_method" not in [w["code"] for w in known["warnings"]]


def test_a_batch_without_a_baseline_is_left_out(cli, tmp_path):
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(SGLANG[i]) + "\n" for i in (0, 1, 3)))
    whole = document(cli(["explain", "--runs", str(path), "--json"]))
    assert whole["result"]["costs"][0]["batch"] == 1
    (said,) = [w["message"] for w in whole["warnings"] if w["code"] == "batch_left_out"]
    assert "baseline is missing" in said


def test_trees_alone_are_no_runs(cli, tmp_path):
    path = tmp_path / "bench.jsonl"
    path.write_text(json.dumps(SGLANG[1] | {"topk": 4}) + "\n")
    done = cli(["cost", "--runs", str(path)])
    assert done.exit_code == 1
    assert "trees" in done.stderr


def test_a_mix_of_one_measured_workload_plans_as_its_runs_do(cli, tmp_path):
    path = tmp_path / "code.csv"
    path.write_text("gamma,speedup,mean_length\n3,1.7,2.9\n5,1.8,3.6\n")
    mixed = answer(cli, ["plan", "--mix", f"name=code,share=1,runs={path}"])
    plain = answer(cli, ["plan", "--runs", str(path)])
    for key in ("speedup", "low", "high", "measured"):
        ours, theirs = ([row[key] for row in found["rows"]] for found in (mixed, plain))
        assert ours == pytest.approx(theirs), key
    assert mixed["next_runs"] == plain["next_runs"]


def test_workloads_are_known_in_their_own_ways(cli):
    line = "plan --mix name=code,share=0.6,gamma=3,speedup=1.6,mean_length=2.9 "
    found = answer(cli, line + "--mix name=chat,share=0.4,alpha=0.5")
    assert [w["name"] for w in found["workloads"]] == ["code", "chat"]
    assert found["costs"][0]["kind"] == "fitted"
    assert found["prediction"]["covers"] == ["acceptance", "run"]
    assert all(row["measured"] is None for row in found["rows"])


def test_a_candidate_may_be_a_file_of_runs(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("gamma,speedup,mean_length\n3,1.7,2.9\n3,1.7,2.9\n")
    whole = document(
        cli(["plan", "--candidate", f"name=a,runs={path}", "--candidate", "name=b,alpha=0.5,c=0.1",
             "--json"])
    )  # fmt: skip
    assert whole["result"]["drafts"][0]["name"] == "a"
    assert "runs_pooled" in [w["code"] for w in whole["warnings"]]


def test_parts_that_exceed_their_round_are_said(cli):
    line = "explain --gamma 5 --speedup 1.5 --pooled-rate 0.4 --c 1.5"
    whole = document(cli(f"{line} --json"))
    assert "parts_exceed_round" in [w["code"] for w in whole["warnings"]]
    assert all(lever["speedup"] > 0 for lever in whole["result"]["levers"])
    fine = document(cli("explain --gamma 5 --speedup 1.5 --pooled-rate 0.4 --c 0.1 --json"))
    assert "parts_exceed_round" not in [w["code"] for w in fine["warnings"]]


def test_a_benchmark_without_times_has_its_throughput(cli, tmp_path):
    path = tmp_path / "bench.json"
    figures = {"output_throughput": 60.0, "spec_decode_acceptance_length": 2.2}
    rates = {"spec_decode_per_position_acceptance_rates": [0.6, 0.4, 0.2]}
    path.write_text(json.dumps(figures | rates))
    row = answer(cli, ["cost", "--runs", str(path), "--baseline-tps", "40"])["rows"][0]
    assert (row["gamma"], row["round_cost"]) == (3, pytest.approx(2.2 / 1.5))
