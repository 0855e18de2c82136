"""Step 3, first half: what the predictions may be made from."""

import subprocess
from pathlib import Path
from typing import Any

from benchmarks.live.design import PREDICTION, Setup
from benchmarks.live.engine import program
from benchmarks.live.order import left, lines, may_calibrate
from benchmarks.live.session import Progress, session

CALIBRATION = "calibration.jsonl"


def bench(run: Path, model: str) -> Path:
    """Where llama-bench's passes of a model are."""
    return run / f"bench-{Path(model).stem}.json"


def batched(run: Path, target: str) -> Path:
    """Where llama-batched-bench's passes of a target are."""
    return run / f"batched-{Path(target).stem}.jsonl"


def time_passes(cache: Path, setup: Setup, run: Path) -> None:
    """Passes of all models by llama-bench, and of the targets by llama-batched-bench too."""
    longest, threads = max(setup.lengths) + 1, str(setup.threads)
    sizes = ",".join(map(str, range(1, longest + 1)))
    targets = dict.fromkeys(d.target for d in setup.used())
    drafts = dict.fromkeys(d.model for d in setup.used() if d.model)
    for model in (*targets, *drafts):
        words = ["llama-bench", "-m", model, "-t", threads, "-r", str(setup.bench_repeats)]
        _kept(cache, bench(run, model), [*words, "-p", sizes, "-n", "16", "-o", "json"])
    for target in targets:
        words = ["llama-batched-bench", "-m", target, "-t", threads, "-tb", threads]
        words += ["-c", str(longest * 64), "-b", "128", "-ub", "128"]
        words += ["-npp", "16", "-ntg", "32", "-npl", sizes, "--output-format", "jsonl"]
        _kept(cache, batched(run, target), words, setup.batched_repeats)


def _kept(cache: Path, file: Path, command: list[str], repeats: int = 1) -> None:
    """Run a program for what it prints, one time after another, unless that is there already."""
    if file.exists():
        return
    may_calibrate(file.parent)
    command[0] = str(program(cache, command[0]))
    out = b""
    for _ in range(repeats):
        out += subprocess.run(command, cwd=cache / "models", capture_output=True, check=True).stdout
    if file.suffix == ".jsonl":
        out = b"".join(line for line in out.splitlines(keepends=True) if line.startswith(b"{"))
    file.write_bytes(out)


def calibrate(cache: Path, setup: Setup, run: Path) -> list[dict[str, Any]]:
    """Requests of every workload at the revealed lengths and without a draft, interleaved."""
    if asked := left(setup.known(), run / CALIBRATION):
        may_calibrate(run)
        progress = Progress("calibration", len(asked))
        with session(cache, setup, run, "calibration", setup.ways(setup.revealed)) as open_:
            for turn, cell, way in asked:
                open_.ask(way, cell, setup.tokens, PREDICTION + turn, {"turn": turn})
                progress.step()
    return lines(run / CALIBRATION)
