"""Step 5: predicted and measured side by side; regret, error, coverage, and what the counts say."""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.live.design import Cell, Setup, Way
from benchmarks.live.order import checked
from benchmarks.live.predict import FROM, gammaplan, logged, of, paired, speed, tps
from benchmarks.live.repeat import floor, held, parts, repeats, spread, without_drift

Record = dict[str, Any]
PARTS = ("errors", "tokens", "cost")  # of a speedup, and of its two parts


def speedups(measured: list[Record], cell: Cell, way: Way, target: Way) -> list[float]:
    """The speedup of each round, over the plain requests of the same round."""
    plain = of(measured, target, cell)
    return [own / base for own, base in paired(of(measured, way, cell), plain)]


def compare(setup: Setup, run: Path) -> Record:
    """Everything that was predicted against everything that was measured."""
    predictions, measured = checked(run)
    fits = _fits(setup, run, measured)
    rows = []
    for told in predictions["configurations"]:
        cell = next(c for c in setup.cells() if c.name == told["cell"])
        ways = [Way(told["draft"], g) for g in setup.lengths]
        target = next(d for d in setup.used() if d.name == told["draft"]).plain
        every = {w.gamma: speedups(measured, cell, w, target) for w in ways}
        true = {0: 1.0} | {g: median(s) for g, s in every.items() if s}
        best = max(true, key=lambda g: (true[g], -g))
        points = [
            {"gamma": w.gamma, "speedup": true[w.gamma], "rounds": every[w.gamma]} | fits[w, cell]
            for w in ways
            if every[w.gamma]
        ]
        again = repeats(told["runs"], true)
        plans = {}
        for name, plan in told["plans"].items():
            shown = _revealed(setup, name)
            score = _score(plan, true, best, shown)
            seen = [r for r in again if r["gamma"] in shown]
            drifted = _score(without_drift(plan, seen), true, best, shown)
            plans[name] = score | {
                "shown": shown,
                "undrifted": {key: drifted[key] for key in ("error", "errors", "ranged", "held")},
                **parts(plan, points, list(score["errors"])),
            }
        rows.append(
            {
                "draft": told["draft"],
                "cell": told["cell"],
                "measured": points,
                "best": best,
                "speedup": true[best],
                "repeats": again,
                "drift": speed(of(measured, target, cell)) / told["plain_tps"] - 1,
                "plans": plans,
            }
        )
    plain = {
        f"{d.plain.name} {c.name}": [tps(r) for r in of(measured, d.plain, c)]
        for d in setup.used()
        for c in setup.cells(d)
    }
    return {
        "configurations": rows,
        "plain": {
            c: {"median": median(v), "spread": max(v) / min(v) - 1} for c, v in plain.items()
        },
        "servers": agreement(run),
    }


def _revealed(setup: Setup, name: str) -> tuple[int, ...]:
    return setup.revealed[: {"one": 1, "two": 2}.get(name, 0)]


def _score(plan: Record, true: dict[int, float], best: int, shown: tuple[int, ...]) -> Record:
    """One plan against the truth; error and coverage over the lengths that it was not shown."""
    rows = {row["gamma"]: row for row in plan["rows"]}
    hidden = [g for g in true if g and g not in shown and g in rows]
    off = {g: rows[g]["speedup"] / true[g] - 1 for g in hidden}
    ranged = [g for g in hidden if rows[g]["low"] is not None]
    held = [g for g in ranged if rows[g]["low"] <= true[g] <= rows[g]["high"]]
    chosen = plan["gamma"] if plan["gamma"] in true else max(true)
    return {
        "gamma": chosen,
        "predicted": rows[chosen]["speedup"] if chosen in rows else None,
        "speedup": true[chosen],
        "regret": true[best] / true[chosen] - 1,
        "error": median(map(abs, off.values())) if off else None,
        "errors": off,
        "ranged": len(ranged),
        "held": len(held),
    }


NOTHING = {
    "mean_length": None,
    "survival": [],
    "counts": {"rounds": 0, "drafted": 0, "accepted": 0},
}  # of a log in which nothing was drafted


def _fits(setup: Setup, run: Path, measured: list[Record]) -> dict[tuple[Way, Cell], Record]:
    """The acceptance of every workload at every length, as `gammaplan fit` reads its log."""
    found = {}
    for cell in setup.cells():
        files = {}
        for way in setup.ways(cell=cell):
            if way.gamma and (mine := of(measured, way, cell)):
                files[logged(run, mine, way, cell).name] = (way, mine)
        results = _each(run / "cells", list(files))
        for name, (way, mine) in files.items():
            result = results.get(name, NOTHING)
            drafted, accepted = (
                sum(r["timings"].get(key, 0) for r in mine)
                for key in ("draft_n", "draft_n_accepted")
            )
            counts = result["counts"]
            passes = sum(r["timings"]["predicted_n"] - 1 for r in mine) - accepted
            found[way, cell] = {
                "mean_length": result["mean_length"],
                "survival": result["survival"],
                "rounds_drafted": counts["rounds"],
                "passes": passes,
                "tokens_per_pass": (passes + accepted) / passes,
                "responses_agree": (drafted, accepted) == (counts["drafted"], counts["accepted"]),
            }
    return found


