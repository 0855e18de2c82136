"""From a document to its page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import typer

from gammaplan.cli.wholefile import write_whole
from gammaplan.documents.reading import as_document
from gammaplan.documents.writing import document, to_json
from gammaplan.errors import InputError
from gammaplan.shapes.parts import FindingShape, Value

if TYPE_CHECKING:
    from gammaplan.cli.evidence import Cases

MAKES_A_PAGE = ("plan", "optimum", "table", "explain")
LARGEST_PAGE = 2 * 10**6  # bytes
Json = dict[str, Any]  # Any: parsed JSON


class Envelope(TypedDict):
    """What every document has around its result."""

    schema: str
    generator: str
    inputs: dict[str, Value]
    sources: dict[str, str]
    result: Json
    warnings: list[FindingShape]


def page_of(whole: Any, source: str, shown: str | None) -> str:  # Any: parsed JSON
    """The page of a document; `source` names it in messages, `shown` on the page.

    Raises
    ------
    InputError
        If it is no document, of a newer schema, of a command whose answers make no page,
        damaged, or too large for a page.
    """
    from gammaplan.report.page.facts import page_facts
    from gammaplan.report.page.filling import filled

    command = as_document(whole, source).command
    if command not in MAKES_A_PAGE:
        raise InputError(
            f"{source}: is an answer of {command}, and a page is made of one of "
            f"{', '.join(MAKES_A_PAGE[:-1])} or {MAKES_A_PAGE[-1]}; plan takes whatever knows "
            "acceptance or a cost"
        )
    try:
        made = msgspec.convert(whole, Envelope)
        _check_limit(made["inputs"].get("max_gamma"))
        answers = [_answer(part, command) for part in _parts(made["result"])]
        page = filled(page_facts(made, answers, shown))
    except (msgspec.ValidationError, KeyError, ValueError) as error:
        raise InputError(
            f"{source}: is damaged, or of another gammaplan ({str(whole.get('generator'))[:40]})"
            f": {error}; make it again"
        ) from None
    size = len(page.encode())
    if size > LARGEST_PAGE:
        raise InputError(
            f"{source}: makes a page of {size / 1e6:.1f} MB, and {LARGEST_PAGE / 1e6:g} MB is the "
            "most; choose one group or fewer lengths when you make it (--pick, --gamma)"
        )
    return page


def write_page(path: str, command: str, cases: Cases, result: Mapping[str, object]) -> None:
    """Write the page of an answer that is about to be printed.

    Raises
    ------
    BadParameter
        If the page is to go where the answer goes.
    """
    if path == "-":
        raise typer.BadParameter("--report needs a file: the answer itself goes to stdout")
    made = document(
        command, inputs=cases.inputs, sources=cases.sources, result=result, findings=cases.findings
    )
    write_whole(path, page_of(json.loads(to_json(made)), command, None))


def _check_limit(longest: Value) -> None:
    if longest is not None and not (isinstance(longest, int) and longest >= 0):
        raise ValueError(f"max_gamma must be a whole number of at least 0, got {longest!r:.40}")


def _parts(result: Json) -> list[Json]:
    groups = result.get("groups")
    return groups if isinstance(groups, list) and groups else [result]


def _answer(part: Json, command: str) -> Any:  # Any: an Answer, of a module loaded late
    from gammaplan.cli.schema import result_type
    from gammaplan.documents.reading import acceptance_from
    from gammaplan.report.page.facts import Answer

    checked: Mapping[str, Any] = msgspec.convert(part, result_type(command))
    if not checked["costs"]:
        raise ValueError("its costs are missing")
    return Answer(checked, acceptance_from(checked["acceptance"]), checked["costs"][0])
