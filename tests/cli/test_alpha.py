"""`gammaplan alpha`: what it answers, what it passes on, and what it refuses."""

import json
import re

import numpy as np
import pytest

import gammaplan as gp
from gammaplan.arrays import measuring, pairs
from gammaplan.model.rules import RULES

TOY = "alpha --target-logits 2,0 --draft-logits 1.5,0"
RNG = np.random.default_rng(4)
TARGET = RNG.normal(0, 3, (60, 30))
DRAFT = TARGET + RNG.normal(0, 1, TARGET.shape)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("t.npy", TARGET)
    np.save("d.npy", DRAFT)
    np.save("ids.npy", np.arange(60) // 6)
    return "alpha t.npy d.npy"


def answer(cli, args, **more):
    result = cli(f"{args} --json", **more)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_toy_pair_loses_overlap_as_it_warms_up(cli):
    rows = answer(cli, f"{TOY} --temperature 0,0.5,1")["result"]["rows"]
    assert [round(row["alpha"], 2) for row in rows] == [1.0, 0.97, 0.94]
    assert [row["argmax_agreement"] for row in rows] == [1, 1, 1]


def test_the_answer_comes_first_and_says_that_alpha_turns_round(cli):
    lines = cli(f"{TOY} --temperature 0..2:0.25").stdout.splitlines()
    said = " ".join(lines[:2])
    assert said.startswith("α goes from 1.0000 at temperature 0 to 0.9481 at temperature 2;")
    assert "lowest 0.9365 at temperature 1.25." in said


def test_one_setting_is_answered_at_the_top(cli):
    result = answer(cli, TOY)["result"]
    assert result["alpha"] == result["rows"][0]["alpha"] == result["acceptance"]["alpha"]


def test_a_row_has_the_keys_of_the_contract(cli):
    result = answer(cli, TOY)["result"]
    assert result.keys() == {
        "rows",
        "order",
        "positions",
        "vocab",
        "sequences",
        "alpha",
        "acceptance",
    }
    assert result["rows"][0].keys() >= {
        "labels",
        "temperature",
        "draft_temperature",
        "top_k",
        "top_p",
        "min_p",
        "alpha",
        "interval",
        "tv",
        "argmax_agreement",
        "draft_mass_outside_target",
        "target_mass_outside_draft",
        "positions",
        "quantiles",
        "expected_tokens",
        "rules",
        "acceptance",
    }


def test_files_are_measured_as_the_python_functions_do(cli, files):
    found = answer(cli, f"{files} --temperature 0.7 --top-k 10 --top-p 0.9")["result"]["rows"][0]
    p, q = (gp.transform(x, temperature=0.7, top_k=10, top_p=0.9) for x in (TARGET, DRAFT))
    alphas = gp.alpha_from_distributions(p, q)
    assert found["alpha"] == pytest.approx(alphas.mean(), rel=1e-12)
    assert found["positions"] == 60
    assert found["worst"][0]["position"] == int(alphas.argmin())
    assert sum(found["histogram"]) == 60


def test_settings_span_every_combination_with_temperature_last(cli, files):
    rows = answer(cli, f"{files} --temperature 0.5,1 --top-k 0,5")["result"]["rows"]
    assert [row["labels"] for row in rows] == [
        {"temperature": t, "top_k": k} for k in (0, 5) for t in (0.5, 1.0)
    ]


def test_the_draft_may_be_drawn_in_its_own_way(cli, files):
    rows = answer(cli, f"{files} --temperature 0.7 --draft-temperature 0.7,1")["result"]["rows"]
    q = gp.transform(DRAFT, temperature=1)
    p = gp.transform(TARGET, temperature=0.7)
    assert rows[1]["alpha"] == pytest.approx(gp.alpha_from_distributions(p, q).mean())
    assert rows[1]["labels"] == {"temperature": 0.7, "draft_temperature": 1.0}


def test_mismatched_support_is_explained_with_its_mass(cli, files):
    document = answer(cli, f"{files} --top-k 3 --draft-top-k 0")
    row = document["result"]["rows"][0]
    codes = [f["code"] for f in document["warnings"]]
    assert "support_mismatch" in codes
    assert row["draft_mass_outside_target"] > 0.01
    assert row["alpha"] <= 1 - row["draft_mass_outside_target"]


def test_sequence_ids_cluster_the_interval_and_start_new_rounds(cli, files):
    result = answer(cli, f"{files} --sequences ids.npy")["result"]
    assert result["sequences"] == 10
    assert result["rows"][0]["interval"]["method"] == "sequences"
    with_ids = result["rows"][0]["expected_tokens"]
    without = answer(cli, files)["result"]["rows"][0]["expected_tokens"]
    assert with_ids[2]["by_mean"] == without[2]["by_mean"]
    assert with_ids[2]["by_sequence"] != without[2]["by_sequence"]


def test_every_rule_is_shown_side_by_side_when_asked(cli, files):
    few = answer(cli, files)["result"]["rows"][0]["rules"]
    assert list(few) == ["residual", "block", "greedy_draft", "argmax"]
    rules = answer(cli, f"{files} --rules --lenience 0.3")["result"]["rows"][0]["rules"]
    assert list(rules) == list(RULES)
    assert {name for name, rule in rules.items() if not rule["lossless"]} == {
        "argmax",
        "typical",
        "lenience",
    }
    assert all((rule["distortion"] is None) == rule["lossless"] for rule in rules.values())
    assert rules["lenience"]["alpha"] > rules["residual"]["alpha"]


def test_a_sweep_is_answered_a_row_at_a_time(cli, files):
    document = cli(f"{files} --temperature 0.5,0.7 --json").stdout
    groups = answer(cli, "optimum - --c 0.1", input=document)["result"]["groups"]
    assert [group["labels"] for group in groups] == [{"temperature": 0.5}, {"temperature": 0.7}]
    assert groups[0]["interval"] is not None


def test_one_row_can_be_picked(cli, files):
    document = cli(f"{files} --temperature 0.5,0.7 --json").stdout
    rows = json.loads(document)["result"]["rows"]
    picked = answer(cli, "optimum - --c 0.1 --pick temperature=0.7", input=document)
    assert picked["inputs"]["alpha"] == rows[1]["alpha"]


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_change_nothing(cli, files, workers, monkeypatch):
    monkeypatch.setattr(pairs, "BLOCK", 120)
    monkeypatch.setattr(measuring, "CHUNK", 120)  # 15 tasks for a small file
    args = f"{files} --temperature 0,0.7 --sequences ids.npy"
    assert answer(cli, f"{args} --workers {workers}")["result"] == answer(cli, args)["result"]


def test_a_bad_row_is_named_and_nothing_is_answered(cli, files):
    np.save("bad.npy", np.where(np.arange(60)[:, None] == 41, np.nan, DRAFT))
    result = cli("alpha t.npy bad.npy")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        "Error: bad.npy: row 41 must have no NaN, no +inf and a finite value, got nan\n"
    )


