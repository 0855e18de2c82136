"""gammaplan documents as evidence: their acceptance, their costs and their draft length."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.acceptance import Acceptance, Geometric, PerPosition
from gammaplan.model.cost import Cost, LinearCost, TableCost
from gammaplan.shapes import AcceptanceShape, CostShape

LARGEST_DOCUMENT = 64 * 2**20
SCHEMA = re.compile(r"gammaplan\.([a-z]+)/([0-9]+)")
VERSION = 1


@dataclass(frozen=True)
class Evidence:
    """One thing that a document says: a law of acceptance, a cost, or both, and its labels."""

    source: str
    labels: Mapping[str, str | int | float | None] = field(default_factory=dict)
    acceptance: Acceptance | None = None
    acceptance_shape: AcceptanceShape | None = None
    cost: Cost | None = None
    cost_shape: CostShape | None = None
    gamma: int | None = None


@dataclass(frozen=True)
class Document:
    """A gammaplan document that was read: where from, what it says, what it warned of."""

    source: str
    command: str
    evidence: tuple[Evidence, ...]
    findings: tuple[Finding, ...]


class NotADocument(InputError):
    """Input that is no gammaplan document; some other reader may know it."""


def open_input(path: str) -> BinaryIO:
    """The bytes of a file, or of standard input for "-"; one sentence where that fails."""
    if path == "-":
        return sys.stdin.buffer
    try:
        if Path(path).is_dir():
            raise InputError(f"{path}: must be a file, and is a directory")
        return Path(path).open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL byte in the name
        raise InputError(f"{path!r}: cannot be read: {error}") from None


def read_document(path: str) -> Document:
    """The gammaplan document in a file, or on standard input for "-"."""
    source = "standard input" if path == "-" else path
    with open_input(path) as stream:
        try:
            data = stream.read(LARGEST_DOCUMENT + 1)
        except OSError as error:
            raise InputError(f"{source}: cannot be read: {error.strerror or error}") from None
    return parse_document(data, source)


def parse_document(data: bytes, source: str) -> Document:
    """The gammaplan document in `data`; `source` names it in messages."""
    if not data.strip():
        raise NotADocument(f"{source}: is empty; a gammaplan JSON document was expected")
    if len(data) > LARGEST_DOCUMENT:
        raise NotADocument(
            f"{source}: is larger than a document may be, {LARGEST_DOCUMENT:,} bytes"
        )
    try:
        whole = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NotADocument(f"{source}: is not JSON: {error or 'nested too deeply'}") from None
    named = SCHEMA.fullmatch(str(whole.get("schema"))) if isinstance(whole, dict) else None
    if named is None or not isinstance(whole.get("result"), dict):
        raise NotADocument(
            f"{source}: is JSON but not a gammaplan document, "
            'which has "schema": "gammaplan.…/1" and a "result"'
        )
    command, version = named[1], int(named[2])
    if version > VERSION:
        raise InputError(
            f"{source}: is gammaplan.{command}/{version}, newer than this gammaplan reads "
            f"(/{VERSION}); install a newer gammaplan"
        )
    try:
        found = tuple(_evidence(whole["result"], source))
    except (msgspec.ValidationError, DomainError, TypeError, KeyError) as error:
        raise InputError(f"{source}: is a damaged gammaplan.{command} document: {error}") from None
    return Document(source, command, found, tuple(_findings(whole.get("warnings"), source)))


def _evidence(result: dict[str, Any], source: str) -> Iterator[Evidence]:  # Any: parsed JSON
    """What the result says as a whole, else what each of its groups or rows says."""
    if result.get("acceptance") or result.get("costs"):
        yield from _one(result, source, {})
    parts = [part for key in ("groups", "rows") for part in result.get(key) or []]
    for part in parts:
        if isinstance(part, dict) and (part.get("acceptance") or part.get("costs")):
            labels = part.get("labels")
            if not isinstance(labels, dict):
                labels = {k: v for k, v in part.items() if isinstance(v, str | int | float)}
            yield from _one(part, source, labels)


def _one(part: dict[str, Any], source: str, labels: dict[str, Any]) -> Iterator[Evidence]:
    shape = part.get("acceptance")
    if shape:
        shape = msgspec.convert(shape, AcceptanceShape)
    gamma = part.get("gamma")
    common = {
        "source": source,
        "acceptance_shape": shape,
        "acceptance": acceptance_from(shape) if shape else None,
        "gamma": gamma if isinstance(gamma, int) else None,
    }
    costs = [msgspec.convert(c, CostShape) for c in part.get("costs") or []]
    for cost in costs:
        which = {k: v for k, v in labels.items()}
        if len(costs) > 1 or cost["batch"] is not None:
            which |= {k: cost[k] for k in ("batch", "context") if cost[k] is not None}
        yield Evidence(labels=which, cost=cost_from(cost), cost_shape=cost, **common)
    if not costs:
        yield Evidence(labels=labels, **common)


def acceptance_from(shape: AcceptanceShape) -> Acceptance | None:
    """The law of acceptance that a document states; None where it only bounds alpha."""
    parameters, observed = shape["parameters"], shape["observed_to"]
    if shape["model"] == "geometric":
        alpha = parameters["alpha"]
        return None if alpha is None else Geometric(_number(alpha, "alpha"), observed)
    if shape["model"] == "per_position":
        hazards = parameters["hazards"]
        if not isinstance(hazards, list):
            raise DomainError("hazards must be a list of probabilities")
        law = PerPosition(tuple(0.0 if h is None else h for h in hazards))
        return law if shape["beyond"] is None else PerPosition(law.hazards, shape["beyond"])
    raise DomainError(f"acceptance model {shape['model']} is not one this version reads")


def _number(value: float | list[float | None], name: str) -> float:
    if isinstance(value, list):
        raise DomainError(f"{name} must be one number, got a list")
    return value


def cost_from(shape: CostShape) -> Cost:
    """The law of cost that a document states."""
    if shape["table"]:
        rows = sorted(shape["table"], key=lambda row: row["gamma"])
        rows = [row for row in rows if row["gamma"] > 0]
        return TableCost([r["gamma"] for r in rows], [r["round_cost"] for r in rows])
    if shape["c"] is None:
        raise DomainError("a cost needs c or a table, got neither")
    return LinearCost(shape["c"], shape["overhead"] or 0.0, shape["verify_slope"] or 0.0)


def _findings(shapes: object, source: str) -> Iterator[Finding]:
    for shape in shapes if isinstance(shapes, list) else []:
        if isinstance(shape, dict) and all(
            isinstance(shape.get(k), str) for k in ("code", "level", "message")
        ):
            origin = shape.get("from")
            yield Finding(
                shape["code"],
                shape["level"],
                shape["message"],
                origin if isinstance(origin, str) else source,
            )
