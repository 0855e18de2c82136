"""gammaplan tree: the answer, the drawing, the document, its inputs, and what it refuses."""

import json
import re

import numpy as np
import pytest

from gammaplan.model.tree import Tree
from tests.support import DATA

ISSUE = "tree --ranks 0.63,0.11,0.057,0.022 --budget 16 --max-depth 5 --max-width 4 --c 0.05"
SEQUOIA = DATA / "published" / "sequoia_acceptance_vector.csv"
MEDUSA = DATA / "published" / "medusa_head_topk_accuracy.csv"
DEMO = f"tree --ranks {SEQUOIA} --budget 1,3,7,15,31 --draft-ms 0.3"
PASSES = "--verify-curve 1:10,2:10,4:10,8:12,16:14,32:18"

LOGITS = "tree --budget 3 --target-logits 2,1,0 --draft-logits 1.5,1.2,0"


@pytest.fixture
def result(cli):
    def run(args, **kwargs):
        found = cli(f"{args} --json", **kwargs)
        assert found.exit_code == 0, found.stderr
        return json.loads(found.stdout)["result"]

    return run


@pytest.fixture
def refusal(cli):
    def run(args, code=2):
        found = cli(args)
        assert found.exit_code == code
        assert found.stdout == ""
        assert found.stderr.startswith("Error: ")
        assert found.stderr.count("\n") == 1
        return found.stderr

    return run


def test_the_verdict_comes_first_in_one_line(cli):
    first = " ".join(cli(f"{ISSUE} --verify-slope 0.01").stdout.split("\n\n")[0].split())
    assert first.startswith(
        "A tree beats the chain by 13.3 %: 2.22× with 16 nodes on 4 levels, 1.96× with a chain "
        "of 4."
    )


def test_every_node_is_drawn_with_its_path_probability(cli, result):
    drawn = cli(f"{ISSUE} --verify-slope 0.01").stdout
    paths = result(f"{ISSUE} --verify-slope 0.01")["path_probabilities"][1:]
    shown = re.findall(r"(?:├──|└──) (\d\.\d{4})", drawn)
    assert sorted(shown) == sorted(f"{p:.4f}" for p in paths)


def test_a_large_tree_is_drawn_in_part_and_the_rest_is_counted(cli):
    drawn = cli("tree --ranks 0.7,0.1 --c 0.1 --budget 5000").stdout
    shown = len(re.findall(r"(?:├──|└──) \d", drawn))
    hidden = re.search(r"([\d,]+) nodes of levels \d+ to \d+ not shown; --json has all\.", drawn)
    assert hidden
    assert shown + int(hidden[1].replace(",", "")) == 5000
    below = re.findall(r"… ([\d,]+) below", drawn)
    assert sum(int(n.replace(",", "")) for n in below) == 5000 - shown


@pytest.mark.parametrize("ranks", ["0.63,0.11", "0.97,0.01", "0.1,0.1,0.1,0.1"])
def test_the_report_fits_eighty_columns(cli, ranks):
    shown = cli(f"tree --ranks {ranks} --c 0.01 --budget 4..200").stdout.splitlines()
    for line in shown:
        assert len(line) <= 80 or line.startswith(("python3", "[["))  # to paste: one line


def test_children_rebuild_the_tree(result):
    found = result(ISSUE)
    tree = Tree.from_children(found["children"])
    assert list(tree.parents) == found["parents"]
    assert (tree.nodes, tree.depth, tree.width) == (16, found["depth"], found["width"])
    assert tree.expected_tokens([0.63, 0.11, 0.057, 0.022]) == pytest.approx(
        found["expected_tokens"]
    )


def test_medusa_choices_are_the_paths_of_the_tree(result):
    found = result(ISSUE)
    paths = json.loads(found["settings"]["medusa"])
    assert len(paths) == len({tuple(p) for p in paths}) == 16
    known = {()}
    for path in map(tuple, paths):
        assert path[:-1] in known
        known.add(path)
        if path[-1]:
            assert (*path[:-1], path[-1] - 1) in known


