"""gammaplan fit: what it answers, what it refuses, and that no input breaks it."""

import csv
import gzip
import io
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from gammaplan.engines import lines, prometheus

from ..support import DATA

SAMPLES = DATA / "samples"
LOG = SAMPLES / "vllm" / "v1_log_k3_three_windows.log"
PAGE = SAMPLES / "vllm" / "metrics_k7.prom"
ONE_OF_EACH = (
    "vllm/v1_log_k3_three_windows.log",
    "sglang/meta_info_0523_batch.json",
    "llamacpp/server_mean_len_trace.log",
    "tensorrt_llm/prometheus.prom",
    "transformers/assisted_trace.jsonl",
)
COUNTS = {"rounds": 766, "drafted": 2298, "accepted": 1882, "rejections": 243}


@pytest.fixture
def fit(cli):
    """`fit(PATH, "--gamma", "3")`: exit code, document, and stderr."""

    def run(*args, input=None):
        result = cli(["fit", *map(str, args), "--json"], input=input)
        document = json.loads(result.stdout) if result.stdout else None
        return result.exit_code, document, result.stderr

    return run


@pytest.fixture
def refused(cli):
    """`refused("--gamma", "x")`: the one line that says why, and the exit code."""

    def run(*args):
        result = cli(["fit", *map(str, args)])
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""
        return result.exit_code, result.stderr

    return run


@pytest.fixture
def write(tmp_path):
    """`write("name", b"...")`: a file."""

    def save(name, data):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return save


def codes(document):
    return [w["code"] for w in document["warnings"]]


def counted(document):
    """Rounds, drafted, accepted and rejections of the answer."""
    return {name: document["result"]["counts"][name] for name in COUNTS}


# What it answers


def test_the_answer_is_the_first_line(cli):
    result = cli(["fit", str(LOG)])
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first == "α = 0.8856, 95 % interval 0.8652 to 0.9034 at γ 3."


