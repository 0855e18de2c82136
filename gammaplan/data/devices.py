"""Devices as their vendors state them: dense speeds, 32-bit accumulation where both are given.

`date` is the day on which the vendor announced the device, `source` the vendor's document. Every
figure was compared on 2026-11-30 with public pages that quote it; docs/roofline.md says with which.
A speed that no page gives as the vendor's own is left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

TERA, GIGA = 1e12, 1e9


class Device(NamedTuple):
    """A device: bandwidth [bytes/s], memory [bytes], matrix speed by number format [1/s]."""

    name: str
    vendor: str
    bandwidth: float
    memory: float
    flops: Mapping[str, float]
    source: str
    date: str


def _row(
    name: str,
    vendor: str,
    gb_s: float,
    gb: float,
    tflops: Mapping[str, float],
    source: str,
    date: str,
) -> Device:
    flops = {dtype: value * TERA for dtype, value in tflops.items()}
    return Device(name, vendor, gb_s * GIGA, gb * GIGA, flops, source, date)


def _both(value: float, **others: float) -> dict[str, float]:
    """One speed for both 16-bit formats."""
    return {"bf16": value, "fp16": value, **others}


_ADA = "NVIDIA Ada GPU Architecture, whitepaper, appendix A"
_AMPERE = "NVIDIA Ampere GA102 GPU Architecture, whitepaper, appendix A"
_BLACKWELL = "NVIDIA RTX Blackwell GPU Architecture, whitepaper, appendix"
_M4 = "Apple newsroom: Apple introduces M4 Pro and M4 Max (no matrix speed is stated)"

ROWS = (
    _row("a100-40gb", "NVIDIA", 1555, 40, _both(312, int8=624),
         "NVIDIA A100 Tensor Core GPU datasheet, A100 40GB SXM", "2020-05-14"),
    _row("a100-sxm", "NVIDIA", 2039, 80, _both(312, int8=624),
         "NVIDIA A100 Tensor Core GPU datasheet, A100 80GB SXM", "2020-11-16"),
    _row("h100-pcie", "NVIDIA", 2000, 80, _both(756, fp8=1513, int8=1513),
         "NVIDIA H100 Tensor Core GPU datasheet, H100 PCIe", "2022-03-22"),
    _row("h100-sxm", "NVIDIA", 3350, 80, _both(989.4, fp8=1978.9, int8=1978.9),
         "NVIDIA H100 Tensor Core GPU datasheet, H100 SXM", "2022-03-22"),
    _row("h200-sxm", "NVIDIA", 4800, 141, _both(989.4, fp8=1978.9, int8=1978.9),
         "NVIDIA H200 Tensor Core GPU datasheet, H200 SXM", "2023-11-13"),
    _row("b200", "NVIDIA", 8000, 180, _both(2250, fp8=4500, fp4=9000),
         "NVIDIA DGX B200 datasheet, an eighth of the system", "2024-03-18"),
    _row("b300", "NVIDIA", 8000, 288, _both(2250, fp8=4500),
         "NVIDIA DGX B300 datasheet, an eighth of the system", "2025-03-18"),
    _row("l4", "NVIDIA", 300, 24, _both(121, fp8=242.5, int8=242.5),
         "NVIDIA L4 Tensor Core GPU datasheet", "2023-03-21"),
    _row("l40s", "NVIDIA", 864, 48, _both(362, fp8=733, int8=733),
         "NVIDIA L40S GPU datasheet", "2023-08-08"),
    _row("a10", "NVIDIA", 600, 24, _both(125, int8=250),
         "NVIDIA A10 Tensor Core GPU datasheet", "2021-04-12"),
    _row("t4", "NVIDIA", 320, 16, {"fp16": 65, "int8": 130},
         "NVIDIA T4 Tensor Core GPU datasheet", "2018-09-12"),
    _row("rtx-3090", "NVIDIA", 936, 24, _both(71, int8=284), _AMPERE, "2020-09-01"),
    _row("rtx-4090", "NVIDIA", 1008, 24, _both(165.2, fp8=330.3, int8=660.6), _ADA, "2022-09-20"),
    _row("rtx-5090", "NVIDIA", 1792, 32, _both(209.5, fp8=419, int8=838, fp4=1676),
         _BLACKWELL, "2025-01-06"),
    _row("mi300x", "AMD", 5300, 192, _both(1307.4, fp8=2614.9, int8=2614.9),
         "AMD Instinct MI300X accelerator data sheet", "2023-12-06"),
    _row("mi325x", "AMD", 6000, 256, _both(1307.4, fp8=2614.9, int8=2614.9),
         "AMD Instinct MI325X accelerator data sheet", "2024-10-10"),
    _row("mi355x", "AMD", 8000, 288, _both(2516.6, fp8=5033.2, int8=5033.2, fp4=10066.3),
         "AMD Instinct MI355X GPU data sheet", "2025-06-12"),
    _row("rx-7900-xtx", "AMD", 960, 24, _both(122.8),
         "AMD Radeon RX 7900 XTX product page", "2022-11-03"),
    _row("m1-max", "Apple", 400, 64, {"fp16": 10.4},
         "Apple event, M1 Max (32-bit speed)", "2021-10-18"),
    _row("m1-ultra", "Apple", 800, 128, {},
         "Apple newsroom: Apple unveils M1 Ultra (no matrix speed is stated)", "2022-03-08"),
    _row("m2", "Apple", 100, 24, {},
         "Apple newsroom: Apple unveils M2 (no matrix speed is stated)", "2022-06-06"),
    _row("m3-ultra", "Apple", 819, 512, {},
         "Apple newsroom: Apple reveals M3 Ultra (no matrix speed is stated)", "2025-03-05"),
    _row("m4", "Apple", 120, 32, {},
         "Apple newsroom: Apple introduces M4 chip, and M4 Pro and M4 Max for its memory "
         "(no matrix speed is stated)", "2024-05-07"),
    _row("m4-pro", "Apple", 273, 64, {}, _M4, "2024-10-30"),
    _row("m4-max", "Apple", 546, 128, {}, _M4, "2024-10-30"),
)  # fmt: skip
DEVICES = {row.name: row for row in ROWS}
