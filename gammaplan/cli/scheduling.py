"""plan --batch: a draft length for each batch size, from a surface of costs or from runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import typer

from gammaplan.cli.subjects import Given, Subject, gathered
from gammaplan.cli.values import MAX_BATCHES
from gammaplan.data.findings import finding
from gammaplan.errors import Finding, InputError
from gammaplan.model.schedule import LONGEST, Part, Schedule, cost_at, schedule
from gammaplan.report.plain import listed

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case
    from gammaplan.cli.flags import RunFlags
    from gammaplan.cli.runs import Measurements
    from gammaplan.model.acceptance import Acceptance
    from gammaplan.shapes.batches import BatchShape, ScheduleShape

Speeds: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # (batch, length)

NOISE = 0.1  # two standard errors of a round cost from one run
NEEDS = (
    "--batch needs costs at several batch sizes: cost --verify-curve FILE with a column batch (or "
    "with --batch), or --runs with one"
)


class Batches(NamedTuple):
    """A case for every measured batch size, the subject that it is of, and its runs."""

    cases: dict[int, Case]
    subjects: dict[int, Subject]
    measured: Measurements | None = None

    def plain_tps(self, batch: int) -> float | None:
        """The plain speed that the runs of a batch were measured against."""
        runs = self.measured.batches if self.measured else []
        return next((r.baseline_tps for r in runs if r.labels["batch"] == batch), None)


def by_batch(given: Given, runs: RunFlags, gamma: int | None) -> Batches:
    """The cases by batch size: from runs, else from the evidence."""
    if not runs.any:
        subject = gathered("", given)
        cases: dict[int, Case] = {}
        for case in subject.cases.cases:
            batch = case.labels.get("batch")
            if not isinstance(batch, int):
                raise typer.BadParameter(NEEDS)
            if batch < 1:
                raise InputError(f"the evidence has a cost of batch {batch}; the smallest is 1")
            if batch in cases:
                raise typer.BadParameter(
                    f"several costs are of batch {batch}; --pick KEY=VALUE chooses a group, and in "
                    "cost a curve"
                )
            cases[batch] = case
        return Batches(dict(sorted(cases.items())), dict.fromkeys(cases, subject))
    from gammaplan.cli.runs import gather_runs

    measured = gather_runs(runs, gamma)
    found, subjects = {}, {}
    law: Acceptance | None = None  # acceptance once: a batch lends it to those that did not say
    for labels, runs_of_it, _ in measured.batches:
        batch = labels.get("batch")
        if batch is None:
            raise typer.BadParameter(NEEDS)
        if not isinstance(batch, int) or batch < 1:
            raise InputError(f"a batch of the runs must be a whole number from 1, got {batch}")
        said = any(run.says_acceptance for run in runs_of_it)
        lent = None if said else law
        mine = [run.accepting(lent) for run in runs_of_it] if lent else runs_of_it
        subject = subjects[batch] = gathered(f"batch {batch}", given._replace(runs=mine))
        if len(subject.cases.cases) > 1:
            raise typer.BadParameter("the evidence has several groups; --pick chooses one of them")
        found[batch] = subject.label(subject.cases.cases[0], batch=batch)
        if said and law is None:
            law = found[batch].acceptance
    return Batches(found, subjects, measured)


def kinds_mixed(cases: Iterable[Case]) -> list[Finding]:
    """A warning where some costs were estimated and others were not."""
    found: dict[str, list[str]] = {}
    for case in cases:
        kind = case.cost_shape["kind"] if case.cost_shape else "given"
        found.setdefault(kind, []).append(str(case.labels.get("batch", "")))
    if "estimated" not in found or len(found) == 1:
        return []
    named = "; ".join(
        f"{kind}{' at batch ' + listed(at) if all(at) else ''}" for kind, at in found.items()
    )
    return [finding("kinds_of_cost_mixed", kinds=named)]


def grid_of(batches: Batches, asked: Sequence[int] | None) -> tuple[list[int], list[Finding]]:
    """The batch sizes to plan: those asked for within what was measured, else all measured."""
    known = list(batches.cases)
    grid = [b for b in asked or known if known[0] <= b <= known[-1]]
    found = []
    if outside := [b for b in asked or [] if b not in grid]:
        found.append(finding("batch_not_measured", batches=listed(outside), measured=listed(known)))
    if not grid:
        raise typer.BadParameter(
            f"--batch {listed(asked or [])}: the costs are of batch {listed(known)}"
        )
    if len(grid) > MAX_BATCHES:
        raise typer.BadParameter(
            f"the costs are of {len(grid):,} batch sizes; --batch chooses {MAX_BATCHES} at most"
        )
    if between := [b for b in grid if b not in known]:
        found.append(finding("batch_between", batches=listed(between)))
    return grid, found


def planned_schedule(
    batches: Batches, grid: Sequence[int], *, max_gamma: int | None, tolerance: float
) -> tuple[Schedule, Speeds]:
    """The schedule, and the speedups (batch, length) that it was made from."""
    last = LONGEST if max_gamma is None else min(max_gamma, LONGEST)
    lengths = np.arange(last + 1)
    costs = {batch: case.cost for batch, case in batches.cases.items()}
    speeds = np.empty((len(grid), last + 1))
    for row, batch in zip(speeds, grid, strict=True):
        below = max(b for b in costs if b <= batch)
        law = batches.cases[below].acceptance
        row[:] = law.expected_tokens(lengths) / cost_at(costs, batch, LONGEST).round_cost(lengths)
    return schedule(grid, speeds, tolerance=tolerance), speeds


def schedule_findings(made: Schedule, speeds: Speeds, tolerance: float) -> list[Finding]:
    """Boundaries that buy little, ranges that noise may have made, and where the plan ends."""
    found = [
        finding(
            "boundary_buys_little",
            batch=part.range.low,
            gain=f"{100 * part.gain:.1f} %",
            tolerance=f"{100 * tolerance:g} %",
        )
        for part in made.parts
        if part.gain is not None and part.gain < tolerance
    ]
    if alone := [part for part in made.parts if _could_be_noise(part, made, speeds)]:
        ranges = listed([f"γ {p.range.gamma} (batch {p.batches[0]})" for p in alone])
        found.append(finding("range_of_one", ranges=ranges))
    if made.best[-1] == 0 and (gamma := made.ranges[-1].gamma):
        found.append(
            finding(
                "open_end_loses",
                batch=made.batches[-1],
                gamma=gamma,
                tolerance=f"{100 * tolerance:g} %",
            )
        )
    found.append(finding("schedule_ends", low=made.batches[0], high=made.batches[-1]))
    return found


def _could_be_noise(part: Part, made: Schedule, speeds: Speeds) -> bool:
    """Whether a range is of one batch, where a neighbour's length is within the noise of a run."""
    if len(part.batches) > 1:
        return False
    at = made.parts.index(part)
    row = speeds[made.batches.index(part.batches[0])]
    near = [p.range.gamma for p in made.parts[max(at - 1, 0) : at + 2] if p is not part]
    return any(row[part.range.gamma] < (1 + NOISE) * row[gamma] for gamma in near)


def range_speeds(made: Schedule, speeds: Speeds) -> list[list[float]]:
    """The speedup of each length in each range: the geometric mean over its planned batches."""
    rows = [[made.batches.index(batch) for batch in part.batches] for part in made.parts]
    found: list[list[float]] = [np.exp(np.log(speeds[row]).mean(axis=0)).tolist() for row in rows]
    return found


def schedule_shape(made: Schedule) -> list[ScheduleShape]:
    """The ranges as JSON."""
    return [
        {
            "batch_low": part.range.low,
            "batch_high": part.range.high,
            "gamma": part.range.gamma,
            "speedup": part.speedup,
            "loss": part.loss,
            "gain": part.gain,
        }
        for part in made.parts
    ]


def batch_shapes(made: Schedule, speeds: Speeds) -> list[BatchShape]:
    """Every planned batch: its own best, and what the schedule gives it."""
    planned = {b: part.range.gamma for part in made.parts for b in part.batches}
    return [
        {
            "batch": batch,
            "gamma": best,
            "speedup": speed,
            "planned_gamma": planned[batch],
            "planned_speedup": float(row[planned[batch]]),
        }
        for batch, best, speed, row in zip(
            made.batches, made.best, made.speedups, speeds, strict=True
        )
    ]
