"""Rounds that were played out, beside what the formula says."""

from collections.abc import Mapping
from typing import Any

from gammaplan.report.picture import Bars, Mark, Panel, Picture, Points
from gammaplan.report.pictures.parts import few, left_out, lengths_axis, named_panel, upwards
from gammaplan.report.words import named, parts
from gammaplan.shapes.simulate import SimulateResult


def simulate(result: SimulateResult, inputs: Mapping[str, Any]) -> Picture | None:
    """How many tokens the rounds accepted; rules by their tokens per round."""
    cases = few(parts(result))
    panels = tuple(_rules(part) if part["rules"] else _rounds(part) for part in cases if _any(part))
    if not panels:
        return None
    notes = left_out(len(cases), len(parts(result)), "cases")
    return Picture(_title(parts(result)), panels, notes)


def _any(part: SimulateResult) -> bool:
    return bool(part["rules"] or part["rows"])


def _title(cases: list[SimulateResult]) -> str:
    part = cases[0]
    if len(cases) > 1:
        return f"{len(cases)} cases, played out."
    what = f"{part['rounds']:,} rounds of γ {part['gamma']}"
    return f"{what}: {part['measured_tokens']:.4f} tokens per round."


def _rounds(part: SimulateResult) -> Panel:
    rows = part["rows"]
    at = [row["accepted"] for row in rows]
    shares, expected = [row["share"] for row in rows], [row["expected_share"] for row in rows]
    marks: list[Mark] = [Bars(at, shares, "played out", 0)]
    marks.append(Points(at, expected, "formula", 1, hollow=True))
    y = upwards("share of the rounds", "", [*shares, *expected], 0.0)._replace(low=0.0)
    x = lengths_axis(at, "accepted tokens")._replace(unit="")
    return Panel(x, y, tuple(marks), named(part.get("labels", {})))


def _rules(part: SimulateResult) -> Panel:
    """Each rule's tokens per round, two standard errors either way, and the formula's."""
    rules = part["rules"]
    at = list(range(len(rules)))
    measured = [rule["measured_tokens"] for rule in rules]
    errors = [rule["standard_error"] for rule in rules]
    pairs = list(zip(measured, errors, strict=True))
    low = [None if e is None else m - 2 * e for m, e in pairs]
    high = [None if e is None else m + 2 * e for m, e in pairs]
    expected = [rule["expected_tokens"] for rule in rules]
    marks: list[Mark] = [
        Points(measured, at, "played out, ± 2 standard errors", 0, low, high, "x"),
        Points(expected, at, "formula", 1, along="x", hollow=True),
    ]
    names = [_rule(rule["name"], rule["lossless"]) for rule in rules]
    x = upwards("tokens per round", "bonus token counted", [*measured, *low, *high, *expected])
    return named_panel(names, x, marks, heading=named(part.get("labels", {})))


def _rule(name: str, lossless: bool | None) -> str:
    said = {True: "lossless", False: "not lossless", None: "lossless unknown"}[lossless]
    return f"{name.replace('_', ' ')}, {said}"
