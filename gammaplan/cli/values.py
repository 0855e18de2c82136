"""Option values: text in, checked numbers out; each failure says what was required and given.

The option's own name is put in front where the error is printed, so every
message here starts with "must".
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from decimal import Decimal

MAX_ROWS, MAX_BATCHES = 10_000, 512
LONGEST = 2**53  # every whole number up to here is a double
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Numbers(tuple[float, ...]):
    """The numbers of a list option, in the order given."""


class Lengths(tuple[int, ...]):
    """The draft lengths of a list option, in the order given."""


def refuse(required: str, given: str, remedy: str = "") -> typer.BadParameter:
    """The error for a value that is not what was required."""
    return typer.BadParameter(f"must be {required}, got {given.strip() or 'nothing'}{remedy}")


def number(text: str) -> float:
    """A finite real number, in decimal or scientific notation."""
    return _scalar(text, "a number")


def fraction(text: str) -> float:
    """A probability: 0.8, or 80 % with its sign."""
    required = "a fraction in [0, 1]"
    value = _scalar(text, required, percent=True)
    if not 0 <= value <= 1:
        remedy = f" ({value:g} % is {value / 100:g})" if 1 < value <= 100 else ""
        raise refuse(required, text, remedy)
    return value


def tolerance(text: str) -> float:
    """A share that may be lost: 0.03, or 3 % with its sign."""
    required = "a fraction in [0, 1)"
    value = _scalar(text, required, percent=True)
    if not 0 <= value < 1:
        remedy = f" ({value:g} is {value * 100:g} %; write {value:g}% or {value / 100:g})"
        raise refuse(required, text, remedy if 1 <= value < 100 and "%" not in text else "")
    return value


def non_negative(text: str) -> float:
    """A finite number, 0 or more."""
    required = "a number of at least 0"
    value = _scalar(text, required)
    if not value >= 0:
        raise refuse(required, text)
    return value


def positive(text: str) -> float:
    """A finite number above 0."""
    required = "a number above 0"
    value = _scalar(text, required)
    if not value > 0:
        raise refuse(required, text)
    return value


def duration(text: str) -> float:
    """A length of time in seconds: 30, 30s, 5m, 6h, 2d."""
    required = "a time above 0 s and up to 366d, like 30, 30s, 5m or 6h"
    plain = text.strip()
    unit = SECONDS.get(plain[-1:], 0)
    value = _scalar(plain[:-1] if unit else plain, required) * (unit or 1)
    if not 0 < value <= 366 * SECONDS["d"]:
        raise refuse(required, text)
    return value


def length(text: str) -> int:
    """One draft length: a whole number, 0 or more."""
    return _whole(_decimal(text, "a whole number of at least 0"), text)


def count(text: str) -> int:
    """A number of things: whole, 1 or more."""
    required = "a whole number of at least 1"
    value = _decimal(text, required)
    if value < 1 or value != value.to_integral_value():
        raise refuse(required, text)
    return _whole(value, text)


def listed_length(text: str) -> int:
    """One draft length whose positions are all shown."""
    value = length(text)
    if value > MAX_ROWS:
        raise refuse(f"at most {MAX_ROWS:,}", text)
    return value


def lengths(text: str) -> Lengths:
    """Draft lengths: 4, 1,2,4 or 1..12."""
    return Lengths(
        _whole(value, text) for value in number_list(text, "whole numbers like 4, 1,2,4 or 1..12")
    )


def counted(text: str) -> int:
    """A whole number, 1 or more."""
    value = length(text)
    if value < 1:
        raise refuse("a whole number of at least 1", text)
    return value


def batches(text: str) -> Lengths:
    """Batch sizes in order: 1,2,4 or 1..16; each once."""
    sizes = lengths(text)
    if min(sizes) < 1:
        raise refuse("batch sizes of at least 1", text)
    if len(set(sizes)) < len(sizes):
        raise refuse("batch sizes that differ", text)
    if len(sizes) > MAX_BATCHES:
        raise refuse(f"at most {MAX_BATCHES:,} batch sizes", text)
    return Lengths(sorted(sizes))


def count_list(text: str) -> Lengths:
    """Counts of rounds: 39,1,0,3."""
    return lengths(text)


def fractions(text: str) -> Numbers:
    """Probabilities: 0.9,0.8 or 0.5..0.9:0.05."""
    values = number_list(text, "fractions like 0.8, 0.9,0.8 or 0.5..0.9:0.05", percent=True)
    for value in values:
        fraction(str(value))
    return Numbers(float(v) for v in values)


def costs(text: str) -> Numbers:
    """Cost ratios: 0.01,0.1 or 0.05..0.2:0.05."""
    values = number_list(text, "numbers like 0.1, 0.01,0.1 or 0.05..0.2:0.05")
    for value in values:
        non_negative(str(value))
    return Numbers(float(v) for v in values)


def choice(*allowed: str) -> Callable[[str], str]:
    """A parser of one of these words."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise refuse(f"one of {', '.join(allowed)}", text)
        return text

    return parse


