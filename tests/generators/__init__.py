"""Inputs as inference engines write them, made at random together with their counts.

Written from the formats of engines.md as of autumn 2026, independently of any reader.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from . import llamacpp, plain, sglang, tensorrt_llm, vllm
from .truth import Sample, Truth

Generator = Callable[[random.Random], Sample]

ALL: dict[str, Generator] = {
    f"{engine}.{generator.__name__}": generator
    for engine, generators in (
        ("vllm", vllm.GENERATORS),
        ("sglang", sglang.GENERATORS),
        ("llama.cpp", llamacpp.GENERATORS),
        ("tensorrt-llm", tensorrt_llm.GENERATORS),
        ("plain", plain.GENERATORS),
    )
    for generator in generators
}

__all__ = ["ALL", "Generator", "Sample", "Truth"]