def test_csv_has_a_row_for_each_setting_and_no_labels(cli, files):
    lines = cli(f"{files} --temperature 0,1 --format csv").stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("temperature,top_k,top_p,min_p,draft_temperature,")


@pytest.mark.parametrize("args", ["", " --temperature 0,1 --rules", " --top-k 3 --rules"])
@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_no_line_is_wider_than_the_terminal(cli, files, args, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    lines = cli(f"{files}{args}").stdout.splitlines()
    assert max(map(len, lines)) <= int(width)


@pytest.mark.parametrize("args", ["--rules", "--temperature 0,1 --top-k 3,9 --rules"])
def test_a_narrow_terminal_gets_every_figure(cli, files, args, monkeypatch):
    figures = re.compile(r"0\.[0-9]{4}|[0-9.]+ %")
    monkeypatch.setenv("COLUMNS", "120")
    wide = cli(f"{files} {args}").stdout
    monkeypatch.setenv("COLUMNS", "40")
    narrow = cli(f"{files} {args}").stdout
    assert "…" not in narrow
    assert set(figures.findall(wide)) <= set(figures.findall(narrow.replace("\n%", " %")))


USAGE = [
    ("alpha", "logits are missing; give two files, or --target-logits with --draft-logits"),
    ("alpha --target-logits 2,0", "--target-logits needs --draft-logits beside it"),
    ("alpha --draft-logits 2,0", "--draft-logits needs --target-logits beside it"),
    ("alpha x.npy --target-logits 2,0 --draft-logits 1,0", "give the ones or the others"),
    (f"{TOY} --probs", "give the ones or the others"),
    ("alpha --target-logits 2 --draft-logits 1,0", "--target-logits must be at least two logits"),
    ("alpha --target-logits 2,nan --draft-logits 1,0", "got 2,nan"),
    ("alpha --target-logits 2,1,0 --draft-logits 1,0", "must have one vocabulary, got 3 and 2"),
    ("alpha x.npy y.npy --probs --logprobs", "--probs and --logprobs contradict; give one"),
    (f"{TOY} --temperature -1", "--temperature must be temperatures of at least 0"),
    (f"{TOY} --top-k -1", "--top-k must be whole numbers of at least 0 (0 is off)"),
    (f"{TOY} --top-p 0", "--top-p must be fractions above 0 and at most 1 (1 is off)"),
    (f"{TOY} --top-p 1.1", "got 1.1"),
    (f"{TOY} --min-p 2", "--min-p must be fractions in [0, 1] (0 is off)"),
    (f"{TOY} --order best", "--order must be one of transformers, sglang, vllm, llama.cpp, mlx-lm"),
    (f"{TOY} --temperature 0..1:0.001", "must span at most 1,000 combinations, got 1,001"),
    (f"{TOY} --level 1", "--level must be a fraction in (0, 1), got 1"),
    (f"{TOY} --lenience 0.5", "--lenience needs --rules beside it"),
]


@pytest.mark.parametrize(("args", "message"), USAGE, ids=[args for args, _ in USAGE])
def test_a_wrong_command_line_is_one_sentence(cli, args, message):
    result = cli(args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
