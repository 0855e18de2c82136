"""cost --target: the estimate, its range, what it is ready for, and what is refused."""

import json

import jsonschema
import pytest

from gammaplan.cli.schema import document_schema
from gammaplan.data.roofline_errors import HIGH, LOW
from gammaplan.engines.settings import base
from tests.engines import grammar
from tests.support import DATA

CONFIGS = DATA / "configs"
LLAMA, MOE = CONFIGS / "llama-3.1-8b-instruct.json", CONFIGS / "deepseek-v3.json"
SMALL, OSS = CONFIGS / "llama-3.2-1b-instruct.json", CONFIGS / "gpt-oss-120b.json"
BASE = f"cost --target {LLAMA} --device h100-sxm"
FULL = f"{BASE} --method eagle3 --batch 1,8,32 --context 4096 --dtype bf16"


def document(cli, args):
    done = cli(f"{args} --json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def costs(cli, args):
    return document(cli, args)["result"]["costs"]


def refused(cli, args):
    done = cli(args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_every_batch_is_a_cost_of_kind_estimated_with_its_range(cli):
    found = costs(cli, FULL)
    assert [(c["batch"], c["context"], c["kind"]) for c in found] == [
        (1, 4096, "estimated"),
        (8, 4096, "estimated"),
        (32, 4096, "estimated"),
    ]
    for row in (row for cost in found for row in cost["table"]):
        assert row["low"] == pytest.approx(LOW * row["round_cost"])
        assert row["high"] == pytest.approx(HIGH * row["round_cost"])


def test_csv_has_every_length_of_every_batch(cli):
    lines = cli(f"{FULL} --format csv").stdout.splitlines()
    assert lines[0].startswith("batch,gamma,round_cost,low,high")
    assert len(lines) == 1 + 3 * 32


def test_the_account_of_inputs_has_defaults_filled_in_and_says_where_from(cli):
    made = document(cli, f"cost --target {OSS} --device h100-sxm --method eagle3")
    filled = {k: made["inputs"][k] for k in ("dtype", "quant", "kv_dtype", "tp", "context")}
    assert filled == {
        "dtype": "bf16", "quant": "mxfp4", "kv_dtype": "bf16", "tp": 1, "context": 4096,
    }  # fmt: skip
    assert made["sources"]["quant"] == f"evidence:{OSS}"
    assert made["sources"]["context"] == "default"


def test_a_quantisation_that_is_not_known_asks_for_quant(cli, tmp_path):
    values = json.loads(LLAMA.read_text(encoding="utf-8"))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values | {"quantization_config": {"quant_method": "hqq"}}))
    said = refused(cli, f"cost --target {path} --device h100-sxm --method eagle3")
    assert "is quantised by hqq, which is not known; --quant says how (fp8, " in said


def test_the_document_is_of_its_schema(cli):
    jsonschema.validate(document(cli, FULL), document_schema("cost"))


def test_it_says_that_nothing_was_measured_and_so_does_the_plan(cli):
    made = cli(f"{FULL} --json")
    codes = [w["code"] for w in json.loads(made.stdout)["warnings"]]
    assert "cost_estimated" in codes
    plan = cli("plan - --alpha 0.75 --json", input=made.stdout)
    warned = {w["code"]: w.get("from") for w in json.loads(plan.stdout)["warnings"]}
    assert warned["cost_estimated"] == "standard input"


