"""TensorRT-LLM."""

from gammaplan.engines.base import Word

NAME = "tensorrt-llm"
WORDS = (
    Word("acceptanceLength", "mean_length"),
    Word("acceptance_rate", "pooled_rate"),
)
