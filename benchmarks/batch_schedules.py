"""Score schedules on public sweeps of batch sizes.

    python benchmarks/batch_schedules.py

Acceptance is taken at one batch, the smallest that prints it. `ends` reveals the speed at the
smallest and the largest batch and hides the rest; `all but one` hides each batch in between in
turn. A hidden batch is predicted, and the length of the sweep or none is chosen by the prediction.
tests/data/sweeps/README.md says what the sweeps are. A sweep needs three batches and acceptance;
those without are counted.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from gammaplan.model.cost_tables import TableCost
from gammaplan.model.schedule import cost_at

SWEEPS = Path(__file__).parents[1] / "tests" / "data" / "sweeps" / "batch_sweeps.csv"


@dataclass(frozen=True)
class Sweep:
    """One draft length at several batch sizes: speedups, and tokens per round where printed."""

    name: str
    gamma: int
    tokens: float
    speedups: dict[int, float]

    def predicted(self, batch: int, revealed: list[int]) -> float:
        """The speedup at a batch from the costs at those revealed."""
        costs = {b: TableCost((self.gamma,), (self.tokens / self.speedups[b],)) for b in revealed}
        return self.tokens / float(cost_at(costs, batch, self.gamma).round_cost(self.gamma))

    def crossover(self) -> str:
        """The batches between which the measured speedup falls below 1."""
        batches = sorted(self.speedups)
        pays = [b for b in batches if self.speedups[b] > 1]
        if len(pays) == len(batches):
            return f"above {batches[-1]}"
        return f"{pays[-1]}..{batches[len(pays)]}" if pays else f"below {batches[0]}"

    def predicted_crossover(self) -> str:
        """The same, from the two ends alone."""
        ends = [min(self.speedups), max(self.speedups)]
        grid = range(ends[0], ends[1] + 1)
        pays = [b for b in grid if self.predicted(b, ends) > 1]
        if len(pays) == len(grid):
            return f"above {ends[1]}"
        return f"{pays[-1]}..{pays[-1] + 1}" if pays else f"below {ends[0]}"

    def regret(self, hidden: list[int], revealed: list[int]) -> float:
        """Mean share of the better of drafting and not that is lost at the hidden batches."""
        lost = []
        for batch in hidden:
            true = self.speedups[batch]
            chosen = true if self.predicted(batch, revealed) > 1 else 1.0
            lost.append(1 - chosen / max(true, 1.0))
        return mean(lost)

    def unplanned(self, hidden: list[int]) -> float:
        """The same loss of drafting everywhere where the smallest batch pays."""
        drafts = self.speedups[min(self.speedups)] > 1
        pairs = [(self.speedups[b], self.speedups[b] if drafts else 1.0) for b in hidden]
        return mean(1 - chosen / max(true, 1.0) for true, chosen in pairs)


def read() -> tuple[list[Sweep], int]:
    """The sweeps that can be scored, and how many cannot."""
    rows = defaultdict(list)
    with SWEEPS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["check"] == "ok" and row["measured_speedup"]:
                rows[row["sweep_id"]].append(row)
    found = []
    for name, group in rows.items():
        group.sort(key=lambda row: int(row["batch_or_concurrency"]))
        tokens = [r["mean_length_incl_bonus"] for r in group if r["mean_length_incl_bonus"]]
        if len(group) < 3 or not tokens:
            continue
        speeds = {int(r["batch_or_concurrency"]): float(r["measured_speedup"]) for r in group}
        found.append(Sweep(name, int(group[0]["gamma"]), float(tokens[0]), speeds))
    return found, len(rows) - len(found)


def lines() -> Iterator[str]:
    """The table of docs/validation.md."""
    sweeps, left_out = read()
    yield (
        "| sweep | speedups by batch | predicted from the ends | error | all but one | "
        "crossover | predicted | regret | drafting everywhere |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    every = []
    for sweep in sweeps:
        batches = sorted(sweep.speedups)
        ends, hidden = [batches[0], batches[-1]], batches[1:-1]
        guessed = {b: sweep.predicted(b, ends) for b in hidden}
        error = mean(abs(guessed[b] / sweep.speedups[b] - 1) for b in hidden)
        single = mean(
            abs(sweep.predicted(b, [x for x in batches if x != b]) / sweep.speedups[b] - 1)
            for b in hidden
        )
        regret, plain = sweep.regret(hidden, ends), sweep.unplanned(batches)
        every.append((error, single, regret, plain))
        measured = ", ".join(f"{b}: {sweep.speedups[b]:.2f}" for b in batches)
        told = ", ".join(f"{b}: {s:.2f}" for b, s in guessed.items())
        yield (
            f"| {sweep.name} | {measured} | {told} | {100 * error:.1f} | {100 * single:.1f} | "
            f"{sweep.crossover()} | {sweep.predicted_crossover()} | {100 * regret:.1f} | "
            f"{100 * plain:.1f} |"
        )
    means = [100 * mean(column) for column in zip(*every, strict=True)]
    yield (
        f"| **mean of {len(sweeps)}** ({left_out} left out) | | | {means[0]:.1f} | {means[1]:.1f} "
        f"| | | {means[2]:.1f} | {means[3]:.1f} |"
    )


if __name__ == "__main__":
    print("\n".join(lines()))
