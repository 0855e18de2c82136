"""LM Studio: drafted tokens by what became of them, in the SDK, REST responses and its log."""

from gammaplan.engines.base import JsonFormat, LogFormat, Word
from gammaplan.engines.lmstudio import log, stats

NAME = "lm-studio"
ALIASES = ("lms",)
WORDS: tuple[Word, ...] = ()
FORMATS = (
    LogFormat("lmstudio-log", (log.SNAKE, *log.HEADS), log.read, log.claims),
    LogFormat("lmstudio-log", (log.CAMEL, *log.HEADS), log.read, log.claims),
    JsonFormat("lmstudio-sdk-stats", stats.claims_sdk, stats.read),
    JsonFormat("lmstudio-rest", stats.claims, stats.read),
)
