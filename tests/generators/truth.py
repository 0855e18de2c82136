"""What a generator knows about the input it wrote: the answer sheet of the readers' tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Engine = Literal[
    "vllm",
    "sglang",
    "llama.cpp",
    "tensorrt-llm",
    "lmdeploy",
    "mlc-llm",
    "tgi",
    "exllama",
    "mlx",
    "lm-studio",
    "ollama",
    "openvino",
    "aiperf",
    "dynamo",
    "guidellm",
    "spec-bench",
    "plain",
]


@dataclass(frozen=True, slots=True)
class Truth:
    """Counts in the notation of engines.md section 1; None: the format does not determine it.

    `rounds` follows the engine's own counter (a few formats count steps without a draft in it);
    `mean_length` has the bonus token in it, whatever the engine prints. `alpha` is the point where
    it follows from the length alone; `hidden_alpha` is what the rounds would give where the format
    only bounds it; `pooled_rate` is A/D where nothing else is printed; `refused`: no point is owed.
    """

    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_at_least: tuple[int, ...] | None = None
    drafted_at_least: tuple[int, ...] | None = None
    full_accepts: int | None = None
    rejections: int | None = None
    gamma: int | None = None
    mean_length: float | None = None
    alpha: float | None = None
    hidden_alpha: float | None = None
    pooled_rate: float | None = None
    refused: bool = False


Group = tuple[dict[str, str], Truth]


@dataclass(frozen=True, slots=True)
class Sample:
    """One generated input, the figures a reader owes for it and the findings it must raise."""

    name: str
    engine: Engine
    data: bytes
    groups: tuple[Group, ...]
    total: Truth | None
    dropped: int = 0
    codes: frozenset[str] = frozenset()
    before: bytes | None = None
    exact: bool = True


def pooled(
    name: str,
    engine: Engine,
    data: bytes,
    total: Truth,
    *,
    codes: Iterable[str] = (),
    dropped: int = 0,
    before: bytes | None = None,
    exact: bool = True,
) -> Sample:
    """A sample whose records all add up to one group."""
    found = frozenset(codes) | total_codes(total) | ({"truncated_line"} if dropped else set())
    return Sample(name, engine, data, (({}, total),), total, dropped, found, before, exact)


def grouped(
    name: str,
    engine: Engine,
    data: bytes,
    groups: Iterable[Group],
    *,
    codes: Iterable[str] = (),
    dropped: int = 0,
    exact: bool = True,
) -> Sample:
    """A sample whose groups must not be added up, so that it has no total."""
    found = frozenset(codes) | ({"truncated_line"} if dropped else set())
    return Sample(name, engine, data, tuple(groups), None, dropped, found, None, exact)


def total_codes(total: Truth) -> frozenset[str]:
    """Findings that follow from the pooled counts alone."""
    codes = set()
    if total.rounds is not None and 0 < total.rounds < 30:
        codes.add("few_drafts")
    if total.accepted == 0 and total.drafted:
        codes.add("zero_accepted")
    if total.drafted and total.rounds is not None and total.gamma is not None:
        codes |= {"variable_draft_length"} if total.drafted < total.rounds * total.gamma else set()
    return frozenset(codes)
