"""Timed target passes by the tokens in them, from text or a file."""

import csv
import io
import re

import typer

from gammaplan.errors import InputError

LARGEST = 2**20
_POINT = re.compile(r"\s*(\d{1,9})\s*:\s*([\d.eE+-]+)\s*")

Passes = tuple[tuple[int, float], ...]


def read_passes(text: str) -> Passes:
    """(tokens, time) in rising order, of ``1:10,8:12`` or of a CSV file of tokens and ms."""
    if _POINT.match(text):
        points = [_POINT.fullmatch(part) for part in text.split(",")]
        if None in points:
            raise typer.BadParameter(
                f"--verify-curve must be TOKENS:MS with commas, like 1:10,8:12, got {text}"
            )
        rows = [(p[1], p[2], "--verify-curve") for p in points if p]
    else:
        rows = _of_file(text)
    passes: dict[int, float] = {}
    for tokens, ms, where in rows:
        try:
            n, time = int(tokens), float(ms)
        except ValueError:
            raise InputError(
                f"{where}: tokens must be a whole number and ms a number, got {tokens} and {ms}"
            ) from None
        if n < 1 or not 0 < time < float("inf"):
            raise InputError(
                f"{where}: a pass needs at least 1 token and a time above 0, got {tokens} in {ms}"
            )
        if n in passes:
            raise InputError(f"{where}: a pass over {n} tokens was given twice")
        passes[n] = time
    return tuple(sorted(passes.items()))


def _of_file(path: str) -> list[tuple[str, str, str]]:
    from gammaplan.engines.lines import named, open_stream

    stream = open_stream(path)
    try:
        whole = stream.read(LARGEST + 1)
    finally:
        if path != "-":
            stream.close()
    source = named(path)
    if len(whole) > LARGEST or b"\0" in whole:
        raise InputError(f"{source}: a CSV file of tokens and ms was expected")
    lines = [
        (f"{source}:{number}", [cell.strip().lower() for cell in cells])
        for number, cells in enumerate(
            csv.reader(io.StringIO(whole.decode("utf-8-sig", errors="replace"), newline="")), 1
        )
        if any(cell.strip() for cell in cells)
    ]
    if not lines or not {"tokens", "ms"} <= set(lines[0][1]):
        raise InputError(f"{source}: needs a header with the columns tokens and ms")
    at = [lines[0][1].index(name) for name in ("tokens", "ms")]
    rows = []
    for where, cells in lines[1:]:
        if len(cells) != len(lines[0][1]):
            raise InputError(f"{where}: has {len(cells)} cells and the header {len(lines[0][1])}")
        rows.append((cells[at[0]], cells[at[1]], where))
    if not rows:
        raise InputError(f"{source}: has no row under its header")
    return rows
