"""Every sample of the engines gives the figures and the findings of its answer sheet."""

import json
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support import DATA

SAMPLES = DATA / "samples"
NAMES = {
    "vllm": "vllm",
    "transformers": "plain",
    "sglang": "sglang",
    "llamacpp": "llama.cpp",
    "ik_llama": "llama.cpp",
    "tensorrt_llm": "tensorrt-llm",
    "lmdeploy": "lmdeploy",
    "lmstudio": "lm-studio",
    "mlc": "mlc-llm",
    "mlx": "mlx",
    "exllama": "exllama",
    "tgi": "tgi",
    "ollama": "ollama",
    "openvino": "openvino",
    "aiperf": "aiperf",
    "specbench": "spec-bench",
}
ENGINES = (*NAMES, "misc")
COUNTS = {  # the answer sheet's word: ours
    "drafts": "rounds",
    "drafted": "drafted",
    "accepted": "accepted",
    "accepted_at_least": "accepted_at_least",
    "full_accepts": "full_accepts",
    "rejections": "rejections",
}
FINE, COARSE = 1e-5, 1e-3

Figures = dict[str, Any]


@cache
def answer_sheet() -> dict[str, Any]:
    """What is known of every sample, with the meaning of its words."""
    return json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def known() -> list[dict[str, Any]]:
    """The samples of the engines that fit reads."""
    return [s for s in answer_sheet()["samples"] if s["file"].split("/")[0] in ENGINES]


every_sample = pytest.mark.parametrize("sample", known(), ids=lambda sample: sample["file"])


def args(sample: dict[str, Any], *more: str) -> list[str]:
    """The command line that fits a sample."""
    before = chain.from_iterable(("--before", str(SAMPLES / c)) for c in sample["companions"])
    return ["fit", *before, str(SAMPLES / sample["file"]), "--json", *more]


@pytest.fixture
def fitted(cli):
    """The document that fit prints for a sample."""

    def run(sample, *more):
        result = cli(args(sample, *more))
        assert result.exit_code in (0, 1), result.stderr
        return json.loads(result.stdout)

    return run


def same_label(group: Figures, expected: Figures) -> bool:
    """Whether two groups have the same value under a label that both carry."""
    mine, theirs = group["labels"], expected["labels"]
    return any(str(mine[k]) == str(theirs[k]) for k in mine.keys() & theirs.keys())


def tolerance(sample: dict[str, Any], expected: Figures) -> float:
    """How close a derived figure must come."""
    if "approximate" in expected:
        return float(expected["approximate"]["relative_tolerance"])
    return COARSE if "rounding_only" in sample["expected_warnings"] else FINE


def differences(found: Figures, expected: Figures, off: float) -> list[str]:
    """Where the figures of one group are not those of the answer sheet, in its words."""
    counts = found["counts"] or {}
    wrong, coarse = [], off > FINE

    def compare(name: str, mine: Any, *, exact: bool = False) -> None:
        theirs = expected[name]
        if theirs is None and mine and not coarse and name != "alpha":
            wrong.append(f"{name} is {mine}, and cannot be known")
        if theirs is None or (exact and mine == theirs):
            return
        close = off if off > FINE or not exact else 0.0
        scale = max(1.0, abs(theirs)) if isinstance(theirs, int | float) else 1.0
        if mine is None or mine != pytest.approx(theirs, abs=close * scale, rel=0.0):
            wrong.append(f"{name} is {mine}, not {theirs}")

    for theirs, mine in COUNTS.items():
        compare(theirs, counts.get(mine), exact=True)
    compare("drafted_at_least", counts.get("drafted_at_least"), exact=True)
    compare("gamma", found["gamma"], exact=True)
    compare("mean_acceptance_length", found["mean_length"])
    compare("acceptance_rate", found["pooled_rate"])
    compare("per_position_rate", found["survival"])
    compare("alpha", found["alpha"])
    if (found["alpha"] is None) != (expected["alpha"] is None):
        wrong.append(f"alpha is {found['alpha']}, not {expected['alpha']}")
    outer, bounds = expected["alpha_outer_bounds"], found["bounds"]
    if outer and bounds is None and found["alpha"] is None:
        wrong.append(f"there are no bounds inside {outer}")
    if outer and bounds and not outer[0] - off <= bounds["low"] <= bounds["high"] <= outer[1] + off:
        wrong.append(f"bounds are {bounds}, outside {outer}")
    if (
        bounds
        and found["alpha"]
        and not bounds["low"] - FINE <= found["alpha"] <= bounds["high"] + FINE
    ):
        wrong.append(f"alpha {found['alpha']} is outside its own bounds {bounds}")
    return wrong


