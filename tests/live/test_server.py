"""gammaplan fit --prometheus: a server that answers as a test says, also wrongly."""

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from gammaplan.engines import server as module

from ..servers import in_turn, page, reply, serving

NOW = 1_700_000_000.0
DRAFTS, DRAFTED, ACCEPTED, POSITION = (
    f"vllm:spec_decode_num_{name}_total"
    for name in ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos")
)


def engine(steps, *, start=NOW - 100, **labels):
    """The series of one engine that drafts two tokens: 10 rounds a step, 8 and 5 accepted."""
    names = {"instance": "gpu1:8000", "job": "vllm", "engine": "0", "model_name": "m", **labels}
    row = {DRAFTS: 10, DRAFTED: 20, ACCEPTED: 13, f"{POSITION}/0": 8, f"{POSITION}/1": 5}
    for key, step in row.items():
        name, _, position = key.partition("/")
        metric = {"__name__": name, **names, **({"position": position} if position else {})}
        yield metric, [(start + 10 * i, step * (100 + n)) for i, n in enumerate(steps)]


class Fake:
    """The HTTP API over some series, and what it was asked."""

    def __init__(self, series, *, now=NOW, most=10**9, **extra):
        self.series, self.now, self.most, self.extra = list(series), now, most, extra
        self.queries = []

    def __call__(self, handler):
        asked = parse_qs(urlsplit(handler.path).query)
        query = asked["query"][0]
        self.queries.append((urlsplit(handler.path).path, query))
        if query == "time()":
            self.send(handler, {"resultType": "scalar", "result": [self.now, str(self.now)]})
            return
        end = float(asked["time"][0])
        start = end - int(re.search(r"\[(\d+)ms\]$", query)[1]) / 1000
        wanted = re.compile(re.search(r'__name__=~"([^"]*)"', query)[1])
        result = [
            {"metric": m, "values": [[t, str(v)] for t, v in rows if start <= t <= end]}
            for m, rows in self.series
            if wanted.fullmatch(m["__name__"])
        ]
        result = [r for r in result if r["values"]]
        if sum(len(r["values"]) for r in result) > self.most:
            error = "query processing would load too many samples into memory in query execution"
            body = {"status": "error", "errorType": "execution", "error": error}
            reply(handler, json.dumps(body).encode(), 422)
            return
        self.send(handler, {"resultType": "matrix", "result": result}, **self.extra)

    def send(self, handler, data, **extra):
        reply(handler, json.dumps({"status": "success", "data": data, **extra}).encode())


