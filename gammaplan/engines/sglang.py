"""SGLang."""

from gammaplan.engines.base import Word

NAME = "sglang"
WORDS = (
    Word("accept len", "mean_length"),
    Word("accept rate", "pooled_rate", "from 0.5.11"),
    Word("accept rate, 0.5.4..10", "rate_with_bonus"),
)