def test_sglang_counts_the_root_and_says_what_is_lost(result):
    found = result("tree --ranks 0.63,0.11,0.057,0.022 --budget 64 --c 0.02")
    fixed = next(s for s in found["shapes"] if s["name"] == "topk_steps")
    assert found["settings"]["sglang"].endswith(
        "--speculative-num-steps 6 --speculative-eagle-topk 4 --speculative-num-draft-tokens 65"
    )
    assert found["settings_loss"] == fixed["loss"]
    assert fixed["loss"] == pytest.approx(1 - fixed["speedup"] / found["speedup"])


def test_a_chain_is_set_as_sglang_wants_it(result):
    found = result(f"{DEMO} {PASSES}")
    assert found["settings"]["sglang"].endswith(
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    )


def test_sequoias_demo_is_best_as_a_chain_of_three(result):
    found = result(f"{DEMO} {PASSES}")
    assert found["children"] == [1, 1, 1, 0]
    assert found["expected_tokens"] == pytest.approx(2.2914, abs=5e-5)
    assert found["speedup"] == pytest.approx(2.102, abs=5e-4)
    assert found["verdict"] == "chain"
    charged = found["expected_tokens"] / (found["round_cost"] + 0.03)  # a pass for the root too
    assert charged == pytest.approx(2.046, abs=5e-4)


def test_the_chain_stands_at_its_own_best_length(cli, result):
    chain = result(f"{ISSUE} --verify-slope 0.01")["chain"]
    alone = json.loads(cli("optimum --alpha 0.63 --c 0.05 --verify-slope 0.01 --json").stdout)
    for name in ("gamma", "expected_tokens", "speedup"):
        assert chain[name] == pytest.approx(alone["result"][name])


def test_several_budgets_give_the_curve_and_the_best_of_them(result):
    found = result("tree --ranks 0.63,0.11,0.057 --budget 4..64 --c 0.05 --verify-slope 0.01")
    rows = found["rows"]
    assert [row["nodes"] for row in rows] == list(range(4, 65))
    best = max(rows, key=lambda row: row["speedup"])
    assert best["best"]
    assert (found["nodes"], found["speedup"]) == (best["nodes"], best["speedup"])


def test_without_a_budget_the_best_size_is_found(result):
    found = result("tree --ranks 0.63,0.11,0.057 --c 0.05 --verify-slope 0.01")
    assert found["best"]["nodes"] == found["nodes"]
    assert found["speedup"] == max(row["speedup"] for row in found["rows"])


def test_where_nothing_pays_the_answer_is_not_to_speculate(cli):
    shown = cli("tree --ranks 0.3,0.1 --c 0.5").stdout
    assert shown.startswith("Do not speculate:")


def test_a_budget_of_nothing_is_plain_decoding(cli, result):
    found = result("tree --ranks 0.6,0.2 --budget 0 --c 0.1")
    assert (found["children"], found["path_probabilities"]) == ([0], [1.0])
    assert (found["speedup"], found["verdict"], found["shapes"]) == (1.0, "chain", [])
    assert cli("tree --ranks 0.6,0.2 --budget 0 --c 0.1").exit_code == 0


def test_without_a_cost_there_is_no_verdict(result):
    found = result("tree --ranks 0.6,0.2 --budget 3")
    assert found["expected_tokens"] == pytest.approx(2.176)
    for name in ("verdict", "gain", "speedup", "round_cost", "chain", "best", "cost"):
        assert found[name] is None


def test_beyond_the_timed_passes_no_cost_is_known(cli):
    found = cli("tree --ranks 0.6,0.2 --budget 9 --c 0.1 --verify-curve 1:10,8:12 --json")
    whole = json.loads(found.stdout)
    assert whole["result"]["speedup"] is None
    assert [w["code"] for w in whole["warnings"]] == ["passes_unknown"]


