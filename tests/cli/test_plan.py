"""gammaplan plan: what it answers, what it prints, and what it refuses."""

import json

import jsonschema
import pytest

SURVIVAL = "0.844,0.599,0.385,0.271"
RUN = "plan --gamma 5 --baseline-tps 41.6 --spec-tps 60.3 --pooled-rate 0.55"


@pytest.fixture
def fit(cli, tmp_path):
    """A path to evidence of acceptance: `fit()` four positions, `fit("--alpha 0.6")` others."""

    def write(figures=f"--survival {SURVIVAL}", name="fit.json", interval=None):
        document = json.loads(cli(f"convert {figures} --json").stdout)
        if interval:
            low, high = interval
            document["result"]["acceptance"]["interval"] = {
                "level": 0.95,
                "low": low,
                "high": high,
                "method": "clopper-pearson",
            }
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return str(path)

    return write


def document(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def answer(cli, *args):
    return document(cli([*args, "--json"]))["result"]


@pytest.mark.parametrize(
    ("c", "gamma"), [("0.05", 4), ("0.1", 4), ("0.2", 3), ("0.3", 2), ("0.5", 1)]
)
def test_the_public_survival_gives_the_public_lengths(cli, fit, c, gamma):
    assert answer(cli, "plan", fit(), "--c", c, "--max-gamma", "4")["gamma"] == gamma


def test_without_the_limit_the_best_is_extrapolated(cli, fit):
    found = document(cli(["plan", fit(), "--c", "0.05", "--json"]))
    assert found["result"]["gamma"] == 6
    assert "extrapolated" in {w["code"] for w in found["warnings"]}


@pytest.mark.parametrize("flags", ["--alpha 0.8 --c 0.1", "--alpha 0.6 --c 0.3 --overhead 0.1"])
def test_known_figures_plan_as_optimum_does(cli, flags):
    plan, optimum = (answer(cli, name, *flags.split()) for name in ("plan", "optimum"))
    assert {key: plan[key] for key in optimum} == optimum


def test_other_time_units_change_nothing(cli):
    ms = "plan --gamma 5 --baseline-ms 24 --spec-ms 16 --pooled-rate 0.55"
    us = "plan --run gamma=5,baseline_us=24000,spec_us=16000,pooled_rate=0.55"
    one, other = (answer(cli, *line.split()) for line in (ms, us))
    assert [r["speedup"] for r in one["rows"]] == pytest.approx(
        [r["speedup"] for r in other["rows"]]
    )


def test_one_run_gives_a_length_a_band_and_the_next_run(cli):
    found = answer(cli, *RUN.split())
    assert found["gamma"] == 3
    assert found["band"]["low"] <= 3 <= found["band"]["high"]
    assert found["next_runs"][0]["gamma"] == 3
    assert [r["gamma"] for r in found["rows"] if r["measured"]] == [5]
    assert all(r["low"] <= r["speedup"] <= r["high"] for r in found["rows"])


def test_a_known_baseline_gives_tokens_per_second(cli):
    row = answer(cli, *RUN.split())["rows"][0]
    assert (row["tps"], row["ms_per_token"]) == (pytest.approx(41.6), pytest.approx(1e3 / 41.6))


def test_a_run_without_acceptance_says_which_figure_would_narrow_it(cli):
    found = answer(cli, "plan", "--gamma", "5", "--speedup", "1.45")
    assert found["narrows"]["option"] == "--mean-length"
    assert found["narrows"]["then"] < found["narrows"]["width"]


@pytest.mark.parametrize(("flags", "kind"), [("--alpha 0.8", "--c"), ("--c 0.05", "--alpha")])
def test_a_prior_stands_for_what_is_missing(cli, flags, kind):
    found = answer(cli, "plan", *flags.split())
    assert found["narrows"]["option"] == kind
    kinds = {found["acceptance"].get("kind"), found["costs"][0]["kind"]}
    assert "prior" in kinds
    assert any(item["source"] == "prior" for item in found["assumptions"])


def test_evidence_may_be_the_acceptance_figure_of_a_run(cli, fit):
    found = answer(cli, "plan", fit(), "--gamma", "5", "--speedup", "1.45")
    assert found["acceptance"]["survival"][:4] == pytest.approx([0.844, 0.599, 0.385, 0.271])
    assert found["narrows"] is None


def test_an_interval_on_alpha_gives_the_lengths_that_always_fit(cli, fit):
    found = answer(cli, "plan", fit(interval=(0.70, 0.78)), "--c", "0.1")
    assert found["robust"]["worst_regret"] < 0.03
    assert found["gamma"] in found["always_within"]
    assert found["prediction"] == {"level": 0.8, "covers": ["acceptance"]}


def test_end_to_end_has_the_prefill_in_it(cli):
    flags = "plan --alpha 0.8 --c 0.1 --baseline-tps 40 --prefill-ms 300 --output-tokens 256"
    found = answer(cli, *flags.split())["end_to_end"]
    assert found["plain_ms"] == 300 + 256 * 25
    assert 1 < found["speedup"] < 2.4697


def test_candidates_are_ranked(cli, fit):
    found = answer(
        cli,
        "plan",
        "--candidate",
        f"name=small,evidence={fit('--alpha 0.6 --gamma 4', 'b.json')},c=0.02",
        "--candidate",
        f"name=eagle3,evidence={fit()},c=0.05",
    )
    assert [d["name"] for d in found["drafts"]] == ["eagle3", "small"]
    assert [d["tied"] for d in found["drafts"]] == [True, False]
    assert found["gamma"] == 6


def test_drafts_that_are_too_close_are_said_to_be(cli):
    line = "plan --candidate name=a,alpha=0.7,c=0.1 --candidate name=b,alpha=0.701,c=0.1"
    assert "a" in cli(line).stdout
    assert "cannot be told apart" in cli(line).stdout


def test_two_files_for_one_slot_are_drafts(cli, fit):
    found = answer(cli, "plan", fit(), fit("--alpha 0.6 --gamma 4", "b.json"), "--c", "0.05")
    assert len(found["drafts"]) == 2


def test_one_file_twice_is_no_comparison(cli, fit):
    done = cli(["plan", fit(), fit(), "--c", "0.05"])
    assert done.exit_code == 2
    assert "twice" in done.stderr


def test_a_mix_has_one_length_and_the_gain_of_one_for_each(cli, fit):
    found = answer(
        cli,
        "plan",
        "--mix",
        f"name=code,share=60%,evidence={fit()}",
        "--mix",
        "name=chat,share=0.4,alpha=0.5",
        "--c",
        "0.05",
    )
    own = {w["name"]: w["gamma"] for w in found["workloads"]}
    assert own["chat"] < found["gamma"] < own["code"]
    assert found["gamma_per_workload"]["gain"] > 0
    assert "harmonic" in found["gamma_per_workload"]["weighting"]


def test_a_mix_of_equal_workloads_is_one_of_them(cli):
    line = "plan --mix name=a,share=0.5,alpha=0.8 --mix name=b,share=0.5,alpha=0.8 --c 0.1"
    mix = answer(cli, *line.split())
    assert (mix["gamma"], round(mix["speedup"], 4)) == (6, 2.4696)


def test_the_textbook_has_no_prior_and_no_interval(cli):
    found = answer(cli, *RUN.split(), "--textbook")
    assert found["prediction"] is None
    assert [item["name"] for item in found["assumptions"]] == ["alpha", "c"]


def test_nothing_pays(cli):
    found = cli("plan --gamma 2 --speedup 0.6")
    assert found.stdout.startswith("Use γ = 0: do not speculate")


@pytest.mark.parametrize("line", [RUN, "plan", "plan --alpha 0.8", "plan --alpha 0.8 --c 0"])
def test_the_terminal_answers_first_and_fits(cli, line):
    lines = cli(line).stdout.splitlines()
    assert lines[0].startswith(("Use γ = ", "No best γ"))
    assert max(map(len, lines)) <= 80


def test_a_narrow_terminal_keeps_the_lengths(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = cli(RUN).stdout.splitlines()
    assert any(line.startswith("* 3   1.52×") for line in lines)
    assert max(map(len, lines)) <= 40


def test_measured_points_are_marked(cli):
    assert "o 1.45×" in cli(RUN).stdout


@pytest.mark.parametrize(
    "line",
    [
        RUN,
        "plan --c 0.05",
        "plan --candidate name=a,alpha=0.7,c=0.1 --candidate name=b,alpha=0.6,c=0.1",
        "plan --mix name=a,share=1,alpha=0.7 --c 0.1",
        "plan --alpha 1 --c 0",
    ],
)
def test_the_document_keeps_its_schema(cli, line):
    from gammaplan.cli.schema import document_schema

    jsonschema.validate(document(cli(line + " --json")), document_schema("plan"))


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("plan --gamma 5 --speedup 1.4 --c 0.1", 2, "a run states what its rounds cost"),
        ("plan --alpha 0.8 --prefill-ms 3", 2, "--output-tokens"),
        ("plan --alpha 0.8 --prefill-ms 3 --output-tokens 9", 2, "--baseline-tps"),
        ("plan --alpha 0.8 --textbook", 2, "cost of a draft is missing"),
        ("plan --gamma 5 --speedup 1.4 --textbook", 2, "acceptance figure"),
        ("plan --candidate name=a,d=3", 2, "has no key d"),
        ("plan --candidate alpha=0.5", 2, "needs a name"),
        ("plan --candidate name=a,c=x", 2, "c must be a number"),
        ("plan --candidate name=a,alpha=80", 2, "80 % is 0.8"),
        ("plan --candidate name=a,alpha=0.5 --candidate name=a,alpha=0.6", 2, "names a twice"),
        ("plan --candidate name=a,name=b", 2, "gives name twice"),
        ("plan --candidate name=a,alpha=0.5 --mix name=b,share=1,alpha=0.5", 2, "exclude"),
        ("plan --mix name=a,share=0.6,alpha=0.5 --c 0.1", 2, "add up to 1, got 0.6"),
        ("plan --mix name=a,share=1", 2, "one of evidence, alpha or a run"),
        ("plan --candidate name=a,evidence=missing.json", 1, "missing.json"),
        ("plan missing.json", 1, "missing.json"),
        ("plan --max-gamma -1", 2, "--max-gamma"),
        ("plan --pick batch=3 --alpha 0.8 --c 0.1", 2, "matches nothing"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(cli, line, code, said):
    found = cli(line)
    assert (found.exit_code, found.stdout) == (code, "")
    assert said in found.stderr
    assert found.stderr.startswith("Error: ")
    assert found.stderr.count("\n") == 1


def test_acceptance_is_given_once(cli, fit):
    found = cli(["plan", fit(), *RUN.split()[1:]])
    assert found.exit_code == 2
    assert "give it once" in found.stderr


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("--require-speedup 2.4", 0),
        ("--require-speedup 2.5", 3),
        ("--require-gamma-in-band 4", 0),
        ("--require-gamma-in-band 9", 3),
    ],
)
def test_gates(cli, gate, code):
    assert cli(f"plan --alpha 0.8 --c 0.1 {gate}").exit_code == code


def test_a_required_speedup_is_that_of_the_lower_end(cli):
    found = answer(cli, *RUN.split())
    low = next(r["low"] for r in found["rows"] if r["best"])
    assert found["speedup"] > 1.5 > low
    assert cli(RUN + " --require-speedup 1.5").exit_code == 3


def test_a_hostile_name_is_printed_as_text(cli):
    found = cli(
        [
            "plan",
            "--candidate",
            "name=\x1b[31m[bold]x,alpha=0.7,c=0.1",
            "--candidate",
            "name=b,alpha=0.6,c=0.1",
        ]
    )
    assert "\x1b" not in found.stdout
    assert "\\x1b[31m[bold]x" in found.stdout


def test_plan_from_evidence_loads_no_scipy(python, fit):
    path = fit(interval=(0.70, 0.78))
    loaded = python(
        "import sys\n"
        f"sys.argv = ['gammaplan', 'plan', {path!r}, '--c', '0.08', '--json']\n"
        "from gammaplan.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([m for m in sys.modules if m.startswith(('scipy', 'rich.table'))])"
    )
    assert loaded.splitlines()[-1] == "[]"


def test_a_candidate_may_be_a_measured_run(cli):
    line = "plan --candidate name=a,gamma=5,speedup=1.45,pooled_rate=0.5"
    line += " --candidate name=b,gamma=3,speedup=1.4,mean_length=2.2,method=mtp"
    found = answer(cli, *line.split())
    assert [d["name"] for d in found["drafts"]] == ["a", "b"]
    assert found["drafts"][1]["tied"]
    assert [r["gamma"] for r in found["rows"] if r["measured"]] == [5]


def test_a_candidate_says_what_is_wrong_with_its_run(cli):
    found = cli("plan --candidate name=a,gamma=5,speedup=1.45,pooled_rate=50")
    assert found.exit_code == 2
    assert "--candidate a: its run: rates must be fractions" in found.stderr


def test_pick_chooses_the_batch_of_runs(cli, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("gamma,speedup,batch,mean_length\n3,1.6,1,2.5\n3,1.2,8,2.5\n")
    found = answer(cli, "plan", "--runs", str(path), "--pick", "batch=8")
    assert [r["measured"] for r in found["rows"] if r["gamma"] == 3] == [pytest.approx(1.2)]
    assert cli(["plan", "--runs", str(path), "--pick", "batch=9"]).exit_code == 2
    assert cli(["plan", "--runs", str(path), "--pick", "card=a"]).exit_code == 2


def test_a_fitted_cost_brings_an_interval(cli, fit, tmp_path):
    cost = tmp_path / "cost.json"
    made = cli("cost --gamma 5 --speedup 1.45 --pooled-rate 0.55 --json")
    cost.write_text(made.stdout)
    found = answer(cli, "plan", fit(), str(cost))
    assert found["prediction"]["covers"] == ["run"]
    assert all(r["low"] < r["speedup"] < r["high"] for r in found["rows"] if r["gamma"])


def test_groups_are_answered_one_by_one(cli, fit, tmp_path):
    whole = json.loads((tmp_path / fit()).read_text())
    other = json.loads((tmp_path / fit("--alpha 0.6 --gamma 4", "b.json")).read_text())
    parts = [
        {"labels": {"model": name}, "acceptance": d["result"]["acceptance"]}
        for name, d in (("a", whole), ("b", other))
    ]
    whole["schema"], whole["result"] = "gammaplan.fit/1", {"groups": parts}
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(whole))
    groups = answer(cli, "plan", str(path), "--c", "0.05")["groups"]
    assert [(g["labels"]["model"], g["gamma"]) for g in groups] == [("a", 6), ("b", 4)]
    assert answer(cli, "plan", str(path), "--c", "0.05", "--pick", "model=b")["gamma"] == 4
    found = cli(["plan", "--candidate", f"name=x,evidence={path},c=0.1"])
    assert "--pick" in found.stderr


def test_evidence_says_what_drafts_unless_the_command_line_does(cli, tmp_path):
    cost = tmp_path / "cost.json"
    cost.write_text(cli("cost --gamma 5 --speedup 1.4 --method mtp --json").stdout)
    plan = ["plan", str(cost), "--alpha", "0.7", "--engine", "vllm", "--json"]
    own = document(cli(plan))
    assert own["inputs"]["method"] == "mtp"
    assert own["sources"]["method"] == f"evidence:{cost}"
    assert '"method":"mtp"' in own["result"]["settings"]["vllm"]
    said = document(cli([*plan, "--method", "eagle3"]))
    assert said["sources"]["method"] == "flag"
    assert '"method":"eagle3"' in said["result"]["settings"]["vllm"]