@pytest.fixture
def fit(cli, monkeypatch, tmp_path):
    """`fit(answer, "--by", "job")`: exit code, document and stderr."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(answer, *args, range="2m", path=""):
        with serving(answer) as url:
            words = ["fit", "--prometheus", url + path, "--range", range, "--json", *args]
            result = cli(words)
        document = json.loads(result.stdout) if result.stdout else None
        return result.exit_code, document, result.stderr

    return run


def codes(document):
    return [w["code"] for w in document["warnings"]]


def test_the_counts_are_the_differences_of_the_samples(fit):
    code, document, _ = fit(Fake(engine([1, 3, 4])))
    assert code == 0
    counts = document["result"]["counts"]
    assert (counts["rounds"], counts["accepted_at_least"]) == (30, [24, 15])
    assert document["result"]["period"] == {
        "start": "2023-11-14T22:11:40Z",
        "end": "2023-11-14T22:12:00Z",
        "scrapes": 3,
        "processes": 1,
    }


def test_it_is_asked_for_raw_samples_of_the_names_that_engines_have(fit):
    fake = Fake(engine([1, 3]))
    fit(fake, path="/prefix/")
    (where, _), (_, query) = fake.queries
    assert where == "/prefix/api/v1/query"
    assert query.endswith("[120002ms]")
    assert "spec_decode_num_" in query
    assert "sglang:spec_verify_calls" in query
    assert not re.search(r"increase|rate\(|sum", query)


def test_an_engine_restricts_the_names(fit):
    fake = Fake(engine([1, 3]))
    fit(fake, "--engine", "vllm")
    assert "sglang" not in fake.queries[-1][1]


def test_engines_of_one_model_add_up_and_models_do_not(fit):
    series = [
        *engine([1, 3]), *engine([2, 5], instance="gpu2:8000"), *engine([0, 9], model_name="n"),
    ]  # fmt: skip
    _, document, _ = fit(Fake(series), "--by", "model_name")
    rounds = {
        g["labels"]["model_name"]: g["counts"]["rounds"] for g in document["result"]["groups"]
    }
    assert rounds == {"m": 50, "n": 90}


def test_values_of_a_label_that_the_engine_does_not_know_are_listed(fit):
    series = [*engine([1, 3], zone="a"), *engine([2, 5], instance="gpu2:8000", zone="b")]
    _, document, _ = fit(Fake(series), "--by", "zone")
    rounds = {g["labels"]["zone"]: g["counts"]["rounds"] for g in document["result"]["groups"]}
    assert rounds == {"a": 20, "b": 30}
    assert document["result"]["counts"]["rounds"] == 50


@pytest.mark.parametrize("name", ["", "a b", "1a", "a-b", 'a"}', "größe", "a,b"])
def test_what_is_no_label_name_is_refused_before_anything_is_asked(fit, name):
    fake = Fake([])
    code, document, stderr = fit(fake, "--by", name)
    assert (code, document, fake.queries) == (2, None, [])
    assert "--by must be the name of a label" in stderr


@pytest.mark.parametrize("name", ["colour", "position", "__name__"])
def test_a_label_that_tells_no_engines_apart_is_refused(fit, name):
    code, _, stderr = fit(Fake(engine([1, 3])), "--by", name)
    assert code == 2
    assert "--by must be one of engine, instance, job, model_name" in stderr


@pytest.mark.parametrize("series", [[], [({"__name__": "up"}, [(NOW, 1)])]])
def test_a_server_without_data_has_no_answer(fit, series):
    code, document, _ = fit(Fake(series))
    assert code == 1
    assert codes(document) == ["no_spec_data"]
    assert "no series of a known engine" in document["warnings"][0]["message"]
    assert document["result"]["period"] is None


def test_one_scrape_alone_has_no_answer(fit):
    code, document, _ = fit(Fake(engine([1])))
    assert code == 1
    assert "two samples" in document["warnings"][0]["message"]


def test_a_clock_that_differs_from_ours_does_not_matter(fit):
    for skew in (-1e6, 1e8):
        _, document, _ = fit(Fake(engine([1, 3], start=NOW + skew - 50), now=NOW + skew))
        assert document["result"]["counts"]["rounds"] == 20


def test_the_restart_is_named(fit):
    _, document, _ = fit(Fake(engine([9, 12, -50, -40])))
    assert document["result"]["counts"]["rounds"] == 30 + 500 + 100
    (found,) = [w for w in document["warnings"] if w["code"] == "counter_reset"]
    assert "engine=0 instance=gpu1:8000 model_name=m at" in found["message"]
    assert "at 2023-11-14T22:12:00Z" in found["message"]


def test_duplicate_scrapes_count_once(fit):
    series = [(m, [*rows, *rows]) for m, rows in engine([1, 3, 4])]
    again = list(engine([1, 3, 4], start=NOW - 99, job="again"))
    _, document, _ = fit(Fake([*series, *again]))
    assert document["result"]["counts"]["rounds"] == 30
    assert "same_page_twice" in codes(document)


def test_samples_that_are_no_counts_are_left_out(fit):
    series = [
        (m, [*rows[:1], (NOW - 95, "NaN"), (NOW - 94, "+Inf"), *rows[1:]])
        for m, rows in engine([1, 3])
    ]
    _, document, _ = fit(Fake(series))
    assert document["result"]["counts"]["rounds"] == 20
    assert "bad_sample" in codes(document)


def test_a_hundred_thousand_series_are_added_up(fit):
    series = [s for i in range(20_000) for s in engine([1, 3], instance=f"gpu{i}:8000")]
    assert len(series) == 100_000
    _, document, _ = fit(Fake(series))
    assert document["result"]["counts"]["rounds"] == 20 * 20_000
    assert document["result"]["period"]["processes"] == 20_000


@pytest.mark.parametrize("limits", [{"most": 40}, {}])
def test_a_long_range_is_asked_for_in_stretches(fit, monkeypatch, limits):
    monkeypatch.setattr(module, "SHORTEST", 1.0)
    if not limits:
        monkeypatch.setattr(module, "LARGEST_ANSWER", 2_000)
    fake = Fake(engine(range(20), start=NOW - 195), **limits)
    _, document, _ = fit(fake, range="200s")
    assert document["result"]["counts"]["rounds"] == 190
    assert len(fake.queries) > 4


def test_a_range_that_stays_too_large_is_refused(fit):
    code, _, stderr = fit(Fake(engine(range(20), start=NOW - 195), most=3), range="10m")
    assert code == 1
    assert "would load too many samples" in stderr


def test_what_was_read_before_the_server_failed_is_reported(fit):
    class Failing(Fake):
        def __call__(self, handler):
            if len(self.queries) > 2:
                reply(handler, b"", 503)
            else:
                super().__call__(handler)

    code, document, _ = fit(Failing(engine(range(30), start=NOW - 295), most=80), range="5m")
    assert code == 0
    assert 0 < document["result"]["counts"]["rounds"] < 290
    assert "unreachable" in codes(document)


def test_what_the_server_warns_of_is_said(fit):
    _, document, _ = fit(Fake(engine([1, 3]), warnings=["store gateway is down"]))
    (found,) = [w for w in document["warnings"] if w["code"] == "server_warning"]
    assert "store gateway is down" in found["message"]


def test_a_setting_that_changed_gives_no_draft_length(fit):
    names = {"instance": "a:1", "job": "s", "model_name": "m"}
    at = (NOW - 20, NOW - 10)
    rows = {"spec_verify_calls_total": (5, 105), "generation_tokens_total": (9, 309),
            "num_requests_total": (1, 2), "spec_num_steps": (3, 5)}  # fmt: skip
    series = [
        ({"__name__": f"sglang:{name}", **names}, list(zip(at, values, strict=True)))
        for name, values in rows.items()
    ]
    _, document, _ = fit(Fake(series))
    assert document["result"]["gamma"] is None
    assert "settings_changed" in codes(document)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page("<!DOCTYPE html>"), "answers, but not as a Prometheus server does"),
        (page("{}"), "answers, but not as a Prometheus server does"),
        (page('{"status": "success", "data": {"result": "x"}}'), "not as a Prometheus server"),
        (page('{"status": "success", "data": {"result": [1, "x"]}}'), "not as a Prometheus"),
        (page('{"status": "error", "error": "bad \\u001b[31m"}', 400), "answers 400 Bad Request"),
        (page("no", 401), "asks for credentials (401 Unauthorized)"),
        (page("no", 500), "answers 500 Internal Server Error"),
        (page("404 page not found", 404), "answers 404 Not Found"),
        (lambda handler: reply(handler, b'{"status"', length=99), "closed the connection"),
        (in_turn(page('{"status": "success", "data": {"result": [1, "1"]}}'), page("{")), "not as"),
    ],
)  # fmt: skip
def test_a_server_that_answers_wrongly_is_told_in_one_sentence(fit, answer, said):
    code, document, stderr = fit(answer)
    assert (code, document) == (1, None)
    assert said in stderr
    assert re.match(r"Error: http://127\.0\.0\.1:\d+/api/v1/query: ", stderr)
    assert stderr.count("\n") == 1
    assert "\x1b" not in stderr


def test_a_server_that_does_not_answer_is_told_in_one_sentence(fit):
    code, _, stderr = fit(lambda handler: time.sleep(3), "--timeout", "0.5")
    assert code == 1
    assert "did not answer within 0.5 seconds" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fit --prometheus prom:9090", "--prometheus must be a URL, got prom:9090"),
        ("fit a.log --prometheus http://x", "--prometheus is an input of its own"),
        ("fit --prometheus http://x --every 3", "--prometheus goes with --range"),
        ("fit --prometheus http://x --since 10:10", "--prometheus goes with --range"),
        ("fit --prometheus http://x --range 0", "--range must be a time above 0 s"),
        ("fit --prometheus http://x --range 6w", "--range must be a time above 0 s"),
        ("fit --prometheus http://x --range 400d", "--range must be a time above 0 s"),
        ("fit a.log --range 6h", "--range needs --prometheus"),
        ("fit a.log --every 3", "--every reads servers twice"),
        ("fit http://x --every -3", "--every must be a time above 0 s"),
        ("fit a.log --ca-file x", "--ca-file is for servers, and no URL was given"),
        ("fit a.log --bearer-token-file x", "--bearer-token-file is for servers"),
        ("fit --every 3", "a file or a URL is needed"),
        ("fit http://x/m?t=s http://x/m?t=s", "http://x/m was named twice"),
    ],
)
def test_options_that_do_not_go_together(cli, words, said):
    result = cli(words)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {said}")
    assert result.stderr.count("\n") == 1


def test_credentials_in_the_address_are_refused_and_not_shown(cli):
    result = cli("fit --prometheus http://me:secret@127.0.0.1:1 --json")
    assert result.exit_code == 1
    assert "~/.netrc" in result.stderr
    assert "secret" not in result.stderr