def test_the_interval_of_a_plan_is_as_wide_as_the_errors_of_the_estimate(cli):
    made = cli(f"{BASE} --method eagle3 --json").stdout
    result = json.loads(cli("plan - --alpha 0.75 --json", input=made).stdout)["result"]
    row = next(r for r in result["rows"] if r["best"])
    assert row["speedup"] / row["low"] == pytest.approx(HIGH)
    assert row["high"] / row["speedup"] == pytest.approx(1 / LOW)
    assert "cost" in result["prediction"]["covers"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_a_plan_of_it_is_a_schedule_in_the_grammar_of_the_engine(cli, engine):
    made = cli(f"{BASE} --method eagle3 --batch 16,64,128,256,512 --context 512 --json").stdout
    args = f"plan - --alpha 0.75 --engine {engine} --method eagle3 --json"
    result = json.loads(cli(args, input=made).stdout)["result"]
    assert len(result["schedule"]) > 1
    (text,) = result["settings"].values()
    means = grammar.meaning(engine, text, base.find(engine).newest)
    assert len(means.ranges) >= len(result["schedule"])
    assert means.gamma == result["schedule"][0]["gamma"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_one_length_for_every_batch_is_a_setting_of_the_engine_too(cli, engine):
    made = cli(f"{FULL} --json").stdout
    args = f"plan - --alpha 0.75 --batch 1,8,32 --engine {engine} --method eagle3 --json"
    result = json.loads(cli(args, input=made).stdout)["result"]
    (part,) = result["schedule"]
    (text,) = result["settings"].values()
    assert grammar.meaning(engine, text, base.find(engine).newest).gamma == part["gamma"]


@pytest.mark.parametrize("method", ["eagle3", "eagle", "mtp", "medusa", "ngram", "suffix"])
def test_a_method_without_a_model_of_its_own_needs_no_draft(cli, method):
    (cost,) = costs(cli, f"{BASE} --method {method}")
    assert cost["table"][0]["round_cost"] >= 1


def test_a_lookup_costs_no_more_than_the_pass_that_verifies(cli):
    (cost,) = costs(cli, f"{BASE} --method ngram")
    assert [row["round_cost"] for row in cost["table"][:8]] == pytest.approx([1.0] * 8)


def test_a_draft_model_costs_what_its_size_makes(cli):
    (cost,) = costs(cli, f"{BASE} --draft {SMALL}")
    assert 0.1 < cost["table"][1]["round_cost"] - cost["table"][0]["round_cost"] < 0.4


def test_a_one_pass_draft_ends_with_its_block(cli):
    (cost,) = costs(cli, f"{BASE} --draft {SMALL} --method dflash --block 5")
    assert cost["table"][-1]["gamma"] == 5


def test_a_mixture_pays_for_the_experts_of_more_tokens(cli):
    one, many = costs(cli, f"cost --target {MOE} --device b200 --tp 8 --method mtp --batch 1,256")
    assert one["table"][2]["round_cost"] > many["table"][2]["round_cost"] > 1


def test_a_measured_pass_calibrates_the_efficiency(cli):
    result = document(cli, f"{BASE} --method eagle3 --target-ms 9")["result"]["estimate"]
    assert result["calibrated"] is True
    assert result["passes"][0]["ms"] == pytest.approx(9)
    assert result["efficiency"] < 0.7


def test_memory_that_does_not_fit_is_said_with_the_numbers(cli):
    done = cli(f"{BASE} --method eagle3 --batch 1,512 --context 4096")
    assert "at batch 512 and context 4096" in done.stderr
    assert "80.0 GB; batch 1 fits" in done.stderr
    assert "DO NOT FIT" in done.stdout


def test_the_quantisation_of_the_config_is_taken(cli):
    made = document(cli, f"cost --target {OSS} --device h100-sxm --method eagle3")["result"]
    held = made["estimate"]["room"][0]["weights"] / 1e9
    assert 60 < held < 68  # the published checkpoint has 60.8 GiB


def test_any_device_goes_by_its_figures(cli):
    args = f"cost --target {LLAMA} --bandwidth 1000 --flops 100 --memory 32 --method ngram"
    made = document(cli, args)["result"]["estimate"]
    assert made["device"]["bandwidth"] == 1e12
    assert made["turn"]["weights"] == pytest.approx(100)


def test_a_figure_given_for_a_known_device_is_not_called_its_vendors(cli):
    args = f"{BASE} --method ngram --bandwidth 3000 --flops 800"
    device = document(cli, args)["result"]["estimate"]["device"]
    assert device["source"].endswith("2022-03-22; --bandwidth, --flops as given")
    assert (device["bandwidth"], device["flops"]) == (3e12, 8e14)


def test_medusa_heads_pass_over_one_token_of_a_sequence(cli):
    few, many = costs(cli, f"{BASE} --method medusa --block 4 --batch 1,256 --context 64")
    heads = 4 * (4096**2 + 4096 * 128_256)
    held = document(cli, f"{BASE} --method medusa --block 4 --batch 256 --context 64")["result"]
    by_computing = 2e3 * heads * 256 / (0.7 * 989.4e12)
    by_reading = 2e3 * heads / (0.7 * 3.35e12)
    (drafting,) = held["estimate"]["drafting"]
    assert drafting["ms"] == pytest.approx(max(by_computing, by_reading) + 0.1, rel=1e-6)
    assert len(few["table"]) == len(many["table"]) == 4


def test_a_quantised_file_of_unknown_bits_is_not_taken_for_16(cli, tmp_path):
    values = json.loads(LLAMA.read_text(encoding="utf-8"))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values | {"quantization": {"group_size": 64, "bits": 4}}))
    made = document(cli, f"cost --target {path} --device h100-sxm --method eagle3")
    assert made["inputs"]["quant"] == "mlx4"
    path.write_text(json.dumps(values | {"quantization": {"group_size": 64, "bits": 8}}))
    said = refused(cli, f"cost --target {path} --device h100-sxm --method eagle3")
    assert "quantised by mlx, 8 bits in groups of 64, which is not known" in said


