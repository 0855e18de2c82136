"""`gammaplan alpha` on large pairs of float16 logits, against reading and exponentiating them.

Writes two arrays of 128,000 columns to a temporary directory, 1 GB each (or a
quarter with --small): a rough floor of normal logits, 60 tokens above it in each
row, and a draft that differs a little. All commands are whole processes, run by
the interpreter that runs this script, page cache warm.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fit_log import peak
from measure import process, ratio, report

VOCAB, ROWS, SMALL = 128_000, 4000, 1000
KINDS = 16  # rows that differ; the others are these, shifted
PAIRS, FEW_PAIRS = 15, 5
ALPHA = [sys.executable, "-m", "gammaplan", "alpha", "--quiet", "--json"]
IMPORTS = "import gammaplan.cli.overlapping, gammaplan.arrays.measuring, scipy.special"
BASE = """\
import sys
import numpy as np
files = [open(name, "rb", buffering=0) for name in sys.argv[1:3]]
for file in files:
    file.seek(128)
half, single = np.empty({vocab}, np.float16), np.empty({vocab}, np.float32)
while files[0].readinto(half):
    np.copyto(single, half)
    np.exp(single, out=single)
    files[1].readinto(half)
    np.copyto(single, half)
    np.exp(single, out=single)
"""
SOFTMAX = """\
import sys
import numpy as np
from scipy.special import softmax
target, draft = (np.load(name, mmap_mode="r") for name in sys.argv[1:3])
print(np.mean([
    np.minimum(softmax(p.astype(np.{kind})), softmax(q.astype(np.{kind}))).sum()
    for p, q in zip(target, draft)
]))
"""


def write_pair(folder: Path, rows: int) -> list[str]:
    """Target and draft; the same seed writes the same."""
    rng = np.random.default_rng(0)
    kinds = []
    for _ in range(KINDS):
        target = rng.normal(0, 2, VOCAB)
        target[rng.integers(0, VOCAB, 60)] += rng.normal(7, 3, 60)
        kinds.append((target, target + rng.normal(0, 0.7, VOCAB)))
    names = []
    for side, name in enumerate(("target.npy", "draft.npy")):
        with (folder / name).open("wb") as file:
            header = {"descr": "<f2", "fortran_order": False, "shape": (rows, VOCAB)}
            np.lib.format.write_array_header_1_0(file, header)
            for i in range(rows):
                row = kinds[i % KINDS][side].astype(np.float16)
                file.write(np.roll(row, 7 * i).tobytes())
        names.append(str(folder / name))
    print(f"{rows} rows of {VOCAB:,} float16: {2 * rows * VOCAB / 1e9:.2f} GB a file")
    return names


def script(text: str, files: Sequence[str], **values: object) -> list[str]:
    return [sys.executable, "-c", text.format(**values), *files]


def alpha_of(command: Sequence[str], env: dict[str, str]) -> float:
    out = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return json.loads(out)["result"]["alpha"] if out.startswith("{") else float(out)


def measure(folder: Path, rows: int) -> None:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    files = write_pair(folder, rows)
    ours = [*ALPHA, *files]
    double = script(SOFTMAX, files, kind="float64")
    off = abs(alpha_of(ours, env) - alpha_of(double, env))
    assert off < 1e-6, off
    print(f"mean alpha in float32 and in float64 differ by {off:.1e}, target < 1e-6")
    base = process(script(BASE, files, vocab=VOCAB), env)
    for options, most in (
        ((), 2.5),
        (("--top-k", "40"), 4.5),
        (("--top-p", "0.95"), 4.5),
        (("--top-k", "40", "--top-p", "0.95", "--temperature", "0.7"), 4.5),
    ):
        what = f"alpha {' '.join(options)} / base".replace("  ", " ")
        report(what, ratio(process([*ours, *options], env), base, pairs=PAIRS), at_most=most)
    for kind in ("float64", "float32"):
        rival = process(script(SOFTMAX, files, kind=kind), env)
        least = 3 if kind == "float64" else None
        found = ratio(rival, process(ours, env), pairs=FEW_PAIRS)
        report(f"two softmax in {kind} and the minima / alpha", found, at_least=least)
    two = process([*ours, "--workers", "2"], env)
    report("one worker / two", ratio(process(ours, env), two, pairs=PAIRS), at_least=1.6)
    swept = [*ours, "--temperature", "0..1.5:0.1", "--top-p", "0.95"]
    found = ratio(process(swept, env), process([*swept, "--workers", "2"], env), pairs=FEW_PAIRS)
    report("one worker / two, 16 temperatures and top-p", found, at_least=1.6)
    imports = peak([sys.executable, "-c", IMPORTS], env)
    for command in (ours, [*ours, "--top-p", "0.95", "--rules"]):
        print(f"peak memory {peak(command, env):.0f} MB, imports {imports:.0f} MB, target < 500 MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a quarter of the rows")
    rows = SMALL if parser.parse_args().small else ROWS
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), rows)


if __name__ == "__main__":
    main()
