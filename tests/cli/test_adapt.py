"""gammaplan adapt: the verdict, the document, and what it refuses."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest


def trace(
    tmp_path, alpha_of, *, requests=40, tokens=1_000, gamma=5, name="rounds.jsonl", scored=False
):
    """A file of rounds at one length; `alpha_of(rng, tokens)` is the acceptance by position."""
    rng = np.random.default_rng(0)
    lines = []
    for request in range(requests):
        alpha = alpha_of(rng, tokens)
        outcome = rng.random(tokens) < alpha
        at = 0
        while at < tokens:
            accepted = 0
            while accepted < gamma and at + accepted < tokens and outcome[at + accepted]:
                accepted += 1
            line = {"request": request, "drafted": gamma, "accepted": accepted}
            if scored:
                shown = np.append(alpha, np.full(gamma, 0.5))[at : at + gamma]
                line["confidence"] = shown.tolist()
            lines.append(json.dumps(line))
            at += accepted + 1
    path = tmp_path / name
    path.write_text("\n".join(lines))
    return str(path)


def iid(rng, tokens):
    return np.full(tokens, 0.8)


def regimes(rng, tokens):
    state = (np.cumsum(rng.random(tokens) < 0.01) + rng.integers(2)) % 2
    return np.where(state, 0.4, 0.9)


def document(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def answer(cli, *args):
    """The result for one text of options, or for several words."""
    words = args[0].split() if len(args) == 1 else args
    return document(cli(["adapt", *words, "--json"]))["result"]


def policy(result, name):
    return next(p for p in result["policies"] if p["name"] == name)


def test_a_trace_with_regimes_is_worth_it(cli, tmp_path):
    result = answer(cli, trace(tmp_path, regimes), "--c", "0.1")
    assert result["verdict"] == "worth_it"
    assert result["advised"] == "discounted"
    assert policy(result, "discounted")["low"] > 0.04


def test_an_iid_trace_is_not_worth_it(cli, tmp_path):
    result = answer(cli, trace(tmp_path, iid), "--c", "0.1")
    assert result["verdict"] == "not_worth_it"
    assert result["advised"] is None
    assert all(p["low"] <= 0 for p in result["policies"])


def test_a_trace_with_confidences_is_worth_a_product_stop(cli, tmp_path):
    path = trace(tmp_path, lambda rng, n: rng.beta(1.2, 0.3, n), scored=True)
    result = answer(cli, path, "--c", "0.1")
    assert result["advised"] == "product_stop"
    assert policy(result, "p_min")["exact"] is False
    assert policy(result, "p_min")["exact_if"] == "greedy_draft"
    assert policy(result, "confidence_stop")["exact"] is True


@pytest.mark.parametrize("gamma", [3, 8])
def test_what_was_not_recorded_is_modelled_and_marked(cli, tmp_path, gamma):
    """The truth is known here: replaying it at another length finds it again."""
    path = trace(tmp_path, regimes, requests=80, tokens=2_000, gamma=gamma)
    whole = document(cli(["adapt", path, "--c", "0.1", "--json"]))
    truth = answer(
        cli, *["--regimes", "0.9,0.4", "--dwell", "100", "--c", "0.1", "--requests", "500"]
    )
    for name in ("heuristic", "discounted"):
        replayed = policy(whole["result"], name)
        assert replayed["gain"] == pytest.approx(policy(truth, name)["gain"], abs=0.012)
        assert replayed["modelled"] > 0
    fixed = whole["result"]["best_fixed"]  # γ 3, which one of the traces recorded
    assert (fixed["modelled"] > 0) == (fixed["gamma"] != gamma)
    longer = policy(whole["result"], "fixed_5")["modelled"]
    assert longer > 0.1 if gamma == 3 else longer < 0.1
    assert "outcomes_modelled" in [w["code"] for w in whole["warnings"]]


def test_assumed_outcomes_are_never_modelled(cli):
    result = answer(cli, "--alpha", "0.7", "--spread", "0.2", "--c", "0.05")
    assert {p["modelled"] for p in result["policies"]} == {0.0}


def test_requests_that_differ_are_worth_it(cli):
    result = answer(cli, "--alpha 0.7 --spread 0.2 --c 0.05")
    assert result["advised"] == "discounted"
    assert policy(result, "own_alpha")["needs"] == "own_alpha"
    assert policy(result, "own_alpha")["gain"] > policy(result, "discounted")["gain"]


def test_no_policy_beats_the_bounds(cli):
    for args in ("--regimes 0.95,0.3 --dwell 200", "--alpha 0.8 --token-spread 0.3"):
        result = answer(cli, *args.split(), "--c", "0.1")
        top = result["bounds"]["clairvoyant"]
        assert all(p["speedup"] < top for p in result["policies"])
        assert all(p["gap_closed"] < 1 for p in result["policies"])


def test_regimes_have_a_bound_for_all_that_see_the_past(cli):
    result = answer(cli, "--regimes 0.9,0.4 --dwell 100 --c 0.1")
    assert (
        policy(result, "discounted")["speedup"]
        < result["bounds"]["causal"]
        < result["bounds"]["clairvoyant"]
    )
    assert answer(cli, "--alpha 0.8 --c 0.1")["bounds"]["causal"] is None


def test_the_same_seed_gives_the_same_answer_and_another_another(cli):
    args = "--alpha 0.7 --spread 0.2 --c 0.05 --requests 50"
    first = answer(cli, args)
    assert answer(cli, f"{args} --seed 0") == first
    assert answer(cli, f"{args} --seed 1") != first


def test_the_document_follows_its_schema(cli, tmp_path):
    schema = json.loads(cli("schema adapt").stdout)
    for args in (
        ["--alpha", "0.8", "--c", "0.1"],
        [trace(tmp_path, iid, requests=3), "--c", "0.1"],
    ):
        jsonschema.validate(document(cli(["adapt", *args, "--json"])), schema)


def test_evidence_brings_alpha_and_cost(cli, tmp_path):
    fit = tmp_path / "fit.json"
    fit.write_text(cli("convert --mean-length 3.3 --gamma 5 --json").stdout)
    cost = tmp_path / "cost.json"
    cost.write_text(cli("cost --draft-ms 2 --target-ms 20 --json").stdout)
    whole = document(cli(["adapt", str(fit), str(cost), "--spread", "0.15", "--json"]))
    assert whole["inputs"]["c"] == pytest.approx(0.1)
    assert whole["sources"]["alpha"] == f"evidence:{fit}"
    assert document(cli(["adapt", trace(tmp_path, iid), str(cost), "--json"]))["inputs"]["c"] == 0.1


def test_positions_are_reduced_to_one_alpha_and_that_is_said(cli, tmp_path):
    fit = tmp_path / "fit.json"
    fit.write_text(cli("convert --survival 0.9,0.7,0.4 --json").stdout)
    whole = document(cli(["adapt", str(fit), "--spread", "0.1", "--c", "0.1", "--json"]))
    assert "one_alpha_assumed" in [w["code"] for w in whole["warnings"]]


def test_a_trace_can_be_piped(cli, tmp_path):
    path = trace(tmp_path, iid, requests=12)
    piped = document(cli("adapt - --c 0.1 --json", input=Path(path).read_bytes()))
    named = document(cli(["adapt", path, "--c", "0.1", "--json"]))
    assert piped["result"] == named["result"]


def test_requests_may_be_interleaved(cli, tmp_path):
    path = trace(tmp_path, regimes, requests=12)
    kept = {}
    for line in Path(path).read_text().splitlines():
        kept.setdefault(json.loads(line)["request"], []).append(line)
    turns = []
    while any(kept.values()):
        turns += [rounds.pop(0) for rounds in kept.values() if rounds]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("\n".join(turns))
    first, second = (answer(cli, str(p), "--c", "0.1") for p in (path, mixed))
    assert second["tokens"] == first["tokens"]
    assert second["best_fixed"]["speedup"] == pytest.approx(
        first["best_fixed"]["speedup"], rel=0.02
    )


def test_damaged_rounds_are_counted_and_named(cli, tmp_path):
    path = trace(tmp_path, iid, requests=12)
    with Path(path).open("a") as stream:
        stream.write('\n{"drafted": 2, "accepted": 5}\nnonsense\n')
    whole = document(cli(["adapt", path, "--c", "0.1", "--json"]))
    assert whole["result"]["rounds_dropped"] == 2
    said = next(w["message"] for w in whole["warnings"] if w["code"] == "truncated_line")
    assert "accepted 5 of 2 drafted" in said
    assert "is no JSON" in said
    assert cli(["adapt", path, "--c", "0.1", "--strict"]).exit_code == 3


def test_a_long_request_is_replayed_in_parts(cli, tmp_path):
    path = trace(tmp_path, regimes, requests=1, tokens=60_000)
    whole = document(cli(["adapt", path, "--c", "0.1", "--json"]))
    assert {"trace_in_parts"} <= {w["code"] for w in whole["warnings"]}
    assert whole["result"]["requests"] == 1
    assert whole["result"]["clusters"] > 10
    assert whole["result"]["advised"] == "discounted"


def test_a_short_trace_has_no_interval_and_no_advice(cli, tmp_path):
    whole = document(cli(["adapt", trace(tmp_path, regimes, requests=1), "--c", "0.1", "--json"]))
    assert "few_clusters" in [w["code"] for w in whole["warnings"]]
    assert whole["result"]["verdict"] == "not_worth_it"
    assert {p["low"] for p in whole["result"]["policies"]} == {None}


def test_spec_bench_lengths_need_the_draft_length(cli, tmp_path):
    path = tmp_path / "bench.jsonl"
    line = json.dumps({"choices": [{"accept_lengths": [1, 4, 6, 2] * 50}]})
    path.write_text("\n".join([line] * 12))
    assert answer(cli, str(path), "--gamma", "5", "--c", "0.1")["tokens"] == 12 * 50 * 13
    refused = cli(["adapt", str(path), "--c", "0.1"])
    assert refused.exit_code == 1
    assert "no usable round" in refused.stderr


def test_the_terminal_answers_first(cli):
    shown = cli("adapt --regimes 0.9,0.4 --dwell 100 --c 0.1").stdout.splitlines()
    assert shown[0].startswith("Worth it: discounted α is 6.")
    assert any(line.startswith("* discounted α") for line in shown)
    assert max(map(len, shown)) <= 80


@pytest.mark.parametrize("args", [
    "--alpha 0.8 --c 0.1", "--alpha 0.8 --c 0.01", "--alpha 0.3 --c 0.5",
    "--alpha 0.8 --token-spread 0.2 --quality 0 --c 0.1",
    "--alpha 0.95 --token-spread 0.15 --c 0.01", "--alpha 0.95 --spread 0.1 --c 0.01",
])  # fmt: skip
def test_the_answer_is_one_line_of_a_narrow_terminal(cli, args):
    shown = cli(f"adapt {args} --requests 100").stdout.splitlines()
    assert shown[0].endswith("×).")
    assert shown[1] == ""
    assert max(map(len, shown)) <= 80


def test_csv_has_a_row_for_each_policy(cli):
    lines = cli("adapt --alpha 0.8 --c 0.1 --format csv").stdout.splitlines()
    assert lines[0].startswith("name,speedup,gain,low,high")
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("--regimes 0.9,0.4 --c 0.1", "--regimes needs --dwell beside it"),
        ("--regimes 0.9 --dwell 9 --c 0.1", "--regimes must be two fractions, got 1"),
        ("--regimes 0.9,0.4 --dwell 0.5 --c 0.1", "dwell must be at least 1 token, got 0.5"),
        ("--regimes 0.9,0.4 --dwell 9 --alpha 0.5 --c 0.1", "leave out --alpha"),
        ("--dwell 9 --alpha 0.8 --c 0.1", "--dwell needs --regimes beside it"),
        ("--quality 0.5 --alpha 0.8 --c 0.1", "--quality needs --token-spread beside it"),
        ("--alpha 0.8 --spread 0.1 --token-spread 0.1 --c 0.1", "exclude each other"),
        ("--alpha 0.8 --spread 0.5 --c 0.1", "must be at least 0 and below 0.4"),
        ("--alpha 0.8", "the cost of a draft is missing"),
        ("--alpha 0.8 --c 0.1 --tokens 0", "--tokens must be a whole number of at least 1, got 0"),
        ("--alpha 0.8 --c 0.1 --requests 1000000 --tokens 10000", "at most 1,000,000,000"),
        ("--alpha 0.8 --c 0.1 --gamma 4", "--gamma is the draft length of a trace"),
        ("--alpha 0.8 --c 0.1 --max-gamma 256", "max_gamma must be from 0 to 255, got 256"),
        ("- - --c 0.1", "named twice"),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_line(cli, args, said):
    refused = cli(f"adapt {args}")
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert said in refused.stderr


def test_a_trace_leaves_nothing_to_assume(cli, tmp_path):
    refused = cli(["adapt", trace(tmp_path, iid, requests=2), "--c", "0.1", "--alpha", "0.8"])
    assert refused.exit_code == 2
    assert "--alpha is for assumed outcomes" in refused.stderr


def test_a_free_draft_and_a_dear_one_have_answers(cli):
    assert answer(cli, "--alpha 0.8 --c 0 --requests 20")["best_fixed"]["gamma"] > 20
    assert answer(cli, "--alpha 0.5 --c 2 --requests 20")["best_fixed"]["gamma"] == 0


def test_certain_acceptance_and_none_have_answers(cli):
    for alpha in ("0", "1"):
        result = answer(cli, "--alpha", alpha, "--c", "0.1", "--requests", "20")
        assert result["verdict"] == "not_worth_it"