def test_the_answer_is_one_line_and_the_parts_are_shown(cli):
    out = cli(FULL).stdout
    assert out.startswith("Estimated: a round of γ 4 costs ")
    for word in ("weights", "attention", "overhead", "Efficiency 70.0 %", "Up to 295 tokens"):
        assert word in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_of_a_mixture_more_tokens_are_not_said_to_cost_little(cli):
    said = " ".join(cli(f"cost --target {MOE} --device b200 --tp 8 --method mtp").stdout.split())
    assert "more tokens cost more until all are read, and turn at 9,000." in said
    assert "cost little more" not in said


def test_a_compute_bound_part_is_marked(cli):
    assert "*" in cli(f"{BASE} --method eagle3 --batch 256 --context 64").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("--device h100-sxm", "--device needs --target FILE"),
        ("--tp 2 --method eagle3", "--tp needs --target FILE"),
        (f"--target {LLAMA} --method eagle3", "needs --device NAME, or --bandwidth, --flops"),
        (f"--target {LLAMA} --device h100 --method eagle3", "near are h100-sxm, h100-pcie"),
        (f"--target {LLAMA} --device t4 --method eagle3", "fp16, int8, not for bf16; --flops"),
        (f"--target {LLAMA} --device m4 --method eagle3", "for no format, not for bf16"),
        (f"--target {LLAMA} --device a100-sxm --quant fp8 --method eagle3", "not for fp8"),
        (f"--target {LLAMA} --device h100-sxm", "needs --method eagle3"),
        (f"--target {LLAMA} --device h100-sxm --method magic", "got --method magic"),
        (f"--target {LLAMA} --device h100-sxm --method draft-model", "a model of its own: --draft"),
        (
            f"--target {LLAMA} --device h100-sxm --method eagle3 --draft {SMALL}",
            "leave out --draft",
        ),
        (f"--target {LLAMA} --device h100-sxm --method ngram --draft {SMALL}", "leave out --draft"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --tp 3", "divide the 32 heads"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --context 0", "at least 1, got 0"),
        (
            f"--target {LLAMA} --device h100-sxm --method eagle3 --context 200000",
            "at most the 131072",
        ),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --dtype fp4", "one of bf16, fp16"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --quant q2", "one of none, fp8"),
        (
            f"--target {LLAMA} --device h100-sxm --method eagle3 --target-ms 0.5",
            "cannot take 0.5 ms",
        ),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --c 0.1", "leave out runs"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --verify-curve x", "leave out runs"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --efficiency 0", "0.001, got 0"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --efficiency 1e-9", "got 1e-09"),
        (
            f"--target {LLAMA} --device h100-sxm --method eagle3 --bandwidth 1e-300",
            "0.001 and 1e+09",
        ),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --flops 1e-320", "0.001 and 1e+09"),
        (f"--target {LLAMA} --device h100-sxm --method eagle3 --parameters 1e300", "1 and 1e+18"),
        ("--target - --draft - --device h100-sxm", "cannot both be standard input"),
        (f"--target {LLAMA} --device m2 --method eagle3", "for no format, not for bf16"),
        (
            f"--target {LLAMA} --device h100-sxm --method eagle3 --efficiency 0.6 --target-ms 9",
            "both say it",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused_in_one_sentence(cli, args, said):
    assert said in refused(cli, f"cost {args}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "got a list"),
        ('{"model_type": "llama"}', "needs hidden_size"),
        ("", "is not JSON"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_config_that_cannot_be_read_ends_with_1_and_one_sentence(cli, tmp_path, text, said):
    path = tmp_path / "config.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = cli(f"cost --target {path} --device h100-sxm --method eagle3")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr


def test_what_a_config_says_cannot_move_the_terminal(cli, tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "\\u001b[31m[bold]x"}', encoding="utf-8")
    done = cli(f"cost --target {path} --device h100-sxm --method eagle3")
    assert "\x1b" not in done.stdout + done.stderr


def test_a_config_comes_from_standard_input_too(cli):
    text = LLAMA.read_text(encoding="utf-8")
    assert cli("cost --target - --device h100-sxm --method eagle3", input=text).exit_code == 0


def mixed(cli):
    """One document with an estimated and a measured cost, as a hand might join them."""
    whole = document(cli, f"{BASE} --method eagle3 --batch 1,8")
    whole["result"]["costs"][1]["kind"] = "measured"
    whole["warnings"] = []
    return json.dumps(whole)


def test_estimates_beside_measurements_are_never_silent(cli):
    made = json.loads(cli("plan - --alpha 0.75 --json", input=mixed(cli)).stdout)
    (found,) = [w for w in made["warnings"] if w["code"] == "kinds_of_cost_mixed"]
    assert "estimated at batch 1; measured at batch 8" in found["message"]


def test_the_round_costs_of_an_estimate_are_not_called_measured(cli):
    made = cli(f"{BASE} --method eagle3 --json").stdout
    said = cli("optimum - --alpha 0.75", input=made).stdout
    assert "32 estimated round costs" in said


@pytest.mark.parametrize("batches", ["1", "1,8"])
def test_a_cost_given_instead_of_the_estimate_is_not_called_one(cli, batches):
    made = cli(f"{BASE} --method eagle3 --batch {batches} --json").stdout
    done = cli("plan - --alpha 0.75 --c 0.1 --json", input=made)
    answer = json.loads(done.stdout)
    assert [c["kind"] for c in answer["result"]["costs"]] == ["given"]
    assert "cost_estimated" not in {w["code"] for w in answer["warnings"]}


def test_two_costs_in_two_files_are_refused(cli, tmp_path):
    curve = tmp_path / "passes.csv"
    curve.write_text("batch,tokens,ms\n64,1,10\n64,2,11\n64,4,13\n", encoding="utf-8")
    for name, args in (("a", f"{BASE} --method eagle3"), ("b", f"cost --verify-curve {curve}")):
        (tmp_path / f"{name}.json").write_text(cli(f"{args} --json").stdout, encoding="utf-8")
    done = cli(f"plan {tmp_path / 'a.json'} {tmp_path / 'b.json'} --alpha 0.75")
    assert done.exit_code == 2
    assert "give one file" in done.stderr
