"""`gammaplan fit` on large vLLM logs, against Python's own loop over the lines.

Writes a log of 1 GB (and of 2 and 4 GB) to a temporary directory: lines of
about 210 bytes as a V1 server prints them, one record in 20. The command is
run as a process, with the interpreter that runs this script; so is the loop.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from measure import process, ratio, report

GB = 10**9
CYCLES = 500  # of 20 lines; they repeat until the file is long enough
PAIRS, FEW_PAIRS = 15, 5
SAMPLING = (
    "SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, "
    "temperature=0.7, top_p=0.95, top_k=20, min_p=0.0, seed=None, stop=[], stop_token_ids=[], "
    "bad_words=[], include_stop_str_in_output=False, ignore_eos=False, max_tokens=4096, "
    "min_tokens=0, logprobs=None, prompt_logprobs=None, skip_special_tokens=True, "
    "spaces_between_special_tokens=True, truncate_prompt_tokens=None, extra_args=None)"
)
LOOP = """\
import sys
from {module} import open
found = 0
with open(sys.argv[1], "rb") as file:
    for line in file:
        if b"SpecDecoding" in line:
            found += 1
print(found)
"""
FIT = [sys.executable, "-m", "gammaplan", "fit", "--quiet", "--json"]
IMPORTS = "import gammaplan.cli.fitting, gammaplan.engines.base as b, scipy.special; b.engines()"


class Log(NamedTuple):
    """A log on disk and what is in it."""

    path: Path
    records: int
    drafted: int
    accepted: int


def record(rng: random.Random) -> tuple[str, int, int]:
    """The line of one window, and its drafted and accepted tokens."""
    rounds = left = rng.randrange(200, 320)
    counts = []
    for hazard in (0.92, 0.90, 0.80):
        left = sum(rng.random() < hazard for _ in range(left))
        counts.append(left)
    accepted, drafted = sum(counts), 3 * rounds
    rates = ", ".join(f"{count / rounds:.3f}" for count in counts)
    text = (
        f"[metrics.py:101] SpecDecoding metrics: Mean acceptance length: "
        f"{1 + accepted / rounds:.2f}, Accepted throughput: {accepted / 10:.2f} tokens/s, "
        f"Drafted throughput: {drafted / 10:.2f} tokens/s, Accepted: {accepted} tokens, "
        f"Drafted: {drafted} tokens, Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )
    return text, drafted, accepted


def other_lines(rng: random.Random) -> Iterator[str]:
    """The 19 lines before a record."""
    for _ in range(8):
        host = f"10.4.{rng.randrange(256)}.{rng.randrange(256)}:{rng.randrange(30_000, 60_000)}"
        yield f'INFO:     {host} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    for _ in range(6):
        yield f"[async_llm.py:270] Added request chatcmpl-{rng.getrandbits(128):032x}."
    for _ in range(4):
        request = f"chatcmpl-{rng.getrandbits(128):032x}"
        yield f"[logger.py:43] Received request {request}: params: {SAMPLING}, lora_request: None."
    yield (
        f"[loggers.py:257] Engine 000: Avg prompt throughput: {rng.uniform(500, 9000):.1f} "
        f"tokens/s, Avg generation throughput: {rng.uniform(50, 900):.1f} tokens/s, Running: "
        f"{rng.randrange(1, 64)} reqs, Waiting: 0 reqs, GPU KV cache usage: "
        f"{rng.uniform(1, 90):.1f}%, Prefix cache hit rate: {rng.uniform(1, 90):.1f}%"
    )


def write_log(path: Path, size: int, seed: int = 0) -> Log:
    """At least `size` bytes of log; the same seed writes the same."""
    rng = random.Random(seed)
    lines, drafted, accepted = [], 0, 0
    for second in range(0, CYCLES * 10, 10):
        text, d, a = record(rng)
        drafted, accepted = drafted + d, accepted + a
        time = f"INFO 06-01 {second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d} "
        for line in (*other_lines(rng), text):
            lines.append(f"(APIServer pid=1) {time if line[0] == '[' else ''}{line}\n")
    block = "".join(lines).encode()
    times = -(-size // len(block))
    with path.open("wb") as file:
        for _ in range(times):
            file.write(block)
    print(
        f"{path.name}: {times * len(block) / GB:.2f} GB, {len(block) / len(lines):.0f} bytes/line"
    )
    return Log(path, times * CYCLES, times * drafted, times * accepted)


def compress(log: Log) -> Log:
    path = log.path.with_suffix(".log.gz")
    with log.path.open("rb") as source, gzip.open(path, "wb", compresslevel=6) as target:
        while part := source.read(2**20):
            target.write(part)
    return log._replace(path=path)


def loop(module: str, log: Log) -> list[str]:
    return [sys.executable, "-c", LOOP.format(module=module), str(log.path)]


def output(command: Sequence[str], env: dict[str, str]) -> str:
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def check(log: Log, env: dict[str, str], module: str = "io") -> None:
    """The totals of fit are those that were written, and the loop finds every record."""
    counts = json.loads(output([*FIT, str(log.path)], env))["result"]["counts"]
    assert (counts["drafted"], counts["accepted"]) == (log.drafted, log.accepted), counts
    assert int(output(loop(module, log), env)) == log.records


def _peak(command: Sequence[str], env: dict[str, str], kept: "multiprocessing.Queue[int]") -> None:
    subprocess.run(command, env=env, check=True, capture_output=True)
    kept.put(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def peak(command: Sequence[str], env: dict[str, str]) -> float:
    """Peak resident memory of a process, the only child of a process of its own. [MB]"""
    context = multiprocessing.get_context("spawn")
    kept: multiprocessing.Queue[int] = context.Queue()
    parent = context.Process(target=_peak, args=(command, env, kept))
    parent.start()
    found = kept.get()
    parent.join()
    return found * 1024 / 1e6


def workers(logs: Sequence[Log], count: int) -> list[str]:
    return [*FIT, "--workers", str(count), *(str(log.path) for log in logs)]


def measure(folder: Path, large: bool) -> None:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    plain = write_log(folder / "a.log", GB)
    check(plain, env)
    fit, lines = process([*FIT, str(plain.path)], env), process(loop("io", plain), env)
    report("fit / line loop, 1 GB", ratio(fit, lines, pairs=PAIRS), at_most=0.6)
    grep = process(["grep", "-c", "SpecDecoding", str(plain.path)], env)
    report("fit / grep -c, 1 GB", ratio(fit, grep, pairs=PAIRS))

    zipped = compress(plain)
    check(zipped, env, "gzip")
    found = ratio(
        process([*FIT, str(zipped.path)], env), process(loop("gzip", zipped), env), pairs=FEW_PAIRS
    )
    report("fit / line loop over gzip.open, 1 GB", found, at_most=0.9)
    zipped.path.unlink()

    base = peak([sys.executable, "-c", IMPORTS], env)
    print(f"peak of fit above its imports ({base:.0f} MB), target < 150 MB:")
    print(f"  1 GB: {peak([*FIT, str(plain.path)], env) - base:.1f} MB")
    plain.path.unlink()
    if not large:
        return
    log = write_log(folder / "large.log", 4 * GB)
    check(log, env)
    print(f"  4 GB: {peak([*FIT, str(log.path)], env) - base:.1f} MB", flush=True)
    log.path.unlink()
    pair = [write_log(folder / f"{i}.log", 2 * GB, seed=i) for i in range(2)]
    one, two = (workers(pair, count) for count in (1, 2))
    results = [json.loads(output(command, env))["result"] for command in (one, two)]
    assert results[0] == results[1]
    found = ratio(process(one, env), process(two, env), pairs=FEW_PAIRS)
    report("one worker / two, two files of 2 GB", found, at_least=1.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="only what 1 GB shows")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), large=not small)


if __name__ == "__main__":
    main()