@pytest.mark.parametrize("width", ["40", "80"])
def test_the_report_fits_its_terminal(cli, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    found = cli(["fit", str(LOG), "--by", "window"]).stdout.splitlines()
    assert max(map(len, found)) <= int(width)


def test_bounds_are_an_answer(cli):
    result = cli(["fit", str(SAMPLES / "vllm/v083_log_rate_only.log")])
    assert result.exit_code == 0
    assert result.stdout.startswith("α is between 0.7132 and 0.9947: no point estimate.")


def test_groups_that_must_not_be_added_up_are_answered_apart(cli):
    result = cli(["fit", str(SAMPLES / "vllm/v1_log_compose_two_engines.log")])
    assert result.stdout.startswith("2 groups that must not be added up:")
    assert "container=vllm-chat-1" in result.stdout


def test_several_files_of_one_kind_are_groups_that_pool(fit, write):
    paths = [write(f"{name}.log", LOG.read_bytes()) for name in "ab"]
    _, found, _ = fit(*paths)
    assert counted(found) == {name: 2 * count for name, count in COUNTS.items()}
    assert [g["labels"] for g in found["result"]["groups"]] == [
        {"file": "a.log"},
        {"file": "b.log"},
    ]


def test_files_of_the_same_name_are_told_apart_by_their_folder(fit, tmp_path):
    paths = [tmp_path / folder / "x.log" for folder in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(LOG.read_bytes())
    _, found, _ = fit(*paths)
    assert [g["labels"]["file"] for g in found["result"]["groups"]] == [str(p) for p in paths]


def test_a_damaged_file_does_not_cost_the_others(fit, write):
    code, found, _ = fit(
        LOG, write("empty.log", b""), write("junk.log", random.Random(1).randbytes(4096))
    )
    assert code == 0
    assert counted(found) == COUNTS


def test_what_each_of_several_files_lost_bears_its_name(fit, cli, write):
    cut = (DATA / "samples" / "vllm" / "v1_log_truncated_crlf.log").read_bytes()
    paths = [write("a.log", cut), write("b.log", cut)]
    paths += [write(f"{name}.log", b"") for name in "cdefghi"]
    names = [str(path) for path in paths]
    _, found, _ = fit(*names)
    lost = [(w["code"], w["from"]) for w in found["warnings"] if "from" in w]
    assert lost[:2] == [("truncated_line", name) for name in names[:2]]
    assert lost[2:] == [("no_spec_data", name) for name in names[2:]]
    said = cli(["fit", *names]).stderr
    assert f"{names[1]}:3: a SpecDecoding line\n" in said
    nothing = "refusal: there is no acceptance data in it (it is empty) "
    assert f"{nothing}[{', '.join(names[2:7])} and 2 more]\n" in said


def test_evidence_without_acceptance_says_why(cli):
    trees = DATA / "samples" / "specbench" / "answers.jsonl"
    done = cli(["optimum", str(trees), "--c", "0.08"])
    assert done.exit_code == 1
    assert "to plan with: drafts were trees" in done.stderr


def test_one_file_needs_no_name(fit, write):
    _, found, _ = fit(write("empty.log", b""))
    assert all("from" not in w for w in found["warnings"])


def test_two_workers_answer_as_one_does(fit, write):
    paths = [write(f"{name}.log", LOG.read_bytes()) for name in "abc"]
    _, one, _ = fit(*paths)
    _, two, _ = fit(*paths, "--workers", "2")
    assert two == one


@pytest.mark.skipif(sys.platform != "linux", reason="other systems never fork here")
def test_workers_are_forked_from_one_thread_and_else_spawned(python):
    code = """
from gammaplan.cli.workers import pool
with pool(2) as workers:
    print(workers._mp_context.get_start_method())
"""
    threaded = "import threading; threading.Thread(target=threading.Event().wait, daemon=True)"
    assert python(code) == "fork\n"
    assert python(f"{threaded}.start(){code}") == "spawn\n"


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted on Linux")
def test_numpy_brings_the_program_no_threads(python):
    code = "from gammaplan.cli import app; app.app = lambda: None; app.main(); import numpy, os; "
    assert python(code + "print(len(os.listdir('/proc/self/task')))") == "1\n"


def test_workers_leave_standard_input_to_the_program(script, write):
    path = write("a.log", LOG.read_bytes())
    command = [script, "fit", "-", path, "--workers", "2", "--json"]
    done = subprocess.run(
        command, input=LOG.read_bytes(), capture_output=True, timeout=60, check=True
    )
    assert counted(json.loads(done.stdout)) == {name: 2 * n for name, n in COUNTS.items()}


def test_a_bar_is_drawn_only_when_there_is_something_to_tell(monkeypatch, write):
    from gammaplan.cli import progress

    started = []
    start = property(lambda bar: lambda: started.append(bar))
    monkeypatch.setattr("rich.progress.Progress.start", start)
    with progress.bar_over([str(write("a", b"1234"))]) as told:
        assert not started
        told("a", 4)
    assert len(started) == 1


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_standard_input_is_read_like_a_file(fit, name):
    _, piped, _ = fit("-", input=(SAMPLES / name).read_bytes())
    _, read, _ = fit(SAMPLES / name)
    assert piped["result"] == read["result"]


def test_a_pipe_is_read_as_it_comes(script):
    data = gzip.compress(LOG.read_bytes())
    done = subprocess.run(
        [script, "fit", "-", "--json"], input=data, capture_output=True, check=True, timeout=60
    )
    assert counted(json.loads(done.stdout)) == COUNTS


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_report_is_evidence(cli, name):
    direct = cli(["optimum", str(SAMPLES / name), "--c", "0.08", "--json"])
    assert direct.exit_code == 0, direct.stderr
    assert "fitted_first" in codes(json.loads(direct.stdout))
    fitted = cli(["fit", str(SAMPLES / name), "--json"]).stdout
    piped = cli(["optimum", "-", "--c", "0.08", "--json"], input=fitted)
    assert piped.exit_code == 0, piped.stderr
    answers = [json.loads(r.stdout)["result"]["gamma"] for r in (direct, piped)]
    assert answers[0] == answers[1]
    assert answers[0] > 0


def test_only_bounds_are_no_evidence(cli):
    result = cli(["optimum", str(SAMPLES / "llamacpp/server_old_rate.log"), "--c", "0.08"])
    assert result.exit_code == 1
    assert "only bounds α, between 0.1873 and" in result.stderr


def test_strict_fails_on_warnings_and_still_answers(cli):
    result = cli(["fit", str(SAMPLES / "vllm/v1_log_truncated_crlf.log"), "--json", "--strict"])
    assert result.exit_code == 3
    assert json.loads(result.stdout)["result"]["alpha"] is not None
    assert "--strict: truncated_line" in result.stderr


def test_verbose_says_what_was_read(cli):
    result = cli(["fit", str(LOG), "--verbose"])
    assert f"{LOG}: vllm vllm-v1-log, 3 records, 0 dropped" in result.stderr


def test_quiet_silences_findings(cli):
    assert cli(["fit", str(LOG), "--quiet"]).stderr == ""


# Periods, groups, and what the user states


@pytest.mark.parametrize(
    ("period", "rounds"),
    [
        (["--since", "06-01 10:10:51"], 238 + 286),
        (["--until", "06-01 10:10:51"], 242),
        (["--since", "10:10:45", "--until", "10:11:01"], 238),
        (["--since", "2026-06-01 10:11"], 286),
    ],
)
def test_a_period_keeps_the_records_in_it(fit, period, rounds):
    _, found, _ = fit(LOG, *period)
    assert found["result"]["counts"]["rounds"] == rounds


def test_a_period_without_records_has_no_answer_and_says_so(fit):
    code, found, stderr = fit(LOG, "--since", "12-01")
    assert (code, codes(found)) == (1, ["no_spec_data"])
    assert "of the time asked for" in stderr


def test_records_without_a_time_are_left_out_of_a_period_and_counted(fit):
    code, found, stderr = fit(PAGE, "--since", "10:00")
    assert (code, codes(found)) == (1, ["untimed"])
    assert "1 record(s) carry no time" in stderr


@pytest.mark.parametrize(
    ("limit", "parts"),
    [("2027-06-01 10:10", "year"), ("06-01 10:10", None), ("10:10", None)],
)
def test_a_year_that_records_lack_is_not_compared_and_it_is_said(fit, limit, parts):
    _, found, _ = fit(LOG, "--since", limit)
    said = [w["message"] for w in found["warnings"] if w["code"] == "time_in_part"]
    told = f"records carry no {parts}: --since and --until were compared without"
    assert said == ([told] if parts else [])


def test_records_that_print_a_clock_alone_lack_the_date(fit, write):
    line = '{"drafted": 4, "accepted": 2, "time": "10:11:12"}\n'
    _, found, _ = fit(write("rounds.jsonl", line * 20), "--since", "2026-06-01 10:10")
    said = [w["message"] for w in found["warnings"] if w["code"] == "time_in_part"]
    assert said == ["records carry no year and no date: --since and --until were compared without"]


def test_requests_of_mixed_kinds_of_draft_are_listed_beside_the_kinds(fit):
    log = SAMPLES / "llamacpp/server_two_slots_two_types.log"
    _, kinds, _ = fit(log)
    _, found, _ = fit(log, "--by", "request")
    groups = found["result"]["groups"]
    assert [g["labels"] for g in groups] == [
        {"type": "ngram-mod"}, {"type": "draft-mtp"}, {"request": "700"}, {"request": "765"},
    ]  # fmt: skip
    assert groups[:2] == kinds["result"]["groups"]
    assert [g["counts"]["accepted"] for g in groups[2:]] == [52, 82]
    assert groups[2]["bounds"]["low"] == 52 / 64


def test_by_window_lists_windows_in_order(fit):
    _, found, _ = fit(LOG, "--by", "window")
    listed = [(g["labels"]["window"], g["counts"]["rounds"]) for g in found["result"]["groups"]]
    assert listed == [("06-01 10:10:41", 242), ("06-01 10:10:51", 238), ("06-01 10:11:01", 286)]
    assert counted(found) == COUNTS


def test_by_engine_lists_engines_that_otherwise_add_up(fit):
    page = SAMPLES / "vllm/metrics_dp8_two_models.prom"
    _, found, _ = fit(page, "--by", "engine")
    assert len(found["result"]["groups"]) == 9
    _, added, _ = fit(page)
    assert len(added["result"]["groups"]) == 2


def test_the_longest_draft_may_be_stated(fit):
    log = SAMPLES / "vllm/v083_log_rate_only.log"
    _, without, _ = fit(log)
    _, stated, _ = fit(log, "--gamma", "3")
    bounds = [found["result"]["bounds"] for found in (without, stated)]
    assert bounds[0]["low"] == bounds[1]["low"] == 189 / 265
    assert bounds[1]["high"] == 189 / (189 + 26)


def test_a_stated_length_yields_to_the_one_that_is_printed_and_it_is_said(fit):
    _, plain, _ = fit(LOG)
    _, stated, _ = fit(LOG, "--gamma", "5")
    _, same, _ = fit(LOG, "--gamma", "3")
    assert plain["result"] == stated["result"] == same["result"]
    assert "gamma_known" in codes(stated)
    assert "gamma_known" not in codes(plain) + codes(same)
    said = "--gamma states 5, and the input has drafts of 3 tokens: its own length is used"
    assert said in [w["message"] for w in stated["warnings"]]


def test_a_stated_length_does_not_pool_groups_of_other_lengths(fit, write):
    line = '{"drafted": %d, "accepted": 1, "label": "%s"}\n'
    path = write("rounds.jsonl", "".join(line % (d, d) for d in (2, 4) for _ in range(40)))
    _, found, _ = fit(path, "--gamma", "4")
    assert found["result"]["pooled"] is False
    assert [g["gamma"] for g in found["result"]["groups"]] == [2, 4]


def test_full_drafts_may_be_asserted(fit):
    _, found, _ = fit(SAMPLES / "vllm/v083_log_rate_only.log", "--gamma", "5", "--full-drafts")
    assert found["result"]["method"] == "mean_length"
    assert found["result"]["counts"]["rounds"] == 53
    assert "full_drafts_asserted" in codes(found)


def rounds_of(label, good, bad):
    """A plain record of two stretches."""
    line = '{"drafted": 4, "accepted": %d, "label": "%s"}\n'
    return "".join(
        line % (k % 5 if i else 4 - k % 2, label) for i in (good, bad) for k in range(400)
    )


def test_a_record_of_two_stretches_is_called_too_short(fit, write):
    _, document, _ = fit(write("rounds.jsonl", rounds_of("a", 0, 1)))
    assert "few_clusters" in codes(document)
    assert document["result"]["interval"]["method"] == "blocks"
    _, document, _ = fit(write("rounds.jsonl", rounds_of("a", 1, 1)))
    assert "few_clusters" not in codes(document)


def test_groups_that_do_not_pool_are_called_too_short_as_well(fit, write):
    both = rounds_of("a", 1, 1) + rounds_of("b", 0, 1)
    _, document, _ = fit(write("rounds.jsonl", both))
    assert document["result"]["pooled"] is False
    assert "few_clusters" in codes(document)


def test_a_narrower_level_gives_a_narrower_interval(fit):
    _, wide, _ = fit(LOG)
    _, narrow, _ = fit(LOG, "--level", "80%")
    assert narrow["result"]["interval"]["level"] == 0.8
    assert wide["result"]["interval"]["low"] < narrow["result"]["interval"]["low"]
    assert narrow["result"]["alpha"] == wide["result"]["alpha"]


# What it refuses


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "a file or a URL is needed"),
        (["-", "-"], "standard input (-) can be read once"),
        ([LOG, LOG], "was named twice, and would count twice"),
        (["--before", PAGE], "a file or a URL is needed"),
        (["--before", PAGE, PAGE, LOG], "--before needs one later page, got 2 files"),
        ([LOG, "--engine", "nope"], "--engine must be one of aiperf, "),
        ([LOG, "--input-format", "nope"], "--input-format must be one of"),
        ([LOG, "--engine", "sglang", "--input-format", "vllm-v1-log"], "--input-format must be"),
        ([LOG, "--by", "nothing"], "--by must be one of window for this input, got nothing"),
        ([LOG, "--since", "tomorrow"], "--since must be a time like 06-01 10:10:41"),
        ([LOG, "--level", "0"], "--level must be a fraction in (0, 1), got 0"),
        ([LOG, "--level", "95"], "got 95 (95 % is 0.95)"),
        ([LOG, "--gamma", "x"], "--gamma must be a whole number"),
        ([LOG, "--gamma", "2"], "the input has drafts of 3 tokens, got 2"),
        ([LOG, "--gamma", "5", "--full-drafts"], "full drafts of 5 tokens contradict the counts"),
        ([LOG, "--json", "--format", "csv"], "contradict; give one"),
        ([SAMPLES / "sglang/bench_serving.txt", "--gamma", "1"], "drafts of 2 tokens, got 1"),
        ([SAMPLES / "vllm/v083_log_rate_only.log", "--gamma", "0"], "drafts of 1 tokens, got 0"),
        ([SAMPLES / "vllm/v083_log_rate_only.log", "--full-drafts"], "give --gamma"),
    ],
)
def test_a_command_line_that_is_wrong_is_refused_in_one_line(refused, args, said):
    code, stderr = refused(*args)
    assert code == 2
    assert said in stderr


