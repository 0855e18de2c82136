"""llama.cpp and its ik fork: server logs, responses, counters and the example programs."""

from gammaplan.engines.base import ExpositionFormat, JsonFormat, LogFormat, Word
from gammaplan.engines.llamacpp import console, log, metrics, timings

NAME = "llama.cpp"
ALIASES = ("llama-server", "ik_llama.cpp")
WORDS = (
    Word("draft acceptance", "pooled_rate"),
    Word("mean len", "mean_length"),
    Word("acc per pos", "survival"),
)
FORMATS = (
    LogFormat("llama-server-log", log.FORMAT_MARKS, log.read, log.claims),
    LogFormat("llama-server-log", log.TIMING_MARKS, log.read, log.claims_timing),
    LogFormat("llama-speculative-text", console.FORMAT_MARKS, console.read, console.claims),
    ExpositionFormat("llama-server-prom", metrics.FAMILIES, metrics.FAMILIES, metrics.read),
    JsonFormat("ik-llama-timings", timings.claims_depths, timings.read, general=True),
    JsonFormat("llama-server-timings", timings.claims, timings.read, general=True),
)
