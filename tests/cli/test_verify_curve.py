"""cost --verify-curve: every form of file, kinds of draft, surfaces, and what cannot be read."""

import json
from tempfile import NamedTemporaryFile

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.cli.curvefiles import read_curves
from gammaplan.cli.schema import document_schema
from gammaplan.errors import InputError
from tests.support import DATA

LLAMA_BENCH = {"n_depth": 0, "model_type": "llama 8B", "stddev_ns": 1}
FORMS = {
    "plain.csv": "tokens,ms\n1,8.47\n2,13.49\n3,15.64\n5,20.67\n8,28.13\n",
    "unsorted.csv": "ms;n_tokens\n28.13;8\n8.47;1\n20.67;5\n13.49;2\n15.64;3\n",
    "bare.csv": "1,8.47\n2,13.49\n3,15.64\n5,20.67\n8,28.13\n",
    "microseconds.csv": "# timed\nnum_tokens,us\n1,8470\n2,13490\n3,15640\n5,20670\n8,28130\n",
    "steps.json": '{"1": 8.47, "2": 13.49, "3": 15.64, "5": 20.67, "8": 28.13}',
    "lists.json": '{"tokens": [1, 2, 3, 5, 8], "ms": [8.47, 13.49, 15.64, 20.67, 28.13]}',
    "llama-bench.json": json.dumps(
        [
            {**LLAMA_BENCH, "n_prompt": n, "n_gen": 0, "avg_ns": ns}
            for n, ns in ((2, 13_490_000), (3, 15_640_000), (5, 20_670_000), (8, 28_130_000))
        ]
        + [{**LLAMA_BENCH, "n_prompt": 0, "n_gen": 128, "avg_ns": 128 * 8_470_000}]
        + [{**LLAMA_BENCH, "n_prompt": 512, "n_gen": 128, "avg_ns": 9_999_999_999}],
        indent=2,
    ),
    "llama-bench.csv": (
        '"model_type","n_prompt","n_gen","n_depth","avg_ns","avg_ts"\n'
        '"llama 8B","1","0","0","8470000","118"\n"llama 8B","2","0","0","13490000","148"\n'
        '"llama 8B","3","0","0","15640000","191"\n"llama 8B","5","0","0","20670000","241"\n'
        '"llama 8B","8","0","0","28130000","284"\n'
    ),
    "llama-bench.md": (
        "ggml_cuda_init: found 1 CUDA devices:\n"
        "| model    | size     | params | backend | ngl | test  | t/s             |\n"
        "| -------- | -------: | -----: | ------- | --: | ----: | --------------: |\n"
        "| llama 8B | 4.33 GiB | 8.03 B | CUDA    |  99 | tg128 | 118.0638 ± 0.30 |\n"
        "| llama 8B | 4.33 GiB | 8.03 B | CUDA    |  99 | pp2   | 148.2580 ± 0.30 |\n"
        "| llama 8B | 4.33 GiB | 8.03 B | CUDA    |  99 | pp3   | 191.8159 ± 0.30 |\n"
        "| llama 8B | 4.33 GiB | 8.03 B | CUDA    |  99 | pp5   | 241.8965 ± 0.30 |\n"
        "| llama 8B | 4.33 GiB | 8.03 B | CUDA    |  99 | pp8   | 284.3939 ± 0.30 |\n\n"
        "build: 1234 (1)\n"
    ),
    "batched-bench.md": (
        "main: n_kv_max = 8192, n_batch = 2048\n\n"
        "|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |\n"
        "|-------|--------|------|--------|----------|----------|----------|----------|\n"
        "|   128 |    100 |    1 |    256 |    0.108 |  1186.64 |    0.847 |   118.08 |\n"
        "|   128 |    100 |    2 |    512 |    0.198 |  1295.19 |    1.349 |   148.24 |\n"
        "|   128 |    100 |    3 |    768 |    0.299 |  1295.19 |    1.564 |   191.80 |\n"
        "|   128 |    100 |    5 |   1280 |    0.499 |  1295.19 |    2.067 |   241.90 |\n"
        "|   128 |    100 |    8 |   2048 |    0.751 |  1363.00 |    2.813 |   284.37 |\n"
    ),
    "batched-bench.jsonl": "main: n_kv_max = 8192\n" + "".join(
        f'{{"n_kv_max": 2048, "pp": 128, "tg": 100, "pl": {n}, "t_pp": 0.2, "t_tg": {t}}}\n'
        for n, t in ((1, 0.847), (2, 1.349), (3, 1.564), (5, 2.067), (8, 2.813))
    ),
}  # fmt: skip