@pytest.mark.parametrize("command", [["fit"], ["optimum", "--c", "0.1"]])
def test_what_cannot_be_opened_is_named(cli, tmp_path, command):
    for path, said in ((tmp_path / "nope.log", "No such file"), (tmp_path, "is a directory")):
        result = cli([*command, str(path)])
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert str(path) in result.stderr
        assert said in result.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_an_unreadable_file_is_named(refused, write):
    path = write("secret.log", LOG.read_bytes())
    path.chmod(0)
    code, stderr = refused(path)
    assert code == 1
    assert "Permission denied" in stderr


def test_before_needs_two_metrics_pages(refused):
    for args in (["--before", LOG, PAGE], ["--before", PAGE, LOG]):
        code, stderr = refused(*args)
        assert code == 1
        assert f"{LOG}: a difference needs Prometheus text on both sides" in stderr


def test_the_wrong_engine_finds_nothing(fit):
    code, found, _ = fit(LOG, "--engine", "sglang")
    assert (code, codes(found), found["result"]["engine"]) == (1, ["no_spec_data"], None)


# What does not break it


def whole(data):
    """Encodings and endings in which a log may come, all of it readable."""
    text = data.decode()
    return {
        "as it is": data,
        "UTF-16 LE": b"\xff\xfe" + text.encode("utf-16-le"),
        "UTF-16 BE": b"\xfe\xff" + text.encode("utf-16-be"),
        "UTF-16 LE without BOM": text.encode("utf-16-le"),
        "UTF-16 BE without BOM": text.encode("utf-16-be"),
        "UTF-8 with BOM": b"\xef\xbb\xbf" + data,
        "CRLF": data.replace(b"\n", b"\r\n"),
        "gzip": gzip.compress(data),
        "no last newline": data.rstrip(b"\n"),
        "binary before": b"\x00\xff\x80" * 999 + b"\n" + data,
        "binary after": data + bytes(range(256)) * 99,
        "binary between": data.replace(b"\n", b"\n" + bytes(range(11, 256)) + b"\n"),
        "empty lines": b"\n\n\n" + data.replace(b"\n", b"\n\n"),
    }


