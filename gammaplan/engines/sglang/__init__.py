"""SGLang: decode log, responses, counters and gauges, server information, benchmarks."""

from gammaplan.engines.base import ExpositionFormat, JsonFormat, LogFormat, Word
from gammaplan.engines.sglang import averages, counters, log, requests

NAME = "sglang"
ALIASES: tuple[str, ...] = ()
WORDS = (
    Word("accept len", "mean_length"),
    Word("accept rate", "pooled_rate", "from 0.5.11"),
    Word("accept rate, 0.5.4..10", "rate_with_bonus"),
)
FORMATS = (
    LogFormat("sglang-decode-log", log.MARKS, log.read, log.claims),
    LogFormat("sglang-bench-serving", averages.BENCH_MARKS, averages.read_bench_text),
    ExpositionFormat(
        "sglang-prom", counters.PROOFS, counters.FAMILIES, counters.read, counters.SETTINGS
    ),
    JsonFormat("sglang-meta-info", requests.claims_meta_info, requests.read),
    JsonFormat("sglang-openai-sglext", requests.claims_sglext, requests.read),
    JsonFormat("sglang-server-info", averages.claims_server_info, averages.read_server_info),
    JsonFormat("sglang-bench-serving-json", averages.claims_bench, averages.read_bench_json),
)
