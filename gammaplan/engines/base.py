"""What an engine is to gammaplan, and which engines there are."""

from collections.abc import Iterator
from importlib import import_module
from typing import Literal, NamedTuple

Quantity = Literal[
    "mean_length", "accepted_per_round", "pooled_rate", "survival", "hazards", "rate_with_bonus"
]

ENGINES = ("vllm", "sglang", "llamacpp", "tensorrt_llm")


class Word(NamedTuple):
    """One figure that an engine prints: its label, our name for it, and what to know of it."""

    label: str
    quantity: Quantity
    note: str = ""


def words() -> Iterator[tuple[str, tuple[Word, ...]]]:
    """The words of every engine, by the engine's own name."""
    for module in ENGINES:
        engine = import_module(f"gammaplan.engines.{module}")
        yield engine.NAME, engine.WORDS
