"""Step 1: llama.cpp, from the sources in a PyPI package, built here."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

SOURCE = "llama-cpp-python==0.3.36"  # its vendor/llama.cpp is what is built
TARGETS = ("llama-server", "llama-bench", "llama-batched-bench", "llama-quantize")
OPTIONS = {  # stated, not detected: detection can choose what a virtual machine lacks
    "CMAKE_BUILD_TYPE": "Release",
    "BUILD_SHARED_LIBS": "OFF",
    "GGML_NATIVE": "OFF",
    "GGML_AVX2": "ON",
    "GGML_FMA": "ON",
    "GGML_F16C": "ON",
    "GGML_CCACHE": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
}


def program(cache: Path, name: str) -> Path:
    """A program of the engine, built or not."""
    return cache / "build" / "bin" / name


def built(cache: Path) -> bool:
    """Whether every program is there."""
    return all(program(cache, name).exists() for name in TARGETS)


def download(cache: Path, requirement: str, *options: str) -> Path:
    """A file of PyPI as it is, unless it is already here."""
    folder = cache / "sdist"
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}[-.]*"
    if not any(folder.glob(pattern)):
        command = (sys.executable, "-m", "pip", "download", "--no-deps", "-q", *options)
        subprocess.run([*command, "-d", str(folder), requirement], check=True)
    return next(iter(folder.glob(pattern)))


def build(cache: Path) -> None:
    """Download, unpack, configure and compile; nothing of it twice."""
    if built(cache):
        return
    package, _, _ = SOURCE.partition("==")
    sources = _unpacked(cache, download(cache, SOURCE, "--no-binary", package))
    cmake = shutil.which("cmake") or _pip_cmake(cache)
    folder = cache / "build"
    options = [f"-D{key}={value}" for key, value in OPTIONS.items()]
    if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists():
        options += ["-G", "Ninja"]
    log = cache / "build.log"
    with log.open("w", encoding="utf-8") as out:
        for command in (
            [cmake, "-S", str(sources), "-B", str(folder), *options],
            [cmake, "--build", str(folder), "-j", str(os.cpu_count() or 2), "--target", *TARGETS],
        ):
            done = subprocess.run(command, check=False, stdout=out, stderr=subprocess.STDOUT)
            if done.returncode:
                raise RuntimeError(f"the engine was not built: {log} says why")


def _unpacked(cache: Path, archive: Path) -> Path:
    """The folder of the sources; unpacked in a folder of its own, so that half of it is none."""
    package = archive.name.removesuffix(".tar.gz")
    sources = cache / package / "vendor" / "llama.cpp"
    if not (sources / "CMakeLists.txt").exists():
        part = cache / "unpacking"
        shutil.rmtree(part, ignore_errors=True)
        with tarfile.open(archive) as tar:
            wanted = (m for m in tar if "/vendor/llama.cpp/" in m.name)
            tar.extractall(part, wanted, filter="data")
        (part / package).rename(cache / package)
    return sources


def _pip_cmake(cache: Path) -> str:
    folder = cache / "tools"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), "cmake"], check=True
    )
    return str(next(folder.glob("cmake/data/bin/cmake")))


def version(cache: Path) -> dict[str, str]:
    """What the engine and its compiler say of themselves."""
    server = program(cache, "llama-server")
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=True)
    text = told.stdout + told.stderr
    found = dict(re.findall(r"^(version|built with)(?::|\s)\s*(.+)$", text, re.MULTILINE))
    return {
        "package": SOURCE,
        "engine": f"llama.cpp {found.get('version', 'of unknown version').strip()}",
        "compiler": found.get("built with", "unknown").strip(),
        "options": " ".join(f"{k}={v}" for k, v in OPTIONS.items() if k.startswith("GGML")),
    }


def machine() -> dict[str, object]:
    """The processor, its cores and memory: what may be said of a machine without naming it."""
    cpu = Path("/proc/cpuinfo")
    text = cpu.read_text(encoding="utf-8") if cpu.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    cached = re.search(r"^cache size\s*:\s*(.+)$", text, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model[1] if model else platform.machine(),
        "cache": cached[1] if cached else None,
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}, CPython {platform.python_version()}",
    }
