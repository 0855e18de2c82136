"""From the files that a command line names to documents; a report of an engine is fitted first."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from gammaplan.data.findings import finding
from gammaplan.documents.evidence import Document
from gammaplan.documents.writing import document
from gammaplan.errors import InputError

if TYPE_CHECKING:
    from io import BufferedReader

DOCUMENT = re.compile(rb'"schema"\s*:\s*"gammaplan\.')
SNIFFED = 65_536


def read_documents(files: Sequence[str]) -> list[Document]:
    """The documents in these files; each must know acceptance or a cost."""
    if list(files).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once, and was named twice")
    return [_document(path) for path in files]


def has_batches(documents: Sequence[Document], pick: Sequence[str] | None) -> bool:
    """Whether the costs of the evidence are of several batch sizes, and none is picked."""
    if any(wanted.startswith("batch=") for wanted in pick or []):
        return False
    costs = [e for d in documents for e in d.slot("cost", parts_first=False)]
    return len({e.labels.get("batch") for e in costs}) > 1


def _document(path: str) -> "Document":
    """The document in a file; a report of an engine is fitted first, and that is said."""
    with opened(path) as stream:
        return document_in(stream, path)


@contextmanager
def opened(path: str) -> Iterator["BufferedReader"]:
    """An input that is closed again; standard input is left open."""
    from gammaplan.engines.lines import open_stream

    stream = open_stream(path)
    try:
        yield stream
    finally:
        if path != "-":
            stream.close()


def document_in(stream: "BufferedReader", path: str) -> "Document":
    """The document in an open input; it must know acceptance or a cost."""
    d = _recognised(stream, path)
    if not d.slot("acceptance", parts_first=False) and not d.slot("cost", parts_first=False):
        raise InputError(f"{d.source}: gammaplan.{d.command} {_why_nothing(d)}")
    return d


def _recognised(stream: "BufferedReader", path: str) -> "Document":
    from gammaplan.documents.reading import as_document, read_document
    from gammaplan.engines.lines import named

    if DOCUMENT.search(stream.peek(SNIFFED)[:SNIFFED]):
        return read_document(stream, named(path))
    from gammaplan.cli.fitting import Assumed, fitted
    from gammaplan.engines.files import collect_stream

    if not stream.peek(1):
        raise InputError(
            f"{named(path)}: is empty; a gammaplan document or a report that fit reads was expected"
        )
    done = fitted([collect_stream(stream, path)], Assumed())
    if done.result["engine"] is None:
        raise InputError(
            f"{named(path)}: is neither a gammaplan document nor a report that fit recognises"
        )
    alpha = done.result["alpha"]
    known = "apart for each group" if alpha is None else f"{alpha:.4f}"
    said = finding("fitted_first", name=named(path), engine=done.result["engine"], alpha=known)
    whole = document("fit", inputs={}, sources={}, result=done.result, findings=done.findings)
    parsed = as_document(json.loads(json.dumps(whole)), named(path))
    return parsed._replace(findings=(said, *parsed.findings))


def _why_nothing(d: Document) -> str:
    if d.bounds:
        low, high = d.bounds
        return (
            f"only bounds α, between {low:.4f} and {high:.4f}; give --alpha, or fit it with "
            "--gamma and --full-drafts if every draft was full"
        )
    why = next((f": {f.message}" for f in d.findings if f.level == "refusal"), "")
    return f"holds neither acceptance nor cost to plan with{why}"
