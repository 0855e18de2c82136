"""mlx-lm and mlx-vlm: tokens that say whether they were drafted, and a server's timings."""

from gammaplan.engines.base import JsonFormat, Word
from gammaplan.engines.mlx import timings, tokens

NAME = "mlx"
ALIASES = ("mlx-lm", "mlx-vlm")
WORDS: tuple[Word, ...] = ()
FORMATS = (
    JsonFormat("mlx-from-draft", tokens.claims, tokens.read),
    JsonFormat("mlx-vlm-timings", timings.claims, timings.read),
)
