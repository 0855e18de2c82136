"""The course of watch: what is watched at what cost, one reading after the other, to its end."""

import json as js
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

import typer

from gammaplan.cli.evidence import Cases, gather_from
from gammaplan.cli.fit import listed
from gammaplan.cli.following import followed
from gammaplan.cli.output import say
from gammaplan.cli.watched import Gained, Record, Watched
from gammaplan.documents.writing import document
from gammaplan.engines.following import Endpoints, Fleet, Source
from gammaplan.errors import Finding, InputError

if TYPE_CHECKING:
    from gammaplan.cli.connection import Live
    from gammaplan.cli.flags import CostFlags
    from gammaplan.engines.files import Asked

TOLD_BY_LINE = ("no_answer", "gamma_outside_band")
EVENTS = ("counter_reset",)  # told each time, not only where they are new
STANDING_IN = 0.5  # an alpha that lets a cost be checked before there is any


class Plan(NamedTuple):
    """How to watch: times in seconds; `save` is where the evidence goes."""

    servers: list[str]
    every: float
    window: float
    intervals: int | None
    save: str | None
    bell: bool
    quiet: bool


class Output(Protocol):
    """Where answers go, and what is done between them."""

    def idle(self, seconds: float, waited: float) -> bool:
        """Spend up to so many seconds; an answer is waited for since `waited`. False: end."""

    def show(self, reading: Gained, record: Record) -> None:
        """One more answer."""


def source_of(urls: Sequence[str], files: Sequence[str], live: "Live", asked: "Asked") -> Source:
    """What the command line names to be watched."""
    live.check(urls, asked, None)
    if live.prometheus is not None:
        return Fleet(live.prometheus, asked=asked)
    if not urls:
        given = f", got {files[0]}" if files else ""
        raise typer.BadParameter(
            f"an address like http://localhost:8000/metrics, or --prometheus URL, is needed{given}"
        )
    if len(set(urls)) < len(urls):
        raise typer.BadParameter("an address was named twice, and would count twice")
    return Endpoints(urls, asked=asked)


def priced(files: Sequence[str], cost: "CostFlags", pick: Sequence[str] | None) -> Cases:
    """The one cost that flags and files give, with the account of where it came from."""
    from gammaplan.cli.inputs import read_documents

    documents = read_documents(files) if files else []
    for d in documents:
        if not d.slot("cost", parts_first=False):
            raise InputError(f"{d.source}: gammaplan.{d.command} brings no cost, and α is watched")
    bare = [
        d._replace(
            whole=tuple(e._replace(acceptance=None) for e in d.whole),
            parts=tuple(e._replace(acceptance=None) for e in d.parts),
        )
        for d in documents
    ]
    cases = gather_from(bare, alpha=STANDING_IN, cost=cost, pick=pick)
    if len(cases.cases) > 1:
        labels = "; ".join(", ".join(f"{k}={v}" for k, v in c.labels.items()) for c in cases.cases)
        raise typer.BadParameter(f"one cost is needed; choose by --pick KEY=VALUE among {labels}")
    del cases.inputs["alpha"], cases.sources["alpha"]
    return cases


def follow(source: Source, plan: Plan, state: Watched, out: Output, by: str | None) -> bool:
    """Watch until the plan or the user ends it; whether there is nothing to complain of.

    Raises
    ------
    InputError
        If the first reading fails.
    """
    answered = False
    with closing(followed(source, plan.every, out.idle)) as readings:
        for number, reading in enumerate(readings, 1):
            listed(by, reading.inputs or [])
            record = state.add(reading)
            groups = record.result["groups"]
            answered |= any(g["alpha"] is not None or g["bounds"] for g in groups)
            out.show(reading, record)
            if number == plan.intervals:
                return answered
    return True


def output(
    plan: Plan, state: Watched, account: Cases, *, json: bool
) -> AbstractContextManager[Output]:
    """A screen in a terminal, else a line every interval."""
    if not json and sys.stdout.isatty():
        from gammaplan.cli.screen import Screen, able

        if able():
            return Screen(plan, state, account)
    return _lines(plan, state, account, json=json)


@contextmanager
def _lines(plan: Plan, state: Watched, account: Cases, *, json: bool) -> Iterator[Output]:
    yield Lines(account, plan.quiet, json=json)
    if plan.save is not None:
        from gammaplan.cli.saving import save

        save(plan.save, plan.servers, state, account)


class Lines:
    """A line an interval on stdout, plain or JSON; what is new of findings on stderr."""

    def __init__(self, account: Cases, quiet: bool, *, json: bool) -> None:
        self._account, self._quiet, self._json = account, quiet, json
        self._codes: set[str] = set()

    def idle(self, seconds: float, waited: float) -> bool:
        """As `Output`."""
        time.sleep(seconds)
        return True

    def show(self, reading: Gained, record: Record) -> None:
        """As `Output`."""
        findings = [*self._account.findings, *record.findings]
        if self._json:
            whole = document(
                "watch",
                inputs=self._account.inputs,
                sources=self._account.sources,
                result=record.result,
                findings=findings,
            )
            told = js.dumps(whole, allow_nan=False, separators=(",", ":"))
        else:
            from gammaplan.report.watching import line

            told = line(record.result, reading.reason)
        sys.stdout.write(told + "\n")
        sys.stdout.flush()
        if not self._quiet:
            for found in self._new(findings):
                say(f"{found.level}: {found.message}")

    def _new(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings of kinds that were not told the last time."""
        before, self._codes = self._codes, {f.code for f in findings}
        plain = () if self._json else TOLD_BY_LINE
        return [
            f
            for f in findings
            if (f.code not in before or f.code in EVENTS) and f.code not in plain
        ]
