"""Bytes of a file as floating-point numbers: 64 bits as float64, 16 and 32 bits as float32."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammaplan.model.sampling import Reals

BFLOAT16 = "bfloat16"
READABLE = "float64, float32, float16 or bfloat16"
_HALF_TOP = 65536.0  # where the bits of a half infinity land; above it lie its NaNs


def itemsize(dtype: str) -> int:
    """Bytes of one element."""
    return 2 if dtype == BFLOAT16 else np.dtype(dtype).itemsize


def precision(dtype: str) -> Any:  # Any: a floating type of numpy's
    """The type that elements are computed in."""
    return np.float64 if itemsize(dtype) == 8 else np.float32


def widen(raw: NDArray[np.uint8], dtype: str, out: Reals) -> None:
    """Fill `out` with the numbers that `raw` holds.

    Halves are widened by moving their bits, which is several times faster than
    numpy's cast: sign and mantissa keep their places at the top, and a factor of
    2**112 puts the exponent right. Infinities and NaN, which that maps to 65536
    and more, are left to the cast.
    """
    if dtype == BFLOAT16:
        bits = out.view(np.uint32)
        np.copyto(bits, raw.view("<u2").reshape(out.shape))
        np.left_shift(bits, 16, out=bits)
    elif np.dtype(dtype) == np.dtype("<f2"):
        halves = raw.view("<i2").reshape(out.shape)
        moved = out.view(np.int32)
        np.copyto(moved, halves)
        np.left_shift(moved, 13, out=moved)
        np.bitwise_and(moved, np.int32(-0x70002000), out=moved)
        np.multiply(out, np.float32(2.0**112), out=out)
        if out.min(initial=0) <= -_HALF_TOP or out.max(initial=0) >= _HALF_TOP:
            np.copyto(out, raw.view("<f2").reshape(out.shape))
    else:
        np.copyto(out, raw.view(dtype).reshape(out.shape))
