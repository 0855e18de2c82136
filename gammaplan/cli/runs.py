"""From options, --run and --runs to measured runs, batch by batch; for cost, plan and explain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli.flags import RunFlags, tokens_per_second
from gammaplan.cli.runfiles import Row
from gammaplan.cli.runmade import Baseline, baseline_of, run_of
from gammaplan.cli.runrows import FIGURES, file_rows, flag_rows, option_rows
from gammaplan.cli.values import length
from gammaplan.data.findings import finding
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.breakdown import CHEAP
from gammaplan.model.calibration import DEFAULT
from gammaplan.model.runs import Run, by_length, run_noise

if TYPE_CHECKING:
    from gammaplan.shapes.parts import Labels

MOST_BATCHES = 1_000
PUBLISHED = DEFAULT.unknown.run_noise
SHAKY = 2.5  # × the noise of published runs: repeats that differ by more are said


class Batch(NamedTuple):
    """The runs of one batch size: a batch changes the cost, so two are two set-ups."""

    labels: "Labels"
    runs: tuple[Run, ...]
    baseline_tps: float | None


class Measurements(NamedTuple):
    """The runs of one command line by batch, and the account of where they came from.

    `pick` is what of --pick chooses no batch of the runs.
    """

    batches: list[Batch]
    pick: list[str]
    inputs: dict[str, object]
    sources: dict[str, str]
    findings: list[Finding]


def gather_runs(
    flags: RunFlags, gamma: int | None = None, *, pick: Sequence[str] | None = None
) -> Measurements:
    """Every run that the options, --run and --runs give, checked; duplicates stay, and are said."""
    found: list[Finding] = []
    said = [*flag_rows(flags, gamma), *option_rows(flags)]
    rows = _chains([*said, *file_rows(flags, found)], found)
    mine = {id(row) for row in said}
    by_size = _by_size(rows)
    batch, others = _picked(pick, by_size)
    chosen = by_size if batch is None else {batch: by_size[batch]}
    batches, baseline = [], Baseline({}, {})
    for size, of_it in chosen.items():
        try:
            baseline = baseline_of(of_it, flags.baseline)
            one = _batch(of_it, baseline, size, mine)
        except (InputError, typer.BadParameter) as error:
            if len(chosen) == 1:
                raise
            found.append(finding("batch_left_out", batch=f"{size:g}", why=str(error)))
            continue
        batches.append(one)
        origin = f"batch {size:g}" if len(chosen) > 1 else None
        found += [f._replace(origin=origin) for f in _findings(one.runs)]
    if not batches:
        raise InputError(f"no batch of the runs can be used: {found[-1].message}")
    inputs, sources = _account(flags, batches, baseline.speeds if len(chosen) == 1 else {})
    return Measurements(batches, others, inputs, sources, found)


def _chains(rows: list[Row], found: list[Finding]) -> list[Row]:
    chains = [r for r in rows if (_number(r, "topk") or 1) <= 1]
    if len(chains) < len(rows):
        found.append(finding("trees_left_out", runs=len(rows) - len(chains)))
    return chains


def _number(row: Row, name: str) -> float | None:
    value = row.figures.get(name)
    return value if isinstance(value, int | float) else None


def _by_size(rows: Sequence[Row]) -> dict[float | None, list[Row]]:
    """The rows of each batch size, the smallest first; those without one belong to all."""
    sizes = sorted({s for r in rows if (s := _number(r, "batch")) is not None})
    if len(sizes) > MOST_BATCHES:
        raise InputError(f"the runs have {len(sizes):,} batches, more than {MOST_BATCHES:,}")
    found: dict[float | None, list[Row]] = {size: [] for size in sizes}
    if not sizes:
        found[None] = []
    for row in rows:
        size = _number(row, "batch")
        for of_it in [found[size]] if size in found else found.values():
            of_it.append(row)
    return found


def _picked(
    pick: Sequence[str] | None, sizes: Mapping[float | None, object]
) -> tuple[float | None, list[str]]:
    """The batch that --pick batch=N chooses among the runs, and the choices that are not theirs."""
    theirs = None not in sizes
    own = [text for text in pick or [] if theirs and text.partition("=")[0].strip() == "batch"]
    others = [text for text in pick or [] if text not in own]
    if not own:
        return None, others
    size = length(own[-1].partition("=")[2])
    if size not in sizes:
        known = ", ".join(f"{size:g}" for size in sizes)
        raise typer.BadParameter(f"no run has batch {size}; the batches are {known}")
    return float(size), others


def _batch(rows: Sequence[Row], baseline: Baseline, size: float | None, mine: set[int]) -> Batch:
    runs = []
    for row in rows:
        if row.figures.get("gamma") == 0:
            continue
        try:
            runs.append(run_of(row.figures, baseline))
        except DomainError as error:
            kind: type[Exception] = typer.BadParameter if id(row) in mine else InputError
            raise kind(f"{row.where}: {error}") from None
    if not runs:
        if not rows:
            raise InputError("every run drafted trees, and no chain is among them")
        raise InputError(f"{rows[0].where}: only the baseline (γ 0) is there, and no run beside it")
    labels: Labels = {} if size is None else {"batch": _whole(size)}
    return Batch(labels, tuple(runs), tokens_per_second(baseline.speeds))


def _whole(size: float) -> int | float:
    return int(size) if size == int(size) else size


def _findings(runs: Sequence[Run]) -> list[Finding]:
    found = []
    repeated = [f"γ {g} × {len(same):,}" for g, same in by_length(runs).items() if len(same) > 1]
    if repeated:
        found.append(finding("runs_pooled", lengths=", ".join(repeated)))
    shown = run_noise(runs, PUBLISHED).run
    if shown > SHAKY * PUBLISHED:
        said = {"noise": f"{100 * shown:.1f} %", "published": f"{100 * PUBLISHED:g} %"}
        found.append(finding("runs_differ", **said))
    cheap = [run for run in runs if (t := run.round_cost) is not None and t < CHEAP]
    if cheap:
        worst = min(cheap, key=lambda run: run.round_cost or 1.0)
        found.append(
            finding(
                "round_cheaper_than_pass",
                gamma=worst.gamma,
                speedup=f"{worst.speedup:.3g}",
                tokens=f"{worst.tokens():.3g}",
                cost=f"{worst.round_cost:.2f}",
            )
        )
    return found


def _account(
    flags: RunFlags, batches: Sequence[Batch], baseline: dict[str, float]
) -> tuple[dict[str, object], dict[str, str]]:
    """The inputs as they were used."""
    inputs: dict[str, object] = {"runs": sum(len(batch.runs) for batch in batches)}
    stated = flags.fast or bool(flags.accepted or flags.run)
    origin = [f"evidence:{path}" for path in flags.runs or []]
    sources = {"runs": "flag" if stated else ", ".join(origin) or "default"}
    for name in FIGURES[1:]:
        if (value := getattr(flags, name)) is not None:
            inputs[name] = list(value) if isinstance(value, tuple) else value
            sources[name] = "flag"
    for name, value in baseline.items():
        if name not in inputs:
            inputs[name], sources[name] = value, sources["runs"]
    return inputs, sources
