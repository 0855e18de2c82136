"""URLs as inputs: a page, two readings of it, several servers, and evidence of other commands."""

import gzip
import json
import re

import pytest

from ..servers import in_turn, needing, page, reply, serving
from ..support import DATA

SAMPLES = DATA / "samples"
LOG = (SAMPLES / "vllm" / "v1_log_k3_three_windows.log").read_bytes()


def metrics(rounds, *at_least, **labels):
    """A page of vLLM."""
    names = ",".join(f'{k}="{v}"' for k, v in {"engine": "0", "model_name": "m", **labels}.items())
    name = "vllm:spec_decode_num_"
    lines = [
        f"{name}drafts_total{{{names}}} {rounds}",
        f"{name}draft_tokens_total{{{names}}} {rounds * len(at_least)}",
        f"{name}accepted_tokens_total{{{names}}} {sum(at_least)}",
        *(f'{name}accepted_tokens_per_pos_total{{{names},position="{i}"}} {n}'
          for i, n in enumerate(at_least)),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


EARLY, LATE = metrics(1000, 800, 600), metrics(1500, 1200, 900)


@pytest.fixture
def fit(cli, monkeypatch, tmp_path):
    """`fit(URL, "--every", "0.05")`: exit code, document and stderr."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*args):
        result = cli(["fit", *args, "--json"])
        return result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr

    return run


def codes(document):
    return [w["code"] for w in document["warnings"]]


def test_a_page_is_the_lifetime_of_its_server(fit):
    with serving(page(LATE)) as url:
        code, document, _ = fit(url + "/metrics")
    assert code == 0
    assert document["result"]["counts"]["rounds"] == 1500
    assert document["result"]["period"] is None
    assert document["inputs"]["files"] == [url + "/metrics"]


@pytest.mark.parametrize(
    ("body", "engine"),
    [
        (LOG, "vllm"),
        (gzip.compress(LOG), "vllm"),
        ((SAMPLES / "sglang" / "meta_info_0523_batch.json").read_bytes(), "sglang"),
    ],
)
def test_whatever_a_file_may_be_may_be_at_a_url(fit, body, engine):
    with serving(page(body)) as url:
        code, document, _ = fit(url + "/x")
    assert (code, document["result"]["engine"]) == (0, engine)


def test_every_fits_what_was_counted_between_two_readings(fit):
    with serving(in_turn(page(EARLY), page(LATE))) as url:
        code, document, _ = fit(url + "/metrics", "--every", "0.05")
    assert code == 0
    counts = document["result"]["counts"]
    assert (counts["rounds"], counts["accepted_at_least"]) == (500, [400, 300])
    period = document["result"]["period"]
    assert (period["scrapes"], period["processes"]) == (2, 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", period["start"])
    assert document["inputs"]["every"] == 0.05


def test_a_restart_between_two_readings_is_said(fit):
    with serving(in_turn(page(LATE), page(metrics(200, 100, 50)))) as url:
        _, document, _ = fit(url + "/metrics", "--every", "0.05")
    assert document["result"]["counts"]["rounds"] == 200
    (found,) = [w for w in document["warnings"] if w["code"] == "counter_reset"]
    assert "engine=0 model_name=m" in found["message"]
    assert "cannot be seen" in found["message"]


def test_the_readings_of_several_servers_add_up(fit):
    with (
        serving(in_turn(page(EARLY), page(LATE))) as one,
        serving(in_turn(page(metrics(7, 5, 1)), page(metrics(17, 13, 6)))) as two,
    ):
        code, document, _ = fit(one, two, "--every", "0.05")
    assert code == 0
    assert document["result"]["counts"]["rounds"] == 510
    assert [g["labels"]["file"] for g in document["result"]["groups"]] == [one, two]
    assert document["result"]["period"]["processes"] == 2


@pytest.mark.parametrize("every", [(), ("--every", "0.05")])
def test_a_server_of_several_that_does_not_answer_is_said_and_the_others_count(fit, every):
    with serving(in_turn(page(EARLY), page(LATE))) as url:
        code, document, _ = fit(url, "http://127.0.0.1:1/metrics", *every)
    assert code == 0
    assert document["result"]["counts"]["rounds"] == (500 if every else 1000)
    assert document["result"]["engine"] == "vllm"
    (found,) = [w for w in document["warnings"] if w["code"] == "unreachable"]
    assert found["message"].startswith("http://127.0.0.1:1/metrics: cannot be reached")


@pytest.mark.parametrize("every", [(), ("--every", "0.05")])
def test_servers_of_which_none_answers_are_an_error(fit, every):
    code, document, stderr = fit("http://127.0.0.1:1/a", "http://127.0.0.1:1/b", *every)
    assert (code, document) == (1, None)
    assert stderr.startswith("Error: http://127.0.0.1:1/a: cannot be reached")
    assert stderr.count("\n") == 1


def test_a_server_that_is_gone_at_the_second_reading_is_an_error(fit):
    with serving(in_turn(page(EARLY), page("x", 503))) as url:
        code, document, stderr = fit(url, "--every", "0.05")
    assert (code, document) == (1, None)
    assert "answers 503 Service Unavailable" in stderr


def test_two_readings_need_prometheus_text(fit):
    with serving(page(LOG)) as url:
        code, _, stderr = fit(url, "--every", "0.05")
    assert code == 1
    assert "answers, but not with Prometheus text" in stderr


def test_series_that_a_cut_first_reading_lacks_are_left_out(fit):
    cut = EARLY[: EARLY.index("accepted_tokens_total")].encode()
    half = lambda handler: reply(handler, cut, length=len(EARLY))  # noqa: E731
    with serving(in_turn(half, page(LATE))) as url:
        _, document, _ = fit(url, "--every", "0.05")
    assert "cut_input" in codes(document)
    counts = document["result"]["counts"]
    assert (counts["rounds"], counts["drafted"], counts["accepted"]) == (500, 1000, None)


def test_a_page_that_is_cut_is_fitted_as_far_as_it_came(fit):
    body = (metrics(9, 5, 4) + LATE[:40]).encode()
    with serving(lambda handler: reply(handler, body, length=9999)) as url:
        code, document, _ = fit(url)
    assert code == 0
    assert document["result"]["counts"]["rounds"] == 9
    assert "cut_input" in codes(document)


def test_a_damaged_line_is_told_without_asking_again(fit):
    asked = []

    def answer(handler):
        asked.append(handler.path)
        reply(handler, (LATE + "vllm:spec_decode_num_drafts_total{ x\n").encode())

    with serving(answer) as url:
        _, document, _ = fit(url + "/metrics")
    assert asked == ["/metrics"]
    assert "truncated_line" in codes(document)


def test_before_may_be_a_file_and_the_later_page_a_url(fit, tmp_path):
    (tmp_path / "early.prom").write_text(EARLY)
    with serving(page(LATE)) as url:
        _, document, _ = fit("--before", str(tmp_path / "early.prom"), url)
    assert document["result"]["counts"]["rounds"] == 500


def test_a_token_opens_the_page_and_is_shown_nowhere(fit, tmp_path):
    (tmp_path / "token").write_text("c2VjcmV0")
    token = ("--bearer-token-file", str(tmp_path / "token"))
    with serving(needing("Bearer c2VjcmV0", in_turn(page(EARLY), page(LATE)))) as url:
        code, document, stderr = fit(url, "--every", "0.05", *token)
    assert code == 0
    assert document["result"]["counts"]["rounds"] == 500
    assert "c2VjcmV0" not in json.dumps(document) + stderr


def test_the_query_of_a_url_is_shown_nowhere(fit):
    with serving(page(LATE)) as url:
        _, document, stderr = fit(f"{url}/metrics?token=secret")
        assert document["inputs"]["files"] == [f"{url}/metrics"]
    assert "secret" not in json.dumps(document) + stderr


def test_commands_fit_a_url_that_is_given_as_evidence(cli):
    with serving(page(LATE)) as url:
        result = cli(f"optimum {url}/metrics --c 0.08 --json")
        again = cli(f"optimum {url}/metrics --c 0.08")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["inputs"]["alpha"] == pytest.approx(2100 / 2700, abs=0.01)
    assert document["sources"]["alpha"] == f"evidence:{url}/metrics"
    assert f"note: {url}/metrics is a report of vllm and was fitted first" in again.stderr


def test_evidence_that_cannot_be_reached_is_one_sentence(cli):
    result = cli("optimum http://127.0.0.1:1/metrics?t=secret --c 0.08")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: http://127.0.0.1:1/metrics: cannot be reached: Connection refused\n"
    )


def test_the_table_says_between_which_readings_it_holds(cli):
    with serving(in_turn(page(EARLY), page(LATE))) as url:
        result = cli(f"fit {url}/metrics --every 0.05")
    assert re.search(r"^Between \S+Z and \S+Z, 2 scrapes\.$", result.stdout, re.MULTILINE)


def test_what_a_server_sends_does_not_reach_the_terminal_as_codes(cli):
    with serving(page(metrics(1000, 800, model_name=r"\x1b[31m[b]x") .encode().replace(
        b"\\x1b", b"\x1b"))) as url:  # fmt: skip
        result = cli(f"fit {url}/metrics --by model_name")
    assert "\x1b" not in result.stdout + result.stderr
    assert "[b]x" in result.stdout


def test_help_loads_no_network(python):
    code = (
        "import sys; from gammaplan.cli.app import app; from typer.testing import CliRunner;"
        "CliRunner().invoke(app, ['fit', '--help']);"
        "print([m for m in ('ssl', 'http.client', 'urllib.request') if m in sys.modules])"
    )
    assert python(code) == "[]\n"


def test_a_file_loads_no_network(python):
    path = SAMPLES / "vllm" / "metrics_k7.prom"
    code = (
        "import sys; from gammaplan.cli.app import app; from typer.testing import CliRunner;"
        f"CliRunner().invoke(app, ['fit', {str(path)!r}, '--json']);"
        "print([m for m in ('ssl', 'http.client', 'urllib.request') if m in sys.modules])"
    )
    assert python(code) == "[]\n"
