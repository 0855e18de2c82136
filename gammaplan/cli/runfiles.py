"""Files of measured runs: CSV, JSON lines, SGLang's and vLLM's benchmark records."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from gammaplan.cli.runfields import BadRow, Field, field_of, figures
from gammaplan.errors import InputError

MAX_RUNS = 2_000_000
DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """One row of a runs file: where it stands, and its figures in our words."""

    where: str
    figures: dict[str, object]


class RunsFile(NamedTuple):
    """What a runs file holds, and how its columns were understood."""

    rows: list[Row]
    mapped: dict[str, str]
    ignored: list[str]


def read_runs(path: str) -> RunsFile:
    """The rows of a runs file; - is standard input."""
    from gammaplan.engines.lines import named, open_stream

    stream = open_stream(path)
    try:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
        blank, first = 0, ""
        for first in text:
            if first.strip():
                break
            blank += 1
        if not first.strip():
            raise InputError(f"{named(path)}: is empty; a CSV file or JSON lines were expected")
        lines = chain([first], text)
        if first.lstrip()[0] in "{[":
            rows = _json_rows(lines, named(path), blank + 1)
        else:
            rows = _csv_rows(lines, named(path), blank + 1)
        return _understood(rows, named(path))
    finally:
        if path != "-":
            stream.close()


def _csv_rows(
    lines: Iterator[str], source: str, start: int
) -> Iterator[tuple[str, dict[str, object]]]:
    numbered = enumerate(lines, start)
    at, header = next(
        ((n, line) for n, line in numbered if line.strip() and not line.startswith("#")), (0, "")
    )
    delimiter = max(DELIMITERS, key=header.count)
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise InputError(f"{source}: two columns are called {twice or 'nothing'}")
        rows = csv.reader(lines, delimiter=delimiter)
        for cells in rows:
            where = f":{at + rows.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{source}{where}: has {len(cells)} cells and the header {len(names)}"
                )
            yield where, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{source}: is not CSV: {error}") from None


def _json_rows(
    lines: Iterator[str], source: str, start: int
) -> Iterator[tuple[str, dict[str, object]]]:
    """Records one a line, or one document: an object, or a list of objects."""
    first = next(lines)
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        yield from _records("".join([first, *lines]), source, "")
        return
    for number, line in enumerate(chain([first], lines), start):
        if line.strip():
            yield from _records(line, f"{source}:{number}", f":{number}")


def _records(text: str, place: str, where: str) -> Iterator[tuple[str, dict[str, object]]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: is not JSON: {str(error)[:80]}") from None
    several = isinstance(whole, list)
    for i, item in enumerate(whole if several else [whole], 1):
        if not isinstance(item, dict):
            raise InputError(f"{place}: holds {type(item).__name__}, where a run is an object")
        if str(item.get("schema", "")).startswith("gammaplan."):
            raise InputError(f"{place}: is a gammaplan document; give it as evidence, not as runs")
        yield (f"{where}: record {i}" if several else where), _bench(item)


def _bench(record: dict[str, object]) -> dict[str, object]:
    """A record of a benchmark in columns that say what they hold; any other as it is.

    vLLM's `bench serve`: the time per output token of one stream is the speed (throughput is
    bounded by the rate of the requests, and is used where there is no time). SGLang's
    `bench_speculative`: its `steps` are the draft length, `topk` above 1 is a tree.
    """
    timed = "mean_tpot_ms" in record
    if "output_throughput" in record and (timed or "spec_decode_acceptance_length" in record):
        speed = "mean_tpot_ms" if timed else "output_throughput"
        drafts, drafted = record.get("spec_decode_num_drafts"), None
        rates = record.get("spec_decode_per_position_acceptance_rates")
        gamma = len(rates) if isinstance(rates, list) else 0
        if isinstance(drafts, int | float) and drafts > 0:
            total = record.get("spec_decode_draft_tokens")
            drafted = total / drafts if isinstance(total, int | float) else None
            gamma = gamma or round(drafted or 0)
        return {
            "gamma": gamma,
            speed: record[speed],
            "mean_length": record.get("spec_decode_acceptance_length") if gamma else None,
            "survival": rates if gamma else None,
            "drafted_per_round": min(drafted, gamma) if drafted and gamma else None,
            "max_concurrency": record.get("max_concurrency"),
        }
    if "acc_length" in record and "steps" in record:
        kept = ("steps", "batch_size", "topk", "throughput", "acc_length")
        row = {name: record.get(name) for name in kept}
        return row if row["steps"] else {**row, "acc_length": None}
    return record


def _understood(rows: Iterator[tuple[str, dict[str, object]]], source: str) -> RunsFile:
    fields: dict[str, Field | None] = {}
    found = []
    for where, row in rows:
        for column in row:
            if column not in fields:
                fields[column] = field_of(column)
        try:
            found.append(Row(f"{source}{where}", figures(row, fields)))
        except BadRow as error:
            raise InputError(f"{source}{where}: {error}") from None
        if len(found) > MAX_RUNS:
            raise InputError(f"{source}: has more than {MAX_RUNS:,} runs")
    if not found:
        raise InputError(f"{source}: has a header and no run below it")
    mapped = {column: field.name for column, field in fields.items() if field}
    return RunsFile(found, mapped, [column for column, field in fields.items() if not field])
