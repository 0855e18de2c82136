"""What the metric reader of offline runs returns, printed as it is or one figure a line."""

import ast
import re
from collections.abc import Iterator

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Sample
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.values import whole_number, whole_numbers
from gammaplan.engines.vllm import counters

MARKS = (b"spec_decode_num_",)
_OBJECT = re.compile(
    r"(?:Counter|Vector)\(name='([\w:]*spec_decode_num_\w+)', labels=(\{[^{}]*\}), "
    r"values?=(\[[^\]]*\]|[^\s,()]+)\)"
)
_LINE = re.compile(r"^\s*([\w:]*spec_decode_num_\w+) \((?:counter|vector)\) = (\[.*\]|\S+)\s*$")


def claims(line: bytes) -> bool:
    """A list of the reader's objects, or a figure as its example prints it."""
    text = line.decode("utf-8", "replace")
    return bool(_LINE.search(text) or _OBJECT.search(text))


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """The counters, added up like those of a metrics page."""
    samples: list[Sample] = []
    for line in matching(blocks, MARKS):
        if match := _LINE.search(line.text):
            figures = [(match[1], "{}", match[2])]
        else:
            figures = _OBJECT.findall(line.text)
        for name, labels, value in figures:
            found = list(_samples(name, labels, value))
            if not found:
                yield finding("bad_sample", name=name, value=f"{value:.40}")
            samples += found
        if not figures:
            yield Dropped("a figure of the metric reader", line.offset)
    yield from counters.read(samples)


def _samples(name: str, labels: str, value: str) -> Iterator[Sample]:
    """One sample, or one for each position of a vector; none for what is no count."""
    try:
        shared, figure = ast.literal_eval(labels), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return
    if (count := whole_number(figure)) is not None:
        yield Sample(name, shared, count)
    for position, count in enumerate(whole_numbers(figure) or ()):
        yield Sample(name, {**shared, "position": str(position)}, count)
