"""Spec-Bench and EAGLE: answers with their steps, mostly of tree drafts, and a printed mean."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, JsonFormat, LogFormat, Record, Word
from gammaplan.engines.lines import Block, matching
from gammaplan.engines.responses import LONGEST_NAME
from gammaplan.engines.values import whole_numbers
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

NAME = "spec-bench"
ALIASES = ("eagle",)
WORDS = (Word("#Mean accepted tokens", "mean_length"),)
MARKS = (b"#Mean accepted tokens:",)
LONGEST = 4_096

_MEAN = re.compile(r"#Mean accepted tokens:\s*(\d{1,4}(?:\.\d{1,20})?|nan)\s*$")
_CHAIN = re.compile(r"(?:^|[-_.])(?:sps|pld)(?:[-_.]|$)", re.I)  # methods that draft no trees
_PLAIN = re.compile(r"(?:^|[-_.])(?:vanilla|baseline)(?:[-_.]|$)", re.I)


def _is_lengths(node: Mapping[str, Any]) -> bool:
    return "accept_lengths" in node or {"decoding_steps", "new_tokens"} <= node.keys()


def _is_loops(node: Mapping[str, Any]) -> bool:
    return {"idxs", "new_tokens"} <= node.keys()


def claims(value: Any) -> bool:  # Any: parsed JSON
    """An answer with the length of every step, or the number of steps."""
    return next(parts(value, _is_lengths), None) is not None


def claims_eagle(value: Any) -> bool:  # Any: parsed JSON
    """An answer with the last loop index of every turn."""
    return next(parts(value, _is_loops), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a choice; lengths and new tokens have the target's own token in them."""
    plain = number = 0
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        model = value.get("model_id") if isinstance(value, dict) else None
        model = model[:LONGEST_NAME] if isinstance(model, str) else ""
        for node, _ in parts(value, lambda n: _is_lengths(n) or _is_loops(n)):
            number += 1
            if _PLAIN.search(model):
                plain += 1
                continue
            name = str(value.get("question_id", number)) if isinstance(value, dict) else f"{number}"
            yield from _record(node, model, name[:LONGEST_NAME])
    if plain:
        yield finding("zero_drafts", records=f"{plain} answer{'s' * (plain > 1)} of the baseline")


def _record(node: Mapping[str, Any], model: str, name: str) -> Iterator[Item]:
    found = _steps(node)
    if isinstance(found, str):
        yield Dropped(f"answer {name}: {found}")
        return
    steps, tokens = found
    if not steps:
        yield finding("zero_drafts", records=f"answer {name}")
        return
    if tokens < steps:
        yield Dropped(f"answer {name}: {tokens} tokens in {steps} steps")
        return
    tree = not _CHAIN.search(model)
    if tree:
        yield finding("tree_draft")
        yield finding("gamma_unknown")
    group = {"model_name": model} if model else {}
    yield Record(Counts(steps, None, tokens - steps), group, "request", name, tree=tree)


def _steps(node: Mapping[str, Any]) -> tuple[int, int] | str:
    """The steps of a choice and the tokens that they gave."""
    if "accept_lengths" in node:
        lengths = whole_numbers(node["accept_lengths"])
        if lengths is None or 0 in lengths:
            return "its lengths are cut or no whole numbers of at least 1"
        return len(lengths), sum(lengths)
    tokens = _numbers(node["new_tokens"])
    steps = _numbers(node["decoding_steps"] if "decoding_steps" in node else node["idxs"])
    if tokens is None or steps is None or len(tokens) != len(steps):
        return "its steps and tokens are cut or no whole numbers"
    last = 0 if "decoding_steps" in node else 1  # an index is one less than a number
    return sum(steps) + last * len(steps), sum(tokens)


def _numbers(value: Any) -> list[int] | None:
    return whole_numbers(value if isinstance(value, list) else [value])


def read_text(blocks: Iterator[Block]) -> Iterator[Item]:
    """A printed mean: tokens per step, and no count of steps."""
    for line in matching(blocks, MARKS):
        match = _MEAN.search(line.text)
        if match is None or not line.whole:
            yield Dropped("a mean of accepted tokens", line.offset)
        elif match[1] == "nan":
            yield finding("nan_rate", records="a task")
        elif not 1 <= float(match[1]) <= LONGEST:
            yield Dropped(f"a mean of {match[1]} tokens per step", line.offset)
        else:
            yield finding("interval_average_only")
            yield Record(Counts(), average=(float(match[1]), 1.0))


FORMATS = (
    LogFormat("specbench-text", MARKS, read_text),
    JsonFormat("specbench-jsonl", claims, read),
    JsonFormat("eagle-jsonl", claims_eagle, read),
)
