"""Files of timed target passes: llama-bench, batched-bench, CSV and JSON of tokens and times."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gammaplan.errors import InputError
from gammaplan.model.passes import PassTimes, pass_times

MAX_POINTS, LARGEST = 1_000_000, 64 * 2**20
DELIMITERS = ",;\t"
NAMES = {
    "curve": "curve curve_id name model_type model_filename model",
    "batch": "batch batch_size bs num_seqs sequences",
    "context": "context ctx n_depth depth context_length",
    "tokens": "tokens n_tokens num_tokens n positions batch_tokens",
    "relative": "relative v ratio",
    "draft_ms": "draft_ms draft",
    "n_prompt": "n_prompt",
    "n_gen": "n_gen",
    "avg_ns": "avg_ns",
    "avg_ts": "avg_ts",
    "test": "test",
    "rate": "t/s",
    "pp": "pp",
    "tg": "tg",
    "pl": "pl b",
    "t_tg": "t_tg t_tg_s",
}
COLUMNS = {alias: name for name, aliases in NAMES.items() for alias in aliases.split()}
TIMES = {  # names of a time, and what makes it milliseconds
    **dict.fromkeys(["ms", "time_ms", "latency_ms", "step_ms", "pass_ms", "step_time_ms"], 1.0),
    **dict.fromkeys(["us", "time_us", "latency_us", "step_us", "step_time_us"], 1e-3),
    **dict.fromkeys(["s", "seconds", "time_s", "latency_s", "step_s", "step_time_s"], 1e3),
}
_TEST = re.compile(r"(pp|tg)\s*(\d{1,7})(?:\s*@\s*d\s*(\d{1,9}))?")


class Key(NamedTuple):
    """Which curve a point belongs to."""

    curve: str | None = None
    batch: int | None = None
    context: int | None = None


class Point(NamedTuple):
    """One timed pass. A `relative` time is in passes over one token."""

    tokens: int
    ms: float
    draft_ms: float | None = None
    relative: bool = False


@dataclass
class Curve:
    """The passes of one model at one batch and one context.

    With a batch the tokens are those of each sequence, without one those of
    the whole pass. `repeated` are the token counts that were timed more than once.
    """

    key: Key
    passes: PassTimes
    draft_ms: float | None = None
    relative: bool = False
    repeated: list[int] = field(default_factory=list)


def read_curves(path: str) -> list[Curve]:
    """The curves of a file, in the order of the file; - is standard input.

    Raises
    ------
    InputError
        If it holds no timed pass, or a row cannot be one; the message says where.
    """
    from gammaplan.engines.lines import named, open_stream

    stream, source = open_stream(path), named(path)
    try:
        whole = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
        text = whole.read(LARGEST + 1)
    finally:
        if path != "-":
            stream.close()
    if len(text) > LARGEST:
        raise InputError(f"{source}: is larger than a curve may be, {LARGEST:,} characters")
    if not text.strip():
        raise InputError(f"{source}: is empty; passes with their tokens and times were expected")
    by_key: dict[Key, list[Point]] = {}
    for count, (where, row) in enumerate(_rows(text, source)):
        if count >= MAX_POINTS:
            raise InputError(f"{source}: has more than {MAX_POINTS:,} passes")
        try:
            if (found := _point(row)) is not None:
                by_key.setdefault(found[0], []).append(found[1])
        except ValueError as error:
            raise InputError(f"{source}:{where}: {error}") from None
    if not by_key:
        raise InputError(
            f"{source}: holds no timed pass; a column of tokens and one of ms (or relative), or "
            "the output of llama-bench or llama-batched-bench, was expected"
        )
    try:
        return [_curve(key, points) for key, points in by_key.items()]
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None


def _curve(key: Key, points: list[Point]) -> Curve:
    relative = all(p.relative for p in points)
    kept = points if relative else _in_ms(points)
    if relative and not any(p.tokens == 1 for p in kept):
        kept = [Point(1, 1.0, None, True), *kept]  # what relative means
    counts = Counter(p.tokens for p in kept)
    drafts = [p.draft_ms for p in kept if p.draft_ms is not None]
    return Curve(
        key,
        pass_times((p.tokens, p.ms) for p in kept),
        math.fsum(drafts) / len(drafts) if drafts else None,
        relative,
        sorted(n for n, times in counts.items() if times > 1),
    )


def _in_ms(points: list[Point]) -> list[Point]:
    """Points of which some may be relative: to the timed pass over one token."""
    ones = [p.ms for p in points if p.tokens == 1 and not p.relative]
    if not ones and any(p.relative for p in points):
        raise ValueError(
            "some passes are in ms and others relative, and none in ms is over one token"
        )
    return [
        p._replace(ms=p.ms * math.fsum(ones) / len(ones), relative=False) if p.relative else p
        for p in points
        if not (p.relative and p.tokens == 1)
    ]


def _rows(text: str, source: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """(line, cells by column) of every row, whatever the form of the file."""
    lines = text.splitlines()
    first = next(line.lstrip() for line in lines if line.strip())
    if first[0] in "[{":
        return _json_rows(text, lines, source)
    if any(line.lstrip().startswith("{") for line in lines):
        return _json_lines(lines, source)
    if sum(line.lstrip().startswith("|") for line in lines) >= 3:
        return _markdown_rows(lines)
    return _csv_rows(lines, source)


def _json_rows(
    text: str, lines: list[str], source: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _json_lines(lines, source)
        return
    if isinstance(whole, dict) and isinstance(whole.get("tokens"), list):
        times = {name: whole[name] for name in whole if isinstance(whole[name], list)}
        rest = {name: value for name, value in whole.items() if name not in times}
        if len({len(values) for values in times.values()}) > 1:
            raise InputError(f"{source}: its lists have different lengths")
        for i in range(len(whole["tokens"])):
            yield f"item {i + 1}", rest | {name: values[i] for name, values in times.items()}
    elif isinstance(whole, dict) and all(str(key).isdecimal() for key in whole):
        for tokens, ms in whole.items():
            yield f"tokens {tokens}", {"tokens": tokens, "ms": ms}
    else:
        for i, row in enumerate(whole if isinstance(whole, list) else [whole], 1):
            yield f"item {i}", _object(row, source, f"item {i}")


def _json_lines(lines: list[str], source: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """One record a line; what a benchmark prints around them is passed over."""
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("{"):
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source}:{number}: is not JSON: {str(error)[:80]}") from None
        yield str(number), _object(row, source, str(number))


def _object(row: object, source: str, where: str) -> Mapping[str, object]:
    if not isinstance(row, dict):
        raise InputError(f"{source}:{where}: holds {type(row).__name__}, where a pass is an object")
    if str(row.get("schema", "")).startswith("gammaplan."):
        raise InputError(f"{source}: is a gammaplan document; give it as evidence, not as a curve")
    return row


def _markdown_rows(lines: list[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Rows of a Markdown table; a new header starts a new table."""
    names: list[str] = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            names = []
        elif not names:
            names = cells
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            yield str(number), dict(zip(names, cells, strict=False))