def test_a_cost_may_come_from_evidence(cli, result):
    cost = cli("optimum --alpha 0.8 --c 0.05 --verify-slope 0.01 --json")
    found = result("tree - --ranks 0.63,0.11 --budget 8", input=cost.stdout)
    assert (found["cost"]["c"], found["cost"]["verify_slope"]) == (0.05, 0.01)


def test_a_table_of_whole_rounds_cannot_price_a_tree(tmp_path, refusal):
    shape = {"kind": "measured", "table": [{"gamma": 1, "round_cost": 1.2}]}
    whole = {"schema": "gammaplan.cost/1", "result": {"costs": [shape]}}
    (tmp_path / "cost.json").write_text(json.dumps(whole))
    said = refusal(f"tree {tmp_path / 'cost.json'} --ranks 0.63,0.11 --budget 8")
    assert "a tree needs draft passes and verification apart" in said


@pytest.mark.parametrize("ranks", ["0.2,0.5", "0.5,0.2"])
def test_the_method_is_said(cli, result, ranks):
    found = result(f"tree --ranks {ranks} --budget 5 --c 0.1")
    word = {"best_first": "best-first", "recurrence": "recurrence"}[found["method"]]
    assert found["method"] == ("recurrence" if ranks == "0.2,0.5" else "best_first")
    assert word in cli(f"tree --ranks {ranks} --budget 5 --c 0.1").stdout


def test_the_largest_tree_within_the_bounds_is_named(cli):
    found = cli("tree --ranks 0.6,0.2 --budget 100 --max-depth 3 --max-width 2 --c 0.1")
    assert found.exit_code == 0
    assert "no tree of 100 nodes exists within the bounds: the largest has 14 nodes" in found.stderr


def test_one_vector_a_level_from_json_and_csv(tmp_path, result):
    rows = [[0.6, 0.2], [0.5, 0.1], [0.4, 0.1]]
    made = {"ranks.json": json.dumps(rows), "ranks.csv": "0.6,0.2\n0.5,0.1\n0.4,0.1\n"}
    for name, text in made.items():
        (tmp_path / name).write_text(text)
        found = result(f"tree --ranks {tmp_path / name} --budget 6 --c 0.05")
        assert found["ranks"] == rows
        assert found["depth"] <= 3


def test_a_tree_document_is_read_again(tmp_path, cli, result):
    (tmp_path / "tree.json").write_text(cli(f"{ISSUE} --json").stdout)
    assert result(f"tree --ranks {tmp_path / 'tree.json'} --budget 5")["nodes"] == 5


def test_medusas_heads_are_levels_and_their_accuracies_differences(cli):
    found = cli(f"tree --ranks {MEDUSA} --pick model=7b --budget 20 --json")
    whole = json.loads(found.stdout)
    ranks = whole["result"]["ranks"]
    assert [len(row) for row in ranks] == [5] * 5
    assert sum(ranks[0]) == pytest.approx(0.7799453139305115)
    assert ranks[1][0] == 0.31635186076164246
    assert [w["code"] for w in whole["warnings"]] == ["heads_as_independent"]


