"""Step 3, first half: what the predictions may be made from."""

import subprocess
from pathlib import Path
from typing import Any

from benchmarks.live.design import PREDICTION, Setup
from benchmarks.live.engine import program
from benchmarks.live.models import TARGET
from benchmarks.live.order import lines, may_calibrate
from benchmarks.live.session import Progress, session

CALIBRATION = "calibration.jsonl"
TARGET_PASSES, BATCHED_PASSES = "bench-target.json", "bench-batched.jsonl"


def time_passes(cache: Path, setup: Setup, run: Path) -> None:
    """Passes of the target and the drafts by llama-bench, the target's also by batched-bench."""
    longest, threads = max(setup.lengths) + 1, str(setup.threads)
    sizes = ",".join(map(str, range(1, longest + 1)))
    bench = [str(program(cache, "llama-bench")), "-t", threads, "-r", str(setup.bench_repeats)]
    passes = ("-p", sizes, "-n", "16", "-o", "json")
    _kept(cache, run / TARGET_PASSES, [*bench, "-m", TARGET, *passes])
    for draft in setup.used():
        if draft.model:
            _kept(cache, run / f"bench-{draft.name}.json", [*bench, "-m", draft.model, *passes])
    batched = [
        str(program(cache, "llama-batched-bench")),
        "-m",
        TARGET,
        "-t",
        threads,
        "-tb",
        threads,
    ]
    room = ("-c", str(longest * 64), "-b", "128", "-ub", "128")
    shape = ("-npp", "16", "-ntg", "32", "-npl", sizes, "--output-format", "jsonl")
    _kept(cache, run / BATCHED_PASSES, [*batched, *room, *shape])


def _kept(cache: Path, file: Path, command: list[str]) -> None:
    """Run a program for what it prints, once."""
    if file.exists():
        return
    may_calibrate(file.parent)
    told = subprocess.run(command, cwd=cache / "models", capture_output=True, check=True)
    out = told.stdout
    if file.suffix == ".jsonl":
        out = b"".join(line for line in out.splitlines(keepends=True) if line.startswith(b"{"))
    file.write_bytes(out)


def calibrate(cache: Path, setup: Setup, run: Path) -> list[dict[str, Any]]:
    """Requests of every workload at the revealed lengths and without a draft, interleaved."""
    ways, cells = setup.calibrated(), setup.cells()
    turns = [
        (turn, cell, ways[(i + turn + place) % len(ways)])
        for place, cell in enumerate(cells)
        for turn in range(setup.calibrations)
        for i in range(len(ways))
    ]
    done = {(r["turn"], r["cell"], r["draft"], r["gamma"]) for r in lines(run / CALIBRATION)}
    left = [t for t in turns if (t[0], t[1].name, *t[2]) not in done]
    if left:
        may_calibrate(run)
        progress = Progress("calibration", len(left))
        with session(cache, setup, run, "calibration", ways) as open_:
            for turn, cell, way in left:
                open_.ask(way, cell, setup.tokens, PREDICTION + turn, {"turn": turn})
                progress.step()
    return lines(run / CALIBRATION)