@pytest.mark.parametrize("form", whole(LOG.read_bytes()))
def test_the_form_of_a_log_changes_nothing(fit, write, form):
    code, found, _ = fit(write("x.log", whole(LOG.read_bytes())[form]))
    assert code == 0
    assert counted(found) == COUNTS


ENVELOPES = {
    "journal": lambda line: {"MESSAGE": line, "_HOSTNAME": "node-1"},
    "fluent-bit": lambda line: {"log": line + "\n", "kubernetes": {"pod_name": "llm-0"}},
    "Loki": lambda line: {"labels": {"pod": "llm-0"}, "line": line, "timestamp": "9"},
    "Google Cloud": lambda line: {"textPayload": line, "timestamp": "9"},
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_the_envelope_of_a_log_changes_no_count(fit, write, name):
    wrapped = [json.dumps(ENVELOPES[name](line)) + "\n" for line in LOG.read_text().splitlines()]
    _, found, _ = fit(write("a.log", "".join(wrapped)))
    assert counted(found) == COUNTS


def test_pods_in_one_aggregated_log_are_groups(fit, write):
    rows = [
        json.dumps({"log": line, "kubernetes": {"pod_name": pod}}) + "\n"
        for line in LOG.read_text().splitlines()
        for pod in ("llm-0", "llm-1")
    ]
    _, found, _ = fit(write("a.log", "".join(rows)))
    assert [g["labels"] for g in found["result"]["groups"]] == [
        {"container": "llm-0"}, {"container": "llm-1"},
    ]  # fmt: skip
    assert [g["counts"]["rounds"] for g in found["result"]["groups"]] == [766, 766]


def test_responses_with_their_headers_and_one_after_another_are_read(fit, write):
    page = json.loads((SAMPLES / "sglang/meta_info_0523_batch.json").read_text())
    _, plain, _ = fit(SAMPLES / "sglang/meta_info_0523_batch.json")
    headers = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    one_by_one = "".join(json.dumps(row, indent=2) + "\n" for row in page)
    for text in (headers + json.dumps(page), one_by_one, "".join(map(json.dumps, page))):
        _, found, _ = fit(write("a.json", text))
        assert found["result"] == plain["result"]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_a_cut_log_gives_its_whole_records_and_names_the_cut_one(fit, write, share):
    data = LOG.read_bytes()
    records = [i for i, line in enumerate(data.splitlines(), 1) if b"SpecDecoding" in line]
    cut = data[: data.index(b"Per-position", int(len(data) * share) - 400) + 40]
    line = cut.count(b"\n") + 1
    path = write("cut.log", cut)
    code, found, stderr = fit(path)
    kept = sum(number < line for number in records)
    assert code == (0 if kept else 1)
    assert "truncated_line" in codes(found)
    assert f"1 record cut or damaged, dropped and not counted: {path}:{line}: " in stderr


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"   ", b"\x00" * 9, b"{", b"[", b"[]", b"{}", b'"', b"nan"]
)
def test_nothing_readable_is_no_answer(fit, write, data):
    code, found, _ = fit(write("x", data))
    assert code == 1
    assert "no_spec_data" in codes(found)
    assert found["result"]["alpha"] is None


