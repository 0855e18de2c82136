"""vLLM."""

from gammaplan.engines.base import Word

NAME = "vllm"
WORDS = (
    Word("Mean acceptance length", "mean_length", "0.8.5: less 1"),
    Word("Draft acceptance rate", "pooled_rate"),
    Word("Per-position acceptance rate", "survival"),
)
