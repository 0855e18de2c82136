"""Runs on the command line and in files: what is understood, and what is refused in a sentence."""

import json
import math

import pytest

CSV = """draft_len,baseline tok/s,tok/s,acceptance_rate_%,gpu
2,40,52,70,A100
5,40,60,55,A100
"""


def result(done):
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["result"]


def codes(done):
    return [w["code"] for w in json.loads(done.stdout)["warnings"]]


def test_units_change_nothing(cli):
    tps = result(cli("cost --gamma 5 --baseline-tps 40 --spec-tps 60 --pooled-rate .55 --json"))
    ms = result(cli("cost --gamma 5 --baseline-ms 25 --spec-ms 16.6666666666667 "
                    "--mean-length 3.75 --json"))  # fmt: skip
    ratio = result(cli("cost --gamma 5 --speedup 1.5 --pooled-rate 55% --json"))
    for other in (ms, ratio):
        assert other["rows"][0]["round_cost"] == pytest.approx(tps["rows"][0]["round_cost"])
    assert tps["rows"][0]["round_cost"] == pytest.approx(2.5)


def test_a_csv_of_users_names(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(CSV)
    done = cli(["cost", "--runs", str(path), "--json"])
    rows = result(done)["rows"]
    assert [row["gamma"] for row in rows] == [2, 5]
    assert rows[0]["round_cost"] == pytest.approx(2.4 / 1.3)
    assert rows[1]["round_cost"] == pytest.approx(3.75 / 1.5)
    assert {"columns_mapped", "columns_ignored"} <= set(codes(done))


def test_sglang_bench(cli, tmp_path):
    path = tmp_path / "bench.jsonl"
    keys = ("batch_size", "steps", "topk", "num_draft_tokens", "acc_length", "throughput")
    lines = [(1, 0, 0, 0, 1.0, 100.0), (1, 3, 1, 4, 2.4, 160.0), (1, 3, 4, 16, 3.0, 180.0),
             (8, 3, 1, 4, 2.4, 700.0)]  # fmt: skip
    path.write_text("".join(json.dumps(dict(zip(keys, v, strict=True))) + "\n" for v in lines))
    done = cli(["cost", "--runs", str(path), "--json"])
    assert result(done)["rows"][0]["round_cost"] == pytest.approx(2.4 / 1.6)
    assert {"trees_left_out", "batch_left_out"} <= set(codes(done))
    other = cli(["cost", "--runs", str(path), "--pick", "batch=8"])
    assert other.exit_code == 1
    assert "baseline is missing" in other.stderr
    assert "1, 8" in cli(["cost", "--runs", str(path), "--pick", "batch=4"]).stderr


def test_vllm_bench(cli, tmp_path):
    plain, spec = tmp_path / "plain.json", tmp_path / "spec.json"
    plain.write_text(json.dumps({"output_throughput": 80.0, "mean_tpot_ms": 12.0}, indent=1))
    spec.write_text(json.dumps({
        "output_throughput": 120.0, "mean_tpot_ms": 8.0, "spec_decode_num_drafts": 100,
        "spec_decode_draft_tokens": 300, "spec_decode_acceptance_length": 2.2,
        "spec_decode_acceptance_rate": 40.0,
        "spec_decode_per_position_acceptance_rates": [0.6, 0.4, 0.2],
    }, indent=1))  # fmt: skip
    done = cli(["cost", "--runs", str(plain), "--runs", str(spec), "--json"])
    row = result(done)["rows"][0]
    assert row["gamma"] == 3
    assert row["round_cost"] == pytest.approx(2.2 / 1.5)


def test_a_baseline_for_all_and_duplicates(cli):
    done = cli("cost --baseline-tps 40 --run gamma=3,spec_tps=55,survival=0.8/0.6/0.4 "
               "--run k=3,spec_tps=57,acc_length=2.8 --json")  # fmt: skip
    assert "runs_pooled" in codes(done)
    assert "runs_differ" not in codes(done)
    assert len(result(done)["rows"]) == 1


def test_repeats_that_differ_are_said_and_widen_the_interval(cli, tmp_path):
    steady, shaken = tmp_path / "steady.csv", tmp_path / "shaken.csv"
    rows = "gamma,tps,mean_length\n" + "3,66,2.4\n" * 3
    steady.write_text(rows + "0,50,\n" * 3, encoding="utf-8")
    shaken.write_text(rows + "0,40,\n0,50,\n0,62.5,\n", encoding="utf-8")
    calm, loose = (cli(f"plan --runs {f} --max-gamma 6 --json") for f in (steady, shaken))
    assert "runs_differ" not in codes(calm)
    assert "runs_differ" in codes(loose)
    for done, source in ((calm, "published runs"), (loose, "repeated runs")):
        (noise,) = (a for a in result(done)["assumptions"] if a["name"] == "run_noise")
        assert noise["source"] == source
    square = math.log(1.25) ** 2  # of three plain runs, ln 40, ln 50 and ln 62.5, two repeats
    base = (4 * square - 2 * 0.02**2) / 3  # the runs themselves agree
    assert noise["value"] == pytest.approx(math.sqrt(0.02**2 + base))
    for before, after in zip(result(calm)["rows"][1:], result(loose)["rows"][1:], strict=True):
        assert after["speedup"] == pytest.approx(before["speedup"], rel=0.02)
        assert after["high"] / after["low"] > before["high"] / before["low"]


def test_explain_takes_the_mean_of_repeats_and_not_the_best_of_them(cli, tmp_path):
    file = tmp_path / "runs.csv"
    rows = "gamma,speedup,mean_length\n3,1.6,2.5\n3,1.2,2.3\n3,1.35,2.4\n6,1.4,2.9\n"
    file.write_text(rows, encoding="utf-8")
    speed = (1.6 * 1.2 * 1.35) ** (1 / 3)
    part = result(cli(f"explain --runs {file} --gamma 3 --json"))
    assert part["measured_speedup"] == pytest.approx(speed)
    assert part["round_cost"] == pytest.approx(2.4 / speed)
    fastest = result(cli(f"explain --runs {file} --json"))
    assert fastest["gamma"] == 6  # 1.4 in the mean, above the 1.37 of γ 3
    timed = result(cli(["explain", "--gamma", "3", "--target-ms", "10", "--draft-ms", "1",
                        *("--run", "gamma=3,speedup=1.5", "--run", "gamma=3,speedup=1.2"),
                        "--json"]))  # fmt: skip
    assert timed["measured_speedup"] == pytest.approx((1.5 * 1.2) ** 0.5)


def test_a_baseline_of_its_own_takes_no_noise_from_plain_rows(cli, tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(
        "gamma,baseline_tps,spec_tps,mean_length\n3,50,66,2.4\n0,40,,\n0,62,,\n", encoding="utf-8"
    )
    done = cli(f"plan --runs {file} --json")
    assert "runs_differ" not in codes(done)
    other = tmp_path / "plain.csv"
    other.write_text("gamma,tps,mean_length\n3,66,2.4\n0,40,\n0,62,\n", encoding="utf-8")
    assert "runs_differ" not in codes(cli(f"plan --runs {other} --baseline-tps 50 --json"))
    assert "runs_differ" in codes(cli(f"plan --runs {other} --json"))


def test_a_plain_row_with_both_speeds_counts_once(cli, tmp_path):
    told = []
    for text in ("gamma,spec_tps\n0,50\n0,60\n5,80\n",
                 "gamma,baseline_tps,spec_tps\n0,50,50\n0,60,60\n5,,80\n"):  # fmt: skip
        file = tmp_path / "runs.csv"
        file.write_text(text, encoding="utf-8")
        done = cli(f"plan --runs {file} --json")
        told += [a["value"] for a in result(done)["assumptions"] if a["name"] == "run_noise"]
        assert result(done)["narrows"] is None  # an acceptance figure would not help
    assert told[0] == told[1] > 0.1


def test_plain_rows_of_either_unit_are_repeats_of_their_own_runs(cli, tmp_path):
    file = tmp_path / "runs.csv"
    rows = "gamma,spec_tps,spec_ms\n0,50,\n0,,18\n0,,25\n5,80,\n3,,12\n"
    file.write_text(rows, encoding="utf-8")
    assert "runs_differ" in codes(cli(f"plan --runs {file} --json"))


def test_plain_speeds_that_cannot_be_of_one_set_up_are_refused(cli, tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("gamma,spec_tps\n0,1e308\n0,1e-308\n5,1.4\n", encoding="utf-8")
    done = cli(f"plan --runs {file} --json")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "runs.csv:2: the speeds without speculation" in done.stderr


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0,50\n3,60\n0,0\n", ":4: the speed without"),
        ("0,50\n0,51\n0,9e9\n3,60\n", ":4: the speeds"),
    ],
)
def test_the_plain_row_that_is_wrong_is_named(cli, tmp_path, rows, said):
    file = tmp_path / "runs.csv"
    file.write_text("gamma,spec_tps\n" + rows, encoding="utf-8")
    done = cli(f"plan --runs {file}")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert f"runs.csv{said}" in done.stderr


def test_a_cost_carries_the_noise_of_its_runs_to_a_plan(cli, tmp_path):
    spans = []
    for speeds in ((1.5, 1.5), (1.2, 1.875)):
        rows = [f"{g},{s},{1 + g / 2}\n" for g in (1, 3, 6) for s in speeds]
        runs, cost = tmp_path / "runs.csv", tmp_path / "cost.json"
        runs.write_text("gamma,speedup,mean_length\n" + "".join(rows), encoding="utf-8")
        cost.write_text(cli(f"cost --runs {runs} --json").stdout, encoding="utf-8")
        plan = cli(f"plan {cost} --alpha 0.7 --json")
        spans.append([r["high"] / r["low"] for r in result(plan)["rows"][1:] if r["low"]])
    assert len(spans[0]) == 6
    assert all(wide > 1.3 * narrow for narrow, wide in zip(*spans, strict=True))
    assert "run_noise" in json.loads(cost.read_text("utf-8"))["result"]["costs"][0]


@pytest.mark.parametrize(
    ("args", "exit_code", "words"),
    [
        ("--gamma 5 --speedup 145 --pooled-rate .5", 2, "cannot be"),
        ("--gamma 5 --baseline-tps 4160 --spec-tps 60", 2, "one unit"),
        ("--gamma 5 --baseline-tps 40 --spec-ms 20", 2, "different units"),
        ("--gamma 5 --spec-tps 20", 2, "baseline is missing"),
        ("--speedup 1.4", 2, "--gamma is missing"),
        ("--gamma 5 --speedup 0", 2, "above 0"),
        ("--gamma 5 --baseline-tps -4 --spec-tps 60", 2, "above 0"),
        ("--gamma 5 --speedup 1.4 --mean-length 7", 2, "gamma + 1"),
        ("--gamma 2.5 --speedup 1.4", 2, "whole number"),
        ("--run gamma=5,speed=4", 2, "no key speed"),
        ("--run gamma=5,speedup", 2, "without a value"),
        ("--run speedup=1.4", 2, "gamma"),
        ("--run gamma=5,speedup=fast", 2, "not a number"),
        ("--run gamma=5,speedup=1.4,pooled_rate=55", 2, "55 % is 0.55"),
        ("--runs no_such_file.csv", 1, "no_such_file.csv"),
        ("--draft-ms 1.8", 2, "--target-ms"),
        ("--target-ms 14 --draft-ms 1 --verify-ms 20", 2, "--gamma"),
        ("--target-ms 0 --draft-ms 1", 2, "above 0"),
        ("", 2, "nothing was measured"),
    ],
)
def test_one_sentence_for_what_cannot_be(cli, args, exit_code, words):
    done = cli(f"cost {args}")
    assert done.exit_code == exit_code, done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("gamma,speedup\n", "no run below it"),
        ("gamma,speedup\n5,1.4,9\n", "cells"),
        ("k,k\n1,2\n", "two columns"),
        ("speedup\n1.4\n", "no column says the draft length"),
        ("gamma,speedup\n5,fast\n", "not a number"),
        ("gamma,speedup,mean_length\n5,1.4,9\n", "mean_length"),
        ("gamma,baseline_tps\n5,40\n", "missing"),
        ("gamma,tps\n0,40\n", "only the baseline"),
        ('{"gamma": 5}\nnot json\n', "not JSON"),
        ("[1, 2]", "where a run is an object"),
        ('{"schema": "gammaplan.fit/1"}', "evidence"),
    ],
)
def test_bad_files(cli, tmp_path, text, words):
    path = tmp_path / "runs"
    path.write_text(text)
    done = cli(["cost", "--runs", str(path)])
    assert done.exit_code == 1, (done.stdout, done.stderr)
    assert words in done.stderr


