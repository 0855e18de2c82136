"""What a page says: the answer, its curve, its tables and what it rests on, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gammaplan import __version__
from gammaplan.report.page.inert import bare, lines_of
from gammaplan.report.page.tables import Result, evidence, grounds, tables
from gammaplan.report.plain import printable
from gammaplan.report.words import named

if TYPE_CHECKING:
    from gammaplan.model.acceptance import Acceptance
    from gammaplan.shapes.parts import CostShape

TOLERANCE = 0.03  # of the band where an answer has none
Facts = dict[str, Any]  # Any: what JSON holds


class Answer(NamedTuple):
    """One answer of a document: its result, its law of acceptance and its cost."""

    result: Result
    law: Acceptance
    cost: CostShape


def page_facts(
    document: Mapping[str, Any], answers: Sequence[Answer], source: str | None
) -> Facts:  # Any: a document that was checked
    """Everything that the page of a document shows; `source` is the file that it came from."""
    command = str(document["schema"]).partition("/")[0].removeprefix("gammaplan.")
    names = _files(document)
    whence = f" from {source}" if source else ""
    facts: Facts = {
        "origin": f"gammaplan {command}" + (f", {source}" if source else ""),
        "made": f"Page by gammaplan {__version__}{whence}; "
        f"answer by {document.get('generator')}, {document['schema']}.",
        "findings": [
            {"level": w["level"], "message": w["message"], "from": w.get("from", "")}
            for w in sorted(document["warnings"], key=lambda w: w["level"] == "note")
        ],
        "parts": [_part(command, answer, document) for answer in answers],
    }
    order = sorted(names, key=len, reverse=True)
    return {key: _inert(value, order) for key, value in facts.items()}


def _part(command: str, answer: Answer, document: Mapping[str, Any]) -> Facts:
    result, law = answer.result, answer.law
    head, *lines = _words(command, result)
    optimum = result.get("optimum", result)
    use = optimum.get("in_use")
    return {
        "label": named(result.get("labels") or {}),
        "headline": head,
        "lines": lines,
        "law": {
            "model": law.model,
            "parameters": law.parameters,
            "beyond": law.beyond,
            "alpha": law.alpha,
        },
        "cost": {k: answer.cost[k] for k in ("c", "overhead", "verify_slope", "table")},
        "rows": result.get("rows", []),
        "best": optimum["best"]["gamma"] if command == "explain" else optimum["gamma"],
        "in_use": result["gamma"] if command == "explain" else use and use["gamma"],
        "tolerance": optimum["band"]["tolerance"] if "band" in optimum else TOLERANCE,
        "max_gamma": document["inputs"].get("max_gamma"),
        "level": (result.get("prediction") or {}).get("level"),
        "tables": tables(command, result),
        "settings": _settings(result),
        "evidence": evidence(answer),
        "grounds": grounds(result, document),
    }


def _words(command: str, result: Result) -> list[str]:
    """The answer in one line, then what surrounds it: the sentences of the terminal."""
    if command == "explain":
        from gammaplan.report import explain

        return [explain.headline(result), *explain.reasons(result)]
    if command == "plan":
        from gammaplan.report import plan_words, schedule

        said = [plan_words.headline(result), *plan_words.surroundings(result)]
        said += plan_words.after(result)
        if not result["schedule"]:
            return said
        here = f"At batch {result['costs'][0]['batch']}: {said[0]}"
        return [schedule.headline(result), schedule.crossover(result), here, *said[1:]]
    from gammaplan.report import optimum

    answer = result.get("optimum", result)
    return [optimum.headline(answer), *optimum.reasons(answer)]


def _settings(result: Result) -> list[Facts]:
    from gammaplan.report.schedule import CHECK

    found = [{"engine": k, "purpose": "", "text": t} for k, t in result.get("settings", {}).items()]
    for engine, text in result.get("checks", {}).items():
        why = f"To check the speedup, {CHECK}."
        found.append({"engine": f"{engine}, a check", "purpose": why, "text": text})
    return found


def _files(document: Mapping[str, Any]) -> set[str]:
    """The files that a document names as such."""
    origins = {w["from"] for w in document["warnings"] if "from" in w}
    sources = {s.removeprefix("evidence:") for s in document["sources"].values() if ":" in s}
    return {name for name in origins | sources if "/" in name or "\\" in name}


def _inert(value: Any, names: Sequence[str], key: str = "") -> Any:
    """Every text within, inert; settings are to be pasted and keep the paths that they need."""
    if isinstance(value, str):
        return lines_of(value) if key == "text" else printable(bare(value, names))
    if isinstance(value, Mapping):
        return {k: _inert(v, names, k) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_inert(v, names) for v in value]
    return value
