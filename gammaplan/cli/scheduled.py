"""The answer of plan by batch size: the plan of one batch, and the schedule over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gammaplan.cli.deciding import DEFAULT_TOLERANCE, Search
from gammaplan.cli.planned import Asked, Planned, account, gates
from gammaplan.cli.planning import Times, plan_of
from gammaplan.cli.scheduling import (
    batch_shapes,
    by_batch,
    grid_of,
    kinds_mixed,
    planned_schedule,
    range_speeds,
    schedule_findings,
    schedule_shape,
)
from gammaplan.cli.subjects import Given
from gammaplan.cli.values import length

if TYPE_CHECKING:
    from gammaplan.documents.evidence import Document


def scheduled(asked: Asked, documents: Sequence[Document]) -> Planned:
    """The plan that a command line with several batch sizes asks for."""
    if asked.candidates or asked.mix:
        raise typer.BadParameter(
            "--batch plans one draft for one workload; leave out --candidate and --mix"
        )
    wanted = [p for p in asked.pick or [] if p.startswith("batch=")]
    others = [p for p in asked.pick or [] if p not in wanted]
    given = Given(
        documents, asked.alpha, asked.cost, (), asked.method, asked.textbook, others,
        asked.hit_rate, asked.prior_engine,
    )  # fmt: skip
    batches = by_batch(given, asked.runs, asked.gamma)
    grid, found = grid_of(batches, asked.batches)
    found += kinds_mixed(batches.cases.values())
    tolerance = DEFAULT_TOLERANCE if asked.tolerance is None else asked.tolerance
    made, speeds = planned_schedule(batches, grid, max_gamma=asked.max_gamma, tolerance=tolerance)
    chosen = next((b for b in grid if b in batches.cases), next(iter(batches.cases)))
    if wanted:
        chosen = length(wanted[-1].removeprefix("batch="))
        if chosen not in batches.cases:
            known = ", ".join(map(str, batches.cases))
            raise typer.BadParameter(f"--pick {wanted[-1]} matches nothing; batch is {known}")
    subject = batches.subjects[chosen]
    subject.cases.cases = [batches.cases[chosen]]
    plain = batches.plain_tps(chosen) or asked.runs.plain_tps
    times = Times(plain, asked.prefill_ms, asked.output_tokens)
    times.check()
    parts, result = plan_of(subject, Search(asked.max_gamma, asked.tolerance, asked.gamma), times)
    last, first = made.crossover
    result |= {
        "schedule": schedule_shape(made),
        "batches": batch_shapes(made, speeds),
        "crossover": {"pays_to": last, "loses_from": first},
    }
    account(subject.cases, asked, batches.measured)
    subject.cases.note("batch", list(grid), "flag" if asked.batches else subject.cases.sources["c"])
    subject.cases.findings += [*found, *schedule_findings(made, speeds, tolerance)]
    failed = [f for part in parts for f in gates(part, asked.require_speedup, asked.in_band)]
    by_range = range_speeds(made, speeds)
    return Planned(result, subject.cases, failed, asked.method, by_range)
