"""Step 3, second half: the predictions, by the commands that users have, from the calibration."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.live.calibrate import CALIBRATION, batched, bench
from benchmarks.live.design import Cell, Draft, Setup, Way
from benchmarks.live.order import PREDICTIONS, lines, may_predict, now

Record = dict[str, Any]
FROM = {
    "one": "plain runs and runs at one length",
    "two": "plain runs and runs at two lengths",
    "bench": "llama-bench timings, and the acceptance that the log of the runs at one length tells",
    "passes": "the same, the passes of the target timed by llama-batched-bench",
}


def gammaplan(*words: str) -> Record:
    """What the command answers, as JSON; its findings stay on stderr."""
    command = [sys.executable, "-m", "gammaplan", *words, "--json", "--quiet"]
    told = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    if told.returncode:
        raise RuntimeError(f"gammaplan {' '.join(words)}: {told.stderr.strip()}")
    found: Record = json.loads(told.stdout)
    return found


def of(records: Iterable[Record], way: Way, cell: Cell) -> list[Record]:
    """The records of a workload served in one way."""
    return [r for r in records if (r["draft"], r["gamma"], r["cell"]) == (*way, cell.name)]


def speed(records: list[Record]) -> float:
    """Tokens per second over several requests: the tokens of all ÷ the time of all."""
    tokens = sum(r["timings"]["predicted_n"] - 1 for r in records)  # the first needs no pass
    return 1e3 * tokens / sum(r["timings"]["predicted_ms"] for r in records)


def logged(run: Path, records: list[Record], way: Way, cell: Cell) -> Path:
    """The real log of a workload: the start of its server, and the lines of its requests."""
    file = run / "cells" / f"{way.name}--{cell.name}.log"
    file.parent.mkdir(exist_ok=True)
    head = (run / "heads" / f"{way.name}.log").read_text(encoding="utf-8", errors="replace")
    file.write_text(head + "".join(r["log"] for r in records), encoding="utf-8")
    return file


def hits(records: list[Record], rounds: int) -> float:
    """The share of the target's passes that had a draft to verify."""
    timings = [r["timings"] for r in records]
    passes = sum(t["predicted_n"] - 1 - t.get("draft_n_accepted", 0) for t in timings)
    return min(1.0, rounds / passes)


def tps(record: Record) -> float:
    """Tokens per second of one request, as the server timed it."""
    return float(record["timings"]["predicted_per_second"])


def paired(records: list[Record], plain: list[Record]) -> list[tuple[float, float]]:
    """Tokens per second of each request, and of the plain ones of its round, in the mean."""
    found = []
    for record in records:
        base = [tps(r) for r in plain if r["turn"] == record["turn"]]
        if base:
            found.append((tps(record), mean(base)))
    return found


def run_rows(
    records: list[Record], plain: list[Record], gamma: int, fit: Record, *, misses: bool = False
) -> list[Record]:
    """Rows of the runs file, one a request: the speeds are its own, the acceptance is of all.

    Where drafts are missing, figures are of all passes, misses too.
    """
    counts, survival = fit["counts"], fit["survival"]
    share = hits(records, counts["rounds"]) if misses else 1.0
    found: Record = {"mean_length": 1 + share * counts["accepted"] / counts["rounds"]}
    if survival:
        found["survival"] = "/".join(repr(share * s) for s in survival)
    if counts["drafted"] != counts["rounds"] * gamma or share < 1:
        found["drafted_per_round"] = share * counts["drafted"] / counts["rounds"]
    return [
        {"gamma": gamma, "baseline_tps": base, "spec_tps": own} | found
        for own, base in paired(records, plain)
    ]


def predict(setup: Setup, run: Path) -> Record:
    """Predict every configuration in every way, and write it down with the time."""
    may_predict(run)
    records = lines(run / CALIBRATION)
    found = [
        _configuration(setup, run, records, draft, cell)
        for draft in setup.used()
        for cell in setup.cells(draft)
    ]
    document = {"written": now(), "from": FROM, "configurations": found}
    part = run / f"{PREDICTIONS}.part"
    part.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.rename(run / PREDICTIONS)
    return document


def _configuration(
    setup: Setup, run: Path, records: list[Record], draft: Draft, cell: Cell
) -> Record:
    plain = of(records, draft.plain, cell)
    rows, fits = [], []
    for gamma in setup.revealed:
        way = Way(draft.name, gamma)
        mine = of(records, way, cell)
        fits.append(gammaplan("fit", str(logged(run, mine, way, cell))))
        found = run_rows(mine, plain, gamma, fits[-1]["result"], misses=draft.model is None)
        rows.append(found)
    inside = run / "inputs"
    inside.mkdir(exist_ok=True)
    name = f"{draft.name}--{cell.name}"
    fit = inside / f"{name}.fit.json"
    fit.write_text(json.dumps(fits[0]), encoding="utf-8")
    common = ("--method", draft.method, "--max-gamma", str(max(setup.lengths)))
    plans = {}
    for number, way_in in enumerate(("one", "two"), 1):
        file = inside / f"{name}.{way_in}.csv"
        _table(file, [*chain(*rows[:number])])
        plans[way_in] = gammaplan("plan", "--runs", str(file), *common)
    hit: tuple[str, ...] = ()
    if draft.model is None:
        first = of(records, Way(draft.name, setup.revealed[0]), cell)
        share = hits(first, fits[0]["result"]["counts"]["rounds"])
        hit = ("--hit-rate", repr(share))
    for way_in in ("bench", "passes"):
        cost = _cost(run, draft, way_in, inside / f"{draft.name}.{way_in}.json")
        plans[way_in] = gammaplan("plan", *_acceptance(fits[0]["result"], fit), cost, *common, *hit)
    return {
        "draft": draft.name,
        "cell": cell.name,
        "plain_tps": speed(plain),
        "runs": [*chain(*rows)],
        "plans": {name: _kept(plan) for name, plan in plans.items()},
    }


def _acceptance(fit: Record, file: Path) -> tuple[str, ...]:
    """The evidence; where drafts that stopped early leave only bounds, the middle of them."""
    bounds = fit["bounds"]
    if fit["acceptance"] or not bounds:
        return (str(file),)
    return ("--alpha", repr((bounds["low"] + bounds["high"]) / 2))


def _table(file: Path, rows: list[Record]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _cost(run: Path, draft: Draft, way_in: str, file: Path) -> str:
    """The cost document of a draft from timed passes."""
    if not file.exists():
        timed = (bench if way_in == "bench" else batched)(run, draft.target)
        words = ["cost", "--verify-curve", str(timed), "--method", draft.method]
        if draft.model:
            words += ["--draft-curve", str(bench(run, draft.model))]
        file.write_text(json.dumps(gammaplan(*words)), encoding="utf-8")
    return str(file)


def _kept(plan: Record) -> Record:
    """What a comparison needs of a plan."""
    result = plan["result"]
    keys = ("gamma", "speedup", "low", "high", "expected_tokens", "round_cost")
    return {
        "gamma": result["gamma"],
        "speedup": result["speedup"],
        "level": (result["prediction"] or {}).get("level"),
        "rows": [{key: row[key] for key in keys} for row in result["rows"]],
        "findings": [w["code"] for w in plan["warnings"]],
    }
