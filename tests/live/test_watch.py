"""watch: a record an interval, through restarts, gaps and answers that are none."""

import json
import signal
import subprocess

import jsonschema
import pytest

import gammaplan as gp
from gammaplan import LinearCost
from gammaplan.cli.deciding import Search
from gammaplan.cli.fitting import Assumed
from gammaplan.cli.schema import document_schema
from gammaplan.cli.watched import Gained, Watched
from gammaplan.engines.files import Asked
from gammaplan.engines.following import Endpoints

from ..servers import in_turn, page, reply, serving
from .engine import Engine, page_of

FAST = ["--every", "0.02", "--window", "60"]
BEST = 6  # for alpha 560/720 and c 0.08
A, B = "example-org/target-8b", "example-org/target-70b"


def rows(scale: int = 1, model: str = A) -> str:
    """Counters of drafts of two tokens, accepted with 0.8 and 0.75."""
    return page_of({model: [400 * scale, 320 * scale, 240 * scale]})


def watched(cli, url: str, *args: str, count: int) -> tuple[list[dict], int]:
    words = ["watch", url, "--c", "0.08", *FAST, "--count", str(count), "--json", *args]
    result = cli(words)
    return [json.loads(line) for line in result.stdout.splitlines()], result.exit_code


def codes(record: dict) -> set[str]:
    return {w["code"] for w in record["warnings"]}


