"""The public sweeps as cases: what a planner is shown, and what it must foretell."""

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gammaplan import Calibration, Run, predict_speedup, speedup_interval

SWEEPS = Path(__file__).parents[1] / "tests" / "data" / "sweeps"
SETUPS = ("one", "two", "two-acc")
ONE_SIGMA = 0.682689492137086


@dataclass(frozen=True)
class Point:
    """One measured length: speedup and, where printed, tokens per round and the run's figures."""

    gamma: int
    speedup: float
    tokens: float | None
    pooled_rate: float | None = None
    survival: tuple[float, ...] | None = None

    def run(self, acceptance: bool = True) -> Run:
        """Make it a run, with or without its acceptance."""
        if not acceptance or self.tokens is None:
            return Run(self.gamma, self.speedup)
        return Run(
            self.gamma,
            self.speedup,
            mean_length=min(self.tokens, self.gamma + 1),
            survival=self.survival,
        )


@dataclass(frozen=True)
class Sweep:
    """One set-up measured at several lengths."""

    sweep_id: str
    source: str
    engine: str
    method: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Case:
    """A sweep, and the runs that are revealed to the planner."""

    sweep: Sweep
    runs: tuple[Run, ...]

    def hidden(self) -> list[Point]:
        """List the points whose length is in none of the runs."""
        shown = {run.gamma for run in self.runs}
        return [p for p in self.sweep.points if p.gamma not in shown]

    def ratios(self, calibration: Calibration) -> list[float]:
        """Ln(measured / predicted) over the standard deviation of the prediction, hidden points."""
        gammas = [p.gamma for p in self.hidden()]
        middle = np.log(predict_speedup(calibration, gammas))
        low, _ = speedup_interval(calibration, gammas, level=ONE_SIGMA)
        off = np.log([p.speedup for p in self.hidden()]) - middle
        return [float(x) for x in off / (middle - np.log(low))]


def read_sweeps(folder: Path) -> list[Sweep]:
    """Length sweeps with two unflagged speeds or more. A source is a repository."""
    rows = defaultdict(list)
    with (folder / "length_sweeps.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["check"] == "ok" and row["measured_speedup"].strip():
                rows[row["sweep_id"]].append(row)
    sweeps = []
    for sweep_id, group in rows.items():
        points = tuple(sorted((_point(row) for row in group), key=lambda p: p.gamma))
        first = group[0]
        source = first["source"]
        if not source.startswith("stored public file"):
            source = source.split(" ")[0].split("#")[0]
        if len(points) > 1:
            sweeps.append(Sweep(sweep_id, source, first["engine"], first["method"], points))
    return sweeps


def _point(row: dict[str, str]) -> Point:
    """Read a CSV row; tokens from the length, else 1 + rate x gamma, else the printed alpha."""

    def number(name: str) -> float | None:
        return float(row[name]) if row[name].strip() else None

    gamma = int(row["gamma"])
    tokens, rate, alpha = map(number, ("mean_length_incl_bonus", "pooled_rate", "alpha_reported"))
    if tokens is None and rate is not None:
        tokens = 1 + rate * gamma
    if tokens is None and alpha is not None:
        tokens = sum(alpha**i for i in range(gamma + 1))
    survival = None
    if row["per_position"].strip():
        values = np.array([float(x) for x in row["per_position"].split(";")])
        if row["per_position_kind"] == "conditional":
            values = np.cumprod(values)
        survival = tuple(float(x) for x in np.minimum.accumulate(values))
    return Point(gamma, float(row["measured_speedup"]), tokens, rate, survival)


def read_specbundle(folder: Path) -> list[Sweep]:
    """Chains of SpecBundle (EAGLE-3, SGLang, batch 8): a further source, for fitting only."""
    points = defaultdict(list)
    with (folder / "specbundle_sglang.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            speedup = float(row["tokens_per_second"]) / float(row["baseline_tokens_per_second"])
            tokens = float(row["accept_length"])
            if row["topk"] == "1" and tokens / speedup >= 0.9:  # the sweeps' own soft check
                key = (row["target"], row["benchmark"], row["draft"])
                points[key].append(Point(int(row["gamma"]), speedup, tokens))
    return [
        Sweep(
            f"specbundle {key[0]} {key[1]}", "SpecForge/spec_bundle", "sglang", "eagle3", tuple(v)
        )
        for key, v in points.items()
        if len(v) > 1
    ]


def cases(sweeps: Iterable[Sweep], setup: str) -> list[Case]:
    """Cases of the set-ups ``one``, ``two`` and ``two-acc``, as the sweeps' README defines them."""
    found = []
    for sweep in sweeps:
        if len(sweep.points) < (2 if setup == "one" else 3):
            continue
        for point in sweep.points:
            if point.tokens is None:
                continue
            if setup == "one":
                found.append(Case(sweep, (point.run(),)))
                continue
            for other in sweep.points:
                if other is not point and (setup == "two" or other.tokens is not None):
                    found.append(Case(sweep, (point.run(), other.run(setup == "two-acc"))))
    return found
