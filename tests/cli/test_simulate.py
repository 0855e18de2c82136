"""simulate: the answer first, rules that are called what they are, and input that lies."""

import csv
import io
import json

import numpy as np
import pytest

TOY = "--target-logits 2,0 --draft-logits 1.5,0"
EXACT = {"residual", "block", "greedy_draft", "exact_match"}


def result(done):
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["result"]


@pytest.fixture
def arrays(tmp_path):
    """Logits of 30 positions over 200 tokens, the draft's near the target's."""
    rng = np.random.default_rng(0)
    target = 3 * rng.normal(size=(30, 200))
    np.save(tmp_path / "target.npy", target)
    np.save(tmp_path / "draft.npy", (target + 0.7 * rng.normal(size=target.shape)).astype("f2"))
    np.save(tmp_path / "short.npy", target[:3])
    np.save(tmp_path / "narrow.npy", target[:, :150])
    return tmp_path


def over(arrays, *words, target="target.npy", draft="draft.npy"):
    return ["simulate", str(arrays / target), str(arrays / draft), *words]


# A law of acceptance


def test_tokens_per_round_stand_beside_the_formula_in_one_line(cli):
    first = cli("simulate --alpha 0.8 --gamma 6").stdout.splitlines()[0]
    assert first == "3.9635 ± 0.0072 tokens per round (α 0.8, γ 6); the formula says 3.9514."


def test_the_seed_is_printed_and_chooses_the_rounds(cli):
    one, again, other = (cli(f"simulate -a 0.8 --seed {n}").stdout for n in (1, 1, 2))
    assert "from seed 1," in one
    assert one == again != other


def test_the_histogram_adds_up(cli):
    found = result(cli("simulate --alpha 0.7 --gamma 3 --rounds 5000 --json"))
    assert sum(row["rounds"] for row in found["rows"]) == found["rounds"] == 5_000
    assert sum(row["expected_share"] for row in found["rows"]) == pytest.approx(1)
    mean = sum((row["accepted"] + 1) * row["share"] for row in found["rows"])
    assert found["measured_tokens"] == pytest.approx(mean)
    assert found["expected_tokens"] == pytest.approx(2.533)


def test_evidence_brings_its_positions_and_its_length(cli):
    document = cli("convert --survival 0.9,0.8,0.4 --json").stdout
    found = result(cli(["simulate", "-", "--json"], input=document))
    assert found["gamma"] == 3
    assert [row["expected_share"] for row in found["rows"]] == pytest.approx([0.1, 0.1, 0.4, 0.4])


def test_a_length_past_the_measured_positions_is_said(cli):
    document = cli("convert --survival 0.9,0.8,0.4 --json").stdout
    done = cli(["simulate", "-", "--gamma", "5", "--json"], input=document)
    assert "extrapolated" in {w["code"] for w in json.loads(done.stdout)["warnings"]}


def test_the_document_is_evidence(cli):
    document = cli("simulate --alpha 0.8 --json").stdout
    assert result(cli(["optimum", "-", "--c", "0.1", "--json"], input=document))["gamma"] == 6


@pytest.mark.parametrize(("alpha", "tokens"), [("0", 1), ("1", 4)])
def test_certain_acceptance_has_no_spread(cli, alpha, tokens):
    found = result(cli(f"simulate --alpha {alpha} --gamma 3 --json"))
    assert (found["measured_tokens"], found["standard_error"]) == (tokens, 0)


def test_without_drafts_every_round_is_one_token(cli):
    assert result(cli("simulate --alpha 0.5 --gamma 0 --json"))["measured_tokens"] == 1


