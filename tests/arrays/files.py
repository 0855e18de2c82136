"""Files of arrays as users have them, and as nobody should."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np


def header(shape: object, descr: str = "<f4") -> bytes:
    """The header of a .npy file that announces what it likes."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (len(text) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def safetensors(entries: dict[str, Any] | bytes, data: bytes = b"", length: int | None = None):
    """A .safetensors file; `length` is what it says of its header."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(array: np.ndarray, dtype: str, start: int = 0) -> dict[str, Any]:
    """The entry of one tensor."""
    return {
        "dtype": dtype,
        "shape": list(array.shape),
        "data_offsets": [start, start + array.nbytes],
    }


def halves(array: np.ndarray) -> np.ndarray:
    """The upper halves of float32: bfloat16, cut."""
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2")


def saved(folder: Path, **arrays: np.ndarray) -> list[str]:
    """Each array in a .npy file of its name."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [str(folder / f"{name}.npy") for name in arrays]
