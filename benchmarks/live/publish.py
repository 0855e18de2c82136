"""From a finished run to the repository: data, the tables of a page, real logs for the readers."""

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.live.compare import summary
from benchmarks.live.design import HERE, ROOT

RESULTS = HERE / "results"
SAMPLES = ROOT / "tests" / "data" / "live"
PAGE = ROOT / "docs" / "validation.md"
# Servers whose logs go to the tests.
SAMPLED = ("q4_1-8", "q2_k-3", "ngram-8", "ngram-f32-1", "ngram-f32-3")


def latest() -> Path | None:
    """The newest results that are in the repository."""
    found = sorted(RESULTS.glob("*/comparison.json"))
    return found[-1].parent if found else None


def lines(folder: Path | None = None) -> list[str]:
    """The block of docs/validation.md: the machine, then the misses first."""
    folder = folder or latest()
    if folder is None:
        return ["No full run is in the repository yet."]
    comparison = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    machine, engine = record["machine"], record["engine"]
    servers = comparison["servers"]
    agree = sum(not s["differ"] for s in servers)
    told = [p["responses_agree"] for row in comparison["configurations"] for p in row["measured"]]
    return [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}; {engine['engine']} ({engine['package']}), {engine['compiler']}; "
        f"{record['setup']['tokens']} tokens a request, {record['setup']['rounds']} "
        f"round{'s' * (record['setup']['rounds'] > 1)}; "
        f"predictions written {record['predicted'][:19]}Z, first measurement "
        f"{record['measured'][:19]}Z.",
        "",
        *summary(comparison),
        "",
        *picture(folder),
        f"Logs and `/metrics` of {agree} of {len(servers)} servers give the same counts through "
        f"`gammaplan fit`; so do the log and the responses of {sum(told)} of {len(told)} points.",
    ]


def picture(folder: Path) -> list[str]:
    """A link from the page to the plot, where there is one."""
    file = folder / "plot.png"
    return [f"[The same as a picture](../{file.relative_to(ROOT)}).", ""] if file.exists() else []


def publish(run: Path, name: str) -> list[Path]:
    """Copy a run's data to results/<name>, its logs to the tests, and rewrite the page's block."""
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        raise RuntimeError(f"a name of results is one folder, as 2026-11-30, got {name}")
    if find_spec("cogapp") is None:
        raise RuntimeError("publishing rewrites a page with cog: pip install '.[dev]'")
    target = RESULTS / name
    target.mkdir(parents=True, exist_ok=True)
    for file in ("run.json", "predictions.json", "comparison.json", "plot.png"):
        if (run / file).exists():
            shutil.copyfile(run / file, target / file)
    for bench in (*run.glob("bench-*"), *run.glob("batched-*")):
        (target / bench.name).write_text(_without_names(bench.read_text("utf-8")), "utf-8")
    for step in ("calibration", "measurements"):
        _figures(run / f"{step}.jsonl", target / f"{step}.jsonl")
    written = [target, *samples(run)]
    cog = (sys.executable, "-m", "cogapp", "-r", "-P", str(PAGE.relative_to(ROOT)))
    subprocess.run(cog, cwd=ROOT, check=True)
    return [*written, PAGE]


def _without_names(text: str) -> str:
    """A llama-bench report without the folder of its model."""
    return re.sub(r'("model_filename": ?")[^"]*/', r"\1", text)


def _figures(source: Path, target: Path) -> None:
    """Records without the log of each request: those of the servers go to the tests."""
    with source.open(encoding="utf-8") as read, target.open("w", encoding="utf-8") as write:
        for line in read:
            record = json.loads(line)
            del record["log"]
            write.write(json.dumps(record, ensure_ascii=False) + "\n")


def samples(run: Path) -> list[Path]:
    """Whole logs and pages of a few servers, and the counts of /metrics as the truth of both."""
    SAMPLES.mkdir(parents=True, exist_ok=True)
    for old in (*SAMPLES.glob("*.log"), *SAMPLES.glob("*.prom")):
        old.unlink()
    truth: dict[str, Any] = {}
    written = []
    for page in sorted(run.glob("servers/measurements-1/*.prom")):
        log = page.with_suffix(".log")
        if log.stem in SAMPLED:
            for file in (log, page):
                shutil.copyfile(file, SAMPLES / file.name)
                written.append(SAMPLES / file.name)
            truth[log.stem] = counted(page.read_text("utf-8"))
    (SAMPLES / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
    return [*written, SAMPLES / "truth.json"]


def counted(page: str) -> dict[str, Any]:
    """The counts of a page of /metrics, read by eye alone: no reader of ours is used."""
    totals = re.findall(r"^llamacpp:spec_decode_num_(\w+)_total (\d+)$", page, re.MULTILINE)
    at = re.findall(
        r'^llamacpp:spec_decode_num_accepted_tokens_per_pos_total\{position="(\d+)"\} (\d+)$',
        page,
        re.MULTILINE,
    )
    named = {key: int(value) for key, value in totals}
    return {
        "rounds": named["drafts"],
        "drafted": named["draft_tokens"],
        "accepted": named["accepted_tokens"],
        "accepted_at_least": [int(n) for _, n in sorted(at, key=lambda pair: int(pair[0]))],
    }
