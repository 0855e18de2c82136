"""In which order engines apply temperature and truncation, and where that was read."""

from typing import NamedTuple


class Order(NamedTuple):
    """The steps of one engine's sampler, first to last, and the source they were read in."""

    steps: tuple[str, ...]
    versions: str
    source: str


STEPS = ("temperature", "top_k", "top_p", "min_p")
ORDERS: dict[str, Order] = {
    "transformers": Order(
        ("temperature", "top_k", "top_p", "min_p"),
        "4.44 to 5.24",
        "huggingface/transformers: generation/utils.py, _get_logits_processor",
    ),
    "sglang": Order(
        ("temperature", "top_k", "top_p", "min_p"),
        "0.4.3 to 0.5.23, verification; plain sampling takes top-p before top-k has renormalised",
        "sgl-project/sglang: python/sglang/srt/speculative/, python/sglang/srt/layers/sampler.py",
    ),
    "vllm": Order(
        ("temperature", "min_p", "top_k", "top_p"),
        "V1, 0.8.3 to 0.33",
        "vllm-project/vllm: vllm/v1/sample/sampler.py",
    ),
    "llama.cpp": Order(
        ("top_k", "top_p", "min_p", "temperature"),
        "2024-11 to 2026-10, default --samplers",
        "ggml-org/llama.cpp: common/common.h, common_params_sampling",
    ),
    "mlx-lm": Order(
        ("top_p", "min_p", "top_k", "temperature"),
        "0.32",
        "ml-explore/mlx-lm: mlx_lm/sample_utils.py, make_sampler",
    ),
}
DEFAULT_ORDER = "transformers"