def _each(folder: Path, names: list[str]) -> dict[str, Record]:
    """`gammaplan fit` of several files: a result for each."""
    if not names:
        return {}
    if len(names) == 1:
        return {names[0]: gammaplan("fit", str(folder / names[0]))["result"]}
    told = gammaplan("fit", *(str(folder / name) for name in names))
    return {Path(g["labels"]["file"]).name: g for g in told["result"]["groups"]}


COUNTED = ("rounds", "drafted", "accepted", "accepted_at_least")


def agreement(run: Path) -> list[Record]:
    """The whole log of every server against its page of metrics, both through `gammaplan fit`."""
    found = []
    for folder in sorted((run / "servers").iterdir()):
        logs = [p for p in sorted(folder.glob("*.log")) if not p.stem.startswith("plain")]
        logs = [p for p in logs if p.with_suffix(".prom").exists()]
        pages = [p.with_suffix(".prom") for p in logs]
        read = _each(folder, [p.name for p in logs]) | _each(folder, [p.name for p in pages])
        for log, page in ((p.with_suffix(".log"), p) for p in pages):
            one, other = (read[p.name]["counts"] if p.name in read else {} for p in (log, page))
            differ = [key for key in COUNTED if one.get(key) != other.get(key)]
            found.append(
                {
                    "server": f"{folder.name}/{log.stem}",
                    "log": {key: one.get(key) for key in COUNTED},
                    "metrics": {key: other.get(key) for key in COUNTED},
                    "differ": differ,
                }
            )
    return found


def summary(comparison: Record) -> Iterable[str]:
    """The Markdown tables: the largest regrets first, then the errors, then what drift explains."""
    rows = comparison["configurations"]
    yield (
        "| draft | workload | measured best | "
        + " | ".join(f"planned from {name}" for name in FROM)
        + " | calibration repeated | plain repeated |"
    )
    yield "|---|---|---|" + "---|" * len(FROM) + "---|---|"
    for row in sorted(rows, key=lambda r: -max(p["regret"] for p in r["plans"].values())):
        cells = [
            f"γ {p['gamma']}, regret {100 * p['regret']:.1f}, error {_percent(p['error'])}"
            for p in (row["plans"][name] for name in FROM)
        ]
        again = ", ".join(f"{100 * r['off']:+.1f}" for r in row["repeats"])
        yield (
            f"| {row['draft']} | {row['cell']} | γ {row['best']}, {row['speedup']:.2f}× | "
            + " | ".join(cells)
            + f" | {again} | {100 * row['drift']:+.1f} |"
        )
    yield ""
    yield (
        "| planned from | regret median / mean / max | error median / mean "
        "| of tokens | of cost | intervals held |"
    )
    yield "|---|---|---|---|---|---|"
    for name, meaning in FROM.items():
        plans = [row["plans"][name] for row in rows]
        lost = [100 * p["regret"] for p in plans]
        off = [spread([e for p in plans for e in p[key].values()]) for key in PARTS]
        yield (
            f"| {name}: {meaning} | {median(lost):.1f} / {mean(lost):.1f} / {max(lost):.1f} | "
            + " | ".join(off)
            + f" | {held(plans)} |"
        )
    yield ""
    yield from floor(rows)


def by_length(comparison: Record) -> Iterable[str]:
    """Measured speedups and what each plan said of them, length by length."""
    for row in comparison["configurations"]:
        yield f"{row['draft']}, {row['cell']}"
        yield "  γ  measured  tokens  passes " + "".join(f"{name:>9}" for name in FROM)
        for point in row["measured"]:
            gamma = point["gamma"]
            told = [
                f"{100 * e:+8.1f}%" if (e := row["plans"][n]["errors"].get(gamma)) is not None
                else "    shown"
                for n in FROM
            ]  # fmt: skip
            cost = point["tokens_per_pass"] / point["speedup"]
            yield (
                f"  {gamma}  {point['speedup']:7.3f}×  {point['tokens_per_pass']:6.3f}  "
                f"{cost:6.3f} " + "".join(told)
            )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def write(run: Path, comparison: Record) -> None:
    """The comparison as data."""
    text = json.dumps(comparison, indent=1, ensure_ascii=False)
    (run / "comparison.json").write_text(text + "\n", encoding="utf-8")
