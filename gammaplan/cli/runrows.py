"""The rows that state runs: the options' own, those of --run, and those of --runs files."""

import typer

from gammaplan.cli.flags import RunFlags
from gammaplan.cli.runfields import BadRow, field_of, figures
from gammaplan.cli.runfiles import Row, read_runs
from gammaplan.data.findings import finding
from gammaplan.errors import Finding, InputError

SPEEDS = ("baseline_tps", "spec_tps", "baseline_ms", "spec_ms", "speedup")
FIGURES = ("gamma", *SPEEDS, "pooled_rate", "mean_length", "survival", "drafted_per_round")


def flag_rows(flags: RunFlags, gamma: int | None) -> list[Row]:
    """The run that the options themselves state, if they do."""
    if not (flags.fast or flags.accepted):
        return []
    if gamma is None:
        raise typer.BadParameter("--gamma is missing: the draft length of the run")
    stated = {n: v for n in FIGURES[1:] if (v := getattr(flags, n)) is not None}
    return [Row("the run of the options", {"gamma": gamma, **stated})]


def option_rows(flags: RunFlags) -> list[Row]:
    """The runs of --run."""
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
            known = ", ".join(FIGURES)
            raise typer.BadParameter(f"--run has no key {unknown[0]}; it knows {known}")
        try:
            rows.append(Row(f"--run {text}", figures(row, fields)))
        except BadRow as error:
            raise typer.BadParameter(f"--run {text}: {error}") from None
    return rows


def file_rows(flags: RunFlags, found: list[Finding]) -> list[Row]:
    """The runs of --runs, and in `found` how their columns were read."""
    rows: list[Row] = []
    for path in flags.runs or []:
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
