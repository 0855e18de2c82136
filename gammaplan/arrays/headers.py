"""What .npy, .npz and .safetensors files say of their arrays; no data is read and nothing run."""

import ast
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import numpy as np

from gammaplan.arrays.floats import BFLOAT16, READABLE
from gammaplan.arrays.rows import UNREADABLE, Part
from gammaplan.errors import InputError

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"
LONGEST_NPY_HEADER = 10_000  # bytes; numpy's own limit
LONGEST_JSON_HEADER = 2**24  # bytes; the largest checkpoints have less than a tenth
MOST_COLUMNS = 2**24
WIDENED = (BFLOAT16, "<f8", "<f4", "<f2", ">f8", ">f4", ">f2")
SAFE_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": BFLOAT16}
SAFE_WHOLE = {"I64": "<i8", "I32": "<i4", "I16": "<i2", "U64": "<u8", "U32": "<u4", "U16": "<u2"}


class Found(NamedTuple):
    """An array that a file announces, and how to read it."""

    path: str
    label: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    available: int
    member: str | None = None
    fortran: bool = False
    guessed: bool = False


def arrays_in(path: str) -> list[Found]:
    """The arrays of a file, by the header that its first bytes name.

    Raises
    ------
    InputError
        If it cannot be opened, is of another format, or its header is damaged
        or announces more than the file has.
    """
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(8)
            file.seek(0)
            return list(_reader(path, start)(path, file, size))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _reader(path: str, start: bytes) -> "Callable[[str, IO[bytes], int], Iterator[Found]]":
    if start.startswith(NPY_MAGIC):
        return _npy
    if start.startswith(ZIP_MAGIC):
        return _npz
    if path.endswith(".safetensors"):
        return _safetensors
    if start[:1] == b"\x80":
        raise InputError(f"{path}: is a pickle, which could run code, and is not read; {_WANTED}")
    raise InputError(f"{path}: is neither .npy, .npz nor .safetensors; {_WANTED}")


_WANTED = "save the array with numpy.save or safetensors"


def _npy(path: str, file: IO[bytes], size: int) -> Iterator[Found]:
    yield _npy_header(path, path, file, size)


def _npz(path: str, file: IO[bytes], size: int) -> Iterator[Found]:
    try:
        with zipfile.ZipFile(file) as whole:
            for info in whole.infolist():
                if not info.filename.endswith(".npy"):
                    continue
                name = info.filename.removesuffix(".npy")
                with whole.open(info) as member:
                    found = _npy_header(path, f"{path}:{name}", member, info.file_size)
                yield found._replace(name=name, member=info.filename)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path}: is a damaged or unreadable .npz file: {error}") from None


def _npy_header(path: str, label: str, file: IO[bytes], size: int) -> Found:
    start = file.read(8)
    if len(start) < 8 or not start.startswith(NPY_MAGIC):
        raise InputError(f"{label}: does not start as a .npy file does")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if start[6] not in (1, 2, 3) or length > LONGEST_NPY_HEADER:
        raise InputError(
            f"{label}: a .npy header must be of version 1 to 3 and at most "
            f"{LONGEST_NPY_HEADER:,} bytes, got version {start[6]} and {length:,} bytes"
        )
    text = file.read(length)
    try:
        header = ast.literal_eval(text.decode("utf-8" if start[6] == 3 else "latin-1").strip())
        descr, fortran = header["descr"], header["fortran_order"]
        shape = tuple(int(n) for n in header["shape"])
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise InputError(f"{label}: its .npy header is damaged") from None
    offset = 8 + width + length
    dtype = _npy_dtype(label, descr)
    return Found(
        path, label, "", dtype, shape, offset, size - offset, None, bool(fortran), dtype == BFLOAT16
    )