@every_sample
def test_counts_and_alpha_are_those_of_the_answer_sheet(fitted, sample):
    found = fitted(sample)["result"]
    if sample["total"] is not None:
        assert found["pooled"]
        assert differences(found, sample["total"], tolerance(sample, sample["total"])) == []
        return
    assert found["alpha"] is None
    for group in found["groups"]:
        alone = len(found["groups"]) == len(sample["groups"]) == 1
        matches = [e for e in sample["groups"] if alone or same_label(group, e)]
        assert len(matches) == 1, group["labels"]
        assert differences(group, matches[0], tolerance(sample, matches[0])) == []


@every_sample
def test_every_expected_finding_is_there_with_its_level(fitted, sample):
    levels = {w["code"]: w["level"] for w in fitted(sample)["warnings"]}
    words = answer_sheet()["warning_codes"]
    expected = {code: words[code]["level"] for code in sample["expected_warnings"]}
    assert {code: levels.get(code) for code in expected} == expected


@every_sample
def test_alpha_is_refused_exactly_where_it_must_be(fitted, sample):
    found = fitted(sample)["result"]
    parts = [found] if sample["total"] is not None else found["groups"]
    assert all(part["alpha"] is None for part in parts) == sample["must_refuse_alpha"]


@every_sample
def test_few_rounds_are_said_where_there_are_few(fitted, sample):
    document = fitted(sample)
    found = document["result"]
    parts = [found] if sample["total"] is not None else found["groups"]
    rounds = [part["counts"]["rounds"] for part in parts if part["counts"]]
    few = any(n and n < 30 for n in rounds)
    assert ("few_drafts" in [w["code"] for w in document["warnings"]]) == few


@every_sample
def test_an_answer_is_exit_code_0_and_none_is_1(cli, sample):
    result = cli(args(sample))
    found = json.loads(result.stdout)["result"]
    keys = ("alpha", "bounds", "mean_length", "pooled_rate")
    some = any(part[key] is not None for part in (found, *found["groups"]) for key in keys)
    assert result.exit_code == (0 if some else 1)


@every_sample
def test_the_engine_is_recognised(fitted, sample):
    found = fitted(sample)["result"]
    folder = sample["file"].split("/")[0]
    assert found["engine"] == NAMES.get(folder)
    assert (found["format"] is None) == (found["engine"] is None)


@every_sample
def test_naming_the_engine_and_the_format_changes_nothing(fitted, sample):
    found = fitted(sample)["result"]
    if found["engine"] is None:
        return
    named = ("--engine", found["engine"], "--input-format", found["format"])
    assert fitted(sample, *named)["result"] == found


@pytest.mark.parametrize(
    ("key", "sample"),
    [
        (key, s)
        for s in known()
        for key, word in (("window", "window"), ("request", "id"))
        if s["groups"] and all(word in g["labels"] for g in s["groups"])
    ],
    ids=lambda x: x if isinstance(x, str) else x["file"],
)
def test_the_finest_records_are_listed_in_order(fitted, key, sample):
    found = fitted(sample, "--by", key)["result"]["groups"]
    filled = [g for g in sample["groups"] if g["drafted"] != 0]
    assert len(found) == len(filled)
    for mine, theirs in zip(found, filled, strict=True):
        assert differences(mine, theirs, tolerance(sample, theirs)) == []


def test_every_sample_of_these_engines_has_an_answer():
    listed = {s["file"] for s in known()} | {c for s in known() for c in s["companions"]}
    there = {
        f.relative_to(SAMPLES).as_posix()
        for engine in ENGINES
        for f in Path(SAMPLES / engine).iterdir()
    }
    assert there == listed
