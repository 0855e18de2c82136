"""Inputs as inference engines write them, made at random together with their counts.

Written from the formats of engines.md as of autumn 2026, independently of any reader.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from . import (
    exllama,
    guidellm,
    harnesses,
    llamacpp,
    lmdeploy,
    lmstudio,
    mlc,
    mlx,
    ollama,
    openvino,
    plain,
    sglang,
    tensorrt_llm,
    tgi,
    vllm,
)
from .truth import Sample, Truth

Generator = Callable[[random.Random], Sample]

ALL: dict[str, Generator] = {
    f"{engine}.{generator.__name__}": generator
    for engine, generators in (
        ("vllm", vllm.GENERATORS),
        ("sglang", sglang.GENERATORS),
        ("llama.cpp", llamacpp.GENERATORS),
        ("tensorrt-llm", tensorrt_llm.GENERATORS),
        ("lmdeploy", lmdeploy.GENERATORS),
        ("mlc-llm", mlc.GENERATORS),
        ("tgi", tgi.GENERATORS),
        ("exllama", exllama.GENERATORS),
        ("mlx", mlx.GENERATORS),
        ("lm-studio", lmstudio.GENERATORS),
        ("ollama", ollama.GENERATORS),
        ("openvino", openvino.GENERATORS),
        ("aiperf", harnesses.AIPERF),
        ("guidellm", guidellm.GENERATORS),
        ("dynamo", harnesses.DYNAMO),
        ("spec-bench", harnesses.SPEC_BENCH),
        ("plain", plain.GENERATORS),
    )
    for generator in generators
}

__all__ = ["ALL", "Generator", "Sample", "Truth"]
