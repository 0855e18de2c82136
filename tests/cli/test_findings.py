"""What is said beside an answer: each case once where it holds, and once where it nearly does."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gammaplan.data.findings import FINDINGS

TESTS = Path(__file__).parents[1]
CONFIG = TESTS / "data" / "configs" / "llama-2-7b.json"

CASES = {
    "full_drafts_assumed": (
        "convert --pooled-rate 0.59 --gamma 4",
        "convert --pooled-rate 0.59 --gamma 4 --drafted-per-round 3.2",
    ),
    "hazards_vary": ("convert --survival 0.8,0.5,0.2", "convert --survival 0.8,0.64,0.512"),
    "alpha_from_length_differs": (
        "convert --survival 0.8,0.5,0.2",
        "convert --survival 0.8,0.64,0.512",
    ),
    "alpha_not_constant": ("fit falling.jsonl", "fit level.jsonl"),
    "many_groups": ("fit many.jsonl --by request", "fit level.jsonl --by request"),
    "not_pooled": ("fit level.jsonl many.jsonl", "fit level.jsonl falling.jsonl"),
    "tree_smaller": (
        "tree --ranks 0.6,0.2 --budget 20 --max-depth 2 --c 0.1",
        "tree --ranks 0.6,0.2 --budget 6 --max-depth 2 --c 0.1",
    ),
    "tree_at_limit": ("tree --ranks 0.9,0.05 --c 0", "tree --ranks 0.6,0.2 --c 0.2"),
    "method_assumed": (
        "plan --alpha 0.7 --c 0.05 --engine sglang",
        "plan --alpha 0.7 --c 0.05 --engine sglang --method eagle3",
    ),
    "schedule_ends": ("plan surface.json --alpha 0.7 --batch 1,8", "plan --alpha 0.7 --c 0.1"),
    "boundary_buys_little": (
        "plan surface.json --alpha 0.7 --batch 1,8,16 --tolerance 0.03",
        "plan surface.json --alpha 0.7 --batch 1,8,16 --tolerance 0.02",
    ),
    "sequence_matters": ("alpha target.npy stretches.npy", "alpha target.npy target.npy"),
    "bfloat16_assumed": ("alpha half.npy half.npy", "alpha target.npy target.npy"),
    "rows_repeated": (
        "simulate target.npy stretches.npy --gamma 400 --rounds 50",
        "simulate target.npy stretches.npy --gamma 399 --rounds 50",
    ),
    "does_not_fit": (
        f"cost --target {CONFIG} --method eagle3 --device t4 --dtype fp16 --batch 8",
        f"cost --target {CONFIG} --method eagle3 --device h200-sxm --dtype fp16 --batch 8",
    ),
    "ranks_drawn": (
        "tree --target many.npy --draft other.npy --budget 8 --c 0.1",
        "tree --target target.npy --draft stretches.npy --budget 8 --c 0.1",
    ),
    "too_few_rounds_to_test": (
        "simulate --target-logits 2,0 --draft-logits 1,0 --gamma 2 --rounds 39",
        "simulate --target-logits 2,0 --draft-logits 1,0 --gamma 2 --rounds 40",
    ),
}


def lines(*rounds):
    return "".join(json.dumps(one) + "\n" for one in rounds)


@pytest.fixture
def folder(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    level = [{"drafted": 3, "accepted": min(3, int(n) - 1)} for n in rng.geometric(0.3, 2_000)]
    falling = [{"drafted": 3, "accepted": 1 + i % 2} for i in range(400)]
    many = [{"drafted": 2, "accepted": 1, "request": f"r{i}"} for i in range(10_001)]
    for name, rounds in (("level", level), ("falling", falling), ("many", many)):
        Path(f"{name}.jsonl").write_text(lines(*rounds))
    passes = {1: (10, 11.333, 10.95), 8: (10, 11.333, 14.698), 16: (10, 11.333, 15.315)}
    rows = [f"{b},{n},{ms}\n" for b, times in passes.items() for n, ms in enumerate(times, 1)]
    Path("curve.csv").write_text("batch,tokens,ms\n" + "".join(rows))
    Path("surface.json").write_text(cli("cost --verify-curve curve.csv --json").stdout)
    target = np.zeros((400, 8))
    stretches = np.where(np.arange(400)[:, None] < 200, target, 40.0 * np.eye(8)[0])
    np.save("target.npy", target)
    np.save("stretches.npy", stretches)
    np.save("many.npy", rng.normal(size=(4, 300)))
    np.save("other.npy", rng.normal(size=(4, 300)))
    np.save("half.npy", np.zeros((40, 8), dtype=np.uint16).view("V2"))


def codes(done):
    assert done.exit_code == 0, done.stderr
    return [warning["code"] for warning in json.loads(done.stdout)["warnings"]]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("code", CASES)
def test_a_finding_is_given_where_it_holds_and_only_there(cli, code):
    there, nearly = CASES[code]
    assert code in codes(cli(f"{there} --json"))
    assert code not in codes(cli(f"{nearly} --json"))


def test_every_finding_is_named_in_a_test():
    words = {
        word for path in TESTS.rglob("*.py") for word in re.findall(r"\w+", path.read_text("utf-8"))
    }
    assert set(FINDINGS) - words == set()