def test_lines_are_counted_from_the_top_of_the_file(cli, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('\n \n{"gamma": 5, "speedup": 1.4}\n{"gamma": 5, "speedup": "fast"}\n')
    done = cli(["cost", "--runs", str(path)])
    assert done.exit_code == 1
    assert "runs.jsonl:4: speedup is fast" in done.stderr


def test_only_newlines_end_a_record(cli, tmp_path):
    path = tmp_path / "runs.jsonl"
    record = '{"gamma": 5, "speedup": 1.4, "mean_length": 3.5, "note": "a\u2028b\x85c"}\n'
    path.write_text(record * 2, encoding="utf-8")
    assert result(cli(["cost", "--runs", str(path), "--json"]))["rows"][0]["gamma"] == 5


def test_rows_with_baselines_that_differ_state_none_for_all(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("gamma,baseline_tps,spec_tps\n2,40,50\n3,,55\n5,41,60\n")
    done = cli(["cost", "--runs", str(path)])
    assert done.exit_code == 1
    assert "runs.csv:3: the baseline is missing" in done.stderr
    path.write_text("gamma,baseline_tps,spec_tps,mean_length\n2,40,50,2\n3,,55,2.5\n")
    assert len(result(cli(["cost", "--runs", str(path), "--json"]))["rows"]) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n# timed\ngamma,speedup\n\n3,1.2\n\n3\n", ":7: has 1 cells and the header 2"),
        ("\n# timed\ngamma,speedup\n\n3,1.2\n\n3,oops\n", ":7: speedup is oops"),
        ('\n{"gamma": 3, "speedup": 1.2}\n\n{"gamma": 3}\n', ":4: the speed with speculation"),
        ('{"gamma": 3, "speedup": 1.2}\n[{"gamma": 3, "speedup": "x"}]\n', ":2: record 1: speedup"),
        ('[{"gamma": 3, "speedup": 1.2},\n{"gamma": 3}]', ": record 2: the speed with"),
    ],
)
def test_a_bad_run_is_named_by_its_line(cli, tmp_path, text, said):
    path = tmp_path / "runs.txt"
    path.write_text(text, encoding="utf-8")
    done = cli(["plan", "--runs", str(path)])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert f"runs.txt{said}" in done.stderr


def test_many_rows(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("gamma,speedup,mean_length\n" + "5,1.4,3.5\n2,1.3,2.3\n" * 10_000)
    assert len(result(cli(["cost", "--runs", str(path), "--json"]))["rows"]) == 2
