"""gammaplan documents as evidence: their acceptance, their costs and their draft length."""

import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from gammaplan.documents.evidence import Document, Evidence
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.acceptance import Acceptance, Geometric, LawParameters
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.shapes.parts import AcceptanceShape, CostShape, FindingShape, Labels

LARGEST_DOCUMENT = 64 * 2**20
SCHEMA = re.compile(r"gammaplan\.([a-z]+)/([0-9]+)")
VERSION = 1
FARTHEST = 20  # that a round may be from its fitted cost, a share, or in logarithms
LONGEST = 16_384  # drafted tokens that a table of costs may reach to: every length is searched
ADVICE = ("optimum", "plan")  # commands whose `gamma` is an answer


class NotADocument(InputError):
    """What was read is no gammaplan document of any kind or version."""


def read_document(stream: BinaryIO, source: str) -> Document:
    """The gammaplan document in a stream; `source` names it in messages."""
    return as_document(read_json(stream, source), source)


def read_json(stream: BinaryIO, source: str) -> Any:  # Any: parsed JSON
    """What the JSON in a stream says; `source` names it in messages."""
    try:
        data = stream.read(LARGEST_DOCUMENT + 1)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST_DOCUMENT:
        raise InputError(f"{source}: is larger than a document may be, {LARGEST_DOCUMENT:,} bytes")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NotADocument(f"{source}: is not JSON: {error}") from None


def as_document(whole: Any, source: str) -> Document:  # Any: parsed JSON
    """The document that parsed JSON is."""
    named = SCHEMA.fullmatch(str(whole.get("schema"))) if isinstance(whole, dict) else None
    if named is None or not isinstance(whole.get("result"), dict):
        raise NotADocument(
            f"{source}: is JSON but not a gammaplan document, "
            'which has "schema": "gammaplan.…/1" and a "result"'
        )
    command, version = named[1], int(named[2])
    if version == 0:
        raise InputError(f"{source}: gammaplan.{command}/0 is no version of a document")
    if version > VERSION:
        raise InputError(
            f"{source}: is gammaplan.{command}/{version}, newer than this gammaplan reads "
            f"(/{VERSION}); install a newer gammaplan"
        )
    result = whole["result"]
    try:
        one = tuple(_said(result, source, {}))
        parts = tuple(_parts(result, source))
        bounds = result.get("bounds")
        span = (float(bounds["low"]), float(bounds["high"])) if bounds else None
    except (msgspec.ValidationError, DomainError) as error:
        raise InputError(f"{source}: is a damaged gammaplan.{command} document: {error}") from None
    except (TypeError, KeyError, AttributeError, ValueError):
        raise InputError(
            f"{source}: is a damaged gammaplan.{command} document: its groups, rows or bounds are "
            "not of the form that gammaplan schema describes"
        ) from None
    if command in ADVICE:  # its draft length is advised, not in use
        one, parts = (tuple(e._replace(gamma=None) for e in side) for side in (one, parts))
    found = tuple(_findings(whole.get("warnings"), source))
    return Document(source, command, one, parts, found, span, _method(whole.get("inputs")))


def _method(inputs: object) -> str | None:
    """What drafts, where a document was made for it."""
    method = inputs.get("method") if isinstance(inputs, dict) else None
    return method if isinstance(method, str) else None


def _parts(result: dict[str, Any], source: str) -> Iterator[Evidence]:  # Any: parsed JSON
    for part in [part for key in ("groups", "rows") for part in result.get(key) or []]:
        labels = part.get("labels")
        if not isinstance(labels, dict):
            labels = {k: v for k, v in part.items() if isinstance(v, str | int | float)}
        yield from _said(part, source, labels)


def _said(part: dict[str, Any], source: str, labels: Labels) -> Iterator[Evidence]:
    """The law of acceptance and the costs of one part, a cost at a time."""
    shape = part.get("acceptance")
    gamma = part.get("gamma")
    law = Evidence(source, labels, gamma=gamma if isinstance(gamma, int) else None)
    if shape:
        checked = msgspec.convert({**_NO_LAW, **shape}, AcceptanceShape)
        made = acceptance_from(checked)
        if checked["alpha"] is None:
            checked["alpha"] = made.alpha
        law = law._replace(acceptance=made, acceptance_shape=checked)
    costs = [msgspec.convert({**_NO_COST, **c}, CostShape) for c in part.get("costs") or []]
    for cost in costs:
        at: Labels = {"batch": cost["batch"], "context": cost["context"]}
        which = {**labels, **{k: v for k, v in at.items() if v is not None}}
        yield law._replace(labels=which, cost=cost_from(cost), cost_shape=cost)
    if shape and not costs:
        yield law


_NO_LAW: dict[str, object] = dict.fromkeys(
    ("alpha", "observed_to", "beyond", "counts", "interval", "bounds")
)
_NO_LAW |= {"survival": [], "parameters": {}}
_NO_COST: dict[str, object] = dict.fromkeys(
    ("batch", "context", "c", "overhead", "verify_slope", "source", "worst_residual")
)
_NO_COST |= {"kind": "given", "table": []}


def acceptance_from(shape: AcceptanceShape) -> Acceptance:
    """The law of acceptance that a document states."""
    parameters, observed = shape["parameters"], shape["observed_to"]
    if shape["model"] == "geometric":
        return Geometric(_number(parameters, "alpha"), observed)
    if shape["model"] == "per_position":
        from gammaplan.model.positions import PerPosition

        hazards = parameters.get("hazards")
        if not isinstance(hazards, list):
            raise DomainError("hazards must be a list of probabilities")
        beyond = math.nan if shape["beyond"] is None else shape["beyond"]
        last = observed if observed is not None and observed < len(hazards) else None
        return PerPosition(tuple(0.0 if h is None else h for h in hazards), beyond, last)
    from gammaplan.model.mixture import BetaGeometric

    return BetaGeometric(_number(parameters, "p"), _number(parameters, "q"), observed)


def _number(parameters: LawParameters, name: str) -> float:
    value = parameters.get(name)
    if value is None or isinstance(value, list):
        raise DomainError(f"acceptance.parameters.{name} must be one number, got {value}")
    return value


def cost_from(shape: CostShape) -> Cost:
    """The law of cost that a document states."""
    spreads = {"worst_residual": shape["worst_residual"], "run_noise": shape.get("run_noise")}
    for name, off in spreads.items():
        if off is not None and not 0 <= off <= FARTHEST:
            raise DomainError(f"{name} must be from 0 to {FARTHEST}, got {off:g}")
    if shape["table"]:
        from gammaplan.model.cost_tables import TableCost

        rows = sorted(shape["table"], key=lambda row: row["gamma"])
        rows = [row for row in rows if row["gamma"] > 0]
        if rows and rows[-1]["gamma"] > LONGEST:
            raise DomainError(
                f"a cost table may reach to γ {LONGEST:,}, got one to {rows[-1]['gamma']}"
            )
        return TableCost([r["gamma"] for r in rows], [r["round_cost"] for r in rows])
    if shape["c"] is None:
        raise DomainError("a cost needs c or a table, got neither")
    return LinearCost(shape["c"], shape["overhead"] or 0.0, shape["verify_slope"] or 0.0)


def _findings(shapes: object, source: str) -> Iterator[Finding]:
    for shape in shapes if isinstance(shapes, list) else []:
        try:
            said = msgspec.convert(shape, FindingShape)
        except msgspec.ValidationError:
            continue  # a finding of another tool: nothing that an answer rests on
        yield Finding(said["code"], said["level"], said["message"], said.get("from", source))
