"""Tokens per round over the draft length, and the ceiling that they rise to."""

from collections.abc import Mapping
from typing import Any

from gammaplan.report.picture import Line, Mark, Panel, Picture, Rule
from gammaplan.report.pictures.parts import FAR, few, left_out, lengths_axis, upwards
from gammaplan.report.words import named, parts, plain, times
from gammaplan.shapes.answers import TokensResult


def tokens(result: TokensResult, inputs: Mapping[str, Any]) -> Picture | None:
    """The tokens of each case."""
    cases = [part for part in parts(result) if part["rows"]]
    if not cases:
        return None
    shown = few(cases)
    marks: list[Mark] = []
    values: list[float | None] = []
    for i, part in enumerate(shown):
        gammas = [row["gamma"] for row in part["rows"]]
        totals = [row["expected_tokens"] for row in part["rows"]]
        label = named(part["labels"]) if part.get("labels") else "expected tokens"
        ceiling = part["ceiling"]
        values += totals
        if ceiling is not None and ceiling <= FAR * max(totals) and len(shown) == 1:
            marks.append(Rule("y", ceiling, f"ceiling {plain(ceiling)}"))
            values.append(ceiling)
        marks.append(Line(gammas, totals, label, i))
    x = lengths_axis(row["gamma"] for part in shown for row in part["rows"])
    y = upwards("tokens per round", "bonus token counted", values, 1.0)
    notes = left_out(len(shown), len(cases), "cases")
    return Picture(_title(cases), (Panel(x, y, tuple(marks)),), notes)


def _title(cases: list[TokensResult]) -> str:
    if len(cases) > 1:
        return f"Tokens per round of {len(cases)} cases over the draft length."
    ceiling = cases[0]["ceiling"]
    towards = "without limit" if ceiling is None else f"towards {plain(ceiling)}"
    also = "" if ceiling is None else f": no draft is faster than {times(ceiling)}"
    return f"Tokens per round rise {towards}{also}."