def plot_file(text: str) -> str:
    """A file whose ending says what to draw, or - for the terminal."""
    if text != "-" and not text.lower().endswith((".svg", ".png", ".pdf")):
        raise refuse("a file that ends in .svg, .png or .pdf, or -", text)
    return text


def _scalar(text: str, required: str, *, percent: bool = False) -> float:
    """One finite number; the decimal module is loaded only for a percent sign."""
    plain = text.strip()
    if percent and plain.endswith("%"):
        return float(_decimal(text, required, percent=True))
    try:
        value = math.nan if "_" in plain else float(plain)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise refuse(required, text)
    return value


def _decimal(text: str, required: str, *, percent: bool = False) -> "Decimal":
    from decimal import Decimal, InvalidOperation

    plain = text.strip()
    scale = Decimal(1)
    if percent and plain.endswith("%"):
        plain, scale = plain[:-1].strip(), Decimal(100)
    try:
        if "_" in plain:
            raise InvalidOperation
        value = Decimal(plain) / scale
    except InvalidOperation:
        raise refuse(required, text) from None
    if not value.is_finite() or math.isinf(float(value)):
        raise refuse(required, text)
    return value


def _whole(value: "Decimal", text: str) -> int:
    if value != value.to_integral_value() or value < 0:
        raise refuse(
            "a whole number of at least 0"
            if "," not in text and ".." not in text
            else "whole numbers of at least 0",
            text,
        )
    if value > LONGEST:
        raise refuse(f"at most {LONGEST:,}", text)
    return int(value)


def number_list(text: str, required: str, *, percent: bool = False) -> "list[Decimal]":
    """The numbers of a list such as 4, 1,2,4 or 0.5..0.9:0.05."""
    values: list[Decimal] = []
    for item in text.split(","):
        if not item.strip():
            raise refuse(required, text)
        values += _range(item, required, text, percent=percent)
        if len(values) > MAX_ROWS:
            raise refuse(f"at most {MAX_ROWS:,} values", text)
    return values


def _range(item: str, required: str, text: str, *, percent: bool) -> "list[Decimal]":
    """The values of ``first..last:step``, both ends included; or the one value."""
    if ".." not in item:
        return [_decimal(item, required, percent=percent)]
    ends, _, by = item.partition(":")
    first, last = (_decimal(end, required, percent=percent) for end in ends.split("..", 1))
    step = _decimal(by or "1", required, percent=percent and bool(by))
    if step <= 0:
        raise refuse("a range with a step above 0", text)
    if last < first:
        raise refuse("a range that rises", text, f"; write {last}..{first}")
    steps = (last - first) / step
    if steps >= MAX_ROWS:
        raise refuse(f"at most {MAX_ROWS:,} values", text)
    return [first + step * i for i in range(int(steps) + 1)]
