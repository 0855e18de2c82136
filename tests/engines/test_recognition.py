"""One engine is not taken for another, whatever they share."""

import json
from pathlib import Path

import pytest

from gammaplan.data.findings import FINDINGS
from gammaplan.engines.base import engine_named, engines
from gammaplan.engines.files import collect_files

LLAMA = {"prompt_n": 9, "predicted_n": 40, "draft_n": 30, "draft_n_accepted": 20}


def recognised(folder: Path, text: str) -> tuple[str | None, str | None]:
    path = folder / "report"
    path.write_text(text, encoding="utf-8")
    (found,) = collect_files([str(path)])
    return found.engine, found.format


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_every_name_and_alias_means_one_engine():
    for engine in engines():
        for name in (engine.NAME, *engine.ALIASES):
            assert engine_named(name) is engine
            assert engine_named(name.upper().replace("-", "_")) is engine


def test_an_unknown_name_means_none():
    assert engine_named("gpt") is None
    assert engine_named("") is None


def test_formats_with_one_name_belong_to_one_engine():
    owners: dict[str, set[str]] = {}
    for engine in engines():
        for form in engine.FORMATS:
            owners.setdefault(form.name, set()).add(engine.NAME)
    assert all(len(names) == 1 for names in owners.values())


@pytest.mark.parametrize(
    ("value", "engine"),
    [
        ({"timings": LLAMA}, "llama.cpp"),
        (
            {"timings": LLAMA, "stats": {"tokens_per_second": 9.0, "stop_reason": "eosFound"}},
            "lm-studio",
        ),
        (
            {
                "timings": LLAMA,
                "usage": {"total_draft_tokens_count": 30, "accepted_draft_tokens_count": 20},
            },
            "lm-studio",
        ),
        ({"timings": {**LLAMA, "draft_rounds": 10, "draft_kind": "mtp"}}, "mlx"),
        (
            {
                "usage": {
                    "completion_tokens_details": {
                        "accepted_prediction_tokens": 1,
                        "rejected_prediction_tokens": 2,
                    }
                }
            },
            "exllama",
        ),
        (
            {
                "usage": {
                    "completion_tokens_details": {
                        "accepted_prediction_tokens": 0,
                        "rejected_prediction_tokens": 0,
                    }
                },
                "metrics": {
                    "speculative_decoding": {
                        "num_spec_steps": 4,
                        "num_draft_tokens": 4,
                        "acceptance_histogram": [2, 2],
                    }
                },
            },
            "vllm",
        ),
        ({"drafted": 3, "accepted": 1}, "plain"),
        ({"total_spec_decode_steps": {"avg": 4}, "total_draft_tokens": {"avg": 8}}, "aiperf"),
        (
            {
                "perf_metrics": {
                    "speculative_decoding": {
                        "total_draft_tokens": 8,
                        "total_accepted_draft_tokens": 4,
                    }
                }
            },
            "tensorrt-llm",
        ),
        ({"spec_decode_num_drafts": 4, "spec_decode_draft_tokens": 8}, "vllm"),
    ],
    ids=lambda x: x if isinstance(x, str) else None,
)
def test_a_value_is_its_engines(tmp_path, value, engine):
    assert recognised(tmp_path, lines(value))[0] == engine


def test_a_shape_that_others_contain_waits_for_the_values_behind_it(tmp_path):
    plain = {"timings": {"prompt_n": 9, "predicted_n": 40}}
    drafted = {"timings": {**LLAMA, "draft_rounds": 10, "draft_kind": "mtp"}}
    assert recognised(tmp_path, lines(plain, drafted)) == ("mlx", "mlx-vlm-timings")
    assert recognised(tmp_path, lines(plain, plain)) == ("llama.cpp", "llama-server-timings")


@pytest.mark.parametrize(
    ("line", "engine"),
    [
        ("lmdeploy:spec_decode_num_drafts_total 3.0", "lmdeploy"),
        ("vllm:spec_decode_num_drafts_total 3.0", "vllm"),
        ("llamacpp:spec_decode_num_drafts_total 3", "llama.cpp"),
        ("tgi_request_skipped_tokens_count 3", "tgi"),
    ],
)
def test_a_page_is_its_engines(tmp_path, line, engine):
    assert recognised(tmp_path, f"# TYPE x counter\n{line}\n")[0] == engine


@pytest.mark.parametrize(
    "text",
    [
        "INFO 3 tokens generated in 4.0 seconds\n",
        "Draft: 3 / 4 were accepted (by mail)\n",
        "level=INFO msg=accepted source=server.go\n",
        '{"positions": [[1, 2, 3], [2, 3, 4]]}\n',
        '{"rows": [[1, 5, 2], [9, 4, 1], [3, 8, 1]]}\n',
        '{"i": 0, "token": 9}\n',
        "spec_decode_accept_rate 0.4\n",
    ],
)
def test_what_only_looks_like_a_report_is_none(tmp_path, text):
    assert recognised(tmp_path, text) == (None, None)


def test_codes_of_findings_are_words():
    assert all(code.isidentifier() and code.islower() for code in FINDINGS)


def test_rounds_without_a_draft_count_for_the_length_alone(tmp_path, cli):
    stats = 'msg="speculative decode stats" iterations={} drafted={} accepted={} acceptance={}\n'
    path = tmp_path / "server.log"
    path.write_text(stats.format(10, 21, 9, "0.43") + stats.format(30, 0, 0, "0.00"))
    found = json.loads(cli(["fit", str(path), "--json"]).stdout)["result"]
    assert found["counts"]["rounds"] == 40
    assert found["mean_length"] == pytest.approx(1 + 9 / 40)
    assert found["bounds"] == {"low": pytest.approx(9 / 19), "high": pytest.approx(9 / 10)}


def test_an_assumed_length_gives_way_to_a_stated_one(tmp_path, cli):
    flags = [True, True, True, False] * 8 + [False] * 4 + [True, False] * 4
    path = tmp_path / "tokens.jsonl"
    path.write_text(lines(*({"from_draft": flag} for flag in flags)))
    taken = json.loads(cli(["fit", str(path), "--json"]).stdout)
    stated = json.loads(cli(["fit", str(path), "--json", "--gamma", "5"]).stdout)
    assert taken["result"]["counts"]["drafted"] == 16 * 3
    assert taken["result"]["counts"]["rejections"] == 8
    assert stated["result"]["counts"]["drafted"] == 16 * 5
    assert stated["result"]["counts"]["rejections"] == 16
    codes = [[w["code"] for w in d["warnings"]] for d in (taken, stated)]
    assert ["gamma_assumed" in c for c in codes] == [True, False]


def test_a_stated_length_below_what_was_accepted_is_refused(tmp_path, cli):
    path = tmp_path / "tokens.jsonl"
    path.write_text(lines(*({"from_draft": flag} for flag in [True, True, True, False] * 3)))
    result = cli(["fit", str(path), "--gamma", "2"])
    assert result.exit_code != 0
    assert "drafts of 3 tokens" in result.stderr


def test_idle_rounds_of_several_inputs_add_up(tmp_path):
    stats = 'msg="speculative decode stats" iterations={} drafted={} accepted={} acceptance={}\n'
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(
            stats.format(10, 21, 9, "0.43") + stats.format(30, 0, 0, "0.00")
        )
    inputs = collect_files([str(tmp_path / name) for name in ("a.log", "b.log")])
    assert [g.idle for one in inputs for g in one.said.told()] == [30, 30]
