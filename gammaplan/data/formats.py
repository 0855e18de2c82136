"""Number formats of weights and caches: bytes of one number, and what computes with it."""

from typing import NamedTuple


class Format(NamedTuple):
    """Bits of one number with its scales; `computes` with that format, None with the dtype."""

    bits: float
    computes: str | None


DTYPES = {"bf16": 16.0, "fp16": 16.0, "fp32": 32.0, "fp8": 8.0, "int8": 8.0}
ACTIVATIONS = ("bf16", "fp16")
QUANTS = {
    "fp8": Format(8, "fp8"),
    "int8": Format(8, "int8"),
    "int4": Format(4.25, None),  # a 16-bit scale and zero point for 128 weights: AWQ, GPTQ
    "mxfp4": Format(4.25, None),  # 8 bits of scale for 32 weights (OCP microscaling)
    "nvfp4": Format(4.5, "fp4"),  # 8 bits of scale for 16 weights
    "q4_0": Format(4.5, None),  # llama.cpp: 18 bytes for 32 weights
    "q8_0": Format(8.5, None),  # llama.cpp: 34 bytes for 32 weights
    "q4_k_m": Format(4.85, None),  # llama.cpp, mean over the layers
    "mlx4": Format(4.5, None),  # mlx: 16-bit scale and bias for 64 weights
}
METHODS = {
    "awq": "int4", "gptq": "int4", "fp8": "fp8", "mxfp4": "mxfp4", "fbgemm_fp8": "fp8",
    "mlx4": "mlx4",
}  # fmt: skip
