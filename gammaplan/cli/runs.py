"""From options, --run and --runs to measured runs; shared by cost, plan and explain."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.data.findings import finding
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.runs import Run

if TYPE_CHECKING:
    from gammaplan.cli.runfiles import Row
    from gammaplan.documents.evidence import Evidence
    from gammaplan.model.acceptance import Acceptance

TOO_FAST, TOO_SLOW = 1.5, 0.02  # × (γ + 1), and ×: no round is so cheap, no loss so large
SPEEDS = ("baseline_tps", "spec_tps", "baseline_ms", "spec_ms", "speedup")
WAYS_TO_A_RUN = (
    "--gamma with --speedup, or with --baseline-tps and --spec-tps (or both in ms); "
    "--run gamma=5,speedup=1.4,…; or --runs FILE"
)


class RunFlags(NamedTuple):
    """The options that state measured runs."""

    gamma: int | None = None
    baseline_tps: float | None = None
    spec_tps: float | None = None
    baseline_ms: float | None = None
    spec_ms: float | None = None
    speedup: float | None = None
    pooled_rate: float | None = None
    mean_length: float | None = None
    survival: Sequence[float] | None = None
    drafted_per_round: float | None = None
    run: Sequence[str] | None = None
    runs: Sequence[str] | None = None

    @property
    def one(self) -> bool:
        """Whether the options themselves state a run."""
        own = (self.spec_tps, self.spec_ms, self.speedup, self.pooled_rate, self.mean_length)
        return any(v is not None for v in (*own, self.survival, self.drafted_per_round))

    @property
    def any(self) -> bool:
        """Whether any run is given."""
        return self.one or bool(self.run) or bool(self.runs)


class Measurements(NamedTuple):
    """The runs of one command line, and the account of where they came from."""

    runs: tuple[Run, ...]
    baseline_tps: float | None
    inputs: dict[str, object]
    sources: dict[str, str]
    findings: list[Finding]


def gather_runs(
    flags: RunFlags, law: "Acceptance | None" = None, *, batch: int | None = None
) -> Measurements:
    """Every run that the options, --run and --runs give, checked; duplicates stay, and are said.

    `law`, from evidence, gives its acceptance to the runs that bring none.
    """
    found: list[Finding] = []
    rows, mine = _all_rows(flags, found)
    return _measurements(_one_batch(rows, batch, found), mine, flags, law, found)


def gather_batches(flags: RunFlags) -> dict[int, Measurements]:
    """The runs of each batch size; empty where no run says its batch."""
    found: list[Finding] = []
    rows, mine = _all_rows(flags, found)
    sizes = sorted({_figure(r, "batch", 0) for r in rows if "batch" in r.figures})
    if bad := [size for size in sizes if size != int(size) or size < 1]:
        raise InputError(f"{rows[0].where}: a batch must be a whole number from 1, got {bad[0]:g}")
    return {
        int(size): _measurements(_one_batch(rows, int(size), []), mine, flags, None, list(found))
        for size in sizes
    }


def _all_rows(flags: RunFlags, found: list[Finding]) -> "tuple[list[Row], int]":
    """The rows of options and files without trees, and how many are of options."""
    said = [*_flag_rows(flags), *_option_rows(flags)]
    return _chains([*said, *_file_rows(flags, found)], found), len(said)


def _measurements(
    rows: "list[Row]",
    mine: int,
    flags: RunFlags,
    law: "Acceptance | None",
    found: list[Finding],
) -> Measurements:
    baseline = _baseline(rows, flags)
    runs = []
    for i, row in enumerate(r for r in rows if r.figures.get("gamma") != 0):
        try:
            runs.append(_run(row.figures, baseline, law))
        except DomainError as error:
            kind: type[Exception] = typer.BadParameter if i < mine else InputError
            raise kind(f"{row.where}: {error}") from None
    if not runs and rows:
        raise InputError(f"{rows[0].where}: only the baseline (γ 0) is there, and no run beside it")
    found += _findings(runs)
    tps = {n: v for n, v in baseline.items() if isinstance(v, float)}
    inputs, sources = _account(flags, runs, baseline)
    first = tps.get("baseline_tps") or (1e3 / tps["baseline_ms"] if "baseline_ms" in tps else None)
    return Measurements(tuple(runs), first, inputs, sources, found)


def batch_of(pick: Sequence[str] | None) -> int | None:
    """The batch that --pick batch=N chooses among the runs."""
    found = None
    for wanted in pick or []:
        key, _, value = wanted.partition("=")
        if key.strip() != "batch" or not value.strip().isdecimal():
            raise typer.BadParameter(f"--pick must be batch=N for runs, got {wanted}")
        found = int(value)
    return found


def _flag_rows(flags: RunFlags) -> "list[Row]":
    from gammaplan.cli.runfiles import Row

    if not flags.one:
        return []
    names = ("gamma", *SPEEDS, "pooled_rate", "mean_length", "survival", "drafted_per_round")
    figures = {n: v for n in names if (v := getattr(flags, n)) is not None}
    if "gamma" not in figures:
        raise typer.BadParameter("--gamma is missing: the draft length of the run")
    return [Row("the run of the options", figures)]


def _option_rows(flags: RunFlags) -> "list[Row]":
    from gammaplan.cli.runfields import BadRow, field_of, figures
    from gammaplan.cli.runfiles import Row

    rows = []
    for text in flags.run or []:
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        if bad := [key for key, equals, value in pairs if not (equals and value.strip())]:
            raise typer.BadParameter(
                f"--run must be key=value,key=value, got {bad[0] or text!r} without a value"
            )
        row = {key.strip(): value.strip() for key, _, value in pairs}
        fields = {key: field_of(key) for key in row}
        if unknown := [key for key, field in fields.items() if field is None]:
            known = "gamma, speedup, baseline_tps, spec_tps, baseline_ms, spec_ms, pooled_rate, "
            known += "mean_length, survival, drafted_per_round"
            raise typer.BadParameter(f"--run has no key {unknown[0]}; it knows {known}")
        try:
            rows.append(Row(f"--run {text}", figures(row, fields)))
        except BadRow as error:
            raise typer.BadParameter(f"--run {text}: {error}") from None
    return rows


def _file_rows(flags: RunFlags, found: list[Finding]) -> "list[Row]":
    if not flags.runs:
        return []
    from gammaplan.cli.runfiles import read_runs

    rows = []
    for path in flags.runs:
        file = read_runs(path)
        if renamed := [f"{c} → {n}" for c, n in file.mapped.items() if c != n]:
            found.append(finding("columns_mapped", columns=", ".join(renamed)))
        if file.ignored:
            found.append(finding("columns_ignored", columns=", ".join(map(str, file.ignored[:12]))))
        if "gamma" not in file.mapped.values():
            raise InputError(
                f"{path}: no column says the draft length; call it gamma "
                f"(there are {', '.join([*file.mapped, *file.ignored][:12])})"
            )
        rows += file.rows
    return rows


def _chains(rows: "list[Row]", found: list[Finding]) -> "list[Row]":
    chains = [r for r in rows if _figure(r, "topk", 1.0) <= 1]
    if len(chains) < len(rows):
        found.append(finding("trees_left_out", runs=len(rows) - len(chains)))
    return chains


def _figure(row: "Row", name: str, otherwise: float) -> float:
    value = row.figures.get(name, otherwise)
    return value if isinstance(value, int | float) else otherwise


def _one_batch(rows: "list[Row]", batch: int | None, found: list[Finding]) -> "list[Row]":
    """The rows of one batch size: a batch changes the cost, so two are two set-ups."""
    sizes = sorted({_figure(r, "batch", math.nan) for r in rows if "batch" in r.figures})
    if batch is not None and sizes and batch not in sizes:
        known = ", ".join(f"{size:g}" for size in sizes)
        raise typer.BadParameter(f"no run has batch {batch}; the batches are {known}")
    if not sizes or (len(sizes) == 1 and batch is None):
        return rows
    chosen = sizes[0] if batch is None else batch
    if batch is None:
        names = ", ".join(f"{size:g}" for size in sizes)
        found.append(finding("several_batches", batches=names, batch=f"{chosen:g}"))
    return [r for r in rows if _figure(r, "batch", chosen) == chosen]


def _baseline(rows: "list[Row]", flags: RunFlags) -> dict[str, object]:
    """The plain speed for the runs that do not bring their own: of options, or of γ = 0 rows."""
    given: dict[str, object] = {
        name: value
        for name in ("baseline_tps", "baseline_ms")
        if (value := getattr(flags, name)) is not None
    }
    if len(given) > 1:
        raise typer.BadParameter("the baseline was given by --baseline-tps and --baseline-ms")
    plain = [r for r in rows if r.figures.get("gamma") == 0]
    for unit in ("tps", "ms") if not given else ():
        names = (f"baseline_{unit}", f"spec_{unit}")
        values = [float(str(r.figures[n])) for r in plain for n in names if n in r.figures]
        if any(v <= 0 for v in values):
            raise InputError(f"{plain[0].where}: the speed without speculation must be above 0")
        if values:
            given[f"baseline_{unit}"] = math.exp(math.fsum(map(math.log, values)) / len(values))
    if not given and rows:
        seen = {(n, r.figures[n]) for r in rows for n in SPEEDS[::2] if n in r.figures}
        given = dict(seen) if len(seen) == 1 and next(iter(seen))[0].startswith("base") else {}
    return given


def _run(row: dict[str, object], baseline: dict[str, object], law: "Acceptance | None") -> Run:
    figures = {n: v for n, v in row.items() if n not in ("batch", "topk")}
    gamma = figures.pop("gamma", None)
    if not isinstance(gamma, int | float):
        raise DomainError("the draft length (gamma) is missing")
    if gamma != int(gamma):
        raise DomainError(f"gamma must be a whole number, got {gamma:g}")
    speed = _speedup(figures, baseline)
    if speed > TOO_FAST * (gamma + 1) or speed < TOO_SLOW:
        raise DomainError(
            f"a speedup of {speed:.4g} at gamma {gamma:g} cannot be (a round emits at most "
            f"{gamma + 1:g} tokens); are both speeds of one unit and one set-up?"
        )
    if "accepted_per_round" in figures and "mean_length" not in figures:
        figures["mean_length"] = 1 + _float(figures["accepted_per_round"])
    length, rate = figures.get("mean_length"), figures.get("pooled_rate")
    survival = figures.get("survival")
    drafted = figures.get("drafted_per_round")
    if law is not None and length is None and rate is None and survival is None:
        reach = int(gamma) if law.observed_to is None else min(int(gamma), law.observed_to)
        if reach == gamma:
            length = float(law.expected_tokens(gamma))
        survival = tuple(float(law.survival(i)) for i in range(1, reach + 1))
    return Run(
        int(gamma),
        speed,
        mean_length=None if length is None else _float(length),
        pooled_rate=None if rate is None else _float(rate),
        survival=survival if isinstance(survival, tuple) else None,
        drafted_per_round=None if drafted is None else _float(drafted),
    )


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _speedup(figures: dict[str, object], baseline: dict[str, object]) -> float:
    """Speed with over without speculation, by the one way in which it was given."""
    own = {n: _float(figures[n]) for n in SPEEDS if n in figures}
    if zero := [n for n, v in own.items() if not v > 0]:
        raise DomainError(f"{zero[0]} must be above 0, got {own[zero[0]]:g}")
    if not any(n.startswith("baseline") for n in own):
        own |= {n: _float(v) for n, v in baseline.items() if "speedup" not in own}
    ways = []
    if {"baseline_tps", "spec_tps"} <= own.keys():
        ways.append(own["spec_tps"] / own["baseline_tps"])
    if {"baseline_ms", "spec_ms"} <= own.keys():
        ways.append(own["baseline_ms"] / own["spec_ms"])
    if "speedup" in own:
        ways.append(own["speedup"])
    if not ways:
        units = sorted(n for n in own if "_" in n)
        if len(units) > 1:
            raise DomainError(f"{' and '.join(units)} have different units; give both in one")
        missing = "baseline" if any(n.startswith("spec") for n in own) else "speed with speculation"
        raise DomainError(f"the {missing} is missing; give {WAYS_TO_A_RUN}")
    if max(ways) > 1.02 * min(ways):
        shown = " and ".join(f"{way:.4g}" for way in ways)
        raise DomainError(f"the speeds contradict each other: a speedup of {shown}")
    return ways[0]


def _findings(runs: Sequence[Run]) -> list[Finding]:
    found = []
    counts = Counter(run.gamma for run in runs)
    repeated = [f"γ {g} × {n:,}" for g, n in sorted(counts.items()) if n > 1]
    if repeated:
        found.append(finding("runs_pooled", lengths=", ".join(repeated)))
    cheap = [run for run in runs if (t := run.round_cost) is not None and t < 1 - 0.02]
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
    flags: RunFlags, runs: Sequence[Run], baseline: dict[str, object]
) -> tuple[dict[str, object], dict[str, str]]:
    """The inputs as they were used: at most a hundred runs are listed."""
    inputs: dict[str, object] = {"runs": len(runs)}
    origin = [f"evidence:{path}" for path in flags.runs or []]
    sources = {"runs": "flag" if flags.one or flags.run else ", ".join(origin) or "default"}
    for name in ("gamma", *SPEEDS, "pooled_rate", "mean_length", "survival", "drafted_per_round"):
        if (value := getattr(flags, name)) is not None:
            inputs[name] = list(value) if isinstance(value, tuple) else value
            sources[name] = "flag"
    for name, value in baseline.items():
        if name not in inputs:
            inputs[name], sources[name] = value, sources["runs"]
    return inputs, sources


class Known(NamedTuple):
    """What evidence files bring to a run: a law of acceptance, a cost, and their findings."""

    law: "Evidence | None"
    cost: "Evidence | None"
    findings: list[Finding]


def known_of(files: Sequence[str] | None) -> Known:
    """The one law and the one cost that evidence files bring, and what they warned of."""
    from gammaplan.cli.inputs import read_documents

    documents = read_documents(files or [])
    slots = {}
    for name in ("acceptance", "cost"):
        found = [e for d in documents for e in d.slot(name, parts_first=False)]
        if len(found) > 1:
            raise typer.BadParameter(
                f"one {name} is needed, and the evidence brings {len(found)}; give one file"
            )
        slots[name] = found[0] if found else None
    findings = [f for d in documents for f in d.findings]
    return Known(slots["acceptance"], slots["cost"], findings)
