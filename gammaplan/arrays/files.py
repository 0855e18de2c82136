"""From what a user names to the rows of an array: a file, one array of several, or shards."""

import glob
import re
from pathlib import Path

from gammaplan.arrays.headers import Found, arrays_in, logits_part
from gammaplan.arrays.rows import Rows
from gammaplan.errors import InputError

MOST_NAMED = 20  # arrays of a file that a message lists


def open_rows(source: str) -> Rows:
    """The rows that `source` names.

    Parameters
    ----------
    source : str
        A .npy, .npz or .safetensors file; ``FILE:NAME`` for one array of
        several; or a pattern such as ``target-*.npy``, whose files are shards
        in the order of the numbers in their names.

    Raises
    ------
    InputError
        If nothing is there, an array cannot be read, or shards differ in columns.
    """
    parts = tuple(logits_part(found) for found in named_arrays(source))
    for part in parts[1:]:
        if part.vocab != parts[0].vocab:
            raise InputError(
                f"shards must have one vocabulary, got {parts[0].vocab:,} columns in "
                f"{parts[0].name} and {part.vocab:,} in {part.name}"
            )
    return Rows(source, parts)


def named_arrays(source: str, *, most: int | None = None) -> list[Found]:
    """The arrays that `source` names, one a file; at most so many files."""
    file, colon, name = source.rpartition(":")
    for pattern, wanted in ((source, None), (file, name)) if colon else ((source, None),):
        paths = [pattern] if Path(pattern).is_file() else _matching(pattern)
        if most is not None and len(paths) > most:
            raise InputError(f"{source}: names {len(paths)} files, and {most} was required")
        if paths:
            return [_one_array(path, wanted) for path in paths]
    raise InputError(f"{source}: is no file; a .npy, .npz or .safetensors file was required")


def _matching(pattern: str) -> list[str]:
    """The files of a pattern; shard-2 before shard-10."""
    found = glob.glob(pattern)  # noqa: PTH207  # Path.glob takes no absolute pattern
    return sorted((p for p in found if Path(p).is_file()), key=_natural)


def _natural(path: str) -> list[tuple[int, str]]:
    """Sorts shard-2 before shard-10."""
    return [(int(t), "") if t.isdigit() else (-1, t) for t in re.split(r"([0-9]+)", path)]


def _one_array(path: str, wanted: str | None) -> Found:
    """The array of a file that is meant: the one asked for, or the only one."""
    arrays = arrays_in(path)
    names = ", ".join(a.name for a in arrays[:MOST_NAMED]) or "none"
    if wanted is not None:
        arrays = [a for a in arrays if a.name == wanted]
        if not arrays:
            raise InputError(f"{path}: has no array {wanted!r}; its arrays are {names}")
    if len(arrays) != 1:
        raise InputError(
            f"{path}: must hold one array, or FILE:NAME must choose one; its arrays are {names}"
        )
    return arrays[0]
