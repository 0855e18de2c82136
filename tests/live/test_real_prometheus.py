"""A real Prometheus that scrapes an exporter: what was counted comes back to the token.

The exporter counts only when it is scraped, so that what it served is known;
its process is restarted once.
"""

import json
import operator
import os
import random
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from ..docs.examples import ROOT
from ..servers import Handler, needing, reply, serving

PATIENCE = 30.0  # seconds for the server to be ready, and for all scrapes
SCRAPES = 6  # after the first; the restart is before the fourth
RESTART = 3
GAMMAS = {"example-org/target-8b": 4, "example-org/target-70b": 2}
SGLANG_MODEL, STEPS = "example-org/target-27b", 3


class Exporter:
    """Counters of two vLLM models, or of one SGLang model, that grow at every scrape."""

    def __init__(self, gammas: dict[str, int], seed: int) -> None:
        self.rng = random.Random(seed)
        self.gammas = gammas
        self.scrapes = 0
        self.moving = True
        self.now = {model: [0] * (gamma + 1) for model, gamma in gammas.items()}
        self.served = {model: [0] * (gamma + 1) for model, gamma in gammas.items()}
        self.lock = threading.Lock()

    def step(self) -> None:
        """Some rounds; what was counted from the second scrape on is `served`."""
        self.scrapes += 1
        if not self.moving:
            return
        if self.scrapes == RESTART + 1:
            self.now = {model: [0] * len(row) for model, row in self.now.items()}
        for model, gamma in self.gammas.items():
            drawn = [self.rng.randint(200, 900) if self.scrapes < 4 else self.rng.randint(20, 90)]
            for _ in range(gamma):
                drawn.append(self.rng.randint(drawn[-1] // 2, drawn[-1]))
            self.now[model] = [a + b for a, b in zip(self.now[model], drawn, strict=True)]
            if self.scrapes > 1:
                self.served[model] = [a + b for a, b in zip(self.served[model], drawn, strict=True)]
        if self.scrapes > SCRAPES:
            self.moving = False

    def answer(self, handler: Handler) -> None:
        with self.lock:
            self.step()
            text = self.page()
        reply(handler, text.encode(), Content_Type="text/plain; version=0.0.4")

    def page(self) -> str:
        lines = []
        for model, (rounds, *at_least) in self.now.items():
            labels = f'engine="0",model_name="{model}"'
            name = "vllm:spec_decode_num_"
            lines += [
                f"{name}drafts_total{{{labels}}} {rounds}.0",
                f"{name}draft_tokens_total{{{labels}}} {rounds * len(at_least)}.0",
                f"{name}accepted_tokens_total{{{labels}}} {sum(at_least)}.0",
            ]
            for i, count in enumerate(at_least):
                where = f'{labels},position="{i}"'
                lines.append(f"{name}accepted_tokens_per_pos_total{{{where}}} {count}.0")
        return "\n".join(lines) + "\n"


class SglangExporter(Exporter):
    """The same as SGLang counts: verify calls, tokens and requests."""

    def page(self) -> str:
        ((model, (rounds, *at_least)),) = self.now.items()
        labels = f'engine_type="unified",model_name="{model}"'
        tokens, requests = sum(at_least) + rounds + self.scrapes, self.scrapes
        ranks = "\n".join(
            f'sglang:spec_num_steps{{{labels},tp_rank="{r}"}} {STEPS}.0\n'
            f'sglang:spec_num_draft_tokens{{{labels},tp_rank="{r}"}} {STEPS + 1}.0'
            for r in range(2)
        )
        return f"""\
{ranks}
sglang:generation_tokens_total{{{labels},is_streaming="false"}} {tokens}.0
sglang:spec_verify_calls_total{{{labels}}} {rounds}.0
sglang:num_requests_total{{{labels}}} {requests}.0
"""


def wait_for(what: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.05)


def rule() -> str:
    """The recording rule of docs/scale.md."""
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```yaml\n(groups:.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return found


class Fleet:
    """A Prometheus and what it scraped."""

    def __init__(self, url: str, vllm: Exporter, sglang: Exporter) -> None:
        self.url, self.vllm, self.sglang = url, vllm, sglang

    def fit(self, *args: str, url: str = "") -> tuple[int, Any, str]:
        from gammaplan.cli.app import app

        words = ["fit", "--prometheus", url or self.url, "--range", "5m", *args, "--json"]
        result = CliRunner().invoke(app, words)
        document = json.loads(result.stdout) if result.stdout else None
        return result.exit_code, document, result.stderr

    def query(self, text: str) -> Any:
        with urlopen(f"{self.url}/api/v1/query?{urlencode({'query': text})}") as answer:
            return json.load(answer)["data"]["result"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    program = shutil.which("prometheus")
    if program is None and os.environ.get("GAMMAPLAN_REQUIRE_PROMETHEUS"):
        pytest.fail("prometheus is not installed, and GAMMAPLAN_REQUIRE_PROMETHEUS is set")
    if program is None:
        pytest.skip("prometheus is not installed")
    vllm = Exporter(GAMMAS, 1)
    sglang = SglangExporter({SGLANG_MODEL: STEPS}, 2)
    home = tmp_path_factory.mktemp("prometheus")
    with serving(vllm.answer) as first, serving(sglang.answer) as second:
        (home / "rules.yml").write_text(rule().replace("[5m]", "[1m]"))
        (home / "prometheus.yml").write_text(f"""\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml]
scrape_configs:
- job_name: vllm
  static_configs: [{{targets: ["{first.removeprefix("http://")}"]}}]
- job_name: sglang
  static_configs: [{{targets: ["{second.removeprefix("http://")}"]}}]
""")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        with (home / "log").open("w") as log:
            process = subprocess.Popen(
                [program, f"--config.file={home}/prometheus.yml",
                 f"--storage.tsdb.path={home}/data", f"--web.listen-address={address}"],
                stdout=log, stderr=log,
            )  # fmt: skip
        try:
            wait_for(lambda: min(vllm.scrapes, sglang.scrapes) > SCRAPES + 2)
            yield Fleet(f"http://{address}", vllm, sglang)
        finally:
            process.terminate()
            process.wait(10)


def group(document: Any, model: str) -> Any:
    (found,) = [g for g in document["result"]["groups"] if g["labels"]["model_name"] == model]
    return found


def test_the_counts_of_two_vllm_models_come_back_to_the_token(fleet):
    code, document, _ = fleet.fit("--engine", "vllm")
    assert code == 0
    for model, (rounds, *at_least) in fleet.vllm.served.items():
        counts = group(document, model)["counts"]
        assert counts["rounds"] == rounds
        assert counts["drafted"] == rounds * GAMMAS[model]
        assert counts["accepted_at_least"] == at_least


def test_the_counts_of_sglang_come_back_to_the_token(fleet):
    code, document, _ = fleet.fit("--engine", "sglang")
    assert code == 0
    rounds, *at_least = fleet.sglang.served[SGLANG_MODEL]
    counts = document["result"]["counts"]
    assert (counts["rounds"], counts["accepted"]) == (rounds, sum(at_least))
    assert document["result"]["gamma"] == STEPS


def test_engines_of_several_kinds_are_groups_of_one_answer(fleet):
    _, document, _ = fleet.fit("--by", "model_name")
    models = {g["labels"]["model_name"] for g in document["result"]["groups"]}
    assert models == {*GAMMAS, SGLANG_MODEL}
    assert document["result"]["alpha"] is None


def test_the_restart_is_named_with_its_instance_and_time(fleet):
    _, document, _ = fleet.fit("--engine", "sglang")
    (reset,) = [w for w in document["warnings"] if w["code"] == "counter_reset"]
    assert "instance=127.0.0.1:" in reset["message"]
    assert SGLANG_MODEL in reset["message"]
    assert re.search(r"at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", reset["message"])


def test_the_result_says_between_which_samples_it_holds(fleet):
    _, document, _ = fleet.fit("--engine", "sglang")
    period = document["result"]["period"]
    assert period["processes"] == 1
    assert SCRAPES < period["scrapes"] <= fleet.sglang.scrapes
    assert period["start"] < period["end"]


def test_any_label_of_the_series_may_be_told_apart(fleet):
    _, document, _ = fleet.fit("--by", "job")
    assert {g["labels"]["job"] for g in document["result"]["groups"]} == {"vllm", "sglang"}


def test_a_label_that_no_series_has_is_refused(fleet):
    code, document, stderr = fleet.fit("--by", "colour")
    assert (code, document) == (2, None)
    assert "--by must be one of" in stderr
    assert "model_name" in stderr


def test_the_recording_rule_of_the_docs_is_the_same_alpha(fleet):
    _, document, _ = fleet.fit("--engine", "vllm")
    wait_for(lambda: fleet.query("gammaplan:alpha"))
    (model, _) = GAMMAS
    (found,) = [r for r in fleet.query("gammaplan:alpha") if r["metric"]["model_name"] == model]
    # rate() extrapolates each series a little differently
    assert float(found["value"][1]) == pytest.approx(group(document, model)["alpha"], abs=0.02)


def test_a_server_behind_a_token(fleet, tmp_path):
    secret = "c2VjcmV0LXRva2Vu"
    (tmp_path / "token").write_text(secret + "\n")

    def forward(handler: Handler) -> None:
        with urlopen(fleet.url + handler.path) as answer:
            reply(handler, answer.read(), Content_Type="application/json")

    with serving(needing(f"Bearer {secret}", forward)) as url:
        code, document, stderr = fleet.fit("--engine", "vllm", url=url)
        assert (code, document) == (1, None)
        assert "401" in stderr
        assert stderr.count("\n") == 1
        token = ("--bearer-token-file", str(tmp_path / "token"))
        code, document, stderr = fleet.fit("--engine", "vllm", *token, url=url)
        assert code == 0
        assert secret not in json.dumps(document) + stderr


def test_a_range_without_engines_has_no_answer(fleet):
    code, document, _ = fleet.fit("--engine", "llama.cpp")
    assert code == 1
    (said,) = document["warnings"]
    assert said["code"] == "no_spec_data"
    assert "no series" in said["message"]


def test_watching_it_tells_what_came_since_to_the_token(fleet, script):
    words = [script, "watch", "--prometheus", fleet.url, "--by", "model_name", "--c", "0.08"]
    before = {model: list(row) for model, row in fleet.vllm.served.items()}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*words, "--every", "0.5", "--json"], text=True, **pipes) as watching:
        try:
            records = (json.loads(line)["result"] for line in watching.stdout)
            assert next(records)["groups"] == []  # nothing came yet
            with fleet.vllm.lock:
                fleet.vllm.moving = True  # for one scrape
            groups = next(r["groups"] for r in records if len(r["groups"]) == len(GAMMAS))
        finally:
            watching.terminate()
    for group in groups:
        model = group["labels"]["model_name"]
        rounds, *at_least = map(operator.sub, fleet.vllm.served[model], before[model])
        counts = group["acceptance"]["counts"]
        assert (counts["rounds"], counts["accepted_at_least"]) == (rounds, at_least)
        assert group["gamma_in_use"] == GAMMAS[model]