def document(done):
    assert done.exit_code == 0, done.stderr
    whole = json.loads(done.stdout)
    jsonschema.validate(whole, document_schema("cost"))
    return whole


@pytest.fixture
def written(tmp_path):
    def write(text, name="curve.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_public_curve(cli, written, name):
    path = written(FORMS[name], name)
    result = document(cli(["cost", "--verify-curve", path, "--draft-ms", "0", "--json"]))["result"]
    (curve,) = result["curves"]
    assert [p["tokens"] for p in curve["points"]] == [1, 2, 3, 5, 8]
    assert [p["ms"] for p in curve["points"]] == pytest.approx(
        [8.47, 13.49, 15.64, 20.67, 28.13], abs=0.001
    )
    relative = [round(p["relative"], 3) for p in curve["points"]]
    assert relative == pytest.approx([1, 1.593, 1.847, 2.44, 3.321], abs=0.0011)
    assert [step["tokens"] for step in curve["steps"]] == [2]
    costs = {row["gamma"]: row["round_cost"] for row in result["costs"][0]["table"]}
    assert [round(costs[g], 2) for g in (1, 2, 4, 7)] == [1.59, 1.85, 2.44, 3.32]
    assert list(costs) == list(range(1, 8))


def test_the_draft_is_paid_by_its_kind(cli, written):
    path = written(FORMS["plain.csv"])
    kinds = [("eagle3", 1, 2), ("dflash", 1, 1), ("medusa", 1, 1), (None, 1, 2)]
    for method, first, second in kinds:
        words = ["cost", "--verify-curve", path, "--draft-ms", "0.847", "--json"]
        words += ["--method", method] if method else []
        table = document(cli(words))["result"]["costs"][0]["table"]
        drafting = [row["round_cost"] - v for row, v in zip(table, (1.59268, 1.846517),
                                                            strict=False)]  # fmt: skip
        assert drafting == pytest.approx([0.1 * first, 0.1 * second], abs=1e-5)
    lookup = document(cli(["cost", "--verify-curve", path, "--method", "ngram", "--json"]))
    assert lookup["result"]["costs"][0]["table"][0]["round_cost"] == pytest.approx(
        1.59268, abs=1e-5
    )
    assert "drafting_not_timed" not in {w["code"] for w in lookup["warnings"]}


DRAFT_BENCH = json.dumps(
    [{"n_prompt": n, "n_gen": 0, "avg_ns": ns} for n, ns in ((2, 1_200_000), (8, 2_400_000))]
    + [{"n_prompt": 0, "n_gen": 16, "avg_ns": 16 * 1_000_000}]
)


def test_a_draft_that_reads_what_was_verified_is_paid_for_it(cli, written):
    words = ["cost", "--verify-curve", written(FORMS["plain.csv"])]
    words += ["--draft-curve", written(DRAFT_BENCH, "draft.json")]
    whole = document(cli([*words, "--json"]))
    table = {row["gamma"]: row["round_cost"] for row in whole["result"]["costs"][0]["table"]}
    assert table[1] == pytest.approx((1.0 + 13.49 + 1.2) / 8.47)
    assert table[7] == pytest.approx((7.0 + 28.13 + 2.4) / 8.47)
    assert table[4] == pytest.approx((4.0 + 20.67 + 1.8) / 8.47)
    terms = {term["name"]: term["value"] for term in whole["result"]["terms"]}
    assert terms == pytest.approx({"c": 1 / 8.47, "reading": 1.2 / 8.47})
    assert "drafting_not_timed" not in {w["code"] for w in whole["warnings"]}
    assert whole["inputs"]["draft_curve"].endswith("draft.json")
    assert whole["sources"]["draft_curve"].startswith("evidence:")
    shown = cli(words).stdout.splitlines()
    assert shown[2] == (
        "Reading 0.1417 target passes: a draft pass over what was verified, here at γ 1."
    )
    timed = document(cli([*words, "--draft-ms", "2", "--json"]))["result"]["costs"][0]["table"]
    assert timed[0]["round_cost"] == pytest.approx((2.0 + 13.49 + 1.2) / 8.47)
    block = [*words, "--method", "dflash", "--draft-ms", "3", "--json"]
    once = document(cli(block))["result"]["costs"][0]["table"]
    assert once[6]["round_cost"] == pytest.approx((3.0 + 28.13 + 2.4) / 8.47)


def test_a_draft_reads_at_every_batch_of_a_surface(cli, written):
    draft = "batch,tokens,ms\n" + "".join(
        f"{b},{n},{1 + b * n / 10}\n" for b in (1, 8) for n in (1, 2, 5)
    )
    words = ["cost", "--verify-curve", written(SURFACE), "--draft-ms", "1"]
    words += ["--draft-curve", written(draft, "draft.csv"), "--json"]
    for cost in document(cli(words))["result"]["costs"]:
        b = cost["batch"]
        for row in cost["table"]:
            n = row["gamma"] + 1
            truth = (10 + b * n + row["gamma"] + 1 + b * n / 10) / (10 + b)
            assert row["round_cost"] == pytest.approx(truth)


def test_what_is_odd_about_the_draft_is_said_too(cli, written):
    target = "context,tokens,ms\n" + "".join(
        f"{at},{n},{10 + n}\n" for at in (16, 512) for n in (1, 2, 4)
    )
    words = ["cost", "--verify-curve", written(target)]
    draft = written("context,tokens,ms\n512,1,1\n512,1,3\n512,2,2\n512,4,1.5\n", "draft.csv")
    found = document(cli([*words, "--draft-curve", draft, "--json"]))["warnings"]
    said = {w["code"]: w for w in found}
    assert {"passes_pooled", "passes_fall", "draft_context"} <= said.keys()
    assert said["passes_fall"]["from"].endswith("draft.csv")
    told = [w["message"] for w in found if w["code"] == "draft_context"]
    assert told == ["the draft's passes were timed at a context of 512 tokens, the target's at 16"]


@pytest.mark.parametrize(
    ("draft", "options", "code", "said"),
    [
        ("tokens,relative\n1,1\n2,1.1\n", [], 1, "the draft's passes must be in ms"),
        ("tokens,ms\n1,1\n", [], 1, "the draft reads 2 tokens after a round of γ 1"),
        ("tokens,ms\n2,1\n4,2\n", [], 1, "the draft's pass over 1 token(s) was not measured"),
        ("batch,tokens,ms\n8,1,1\n8,2,2\n", [], 1, "0 curves of "),
        ("curve,tokens,ms\na,1,1\na,2,2\nb,1,1\nb,2,2\n", [], 1, "2 curves of "),
        ("tokens,ms\n1,1\n2,2\n", ["--method", "ngram"], 2, "looks drafts up"),
        ("tokens,ms\n1,1\n2,2\n", ["--method", "dflash"], 2, "give its time by --draft-ms"),
    ],
)
def test_draft_passes_that_cannot_be_used_are_refused(cli, written, draft, options, code, said):
    words = ["cost", "--verify-curve", written(FORMS["plain.csv"]), *options]
    done = cli([*words, "--draft-curve", written(draft, "draft.csv")])
    assert (done.exit_code, done.stderr.count("\n")) == (code, 1)
    assert said in done.stderr


def test_an_estimate_takes_no_draft_curve(cli, written):
    words = ["cost", "--target", "c.json", "--device", "h100-sxm"]
    done = cli([*words, "--draft-curve", written(DRAFT_BENCH, "draft.json")])
    assert done.exit_code == 2
    assert "--draft-curve" in done.stderr


def test_the_contexts_of_a_surface_are_said_once(cli, written):
    target, draft = (
        "batch,context,tokens,ms\n" + "".join(
            f"{b},{at},{n},{10 + n}\n" for b in (1, 8) for n in (1, 2, 4)
        )
        for at in (16, 512)
    )  # fmt: skip
    words = ["cost", "--verify-curve", written(target), "--draft-curve", written(draft, "d.csv")]
    found = [w["code"] for w in document(cli([*words, "--json"]))["warnings"]]
    assert found.count("draft_context") == 1


def test_a_draft_curve_needs_passes_of_the_target(cli, written):
    draft = ["--draft-curve", written(DRAFT_BENCH, "draft.json")]
    done = cli(["cost", *draft])
    assert done.exit_code == 2
    assert "--draft-curve needs --verify-curve" in done.stderr
    done = cli(["cost", "--verify-curve", "-", "--draft-curve", "-"])
    assert done.exit_code == 2
    assert "cannot both be standard input" in done.stderr


def test_a_block_ends_the_lengths(cli, written):
    words = ["cost", "--verify-curve", written(FORMS["plain.csv"]), "--draft-ms", "2"]
    table = document(cli([*words, "--block", "3", "--json"]))["result"]["costs"][0]["table"]
    assert [row["gamma"] for row in table] == [1, 2, 3]


SURFACE = "batch,tokens,ms,draft_ms\n" + "".join(
    f"{b},{n},{10 + b * n},{1 + b / 10}\n" for b in (8, 1) for n in (1, 2, 5)
)


def test_a_surface_is_a_cost_a_batch(cli, written):
    whole = document(cli(["cost", "--verify-curve", written(SURFACE), "--json"]))
    assert {cost["batch"] for cost in whole["result"]["costs"]} == {1, 8}
    for cost in whole["result"]["costs"]:
        b = cost["batch"]
        for row in cost["table"]:
            gamma = row["gamma"]
            truth = (10 + b * (gamma + 1) + gamma * (1 + b / 10)) / (10 + b)
            assert row["round_cost"] == pytest.approx(truth)


def test_tokens_of_whole_passes_give_any_batch_that_they_reach(cli, written):
    steps = "tokens,ms\n" + "".join(f"{n},{10 + n}\n" for n in (1, 2, 4, 8, 16))
    done = cli(["cost", "--verify-curve", written(steps), "--batch", "1,4,16", "--json"])
    whole = document(done)
    found = {cost["batch"]: cost["table"] for cost in whole["result"]["costs"]}
    assert list(found) == [1, 4]
    assert found[4][-1] == {"gamma": 3, "round_cost": pytest.approx(26 / 14)}
    said = [w for w in whole["warnings"] if w["code"] == "batch_not_measured"]
    assert "batch 16" in said[0]["message"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tokens,ms\n1,5\n2,6\n1,7\n", "passes_pooled"),
        ("tokens,ms\n1,5\n2,4\n", "passes_fall"),
        (FORMS["plain.csv"], "pass_steps"),
        (FORMS["plain.csv"], "drafting_not_timed"),
        ("curve,tokens,ms\na,1,5\na,2,6\nb,1,5\nb,2,6\n", "curves_apart"),
    ],
)
def test_what_is_odd_about_a_curve_is_said(cli, written, text, code):
    whole = document(cli(["cost", "--verify-curve", written(text), "--json"]))
    assert code in {w["code"] for w in whole["warnings"]}


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("curve,tokens,relative,ms\na,1,1,\na,8,2.4,\nb,1,,5\nb,2,,6\n", ["--draft-ms", "1"],
         "the passes of curve=a make no cost and are shown alone: its times are relative"),
        ("context,tokens,ms\n0,1,5\n0,2,6\n64,1,9\n", [],
         "the passes of context=64 make no cost and are shown alone: a round of batch 1"),
        ("context,tokens,ms\n0,1,5\n0,2,6\n0,4,7\n64,4,9\n", ["--batch", "1,2"],
         "the passes of context=64 make no cost and are shown alone: the plain pass"),
    ],
)  # fmt: skip
def test_a_curve_that_makes_no_cost_is_not_dropped_in_silence(cli, written, text, options, said):
    whole = document(cli(["cost", "--verify-curve", written(text), *options, "--json"]))
    assert len(whole["result"]["curves"]) == 2
    (found,) = [w for w in whole["warnings"] if w["code"] == "curve_without_cost"]
    assert found["message"].startswith(said)


