"""vLLM: V1 log and counters, per-request metrics, benchmarks, and the V0 engine."""

from gammaplan.engines.base import ExpositionFormat, JsonFormat, LogFormat, Word
from gammaplan.engines.vllm import counters, diffusion, log, reader, reports, requests, v0

NAME = "vllm"
ALIASES: tuple[str, ...] = ()
WORDS = (
    Word("Mean acceptance length", "mean_length", "0.8.5: less 1"),
    Word("Draft acceptance rate", "pooled_rate"),
    Word("Per-position acceptance rate", "survival"),
)
FORMATS = (
    LogFormat("vllm-v1-log", log.MARKS, log.read, log.claims, log.read_fast, log.ends, True),
    LogFormat("vllm-v0-log", v0.MARKS, v0.read_log),
    LogFormat("vllm-bench-serve-text", reports.BENCH_MARKS, reports.read_bench_text),
    LogFormat("vllm-offline-example", reports.OFFLINE_MARKS, reports.read_offline),
    LogFormat("vllm-metric-reader", reader.MARKS, reader.read, reader.claims),
    LogFormat("vllm-diffusion-log", diffusion.MARKS, diffusion.read),
    ExpositionFormat("vllm-v1-prom", ("spec_decode_num_drafts",), counters.FAMILIES, counters.read),
    ExpositionFormat("vllm-v0-prom", v0.PROOFS, v0.FAMILIES, v0.read_exposition),
    JsonFormat("vllm-per-request", requests.claims, requests.read),
    JsonFormat("vllm-bench-serve-json", reports.claims_bench, reports.read_bench_json),
)