def test_without_a_pick_the_models_of_a_file_are_named(refusal):
    said = refusal(f"tree --ranks {MEDUSA} --budget 4", code=1)
    assert "--pick model=VALUE chooses one of 33b, 13b, 7b" in said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("tree", "ranks are missing; give --ranks"),
        ("tree --ranks 0.6,0.2", "--budget is missing: without a cost"),
        ("tree --ranks= --budget 3", "--ranks must be fractions"),
        ("tree --ranks 0.6,-0.1 --budget 3", "--ranks must be a fraction in [0, 1], got -0.1"),
        ("tree --ranks 0.6,nan --budget 3", "--ranks must be fractions"),
        ("tree --ranks nan --budget 3", "--ranks must be fractions"),
        ("tree --ranks 0.9,0.3 --budget 3", "ranks must sum to at most 1"),
        ("tree --ranks 0.6 --budget 1000000000", "budget must be 0 to 1,000,000 nodes"),
        ("tree --ranks 0.6 --budget x", "--budget must be whole numbers"),
        ("tree --ranks 0.6 --budget -1", "--budget"),
        ("tree --ranks 0.6 --budget 3 --max-depth 0", "max_depth must be at least 1, got 0"),
        ("tree --ranks 0.6 --budget 3 --max-width 0", "max_width must be at least 1, got 0"),
        ("tree --ranks 0.6 --budget 3 --verify-curve 2:3", "must start with a pass over 1 token"),
        ("tree --ranks 0.6 --budget 3 --verify-curve 1:3,x", "must be TOKENS:MS with commas"),
        ("tree --ranks 0.6 --budget 3 --verify-curve 1:3,1:4", "tokens must increase"),
        ("tree --ranks 0.6 --budget 3 --verify-curve 1:0", "pass times must be above 0"),
        ("tree --ranks 0.6 --budget 3 --children 2", "give the ones or the others"),
        ("tree --ranks 0.6 --budget 3 --target-logits 1,2", "give the ones or the others"),
        ("tree --budget 3 --draft x.npy", "ranks are missing"),
        ("tree --budget 3 --target-logits 1,2", "as many logits, got 2 and 0"),
        (f"{LOGITS} --temperature 0,1", "one setting of the samplers, and these span 2"),
        (f"{LOGITS} --children 65", "--children must be at most 64, got 65"),
        (
            "tree --ranks 0.6 --c 0.1 --verify-slope 0.1 --verify-curve 1:3",
            "--verify-slope and --verify-curve contradict",
        ),
        ("tree --ranks 0.6 --verify-curve 1:3,2:4", "the cost of a draft is missing"),
        ("tree --ranks 0.6 --budget 3 --pick a=b", "--pick a=b chooses in no file"),
    ],
)
def test_a_command_line_that_cannot_be_is_refused(refusal, args, said):
    assert said in refusal(args)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("PK\x03\x04\0\0", "is no text; ranks as CSV or JSON were expected"),
        ("{}", "a list of ranks, or one a level, was expected"),
        ("[]", "a list of ranks"),
        ("[[0.5, 0.1], [0.4]]", "level 2 has 1 ranks and level 1 2"),
        ('[["a"]]', "level 1 must be a list of numbers"),
        ("[" * 100_000, "is not JSON"),
        ("0.5,0.1\n0.4\n", "level 2 has 1 ranks and level 1 2"),
        ("0.5,x\n", ":1: a number was expected, got x"),
        ("a,b\n1,2\n", "needs the columns child_position and acceptance"),
        ("k,acceptance\n", "has no row under its header"),
        ("k,acceptance\n1,0.5\n3,0.1\n", ":3: k must be 2, got 3"),
        ("k,acceptance\n1,0.5,9\n", ":2: has 3 cells and the header 2"),
        ("head,k,topk_accuracy\n0,1,0.6\n0,2,0.5\n", "top-k accuracy must not fall"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(tmp_path, refusal, text, said):
    path = tmp_path / "ranks.csv"
    path.write_text(text)
    assert said in refusal(f"tree --ranks {path} --budget 3", code=1)


def test_a_missing_file_is_named(refusal):
    assert "nowhere.csv" in refusal("tree --ranks nowhere.csv --budget 3", code=1)


def test_levels_of_the_wrong_number_are_refused(tmp_path, refusal):
    (tmp_path / "r.json").write_text("[[0.5], [0.4]]")
    said = refusal(f"tree --ranks {tmp_path / 'r.json'} --budget 3 --max-depth 5")
    assert "a vector for each of max_depth 5 levels, got 2" in said


def test_a_gate_fails_after_the_answer(cli):
    found = cli(f"{ISSUE} --require-speedup 9")
    assert found.exit_code == 3
    assert "Failed: --require-speedup 9: the best is" in found.stderr
    assert found.stdout


def test_one_endless_free_chain_has_no_infinite_figure(result):
    found = result("tree --ranks 1 --c 0 --budget 4")
    assert found["chain"] == {"gamma": None, "expected_tokens": None, "speedup": None}


@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_rows_are_the_curve(cli, form):
    shown = cli(f"tree --ranks 0.6,0.2 --budget 1..5 --c 0.1 --format {form}").stdout
    assert len(shown.splitlines()) == 6 + (form == "markdown")


def test_ranks_follow_from_files_of_distributions(tmp_path, result):
    p, q = [[0.5, 0.3, 0.15, 0.05]], [[0.25, 0.25, 0.4, 0.1]]
    for name, rows in (("p", p), ("q", q)):
        np.save(tmp_path / f"{name}.npy", np.repeat(rows, 30, axis=0))
    files = f"--target {tmp_path / 'p.npy'} --draft {tmp_path / 'q.npy'} --probs"
    without = result(f"tree {files} --budget 4")["ranks"][0]
    assert [round(x, 3) for x in without] == [0.7, 0.168, 0.079, 0.053]
    repeated = result(f"tree {files} --budget 4 --replacement")["ranks"][0]
    assert [round(x, 3) for x in repeated] == [0.7, 0.125, 0.044, 0.033]


def test_the_first_rank_of_rows_is_the_alpha_of_alpha(cli, result):
    logits = "--target-logits 2,1,0,-1 --draft-logits 1,2,0,-3 --temperature 0.7 --top-k 3"
    alpha = json.loads(cli(f"alpha {logits} --json").stdout)["result"]["alpha"]
    assert result(f"tree {logits} --budget 3")["ranks"][0][0] == pytest.approx(alpha, rel=1e-12)


def test_many_sequences_are_drawn_and_that_is_said(tmp_path, cli):
    rng = np.random.default_rng(3)
    for name in ("p", "q"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(50, 400)))
    files = f"--target {tmp_path / 'p.npy'} --draft {tmp_path / 'q.npy'}"
    found = cli(f"tree {files} --budget 4 --json")
    assert found.exit_code == 0
    assert found.stdout == cli(f"tree {files} --budget 4 --json").stdout
    assert "one was drawn at each of 50 positions (seed 0)" in found.stderr