def _csv_rows(lines: list[str], source: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    kept = [(n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    if not kept:
        raise InputError(f"{source}: holds only comments")
    delimiter = max(DELIMITERS, key=kept[0][1].count)
    try:
        table = list(csv.reader((line for _, line in kept), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{source}: is not CSV: {error}") from None
    names = [name.strip() for name in table[0]]
    bare = len(names) == 2 and all(re.fullmatch(r"\d+(\.\d*)?", name) for name in names)
    start = 0 if bare else 1
    names = ["tokens", "ms"] if bare else names
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise InputError(f"{source}: two columns are called {twice}")
    if len(table) != len(kept):
        raise InputError(f"{source}: a cell goes over several lines")
    for (number, _), cells in list(zip(kept, table, strict=True))[start:]:
        if len(cells) != len(names):
            raise InputError(
                f"{source}:{number}: has {len(cells)} cells and the header {len(names)}"
            )
        yield str(number), dict(zip(names, cells, strict=True))


def _point(row: Mapping[str, object]) -> tuple[Key, Point] | None:
    """The pass of one row; None where it times something else (a prompt and its answer)."""
    cells, ms = {}, None
    for column, value in row.items():
        plain = re.sub(r"[^a-z0-9/]+", "_", column.lower()).strip("_")
        if value in (None, ""):
            continue
        if plain in TIMES and ms is None:
            ms = _number(column, value) * TIMES[plain]
        elif (name := COLUMNS.get(plain)) is not None and name not in cells:
            cells[name] = value
    said = str(cells.get("context", ""))
    context = int(said) if said.isdecimal() else None
    batch = _whole("batch", cells["batch"], 1) if "batch" in cells else None
    curve = str(cells["curve"]) if "curve" in cells else None
    if {"pp", "tg", "pl", "t_tg"} <= cells.keys():  # batched-bench: as many tokens as sequences
        steps, time = _whole("tg", cells["tg"]), _number("t_tg", cells["t_tg"])
        if not steps:
            return None
        key = Key(curve, None, _whole("pp", cells["pp"]))
        return key, Point(_whole("B", cells["pl"], 1), _time(1e3 * time / steps))
    if found := _llama_bench(cells):
        tokens, ms, depth = found
        return Key(curve, batch, context if depth is None else depth), Point(tokens, _time(ms))
    if "test" in cells or "n_prompt" in cells:
        return None
    if "tokens" not in cells:
        raise ValueError(f"no column says the tokens of a pass (there are {', '.join(row)[:80]})")
    tokens = _whole("tokens", cells["tokens"], 1)
    draft = _number("draft_ms", cells["draft_ms"]) if "draft_ms" in cells else None
    if ms is None and "relative" in cells:
        return Key(curve, batch, context), Point(
            tokens, _time(_number("relative", cells["relative"])), draft, True
        )
    if ms is None:
        raise ValueError(f"no time of the pass over {tokens} token(s)")
    return Key(curve, batch, context), Point(tokens, _time(ms), draft)


def _llama_bench(cells: Mapping[str, object]) -> tuple[int, float, int | None] | None:
    """(tokens, ms, depth) of a test of a prompt (one pass over it) or of single tokens."""
    if (match := _TEST.fullmatch(str(cells.get("test", "")))) and "rate" in cells:
        tokens = int(match[2]) if match[1] == "pp" else 1
        rate = _number("t/s", str(cells["rate"]).split("±")[0].strip())
        if tokens < 1 or not rate > 0:
            raise ValueError(f"{match[0]} at {cells['rate']} t/s times no pass")
        return tokens, 1e3 * tokens / rate, int(match[3]) if match[3] else None
    if not {"n_prompt", "n_gen"} <= cells.keys():
        return None
    prompt, generated = _whole("n_prompt", cells["n_prompt"]), _whole("n_gen", cells["n_gen"])
    if (prompt > 0) == (generated > 0):
        return None
    many = prompt or generated
    if "avg_ns" in cells:
        time = _number("avg_ns", cells["avg_ns"]) / 1e6
    elif "avg_ts" in cells and _number("avg_ts", cells["avg_ts"]) > 0:
        time = 1e3 * many / _number("avg_ts", cells["avg_ts"])
    else:
        raise ValueError("neither avg_ns nor avg_ts says how long the test took")
    return (prompt, time, None) if prompt else (1, time / generated, None)


def _number(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) or "_" in str(value) else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!s:.40}, not a number")
    return number


def _whole(name: str, value: object, least: int = 0) -> int:
    number = _number(name, value)
    if number != int(number) or not least <= number < 2**53:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!s:.40}")
    return int(number)


def _time(ms: float) -> float:
    if not ms > 0:
        raise ValueError(f"the time of a pass must be above 0, got {ms:g}")
    return ms