def half(text: str):
    return lambda handler: reply(handler, text[: len(text) // 2].encode(), length=len(text))


def test_a_record_tells_the_length_in_use_beside_the_best(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        (record,), code = watched(cli, url, count=1)
    (group,) = record["result"]["groups"]
    assert code == 0
    assert gp.optimal_gamma(560 / 720, 0.08) == BEST
    assert group["labels"] == {"model_name": A}
    assert group["alpha"] == pytest.approx(560 / 720)
    assert (group["rounds"], group["gamma_in_use"], group["gamma_best"]) == (400, 2, BEST)
    assert group["in_band"] is False
    assert group["loss"] == pytest.approx(1 - group["speedup_in_use"] / group["speedup_best"])


def test_a_length_outside_its_band_is_a_finding(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        (record,), _ = watched(cli, url, count=1)
    (said,) = [w for w in record["warnings"] if w["code"] == "gamma_outside_band"]
    assert A in said["message"]
    assert f"slower than γ {BEST}" in said["message"]


def test_a_length_in_its_band_is_none(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        (record,), _ = watched(cli, url, "--tolerance", "50%", count=1)
    assert record["result"]["groups"][0]["in_band"] is True
    assert "gamma_outside_band" not in codes(record)


def test_the_window_adds_up_and_now_is_the_last_interval(cli):
    poor = page_of({A: [1200, 740, 500]})
    with serving(in_turn(page(rows(1)), page(rows(2)), page(poor))) as url:
        (_, record), _ = watched(cli, url, count=2)
    (group,) = record["result"]["groups"]
    assert (group["rounds"], group["rounds_now"]) == (800, 400)
    assert group["alpha_now"] == pytest.approx(120 / (120 + 380))
    assert group["alpha"] == pytest.approx(680 / (680 + 540))


def test_few_rounds_are_not_judged(cli):
    more = page_of({A: [410, 328, 246]})
    with serving(in_turn(page(rows(1)), page(more))) as url:
        (record,), _ = watched(cli, url, count=1)
    (group,) = record["result"]["groups"]
    assert group["loss"] is not None
    assert group["in_band"] is None


def test_every_record_is_as_its_schema_says(cli):
    check = jsonschema.Draft202012Validator(document_schema("watch")).validate
    with serving(in_turn(page(rows(1)), page(rows(2)), page("no", 500), page(rows(4)))) as url:
        records, _ = watched(cli, url, count=3)
    for record in records:
        check(record)


def test_a_restart_counts_from_zero_and_is_told_once(cli):
    with serving(in_turn(page(rows(9)), page(rows(1)), page(rows(2)))) as url:
        (first, second), _ = watched(cli, url, count=2)
    assert first["result"]["groups"][0]["rounds"] == 400
    assert second["result"]["groups"][0]["rounds"] == 800
    assert "counter_reset" in codes(first)
    assert "counter_reset" not in codes(second)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (page("", 500), "answers 500"),
        (half(rows(3)), "ended half-way"),
        (page("<html><body>hello</body></html>"), "web page"),
        (page("one two three\nfour five six\n"), "not with Prometheus text"),
        (lambda handler: handler.connection.close(), "closed the connection"),
    ],
    ids=["500", "half", "html", "prose", "nothing"],
)
def test_a_gap_is_told_and_what_was_counted_meanwhile_is_not_lost(cli, trouble, told):
    with serving(in_turn(page(rows(1)), page(rows(2)), trouble, page(rows(4)))) as url:
        (_, gap, after), code = watched(cli, url, count=3)
    (said,) = [w for w in gap["warnings"] if w["code"] == "no_answer"]
    assert told in said["message"]
    assert gap["result"]["answered"] is False
    assert gap["result"]["groups"][0]["rounds"] == 400  # what was known stays
    assert gap["result"]["groups"][0]["alpha_now"] is None
    assert after["result"]["groups"][0]["rounds"] == 1200
    assert "no_answer" not in codes(after)
    assert code == 0


def test_a_server_that_does_not_answer_in_time_is_a_gap(cli):
    from threading import Event

    late = Event()
    with serving(in_turn(page(rows(1)), lambda h: late.wait(30), page(rows(2)))) as url:
        (gap, after), _ = watched(cli, url, "--timeout", "0.3", count=2)
        late.set()
    assert "within 0.3 seconds" in gap["warnings"][0]["message"]
    assert after["result"]["groups"][0]["rounds"] == 400


def test_counters_that_are_away_for_a_while_are_not_counted_twice(cli):
    other = "# HELP up 1\nup 1\nprocess_cpu_seconds_total 3\n"
    with serving(in_turn(page(rows(8)), page(other), page(rows(9)))) as url:
        (away, back), _ = watched(cli, url, count=2)
    assert "no_spec_data" in codes(away)
    assert back["result"]["groups"][0]["rounds"] == 400


def test_an_old_draft_length_leaves_with_the_first_rounds_of_the_new(cli):
    longer = page_of({A: [400, 320, 240, 200, 160]})
    again = page_of({A: [800, 640, 480, 400, 320]})
    with serving(in_turn(page(rows(1)), page(rows(2)), page(longer), page(again))) as url:
        records, _ = watched(cli, url, count=3)
    lengths = [[g["gamma_in_use"] for g in r["result"]["groups"]] for r in records]
    assert lengths == [[2], [4], [4]]


def test_the_evidence_is_of_the_draft_length_in_use_alone(cli, tmp_path):
    file = tmp_path / "evidence.json"
    longer = page_of({A: [400, 320, 240, 200, 160]})
    with serving(in_turn(page(rows(1)), page(rows(2)), page(longer))) as url:
        watched(cli, url, "--save", str(file), count=2)
    saved = json.loads(file.read_text())
    assert [g["gamma"] for g in saved["result"]["groups"]] == [4]
    assert "mixed_gamma" not in codes(saved)
    answer = json.loads(cli(["optimum", str(file), "--c", "0.08", "--json"]).stdout)["result"]
    assert answer["in_use"]["gamma"] == 4


def test_a_first_reading_that_fails_ends_it(cli):
    with serving(page("no", 404)) as url:
        result = cli(["watch", url, "--c", "0.08", *FAST])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "answers 404" in result.stderr


def test_watching_without_an_answer_to_the_end_is_exit_code_1(cli):
    with serving(page(rows(1))) as url:
        records, code = watched(cli, url, count=2)
    assert [r["result"]["groups"] for r in records] == [[], []]
    assert code == 1


def test_of_several_servers_one_that_fails_is_told_and_the_others_count(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as good, serving(page("", 500)) as bad:
        words = ["watch", f"{good}/a", f"{bad}/b", "--c", "0.08", *FAST, "--count", "1", "--json"]
        (record,) = map(json.loads, cli(words).stdout.splitlines())
    assert record["result"]["answered"] is True
    assert record["result"]["groups"][0]["rounds"] == 400


def test_models_are_groups(cli):
    with Engine({A: (2, 0.8), B: (4, 0.7)}).running() as engine:
        records, _ = watched(cli, engine.url, count=2)
    assert {g["labels"]["model_name"] for g in records[-1]["result"]["groups"]} == {A, B}


def test_by_tells_other_labels_apart(cli):
    with Engine({A: (2, 0.8)}).running() as engine:
        (record,), _ = watched(cli, engine.url, "--by", "engine", count=1)
    (group,) = record["result"]["groups"]
    assert group["labels"] == {"model_name": A, "engine": "0"}


def test_a_label_that_there_is_not_is_refused(cli):
    with Engine({A: (2, 0.8)}).running() as engine:
        result = cli(["watch", engine.url, "--c", "0.08", *FAST, "--by", "colour"])
    assert result.exit_code == 2
    assert "--by must be one of" in result.stderr


def test_a_line_of_the_stream_is_evidence(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        words = ["watch", url, "--c", "0.08", *FAST, "--count", "1", "--json"]
        line = cli(words).stdout
    answer = json.loads(cli("optimum - --c 0.08 --json", input=line).stdout)
    assert answer["result"]["gamma"] == BEST


def test_the_saved_evidence_is_a_fit_that_other_commands_read(cli, tmp_path):
    file = tmp_path / "evidence.json"
    file.write_text("an older one")
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        watched(cli, url, "--save", str(file), count=1)
    assert json.loads(file.read_text())["schema"] == "gammaplan.fit/1"
    answer = json.loads(cli(["optimum", str(file), "--c", "0.08", "--json"]).stdout)["result"]
    assert (answer["gamma"], answer["in_use"]["gamma"]) == (BEST, 2)
    assert [p.name for p in tmp_path.iterdir()] == ["evidence.json"]


def test_evidence_that_cannot_be_written_is_one_sentence(cli, tmp_path):
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        words = ["watch", url, "--c", "0.08", *FAST, "--count", "1", "-q", "--json"]
        result = cli([*words, "--save", str(tmp_path / "no" / "folder.json")])
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_cost_may_come_from_evidence(cli, tmp_path):
    made = cli("cost --draft-ms 2 --target-ms 25 --json").stdout
    (tmp_path / "cost.json").write_text(made)
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        words = ["watch", url, str(tmp_path / "cost.json"), *FAST, "--count", "1", "--json"]
        record = json.loads(cli(words).stdout)
    assert record["sources"]["c"].startswith("evidence:")
    assert record["result"]["groups"][0]["gamma_best"] == BEST


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("watch http://127.0.0.1:1/metrics", "cost"),
        ("watch --c 0.1", "an address like"),
        ("watch localhost:8000/metrics --c 0.1", "got localhost:8000/metrics"),
        ("watch http://a/m http://a/m --c 0.1", "twice"),
        ("watch http://a/m --prometheus http://b --c 0.1", "--prometheus"),
        ("watch http://a/m --c 0.1 --every 1m --window 5", "--window must be at least --every"),
        ("watch http://a/m --c 0.1 --every 0", "--every must be"),
        ("watch --prometheus http://b --by 1x --c 0.1", "--by must be the name of a label"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(cli, words, told):
    result = cli(words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_plain_line_an_interval_where_there_is_no_terminal(cli):
    with serving(in_turn(page(rows(1)), page(rows(2)), page("", 500))) as url:
        result = cli(["watch", url, "--c", "0.08", *FAST, "--count", "2"])
    first, second = result.stdout.splitlines()
    assert "α 0.778 (now 0.778), γ 2 in use, best 6" in first
    assert "outside 5..8 !" in first
    assert "no answer" in second


def test_an_interrupt_ends_the_stream_without_a_word(script):
    with Engine({A: (2, 0.8)}).running() as engine:
        words = [script, "watch", engine.url, "--c", "0.08", *FAST, "--json", "--quiet"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, text=True, **pipes) as watching:
            json.loads(watching.stdout.readline())
            watching.send_signal(signal.SIGINT)
            _, said = watching.communicate(timeout=30)
    assert watching.returncode == 130
    assert "Traceback" not in said


def test_a_trend_has_a_gap_where_there_was_no_answer():
    state = Watched(LinearCost(0.08), Search(None, None), Assumed(), 60.0)
    with serving(in_turn(page(rows(1)), page(rows(2)))) as url:
        pages = Endpoints([url], asked=Asked())
        pages.read()
        state.add(Gained(0.0, 0.0, pages.read()))
    record = state.add(Gained(1.0, 1.0, None, "gone"))
    assert record.trends == [[pytest.approx(560 / 720), None]]


def test_servers_are_told_apart_in_a_line(cli):
    with Engine({A: (2, 0.8)}).running() as one, Engine({A: (2, 0.8)}).running() as other:
        words = ["watch", one.url, other.url, "--c", "0.08", *FAST, "--count", "1"]
        (line,) = cli(words).stdout.splitlines()
    for engine in (one, other):
        assert f"127.0.0.1:{engine.port}, {A}: α" in line


def test_names_of_models_are_text(cli):
    bad = "\x1b]0;pwned\x07[bold]x[/bold]"
    with serving(in_turn(page(rows(1, bad)), page(rows(2, bad)))) as url:
        plain = cli(["watch", url, "--c", "0.08", *FAST, "--count", "1", "--json"])
    assert "\x1b" not in plain.stdout + plain.stderr
    assert "[bold]x[/bold]" in plain.stderr