def _npy_dtype(label: str, descr: object) -> str:
    if not isinstance(descr, str):
        raise InputError(f"{label}: holds records of several fields; {READABLE} was required")
    if "O" in descr:
        raise InputError(
            f"{label}: holds Python objects in a pickle, which could run code, and is not read; "
            f"{READABLE} was required"
        )
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError):
        raise InputError(f"{label}: its type {descr!r:.40} is not one of numpy's") from None
    return BFLOAT16 if dtype == np.dtype("V2") else dtype.str


def _safetensors(path: str, file: IO[bytes], size: int) -> Iterator[Found]:
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, LONGEST_JSON_HEADER):
        raise InputError(
            f"{path}: announces a header of {length:,} bytes; the file has {size:,}, and at most "
            f"{LONGEST_JSON_HEADER:,} are read"
        )
    try:
        header = msgspec.json.decode(file.read(length), type=dict[str, dict[str, Any]])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: its safetensors header is damaged: {error}") from None
    for name, entry in header.items():
        if name != "__metadata__":
            yield _tensor(path, name, entry, 8 + length, size)


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def _tensor(path: str, name: str, given: dict[str, Any], data: int, size: int) -> Found:
    label = f"{path}:{name}"
    try:
        entry = msgspec.convert(given, _Entry)
    except msgspec.ValidationError as error:
        raise InputError(f"{label}: its safetensors header is damaged: {error}") from None
    start, end = entry.data_offsets
    if not 0 <= start <= end <= size - data:
        raise InputError(
            f"{label}: is announced at bytes {start:,} to {end:,} of the data; the file has "
            f"{size - data:,}"
        )
    dtype = SAFE_DTYPES.get(entry.dtype) or SAFE_WHOLE.get(entry.dtype, entry.dtype)
    return Found(path, label, name, dtype, tuple(entry.shape), data + start, end - start)


def logits_part(found: Found) -> Part:
    """The part that an array is, if it has the shape and the type of logits, whole."""
    if found.dtype not in WIDENED:
        raise InputError(f"{found.label}: must hold {READABLE}, got {_type_name(found.dtype)}")
    if len(found.shape) != 2 or min(found.shape) < 1:
        raise InputError(
            f"{found.label}: must have shape (positions, vocab), got {_plain(found.shape)}"
        )
    if found.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"{found.label}: must have at most {MOST_COLUMNS:,} columns, got {found.shape[1]:,}"
        )
    if found.fortran:
        raise InputError(
            f"{found.label}: is stored column by column; save numpy.ascontiguousarray of it"
        )
    rows, vocab = found.shape
    return _whole(found, rows, vocab)


def integer_part(found: Found, positions: int) -> Part:
    """The part that an array is, if it has one whole number for each position."""
    if found.dtype in SAFE_DTYPES.values() or _kind(found.dtype) not in "iu":
        raise InputError(f"{found.label}: must hold whole numbers, got {_type_name(found.dtype)}")
    if found.shape not in ((positions,), (positions, 1)):
        raise InputError(
            f"{found.label}: must have one id for each of the {positions:,} positions, "
            f"got shape {_plain(found.shape)}"
        )
    return _whole(found, positions, 1)


def _whole(found: Found, rows: int, columns: int) -> Part:
    """An array as a part, if the file has all of it."""
    part = Part(
        found.path,
        found.label,
        rows,
        columns,
        found.dtype,
        found.offset,
        found.member,
        found.guessed,
    )
    wanted, there = rows * part.row_bytes, max(found.available, 0)
    if there < wanted:
        raise InputError(
            f"{found.label}: is cut in row {there // part.row_bytes}: shape {_plain(found.shape)} "
            f"of {_type_name(found.dtype)} takes {wanted:,} bytes, and {there:,} are there"
        )
    return part


def _kind(dtype: str) -> str:
    try:
        return np.dtype(dtype).kind
    except TypeError:  # a name of safetensors' own
        return "?"


def _type_name(dtype: str) -> str:
    return np.dtype(dtype).name if _kind(dtype) != "?" else dtype


def _plain(shape: tuple[int, ...]) -> str:
    """A shape as Python prints it, cut where somebody made it long."""
    return str(shape) if len(shape) <= 8 else f"{shape[:8]}…"