def test_relative_times_among_others_are_relative_to_the_pass_over_one_token(cli, written):
    path = written("tokens,ms,relative\n1,8,\n2,,1.5\n4,16,\n1,,1\n")
    (curve,) = document(cli(["cost", "--verify-curve", path, "--json"]))["result"]["curves"]
    assert [(p["tokens"], p["ms"]) for p in curve["points"]] == [(1, 8), (2, 12), (4, 16)]
    done = cli(["cost", "--verify-curve", written("tokens,ms,relative\n2,9,\n4,,1.5\n")])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "some passes are in ms and others relative" in done.stderr


def test_without_a_pass_over_one_token_there_is_no_relative_time(cli, written):
    path = written("context,tokens,ms\n0,1,5\n0,2,6\n64,4,9\n64,8,12\n")
    curves = document(cli(["cost", "--verify-curve", path, "--json"]))["result"]["curves"]
    assert [p["relative"] for p in curves[0]["points"]] == [1, 1.2]
    assert [p["relative"] for p in curves[1]["points"]] == [None, None]
    shown = cli(["cost", "--verify-curve", path]).stdout
    assert shown.count("V(n)") == 1
    assert "█" in shown.splitlines()[-1]


def test_a_file_a_batch_makes_a_surface(cli, written):
    paths = [written(f"batch,tokens,ms\n{b},1,10\n{b},2,{10 + b}\n", f"b{b}.csv") for b in (1, 4)]
    words = ["cost", "--json"]
    for path in paths:
        words += ["--verify-curve", path]
    whole = document(cli(words))
    assert [cost["batch"] for cost in whole["result"]["costs"]] == [1, 4]
    assert "curves_apart" not in {w["code"] for w in whole["warnings"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tokens,ms\n1,5\n", "verifies at least 2 tokens, and the passes end at 1"),
        ("tokens,ms\n2,5\n3,6\n", "the plain pass, over 1 token(s), was not measured"),
        ("tokens,ms\n1,5\n2,0\n", "curve.csv:3: the time of a pass must be above 0, got 0"),
        ("tokens,ms\n1,5\n2,-3\n", "curve.csv:3: the time of a pass must be above 0, got -3"),
        ("tokens,ms\n1,5\n2,fast\n", "curve.csv:3: ms is fast, not a number"),
        ("tokens,ms\n1,5\n2,nan\n", "curve.csv:3: ms is nan, not a number"),
        ("tokens,ms\n1,5\n2.5,6\n", "curve.csv:3: tokens must be a whole number of at least 1"),
        ("tokens,ms\n0,5\n2,6\n", "curve.csv:2: tokens must be a whole number of at least 1"),
        ("batch,tokens,ms\n0,1,5\n0,2,6\n", "curve.csv:2: batch must be a whole number"),
        ("tokens,ms\n1,5\n2\n", "curve.csv:3: has 1 cells and the header 2"),
        ("alpha,beta\n1,5\n", "curve.csv:2: no column says the tokens of a pass"),
        ("tokens,speed\n1,5\n", "curve.csv:2: no time of the pass over 1 token(s)"),
        ("", "is empty"),
        ("# nothing\n", "holds only comments"),
        ("tokens,ms,ms\n1,2,3\n", "two columns are called ms"),
        ("[1, 2]", "holds int, where a pass is an object"),
        ('{"schema": "gammaplan.fit/1"}', "is a gammaplan document"),
        ('{"tokens": [1, 2], "ms": [1]}', "lists have different lengths"),
        ("{nonsense\n", "curve.csv:1: is not JSON"),
        ("relative,tokens\n2.4,8\n1,1\n", None),
    ],
)
def test_a_file_that_is_no_curve_is_one_sentence(cli, written, text, said):
    done = cli(["cost", "--verify-curve", written(text)])
    if said is None:
        assert done.exit_code == 0
        return
    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--gamma 3", "leave out runs, evidence, --gamma"),
        ("--speedup 1.3 --gamma 3", "leave out runs"),
        ("--target-ms 5", "both time the pass over one token"),
        ("--method ngram --draft-ms 1", "looks drafts up and has no --draft-ms"),
        ("--batch 0", "--batch must be batch sizes of at least 1, got 0"),
        ("--batch 2,2", "--batch must be batch sizes that differ, got 2,2"),
        ("--block 0", "--block must be a whole number of at least 1"),
        ("--pick curve=b", "--pick curve=b matches no curve"),
        ("--pick spin=b", "--pick must be curve=NAME, batch=N or context=N"),
    ],
)
def test_options_that_contradict_a_curve(cli, written, options, said):
    words = ["cost", "--verify-curve", written(FORMS["plain.csv"]), *options.split()]
    done = cli(words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--batch 4", "--block 4"])
def test_the_options_of_a_curve_need_one(cli, option):
    done = cli(f"cost {option}")
    assert done.exit_code == 2
    assert "needs --verify-curve" in done.stderr


def test_the_missing_plain_pass_can_be_given(cli, written):
    path = written("tokens,ms\n2,6\n3,7\n")
    result = document(cli(["cost", "--verify-curve", path, "--target-ms", "5", "--json"]))["result"]
    assert [row["round_cost"] for row in result["costs"][0]["table"]] == pytest.approx([1.2, 1.4])


def test_the_public_curves_print_and_one_is_picked(cli):
    path = str(DATA / "sweeps/verify_curves.csv")
    done = cli(["cost", "--verify-curve", path])
    assert done.exit_code == 0
    assert done.stdout.startswith("8 curves of timed passes; 6 step(s).\n")
    words = ["cost", "--verify-curve", path, "--pick", "curve=sda-m4-7b-batch8", "--json"]
    assert [c["batch"] for c in document(cli(words))["result"]["costs"]] == [8]


@given(st.sampled_from(list(FORMS.values())), st.data())
def test_a_damaged_file_is_read_or_refused_and_never_a_traceback(text, data):
    damaged = list(text)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        new = data.draw(st.sampled_from(["", "0", "-", "e", ",", "|", "{", "]", '"', "\n", "\x00"]))
        damaged[at : at + data.draw(st.integers(0, 3))] = [new]
        damaged = damaged or ["x"]
    with NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write("".join(damaged))
        file.flush()
        said, curves = "", []
        try:
            curves = read_curves(file.name)
        except InputError as error:
            said = str(error).removeprefix(file.name)
    assert "\n" not in said
    assert bool(said) != bool(curves)


def test_an_escape_sequence_in_a_file_is_shown_and_not_obeyed(cli, written):
    path = written("curve,tokens,ms\n\x1b[31mred,1,5\n\x1b[31mred,2,6\n")
    done = cli(["cost", "--verify-curve", path])
    assert "\x1b" not in done.stdout + done.stderr
    assert "curve=\\x1b[31mred" in done.stdout


def test_the_cost_is_evidence_for_a_decision(cli, written, tmp_path):
    cost = cli(
        ["cost", "--verify-curve", written(FORMS["plain.csv"]), "--draft-ms", "0.2", "--json"]
    )
    (tmp_path / "cost.json").write_text(cost.stdout)
    done = cli(["optimum", str(tmp_path / "cost.json"), "--alpha", "0.95", "--json"])
    assert json.loads(done.stdout)["result"]["gamma"] == 7
    assert "search_limit" in done.stdout  # nothing is known beyond what was measured
