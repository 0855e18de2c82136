"""plan --batch and plan --engine: schedules from surfaces and runs, settings, and their limits."""

import json
import shlex

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.cli.schema import document_schema
from tests.engines.grammar import meaning
from tests.support import DATA, rows

GRID = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def surface_text(grid=GRID):
    lines = ["batch,tokens,ms"]
    for b in grid:
        lines += [f"{b},{n},{max(10 + 0.02 * b * n, 4 + 0.09 * b * n)}" for n in range(1, 10)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def surface(cli, tmp_path):
    (tmp_path / "surface.csv").write_text(surface_text())
    words = ["cost", "--verify-curve", str(tmp_path / "surface.csv"), "--draft-ms", "0.6", "--json"]
    (tmp_path / "surface.json").write_text(cli(words).stdout)
    return str(tmp_path / "surface.json")


def document(done):
    assert done.exit_code == 0, done.stderr
    whole = json.loads(done.stdout)
    jsonschema.validate(whole, document_schema("plan"))
    return whole


def truth(batch, gamma, alpha=0.75):
    time = max(10 + 0.02 * batch * (gamma + 1), 4 + 0.09 * batch * (gamma + 1))
    plain = max(10 + 0.02 * batch, 4 + 0.09 * batch)
    tokens = sum(alpha**i for i in range(gamma + 1))
    return tokens * plain / (time + 0.6 * gamma) if gamma else 1.0


def test_a_surface_and_an_acceptance_make_a_schedule(cli, surface):
    result = document(cli(["plan", "--alpha", "0.75", surface, "--json"]))["result"]
    for row in result["batches"]:
        speeds = [truth(row["batch"], gamma) for gamma in range(9)]
        assert row["speedup"] == pytest.approx(max(speeds))
        assert row["gamma"] == speeds.index(max(speeds))
        assert row["planned_speedup"] == pytest.approx(speeds[row["planned_gamma"]])
        assert row["planned_speedup"] >= 0.97 * row["speedup"]
    assert [row["batch"] for row in result["batches"]] == list(GRID)
    assert result["schedule"][0]["batch_low"] == 1
    assert result["schedule"][-1] == {
        "batch_low": 91, "batch_high": None, "gamma": 0, "speedup": 1.0, "loss": 0.0,
        "gain": result["schedule"][-1]["gain"],
    }  # fmt: skip
    assert result["crossover"] == {"pays_to": 64, "loses_from": 128}


def test_the_other_figures_are_those_of_the_smallest_batch_or_the_one_picked(cli, surface):
    words = ["plan", "--alpha", "0.75", surface, "--json"]
    smallest = document(cli(words))["result"]
    assert smallest["speedup"] == pytest.approx(max(truth(1, g) for g in range(9)))
    picked = document(cli([*words, "--batch", "1,64", "--pick", "batch=64"]))["result"]
    assert picked["costs"][0]["batch"] == 64
    assert picked["gamma"] == 1
    assert [row["batch"] for row in picked["batches"]] == [1, 64]
    alone = document(cli([*words, "--pick", "batch=64"]))["result"]
    assert alone["schedule"] == []
    assert alone["speedup"] == picked["speedup"]


@pytest.mark.parametrize("command", ["plan", "optimum"])
def test_a_length_in_use_beyond_the_measured_ones_is_not_guessed(cli, surface, command):
    words = [command, "--alpha", "0.75", surface, "--pick", "batch=1", "--gamma", "50", "--json"]
    whole = json.loads(cli(words).stdout)
    assert whole["result"]["in_use"] is None
    assert "in_use_unknown" in {w["code"] for w in whole["warnings"]}


def test_a_wider_tolerance_gives_fewer_ranges(cli, surface):
    counts = []
    for tolerance in ("0", "0.03", "0.08", "0.4"):
        words = ["plan", "--alpha", "0.75", surface, "--tolerance", tolerance, "--json"]
        counts.append(len(document(cli(words))["result"]["schedule"]))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_a_batch_between_is_interpolated_and_one_outside_is_not(cli, surface):
    words = ["plan", "--alpha", "0.75", surface, "--batch", "3,512,8", "--json"]
    whole = document(cli(words))
    assert [row["batch"] for row in whole["result"]["batches"]] == [3, 8]
    codes = {w["code"]: w["message"] for w in whole["warnings"]}
    assert "batch 3 " in codes["batch_between"]
    assert "batch 512 " in codes["batch_not_measured"]
    between = whole["result"]["batches"][0]["speedup"]
    assert max(truth(4, g) for g in range(9)) <= between <= max(truth(2, g) for g in range(9))


@given(st.permutations([1, 4, 32, 128]))
def test_the_order_of_batches_does_not_matter(batches):
    from gammaplan.cli.values import batches as parse

    assert parse(",".join(map(str, batches))) == (1, 4, 32, 128)


RUNS = "batch,gamma,speedup,mean_length\n1,5,2.14,2.87\n8,5,1.75,\n32,5,1.22,\n64,5,0.80,\n"


def test_runs_at_several_batches_make_a_schedule(cli, tmp_path):
    (tmp_path / "runs.csv").write_text(RUNS)
    words = ["plan", "--runs", str(tmp_path / "runs.csv"), "--batch", "1,8,32,64", "--json"]
    result = document(cli(words))["result"]
    assert [row["batch"] for row in result["batches"]] == [1, 8, 32, 64]
    assert result["costs"][0]["batch"] == 1
    speeds = [row["speedup"] for row in result["batches"]]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[0] == pytest.approx(2.14, rel=0.05)
    piped = cli(["plan", "--runs", "-", "--batch", "1,8,32,64", "--json"], input=RUNS)
    assert document(piped)["result"]["schedule"] == result["schedule"]


def test_a_batch_that_did_not_say_takes_the_acceptance_of_one_that_did(cli, tmp_path):
    (tmp_path / "runs.csv").write_text(RUNS)
    words = ["plan", "--runs", str(tmp_path / "runs.csv"), "--batch", "1,64", "--json"]
    result = document(cli([*words, "--pick", "batch=64"]))["result"]
    row = next(row for row in result["rows"] if row["gamma"] == 5)
    assert row["expected_tokens"] == pytest.approx(2.87, rel=0.02)
    assert row["speedup"] == pytest.approx(0.8, rel=0.05)


def test_runs_without_batch_in_the_options_are_as_before(cli, tmp_path):
    (tmp_path / "runs.csv").write_text(RUNS)
    whole = document(cli(["plan", "--runs", str(tmp_path / "runs.csv"), "--json"]))
    assert whole["result"]["schedule"] == []
    assert "several_batches" in {w["code"] for w in whole["warnings"]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--c", "0.1", "--batch", "1,2"], "--batch needs costs at several batch sizes"),
        (["SURFACE", "--batch", "512"], "--batch 512: the costs are of batch 1, 2"),
        (["SURFACE", "--batch", "0"], "--batch must be batch sizes of at least 1, got 0"),
        (["SURFACE", "--batch", "1,1"], "--batch must be batch sizes that differ"),
        (["SURFACE", "--batch", "x"], "--batch must be whole numbers"),
        (["SURFACE", "--batch", "1,2", "--pick", "batch=3"], "--pick batch=3 matches nothing"),
        (["SURFACE", "--batch", "1", "--candidate", "c=0.1"], "leave out --candidate and --mix"),
        (["--c", "0.1", "--draft", "x"], "--draft needs --engine"),
        (["--c", "0.1", "--mtp-layers", "2"], "--mtp-layers needs --engine"),
        (["--c", "0.1", "--engine", "nope"], "no settings of an engine 'nope'"),
        (["--c", "0.1", "--engine", "mlx", "--method", "medusa"], "cannot draft by medusa"),
        (["--c", "0.1", "--engine", "vllm", "--target", "-x"], "must not start with a hyphen"),
        (["--speedup", "1.2", "--gamma", "2", "--hit-rate", "0.5"], "--hit-rate and runs exclude"),
        (
            ["--c", "0.1", "--hit-rate", "0.5", "--mix", "name=a,share=1,alpha=0.8"],
            "--hit-rate is for one workload; leave out --mix",
        ),
        (["--c", "0.1", "--hit-rate", "1.5"], "--hit-rate must be a fraction"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(cli, surface, options, said):
    words = [surface if word == "SURFACE" else word for word in options]
    done = cli(["plan", "--alpha", "0.75", *words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("batches", "exit_code", "said"),
    [
        ((0, 2), 1, "the evidence has a cost of batch 0; the smallest is 1"),
        ((-3, 2), 1, "the evidence has a cost of batch -3"),
        ((2, 2, 4), 2, "several costs are of batch 2"),
        (range(1, 514), 2, "the costs are of 513 batch sizes; --batch chooses 512 at most"),
    ],
)
def test_costs_of_impossible_batches(cli, tmp_path, batches, exit_code, said):
    whole = json.loads(cli("optimum --alpha 0.7 --c 0.1 --json").stdout)
    (cost,) = whole["result"]["costs"]
    costs = [{**cost, "batch": batch} for batch in batches]
    document = {"schema": "gammaplan.cost/1", "result": {"costs": costs}}
    (tmp_path / "cost.json").write_text(json.dumps(document))
    done = cli(["plan", "--alpha", "0.7", str(tmp_path / "cost.json")])
    assert (done.exit_code, done.stdout) == (exit_code, "")
    assert said in done.stderr


ENGINES = [("vllm", (0, 33)), ("sglang", (0, 5, 23)), ("tensorrt-llm", (1, 3))]


def test_all_three_schedules_are_printed_and_say_the_same(cli, surface):
    words = ["plan", "--alpha", "0.75", surface, "--method", "eagle3", "--json"]
    for engine, _ in ENGINES:
        words += ["--engine", engine]
    result = document(cli(words))["result"]
    for engine, version in ENGINES:
        means = meaning(engine, result["settings"][engine], version)
        for part in result["schedule"]:
            for batch in (part["batch_low"], part["batch_high"] or 1_000):
                at = next(g for low, high, g in means.ranges if low <= batch <= high)
                assert at == part["gamma"]


def test_an_engine_that_cannot_follow_says_so_and_is_set_for_the_smallest_batch(cli, surface):
    done = cli(["plan", "--alpha", "0.75", surface, "--engine", "llama.cpp", "--json"])
    whole = document(done)
    text = whole["result"]["settings"]["llama.cpp"]
    assert meaning("llama.cpp", text, (2026, 7)).gamma == whole["result"]["gamma"]
    said = next(w for w in whole["warnings"] if w["code"] == "schedule_not_settable")
    assert "one length whatever the batch" in said["message"]


@pytest.mark.parametrize("engine", ["vllm", "sglang@0.5.10", "mlx"])
def test_the_engine_moves_no_number(cli, engine):
    words = ["plan", "--alpha", "0.75", "--c", "0.1", "--json"]
    plain = document(cli(words))["result"]
    engined = document(cli([*words, "--engine", engine]))["result"]
    for result in (plain, engined):
        del result["settings"], result["checks"]
    assert engined == plain


def test_a_log_of_one_engine_is_planned_for_another(cli):
    log = "tests/data/samples/vllm/v1_log_k3_three_windows.log"
    for engine in ("vllm", "sglang"):
        whole = document(cli(["plan", log, "--c", "0.08", "--engine", engine, "--json"]))
        assert whole["result"]["gamma"] == 7
        version = dict(ENGINES)[engine]
        assert meaning(engine, whole["result"]["settings"][engine], version).gamma == 7


def test_the_line_to_paste_is_printed_whole(program):
    log = "tests/data/samples/vllm/v1_log_k3_three_windows.log"
    done = program("plan", log, "--c", "0.08", "--engine", "vllm", COLUMNS="40")
    line = next(line for line in done.stdout.splitlines() if line.startswith("vllm serve"))
    assert line == (
        'vllm serve TARGET --speculative-config \'{"model":"DRAFT","num_speculative_tokens":7}\''
    )


def test_names_go_into_the_settings(cli):
    words = (
        "plan --alpha 0.75 --c 0.1 --engine vllm --target a/b --draft c/d --method eagle3 --json"
    )
    text = document(cli(f"{words} --json"))["result"]["settings"]["vllm"]
    means = meaning("vllm", text, (0, 33))
    assert (means.target, means.draft) == ("a/b", "c/d")


@pytest.mark.parametrize("model", ["$(reboot)", "a'b; rm -rf /", "{x}"])
def test_the_model_of_the_evidence_is_the_target_and_stays_one_word(cli, tmp_path, model):
    path = evidence(cli, tmp_path, model)
    whole = document(cli(["plan", path, "--c", "0.1", "--engine", "vllm", "--json"]))
    for part in whole["result"]["groups"]:
        assert meaning("vllm", part["settings"]["vllm"], (0, 33)).target == part["labels"]["model"]


def test_a_control_character_in_the_evidence_is_refused(cli, tmp_path):
    path = evidence(cli, tmp_path, "a\nreboot")
    done = cli(["plan", path, "--c", "0.1", "--engine", "vllm"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.endswith("must have no control character, got \\n; give --target\n")


def evidence(cli, tmp_path, model):
    whole = json.loads(cli("convert --alpha 0.7 --gamma 4 --json").stdout)
    law = whole["result"]["acceptance"]
    whole["result"] = {
        "groups": [{"labels": {"model": m}, "acceptance": law} for m in (model, "other")]
    }
    (tmp_path / "fit.json").write_text(json.dumps(whole))
    return str(tmp_path / "fit.json")


def test_the_settings_are_of_the_draft_that_wins(cli):
    words = "plan --engine sglang --c 0.05 --json --candidate name=a,alpha=0.5,method=mtp"
    words += " --candidate name=b,alpha=0.8,method=eagle3"
    text = document(cli(words))["result"]["settings"]["sglang"]
    assert "--speculative-algorithm EAGLE3" in text


def test_a_plan_of_no_drafts_leaves_speculation_off(cli):
    whole = document(cli("plan --alpha 0.1 --c 0.5 --engine vllm --json"))
    assert whole["result"]["settings"]["vllm"] == "vllm serve TARGET  # leave speculation off"
    assert "leave_off" in {w["code"] for w in whole["warnings"]}


def test_an_unbounded_plan_has_no_settings(cli):
    whole = document(cli("plan --alpha 0.7 --c 0 --engine vllm --json"))
    assert whole["result"]["settings"] == {}
    assert "no_settings" in {w["code"] for w in whole["warnings"]}


def test_misses_make_a_lookup_worth_less(cli):
    full = document(cli("plan --alpha 0.7 --c 0.02 --json"))["result"]
    half = document(cli("plan --alpha 0.7 --c 0.02 --hit-rate 0.5 --json"))["result"]
    assert 1 < half["speedup"] < full["speedup"]
    assert {"name": "hit_rate", "value": 0.5, "source": "flag", "option": "--hit-rate"} in half[
        "assumptions"
    ]


def test_what_was_given_is_said_as_it_was_given_beside_a_hit_rate(cli):
    words = "plan --alpha 0.7 --c 0.02 --hit-rate 0.5 --method ngram --engine vllm --json"
    whole = document(cli(words))
    said = {a["name"]: a["value"] for a in whole["result"]["assumptions"]}
    assert (said["alpha"], said["c"], said["hit_rate"]) == (0.7, 0.02, 0.5)
    check = shlex.split(whole["result"]["checks"]["vllm"])  # of the rounds that draft
    assert json.loads(check[-1])["synthetic_acceptance_rates"][:2] == [0.7, 0.49]
    assert "unknown_method" not in {w["code"] for w in whole["warnings"]}  # no prior is used


@pytest.mark.parametrize(
    ("options", "unused"),
    [
        ("--engine vllm --method ngram --draft small", ["--draft"]),
        ("--engine vllm --method eagle3 --draft small --target big", []),
        ("--engine tensorrt-llm --method eagle3 --target big", ["--target"]),
        ("--engine tensorrt-llm --engine vllm --method eagle3 --target big", []),
        ("--engine vllm --method eagle3 --mtp-layers 3", ["--mtp-layers"]),
        ("--engine vllm --method nextn --mtp-layers 3", []),
    ],
)
def test_an_option_that_changes_no_settings_is_said(cli, options, unused):
    whole = document(cli(f"plan --alpha 0.7 --c 0.1 {options} --json"))
    said = [w["message"].split()[0] for w in whole["warnings"] if w["code"] == "setting_unused"]
    assert said == unused


def test_misses_keep_the_interval_of_the_acceptance(cli):
    words = f"plan {DATA / 'samples/vllm/v1_log_k7_two_windows.log'} --c 0.08 --json"
    alone = document(cli(words))["result"]["rows"]
    always = document(cli(f"{words} --hit-rate 1"))["result"]["rows"]
    half = document(cli(f"{words} --hit-rate 0.5"))["result"]["rows"]
    for whole, same, mixed in zip(alone[1:], always[1:], half[1:], strict=True):
        assert (same["low"], same["high"]) == pytest.approx((whole["low"], whole["high"]))
        assert 1 < mixed["high"] / mixed["low"] < whole["high"] / whole["low"]


def test_two_versions_of_an_engine_are_both_written(cli):
    words = "plan --alpha 0.7 --c 0.1 --engine vllm@0.7.3 --engine vllm --engine mlx --json"
    texts = document(cli(words))["result"]["settings"]
    assert list(texts) == ["vllm@0.7.3", "vllm", "mlx"]
    assert "--speculative-model" in texts["vllm@0.7.3"]
    assert "--speculative-config" in texts["vllm"]


def test_an_mtp_head_gets_its_fastest_multiple_and_never_beyond_the_search(cli):
    words = "plan --alpha 0.8 --c 0.12 --engine vllm --method mtp --mtp-layers 3 --json"
    result = document(cli(words))["result"]
    speeds = {row["gamma"]: row["speedup"] for row in result["rows"]}
    assert (result["gamma"], speeds[6] > speeds[3]) == (5, True)
    written = json.loads(shlex.split(result["settings"]["vllm"])[-1])
    assert written["num_speculative_tokens"] == 6
    assert (
        len(json.loads(shlex.split(result["checks"]["vllm"])[-1])["synthetic_acceptance_rates"])
        == 6
    )
    searched = document(cli(f"{words} --max-gamma 5"))["result"]["settings"]["vllm"]
    assert json.loads(shlex.split(searched)[-1])["num_speculative_tokens"] == 3


def test_the_prior_of_a_method_and_of_an_engine_are_said(cli):
    words = "plan --gamma 5 --speedup 1.45 --pooled-rate 0.55"
    plain = document(cli(f"{words} --json"))["result"]
    named = document(cli(f"{words} --prior-engine sglang --method mtp --json"))["result"]
    said = {a["name"]: a["source"] for a in named["assumptions"]}
    assert said["method"] == "mtp: the prior of its family"
    assert said["prior_engine"].startswith("sglang: not used")
    assert named["speedup"] != plain["speedup"]


def test_a_boundary_that_noise_could_have_made_is_warned_of(cli, tmp_path):
    text = "batch,tokens,ms\n" + "".join(
        f"{b},{n},{10 + slope * n}\n"
        for b, slope in ((1, 0.5), (2, 0.5), (4, 1.3), (8, 0.5), (16, 0.5))
        for n in range(1, 8)
    )
    (tmp_path / "noisy.csv").write_text(text)
    cost = cli(["cost", "--verify-curve", str(tmp_path / "noisy.csv"), "--json"])
    (tmp_path / "noisy.json").write_text(cost.stdout)
    words = ["plan", "--alpha", "0.6", str(tmp_path / "noisy.json"), "--json"]
    whole = document(cli([*words, "--tolerance", "0.01"]))
    assert len(whole["result"]["schedule"]) == 3
    said = next(w for w in whole["warnings"] if w["code"] == "range_of_one")
    assert "(batch 4)" in said["message"]
    assert len(document(cli([*words, "--tolerance", "0.1"]))["result"]["schedule"]) == 1


def test_drafting_on_where_the_largest_batch_loses_is_warned_of(cli, tmp_path):
    text = "batch,tokens,ms\n1,1,10\n1,2,10.5\n64,1,10\n64,2,15.1\n"
    (tmp_path / "passes.csv").write_text(text)
    cost = cli(["cost", "--verify-curve", str(tmp_path / "passes.csv"), "--json"])
    (tmp_path / "cost.json").write_text(cost.stdout)
    words = ["plan", "--alpha", "0.5", str(tmp_path / "cost.json"), "--json"]
    near = document(cli(words))
    assert [part["gamma"] for part in near["result"]["schedule"]] == [1]
    assert near["result"]["crossover"] == {"pays_to": 1, "loses_from": 64}
    assert "open_end_loses" in {w["code"] for w in near["warnings"]}
    exact = document(cli([*words, "--tolerance", "0"]))
    assert [part["gamma"] for part in exact["result"]["schedule"]] == [1, 0]
    assert "open_end_loses" not in {w["code"] for w in exact["warnings"]}


def test_the_public_sweeps_of_batches_read_as_runs(cli, tmp_path):
    table = [r for r in rows("sweeps/batch_sweeps") if r["sweep_id"].endswith("fp16-fp16-gsm8k")
             and "phase3" in r["sweep_id"]]  # fmt: skip
    lines = ["batch,gamma,speedup,mean_length"]
    lines += [f"{r['batch_or_concurrency']},{r['gamma']},{r['measured_speedup']},"
              f"{r['mean_length_incl_bonus']}" for r in table]  # fmt: skip
    (tmp_path / "sweep.csv").write_text("\n".join(lines))
    words = ["plan", "--runs", str(tmp_path / "sweep.csv"), "--batch", "1,8,32,64", "--json"]
    result = document(cli([*words, "--method", "eagle3"]))["result"]
    assert len(result["batches"]) == 4
