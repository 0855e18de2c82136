"""TensorRT-LLM: iteration statistics, request metrics, counters, benchmarks."""

from gammaplan.engines.base import ExpositionFormat, JsonFormat, LogFormat, Word
from gammaplan.engines.tensorrt_llm import bench, counters, iterations, requests

NAME = "tensorrt-llm"
ALIASES = ("trtllm", "trt-llm")
WORDS = (
    Word("acceptanceLength", "mean_length"),
    Word("acceptance_rate", "pooled_rate"),
)
FORMATS = (
    LogFormat("trtllm-bench-text", bench.MARKS, bench.read_text),
    LogFormat("trtllm-iter-log", iterations.MARKS, iterations.read_log),
    ExpositionFormat("trtllm-prom", counters.PROOFS, counters.FAMILIES, counters.read),
    JsonFormat("trtllm-iter-stats", iterations.claims, iterations.read),
    JsonFormat("trtllm-perf-metrics", requests.claims_metrics, requests.read),
    JsonFormat("trtllm-response", requests.claims_response, requests.read),
    JsonFormat("trtllm-bench-json", bench.claims_json, bench.read_json),
)