def test_rows_that_are_no_distribution_are_refused(tmp_path, refusal):
    np.save(tmp_path / "p.npy", np.full((3, 2), 0.4))
    files = f"--target {tmp_path / 'p.npy'} --draft {tmp_path / 'p.npy'} --probs"
    assert "p.npy" in refusal(f"tree {files} --budget 4", code=1)


def test_a_verify_curve_file_brings_its_draft_passes(tmp_path, result):
    path = tmp_path / "curve.csv"
    path.write_text("tokens,ms,draft_ms\n1,10,0.3\n4,10,0.3\n8,12,0.3\n")
    found = result(f"tree --ranks 0.63,0.11 --budget 3 --verify-curve {path}")
    assert found["cost"]["c"] == pytest.approx(0.03)
    assert found["cost"]["passes"] == [[1, 10], [4, 10], [8, 12]]


def test_one_of_several_curves_is_picked(tmp_path, result, refusal):
    path = tmp_path / "curve.csv"
    path.write_text("batch,tokens,ms\n1,1,10\n1,8,12\n8,1,20\n8,8,40\n")
    args = f"tree --ranks 0.63,0.11 --budget 3 --c 0.1 --verify-curve {path}"
    assert "has 2 curves, and a tree is planned for one; choose it with --pick batch" in refusal(
        args
    )
    assert result(f"{args} --pick batch=8")["cost"]["passes"] == [[1, 20], [8, 40]]
