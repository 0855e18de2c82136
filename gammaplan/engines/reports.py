"""Reports of engines as counts, for Python: one file or many, here or on a cluster."""

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from os import PathLike, fspath
from typing import NamedTuple

from gammaplan.engines.base import Labels, engines
from gammaplan.engines.files import Asked, collect_files, together
from gammaplan.engines.groups import may_pool
from gammaplan.engines.reading import Wanted
from gammaplan.errors import DomainError, Finding
from gammaplan.model.estimate import Counts
from gammaplan.results import Result


class ReportGroup(NamedTuple):
    """What may be added up: its labels, its counts, and a mean length where only that is known.

    Where it is not `usable` (trees, impossible figures) no alpha follows from the counts.
    """

    labels: Labels
    counts: Counts
    mean_length: float | None
    usable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Result):
    """What the reports of engines say of acceptance.

    Attributes
    ----------
    counts : Counts or None
        All groups added up; None where they must not be, or hold no counts.
    groups : tuple of ReportGroup
        Models, containers, kinds of draft, draft lengths and files, each with
        its `labels`, `counts`, `mean_length` and whether it is `usable`.
    findings : tuple of Finding
        What there is to know of the reports, what was lost included.
    """

    counts: Counts | None
    groups: tuple[ReportGroup, ...]
    findings: tuple[Finding, ...]


def read_reports(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    engine: str | None = None,
    executor: Executor | None = None,
) -> Report:
    r"""Counts of logs, metrics pages, responses and results of any engine.

    Parameters
    ----------
    paths : str, path, or several of them
        Files, compressed or not, or http and https URLs.
    engine : str, optional
        Take them to be of this engine; recognised by default.
    executor : concurrent.futures.Executor, optional
        Maps the reading over its workers, each path whole: a pool of
        processes, or a Dask client's ``get_executor()``. The workers must
        reach the paths under the same names.

    Returns
    -------
    Report
        The same whatever the executor.

    Raises
    ------
    DomainError
        If no path is given, or no engine has that name.
    InputError
        If a file cannot be read, or no URL answers.

    Examples
    --------
    >>> import tempfile
    >>> rounds = '{"drafted": 4, "accepted": 2}\n{"drafted": 4, "accepted": 4}\n'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         with open(f"{folder}/{name}.jsonl", "w") as stream:
    ...             _ = stream.write(rounds)
    ...     report = read_reports([f"{folder}/a.jsonl", f"{folder}/b.jsonl"])
    >>> report.counts.rounds, report.counts.accepted
    (4, 12)
    >>> [group.labels for group in report.groups]
    [{'file': 'a.jsonl'}, {'file': 'b.jsonl'}]
    """
    several = [paths] if isinstance(paths, str | PathLike) else paths
    names = [fspath(p) for p in several]
    if not names:
        raise DomainError("paths must name at least one file or URL, got none")
    known = [e.NAME for e in engines()]
    if engine is not None and engine not in known:
        raise DomainError(f"engine must be one of {', '.join(known)}, got {engine}")
    inputs = collect_files(names, asked=Asked(Wanted(engine)), executor=executor)
    said = together(inputs)
    found = said.told()
    groups = tuple(
        ReportGroup(g.labels, g.total, g.mean_length, not (g.tree or g.unusable)) for g in found
    )
    pooled = bool(groups) and may_pool(found) and all(g.usable for g in groups)
    counts = sum((g.counts for g in groups[1:]), groups[0].counts) if pooled else None
    if counts == Counts(gamma=counts.gamma if counts else None):
        counts = None
    return Report(counts=counts, groups=groups, findings=tuple(said.findings))
