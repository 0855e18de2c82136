"""Rank acceptances from text and files: one vector, or one a level."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import typer

from gammaplan.cli import values
from gammaplan.errors import InputError

LARGEST = 16 * 2**20
CHILD = ("k", "rank", "child", "child_position", "position")
LEVEL = ("level", "depth", "head")
GIVEN = ("acceptance", "probability", "p")
CUMULATIVE = ("topk_accuracy", "top_k_accuracy")  # P(one of the first k), as Medusa logs it

_LIST = re.compile(r"\s*(?:nan|[+-]?inf|[+-]?[\d.]*\d[\d.]*(?:e[+-]?\d+)?%?)\s*(?:,|\Z|:)", re.I)

Row: TypeAlias = tuple[int, dict[str, str]]  # the line, and its cells by column
Vectors: TypeAlias = list[list[float]]


class Found(NamedTuple):
    """One vector, or one a level; whether they are heads' accuracies, and the picks not used."""

    vectors: Vectors
    heads: bool = False
    picks: tuple[str, ...] = ()


def read_ranks(text: str, pick: Sequence[str] = ()) -> Found:
    """The vectors of ``0.63,0.11`` or of a file (- is standard input).

    Raises
    ------
    InputError
        If the file cannot be read or is not understood.
    """
    if not text.strip() or _LIST.match(text):
        try:
            return Found([list(values.fractions(text))], picks=tuple(pick))
        except typer.BadParameter as error:
            raise typer.BadParameter(f"--ranks {error.message}") from None
    from gammaplan.engines.lines import named, open_stream

    stream = open_stream(text)
    try:
        whole = stream.read(LARGEST + 1)
    finally:
        if text != "-":
            stream.close()
    source = named(text)
    if len(whole) > LARGEST:
        raise InputError(f"{source}: is larger than {LARGEST // 2**20} MiB; ranks are a few lines")
    if b"\0" in whole or not whole.strip():
        raise InputError(
            f"{source}: is {'no text' if whole.strip() else 'empty'}; ranks as CSV or JSON were "
            "expected (a saved tensor is not unpickled)"
        )
    words = whole.decode("utf-8-sig", errors="replace")
    if words.lstrip()[0] in "[{":
        return Found(_of_json(words, source), picks=tuple(pick))
    return _of_csv(words, source, list(pick))


def _of_json(text: str, source: str) -> Vectors:
    """A list, a list of lists, or an object (a tree document too) that has them as `ranks`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is not JSON: {error}") from None
    if isinstance(found, dict) and isinstance(found.get("result"), dict):
        found = found["result"]
    if isinstance(found, dict):
        found = found.get("ranks")
    if isinstance(found, list) and found and not isinstance(found[0], list):
        found = [found]
    if not isinstance(found, list) or not found:
        raise InputError(f"{source}: a list of ranks, or one a level, was expected")
    for level, row in enumerate(found, 1):
        good = isinstance(row, list) and row
        if not good or any(isinstance(x, bool) or not isinstance(x, int | float) for x in row):
            raise InputError(f"{source}: level {level} must be a list of numbers")
    return _even([[float(x) for x in row] for row in found], source)


def _of_csv(text: str, source: str, pick: list[str]) -> Found:
    lines = [
        (number, [cell.strip() for cell in cells])
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline="")), 1)
        if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{source}: has no row; ranks were expected")
    if _is_number(lines[0][1][0]):
        plain = [[_number(x, source, number) for x in cells] for number, cells in lines]
        return Found(_even(plain, source), picks=tuple(pick))
    header = [name.lower() for name in lines[0][1]]
    child, level, given, heads = (
        next((name for name in header if name in known), None)
        for known in (CHILD, LEVEL, GIVEN, CUMULATIVE)
    )
    value = given or heads
    if value is None or child is None:
        raise InputError(
            f"{source}: needs the columns child_position and acceptance, or head, k and "
            f"topk_accuracy; it has {', '.join(header)}"
        )
    rows: list[Row] = []
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise InputError(
                f"{source}:{number}: has {len(cells)} cells and the header {len(header)}"
            )
        rows.append((number, dict(zip(header, cells, strict=True))))
    labels = [name for name in header if name not in (child, level, value)]
    rows, left = _picked(rows, labels, pick, source)
    vectors: dict[float, list[float]] = {}
    for number, row in rows:
        one = vectors.setdefault(_number(row[level], source, number) if level else 0.0, [])
        if _number(row[child], source, number) != len(one) + 1:
            raise InputError(
                f"{source}:{number}: {child} must be {len(one) + 1}, got {row[child]}; children "
                f"count from 1 without gaps{_several(rows, labels)}"
            )
        one.append(_number(row[value], source, number))
    found = [vectors[level] for level in sorted(vectors)]
    if given is None:
        found = [list(_differences(vector, source)) for vector in found]
    return Found(_even(found, source), heads=given is None, picks=tuple(left))


def _picked(
    rows: list[Row], labels: list[str], pick: list[str], source: str
) -> tuple[list[Row], list[str]]:
    """The rows with the labels that were picked, and the picks of other things."""
    left = []
    for wanted in pick:
        key, _, value = wanted.partition("=")
        if key not in labels:
            left.append(wanted)
            continue
        kept = [row for row in rows if row[1][key] == value]
        if not kept:
            known = ", ".join(dict.fromkeys(row[key] for _, row in rows))
            raise typer.BadParameter(f"--pick {wanted} matches nothing; {key} is {known}")
        rows = kept
    if not rows:
        raise InputError(f"{source}: has no row under its header")
    return rows, left


def _several(rows: list[Row], labels: list[str]) -> str:
    """The remedy where the rows are of several kinds."""
    for label in labels:
        known = list(dict.fromkeys(row[label] for _, row in rows))
        if len(known) > 1:
            return f" (--pick {label}=VALUE chooses one of {', '.join(known[:8])})"
    return ""


def _differences(vector: list[float], source: str) -> Iterator[float]:
    """P(the k-th is right) from P(one of the first k is)."""
    before = 0.0
    for k, value in enumerate(vector, 1):
        if value < before:
            raise InputError(f"{source}: top-k accuracy must not fall with k, got it at k {k}")
        yield value - before
        before = value


def _even(rows: Vectors, source: str) -> Vectors:
    for level, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{source}: level {level} has {len(row)} ranks and level 1 {len(rows[0])}; every "
                "level needs as many, 0 where there is no child"
            )
    return rows


def _number(text: str, source: str, line: int) -> float:
    if not _is_number(text):
        raise InputError(f"{source}:{line}: a number was expected, got {text or 'nothing'}")
    return float(text)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
