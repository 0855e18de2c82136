"""plan --engine: the settings to paste, and those that check the plan on the engine."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.settings.base import (
    DRAFT,
    TARGET,
    Wanted,
    method_named,
    parse,
    refuse_unsafe,
    settings,
)
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.curve import curve
from gammaplan.model.schedule import LONGEST, Range

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Case, Cases


class EngineFlags(NamedTuple):
    """The options about the engine that is to run the plan."""

    engines: Sequence[str]
    method: str | None
    target: str | None
    draft: str | None
    layers: int | None
    max_gamma: int | None


def add_settings(
    result: MutableMapping[str, Any],  # Any: the result of plan, one or in groups
    cases: Cases,
    flags: EngineFlags,
    by_range: Sequence[Sequence[float]] = (),
) -> None:
    """Write the settings of every plan into it, and what to know of them into the findings.

    `by_range` are the speedups of each length in each range of a schedule.
    """
    parts = result.get("groups") or [result]
    for part, case in zip(parts, cases.cases, strict=False):
        part["settings"], part["checks"] = _settings(part, case, cases, flags, by_range)
    cases.note("engine", list(flags.engines), "flag")
    for name, value in (("target", flags.target), ("draft", flags.draft)):
        if value is not None:
            cases.note(name, value, "flag")
    if flags.layers is not None:
        cases.note("mtp_layers", flags.layers, "flag")


def _settings(
    part: MutableMapping[str, Any],
    case: Case,
    cases: Cases,
    flags: EngineFlags,
    by_range: Sequence[Sequence[float]],
) -> tuple[dict[str, str], dict[str, str]]:
    if part["gamma"] is None:
        cases.findings.append(finding("no_settings"))
        return {}, {}
    longest = max([part["gamma"], *(r["gamma"] for r in part["schedule"])])
    last = LONGEST if flags.max_gamma is None else min(flags.max_gamma, LONGEST)
    own = curve(case.acceptance, case.cost, range(last + 1)).speedup.tolist()
    drafts = (case.of_hits or case).acceptance  # what an engine drafts not is not simulated
    survival = drafts.survival(range(1, max(longest, last) + 1)).tolist()
    wanted = Wanted(
        part["gamma"],
        target=flags.target or _named(case) or TARGET,
        draft=flags.draft or DRAFT,
        schedule=tuple(
            Range(r["batch_low"], r["batch_high"], r["gamma"]) for r in part["schedule"]
        ),
        survival=tuple(survival),
        layers=flags.layers,
        speedups=(own, *by_range),
    )
    texts, checks, drafted = {}, {}, False
    spelled = [parse(engine)[0] for engine in flags.engines]
    for engine, plain in zip(flags.engines, spelled, strict=True):
        name = plain if spelled.count(plain) == 1 else engine  # versions of one engine apart
        written = settings(engine, wanted, method=flags.method)
        cases.findings += [f for f in written.findings if f not in cases.findings]
        texts[name] = written.text
        if written.check is not None:
            checks[name] = written.check
        drafted = drafted or written.gamma > 0
    if drafted:
        idle = _idle(wanted, flags, list(texts.values()))
        cases.findings += [f for f in idle if f not in cases.findings]
    return texts, checks


def _idle(wanted: Wanted, flags: EngineFlags, texts: Sequence[str]) -> list[Finding]:
    """The options that no settings take, found by giving them another value."""
    idle = []
    if flags.layers is not None and method_named(flags.method or "") != "mtp":
        idle.append("--mtp-layers")
    for option, value, other in (
        ("--target", flags.target, wanted._replace(target=f"{wanted.target}x")),
        ("--draft", flags.draft, wanted._replace(draft=f"{wanted.draft}x")),
    ):
        if value is not None:
            changed = [settings(e, other, method=flags.method).text for e in flags.engines]
            if changed == texts:
                idle.append(option)
    return [finding("setting_unused", option=option) for option in idle]


def _named(case: Case) -> str | None:
    """The model that the evidence is of, where it says so."""
    model = case.labels.get("model")
    if not isinstance(model, str):
        return None
    try:
        refuse_unsafe("target", model)
    except DomainError as error:
        raise InputError(f"the evidence: {error}; give --target") from None
    return model