def test_one_round_has_no_standard_error(cli):
    done = cli("simulate --alpha 0.5 --rounds 1 --json")
    assert result(done)["standard_error"] is None
    assert "±" not in cli("simulate --alpha 0.5 --rounds 1").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--rounds 0", "--rounds must be a whole number of at least 1, got 0"),
        ("--rounds -1", "--rounds must be a whole number of at least 1, got -1"),
        ("--rounds 1.5", "--rounds must be a whole number of at least 1, got 1.5"),
        ("--rounds 1e12", "--rounds must be at most 27,105,559,892 here"),
        ("--seed -1", "--seed must be a whole number of at least 0, got -1"),
        ("--seed x", "--seed must be a whole number of at least 0, got x"),
        ("--gamma 1e6", "--gamma must be at most 10,000, got 1e6"),
        ("--gamma -1", "--gamma must be a whole number of at least 0, got -1"),
        ("--alpha 80", "--alpha must be a fraction in [0, 1], got 80"),
        ("--rule block", "--rule needs rows of target and draft"),
        ("--top-k 3", "--top-k needs rows of target and draft"),
        ("--require-lossless", "--require-lossless needs rows of target and draft"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(cli, words, said):
    done = cli(f"simulate --alpha 0.8 {words}")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: {said}")
    assert done.stderr.count("\n") == 1


# Rules over rows


def test_every_rule_is_called_what_it_is(cli, arrays):
    rules = result(cli(over(arrays, "--gamma", "3", "--rounds", "20000", "--json")))["rules"]
    assert {rule["name"] for rule in rules if rule["lossless"]} == EXACT
    assert {rule["name"] for rule in rules if rule["exact"]} == EXACT
    assert all(rule["p_value"] < 1e-12 for rule in rules if not rule["exact"])


def test_rules_accept_what_alpha_says(cli, arrays):
    for rule in result(cli(over(arrays, "--rounds", "20000", "--json")))["rules"]:
        if rule["name"] == "block":
            assert (rule["alpha"], rule["expected_tokens"]) == (None, None)
        else:
            off = abs(rule["measured_tokens"] - rule["expected_tokens"])
            assert off <= 4.5 * rule["standard_error"] + 1e-12


def test_alpha_is_the_one_of_alpha(cli):
    rules = result(cli(f"simulate {TOY} --rounds 100 --json"))["rules"]
    said = result(cli(f"alpha {TOY} --rules --json"))["rows"][0]["rules"]
    for rule in rules:
        if rule["alpha"] is not None:
            assert rule["alpha"] == pytest.approx(said[rule["name"]]["alpha"], rel=1e-12)
            assert rule["exact"] == said[rule["name"]]["lossless"]


def test_the_first_line_names_the_lossless_rules(cli):
    first = cli(f"simulate {TOY} --gamma 2 --rounds 20000").stdout.splitlines()[0]
    assert first == ("Lossless: residual, block, greedy_draft, exact_match. The others are lossy.")


def test_the_gate_fails_on_a_lossy_rule_and_names_it(cli):
    done = cli(f"simulate {TOY} --rounds 5000 --require-lossless")
    assert done.exit_code == 3
    assert done.stderr == "Failed: --require-lossless: lossy: lenience, typical, argmax\n"


def test_the_gate_passes_on_lossless_rules(cli):
    words = "--rule residual --rule block --require-lossless"
    assert cli(f"simulate {TOY} --rounds 5000 {words}").exit_code == 0


def test_the_gate_fails_where_nothing_could_be_tested(cli):
    done = cli(f"simulate {TOY} --rounds 39 --rule block --require-lossless")
    assert done.exit_code == 3
    assert "too few rounds to test block" in done.stderr


def test_a_rule_that_is_lossy_by_design_fails_the_gate_where_rows_do_not_show_it(cli):
    done = cli(f"simulate {TOY} -t 0 --rule lenience --rounds 1000 --require-lossless")
    assert "Lossy, not seen here: lenience." in done.stdout
    assert done.exit_code == 3


def test_lenience_of_1_is_the_exact_rule(cli):
    done = cli(f"simulate {TOY} --rule lenience --lenience 1 --rounds 5000 --require-lossless")
    assert done.exit_code == 0


def test_a_sweep_answers_each_setting(cli, arrays):
    words = ("--temperature", "0.5,1", "--rule", "residual", "--rounds", "2000", "--json")
    groups = result(cli(over(arrays, *words)))["groups"]
    assert [group["labels"] for group in groups] == [{"temperature": 0.5}, {"temperature": 1}]
    picked = json.dumps(json.loads(cli(over(arrays, *words)).stdout))
    done = cli(["optimum", "-", "--c", "0.1", "--pick", "temperature=1", "--json"], input=picked)
    assert result(done)["gamma"] >= 1


def test_settings_of_the_draft_alone_change_its_alpha_and_lose_nothing(cli, arrays):
    words = ("--draft-top-k", "3", "--rounds", "20000", "--rule", "residual", "--json")
    cut = result(cli(over(arrays, *words)))["rules"][0]
    whole = result(cli(over(arrays, *words[2:])))["rules"][0]
    assert cut["alpha"] < whole["alpha"]
    assert cut["lossless"]


def test_a_narrow_terminal_gets_every_figure(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for words in (f"simulate {TOY} --rounds 2000", "simulate --alpha 0.8"):
        document = json.loads(cli(f"{words} --json").stdout)["result"]
        printed = cli(words).stdout
        assert max(map(len, printed.splitlines())) <= 40
        assert "…" not in printed
        for rule in document["rules"]:
            assert f"{rule['measured_tokens']:.4f} ± {rule['standard_error']:.4f}" in printed
        for row in document["rows"]:
            assert f"{100 * row['share']:.2f} %" in printed
            assert f"{100 * row['expected_share']:.2f} %" in printed


def test_csv_has_a_row_for_each_rule(cli):
    text = cli(f"simulate {TOY} --rounds 1000 --format csv").stdout
    assert {row["name"] for row in csv.DictReader(io.StringIO(text))} > EXACT


def test_fewer_rows_than_a_round_needs_are_repeated_and_that_is_said(cli, arrays):
    done = cli(over(arrays, "--rounds", "200", target="short.npy", draft="short.npy"))
    assert done.exit_code == 0
    assert done.stderr == (
        "note: the arrays have 3 rows and a round of γ 6 needs 7: they are repeated\n"
    )


def test_memory_does_not_grow_with_the_length_of_a_round(cli, arrays):
    done = cli(over(arrays, "--gamma", "2000", "--rounds", "400", "--rule", "residual"))
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("target.npy", 1, "the draft's file was required"),
        ("target.npy short.npy", 1, "must have the same positions, got 30 rows"),
        ("target.npy narrow.npy", 1, "must have one vocabulary, got 200 columns"),
        ("target.npy gone.npy", 1, "gone.npy"),
        ("target.npy draft.npy short.npy", 2, "two arrays are needed"),
        ("target.npy draft.npy --alpha 0.8", 2, "--alpha is for evidence"),
        ("target.npy draft.npy --probs", 1, "must hold probabilities, got -"),
        ("target.npy draft.npy --probs --logprobs", 2, "contradict; give one"),
        ("target.npy draft.npy --rule best", 2, "--rule must be one of residual, block"),
        ("target.npy draft.npy --lenience 0", 2, "--lenience must be a fraction above 0"),
        ("target.npy draft.npy --rounds 1e12", 2, "--rounds must be at most 42,857,142 here"),
        ("target.npy draft.npy --gamma 10000 --rounds 1e6", 2, "--rounds must be at most 29,997"),
        ("target.npy draft.npy --temperature -1", 2, "--temperature must be temperatures of at"),
        ("--target-logits 2,0", 2, "must have as many logits, got 2 and 0"),
        ("--target-logits 2,0 --draft-logits 1,2,3", 2, "as many logits, got 2 and 3"),
        ("target.npy --target-logits 2,0 --draft-logits 1,2", 2, "give the ones or the others"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_one_line(cli, arrays, words, code, said):
    placed = [str(arrays / w) if w.endswith(".npy") else w for w in words.split()]
    done = cli(["simulate", *placed])
    assert done.exit_code == code, done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
