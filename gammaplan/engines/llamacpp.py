"""llama.cpp."""

from gammaplan.engines.base import Word

NAME = "llama.cpp"
WORDS = (
    Word("draft acceptance", "pooled_rate"),
    Word("mean len", "mean_length"),
    Word("acc per pos", "survival"),
)