def test_random_bytes_never_raise(fit, write):
    for seed in range(40):
        start = (b"", b"{", b"[{", b"# HELP x\n", LOG.read_bytes()[:700], b"\x1f\x8b\x08")[seed % 6]
        path = write("x", start + random.Random(seed).randbytes(3000))
        assert fit(path)[0] in (0, 1)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_sample_cut_anywhere_never_raises(cli, write, name):
    data = (SAMPLES / name).read_bytes()
    for stop in range(1, len(data), max(1, len(data) // 40)):
        result = cli(["fit", str(write("cut", data[:stop])), "--json"])
        assert result.exit_code in (0, 1)
        assert "Traceback" not in result.stderr


def test_interleaved_logs_keep_every_whole_record(fit, write):
    rows = LOG.read_bytes().splitlines(keepends=True)
    noise = [b"INFO GET /SpecDecoding?metrics 200\n", b"Accepted: 9 tokens, Drafted: 3 tokens\n"]
    mixed = b"".join(row + noise[i % 2] for i, row in enumerate(rows))
    _, found, _ = fit(write("x.log", mixed))
    assert counted(found) == COUNTS


def test_a_line_that_is_too_long_is_skipped_and_counted(fit, write, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", lines.BUFFER)
    data = LOG.read_bytes()
    long = b"SpecDecoding metrics: " + b"x" * 3 * lines.BUFFER + b"\n"
    _, found, stderr = fit(write("x.log", data + long + data))
    assert counted(found) == {name: 2 * count for name, count in COUNTS.items()}
    assert "1 line(s) of more than 16 MiB were skipped" in stderr


def test_twenty_megabytes_in_one_line_are_skipped(fit, write):
    data = LOG.read_bytes()
    _, found, _ = fit(write("x.log", data + b"x" * 20_000_000 + b"\n"))
    assert counted(found) == COUNTS
    assert "long_line" in codes(found)
    _, found, stderr = fit(write("x.log", b"x" * 20_000_000 + b"\n"))
    assert "long_line" in codes(found)
    assert "it is empty" not in stderr


@pytest.mark.parametrize("deep", ["[" * 9999 + "]" * 9999, '{"a":' * 9999 + "1" + "}" * 9999])
def test_deep_json_is_dropped(fit, write, deep):
    good = '{"drafted": 3, "accepted": 2}'
    code, found, _ = fit(write("x.jsonl", f"{good}\n{deep}\n{good}\n"))
    assert code == 0
    assert found["result"]["counts"]["rounds"] == 2
    assert "truncated_line" in codes(found)
    assert fit(write("deep.json", deep))[0] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory as Linux counts it")
@pytest.mark.parametrize("filler", [b"\0", b"x\n"])
def test_a_gzip_bomb_takes_bounded_memory(script, tmp_path, filler):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(LOG.read_bytes())
        for _ in range(200):
            stream.write(filler * (2**20 // len(filler)))
    code = (
        "import resource, subprocess, sys; "
        "done = subprocess.run(sys.argv[1:], capture_output=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, script, "fit", str(path)],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout.split()  # fmt: skip
    assert int(shown[1]) == 0
    assert int(shown[0]) < 200_000  # KiB, for the interpreter and all


@pytest.mark.parametrize("lost", [1, 4, 8, 9])
def test_a_gzip_without_its_end_gives_what_is_there(fit, write, lost):
    code, found, stderr = fit(write("x.gz", gzip.compress(LOG.read_bytes())[:-lost]))
    assert code == 0
    assert found["result"]["counts"]["rounds"] >= 242
    assert "the input ends early" in stderr


def test_a_cut_gzip_of_json_lines_gives_what_is_there(fit, write):
    rows = b'{"drafted": 3, "accepted": 2}\n' * 20_000
    code, found, _ = fit(write("x.jsonl.gz", gzip.compress(rows)[:-30]))
    assert code == 0
    assert 10_000 < found["result"]["counts"]["rounds"] <= 20_000
    assert "truncated_line" in codes(found)


def test_a_gzip_that_is_none_is_refused(refused, write):
    code, stderr = refused(write("x.gz", b"\x1f\x8b" + b"junk" * 99))
    assert code == 1
    assert "x.gz: cannot be read: " in stderr


class Bomb:
    """An object that would leave a trace if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("protocol", [0, 4])
def test_pickles_are_never_loaded(fit, write, tmp_path, protocol):
    trace = tmp_path / "trace"
    code, _, _ = fit(write("x.pkl", pickle.dumps(Bomb(trace), protocol)))
    assert code == 1
    assert not trace.exists()


# Metrics pages


def page(**values):
    """The sample page with other values for some families."""
    found = []
    for line in PAGE.read_text().splitlines():
        family = line.partition("{")[0].removeprefix("vllm:spec_decode_").removesuffix("_total")
        found.append(f"{line.rpartition(' ')[0]} {values[family]}" if family in values else line)
    return "\n".join(found) + "\n"


@pytest.mark.parametrize("value", ["-5", "NaN", "+Inf", "-Inf", "1e300"])
def test_a_counter_that_cannot_be_is_left_out_and_named_with_its_line(fit, write, value):
    text = page(num_accepted_tokens=value)
    line = 1 + [value in row for row in text.splitlines()].index(True)
    code, found, stderr = fit(write("x.prom", text))
    assert code == 0
    assert "bad_sample" in codes(found)
    assert f"vllm:spec_decode_num_accepted_tokens_total {float(value):g} (line {line})" in stderr


def test_counters_that_contradict_each_other_give_no_alpha(fit, write):
    code, found, _ = fit(write("x.prom", page(num_drafts=12)))
    assert code == 0
    assert found["result"]["alpha"] is found["result"]["bounds"] is None
    assert "impossible" in codes(found)


def test_a_position_that_is_no_number_costs_only_the_positions(fit, write):
    code, found, stderr = fit(write("x.prom", PAGE.read_text().replace('n="3"', 'n="three"')))
    assert code == 0
    assert found["result"]["counts"]["accepted"] == 12_208
    assert found["result"]["method"] == "mean_length"
    assert "position='three'" in stderr


@pytest.mark.parametrize(
    "lay",
    [
        lambda line: line + " 1717236641000",
        lambda line: "\t" + line,
        lambda line: line.replace(" ", "\t"),
        lambda line: line.replace("{", " { ").replace(",", " , ").replace("}", " }"),
        lambda line: line.replace("} ", "}"),
        lambda line: line + ' # {trace_id="x"} 1.0 1717236641.5',
    ],
)
@pytest.mark.parametrize("comments", [True, False])
def test_a_page_may_be_laid_out_in_every_legal_way(fit, write, lay, comments):
    whole = PAGE.read_text().splitlines()
    lines = [x if x.startswith("#") else lay(x) for x in whole if comments or x[:1] != "#"]
    _, laid, _ = fit(write("a.prom", "\n".join(lines) + "\n"))
    _, plain, _ = fit(PAGE)
    assert laid["result"] == plain["result"]


@pytest.mark.parametrize("name", ["vllm/metrics_k7.prom", "tensorrt_llm/prometheus.prom"])
def test_scrapes_in_one_file_count_once(fit, write, name):
    page = (SAMPLES / name).read_bytes()
    _, once, _ = fit(SAMPLES / name)
    _, twice, _ = fit(write("a.prom", page + page))
    assert twice["result"] == once["result"]
    assert "several_scrapes" in codes(twice)
    assert "several_scrapes" not in codes(once)


def test_a_cut_metrics_line_is_dropped_and_named(fit, write):
    text = PAGE.read_text()
    cut = text[: text.index('position="6"') + 5]
    _, found, stderr = fit(write("x.prom", cut))
    assert "truncated_line" in codes(found)
    assert f"x.prom:{cut.count(chr(10)) + 1}: a metrics line" in stderr


def test_very_many_label_sets_are_read_up_to_a_limit(fit, write, monkeypatch):
    monkeypatch.setattr(prometheus, "MOST_SERIES", 50)
    rows = [f'vllm:spec_decode_num_drafts_total{{engine="{i}"}} 1' for i in range(99)]
    code, found, _ = fit(write("x.prom", "\n".join(rows) + "\n"))
    assert code in (0, 1)
    assert "too_many_series" in codes(found)


# What is printed


def hostile(tmp_path):
    """A page whose labels, and a log whose name, would act if they were printed raw."""
    name = "[red]a\x1b[31m\x1b]0;t\x07"
    model = PAGE.read_text().replace("example-org/target-8b", name)
    other = model.replace(name, "=cmd|' /C calc'!A0")
    found = tmp_path / f"{name}.prom"
    found.write_text(model + other)
    return found


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "json"])
def test_escapes_never_reach_the_terminal_raw(cli, tmp_path, form):
    result = cli(["fit", str(hostile(tmp_path)), "--format", form, "--verbose"])
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout + result.stderr
    assert "\x07" not in result.stdout + result.stderr


def test_labels_never_act_as_markup(cli, tmp_path):
    assert "[red]a" in cli(["fit", str(hostile(tmp_path))]).stdout


def test_cells_never_start_a_formula(cli, tmp_path):
    text = cli(["fit", str(hostile(tmp_path)), "--format", "csv"]).stdout
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any("cmd" in cell for cell in cells)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t")]


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "misc/empty.log", "vllm/v1_log_ngram_nan.log"])
def test_the_document_is_what_its_schema_says(cli, name):
    schema = json.loads(cli("schema fit").stdout)
    jsonschema.validate(json.loads(cli(["fit", str(SAMPLES / name), "--json"]).stdout), schema)


def test_json_loads_no_tables(python):
    code = f"""
import sys
from gammaplan.cli.app import app
try:
    app(["fit", {str(LOG)!r}, "--json", "--quiet"])
except SystemExit:
    pass
print("LOADED", [m for m in sys.modules if m in ("rich.table", "gammaplan.report.fit")])
"""
    assert python(code).splitlines()[-1] == "LOADED []"


@pytest.mark.parametrize("example", ["fit FILE.log", "fit --before FILE.prom FILE.prom --json"])
def test_the_examples_of_the_help_work(cli, example):
    text = cli("fit --help").stdout
    assert "gammaplan fit vllm.log" in text
    assert "gammaplan fit --before before.prom after.prom --json" in text
    pair = SAMPLES / "vllm" / "metrics_pair_"
    words = example.replace("FILE.log", str(LOG))
    words = words.replace("FILE", f"{pair}before", 1).replace("FILE", f"{pair}after", 1)
    assert cli(words.split()).exit_code == 0
