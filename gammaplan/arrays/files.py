"""From what a user names to the rows of an array: a file, one array of several, or shards."""

import glob
import re
from pathlib import Path

from gammaplan.arrays.headers import Found, arrays_in, logits_part
from gammaplan.arrays.rows import Part, Rows
from gammaplan.errors import InputError


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
    paths, wanted = _paths(source)
    parts = tuple(_part(path, wanted) for path in paths)
    for part in parts[1:]:
        if part.vocab != parts[0].vocab:
            raise InputError(
                f"shards must have one vocabulary, got {parts[0].vocab:,} columns in "
                f"{parts[0].name} and {part.vocab:,} in {part.name}"
            )
    return Rows(source, parts)


def _paths(source: str) -> tuple[list[str], str | None]:
    """The files, and which of their arrays."""
    file, colon, name = source.rpartition(":")
    for path, wanted in ((source, None), (file, name)) if colon else ((source, None),):
        if Path(path).is_file():
            return [path], wanted
        if found := [p for p in glob.glob(path) if Path(p).is_file()]:  # noqa: PTH207  # absolute patterns
            return sorted(found, key=_natural), wanted
    raise InputError(f"{source}: no such file; a .npy, .npz or .safetensors file was required")


def _natural(path: str) -> list[tuple[int, str]]:
    """Sorts shard-2 before shard-10."""
    return [(int(t), "") if t.isdigit() else (-1, t) for t in re.split(r"([0-9]+)", path)]


def _part(path: str, wanted: str | None) -> Part:
    found = one_array(path, wanted)
    several = found.name and found.name != wanted
    label = f"{path}:{found.name}" if wanted or several else path
    return logits_part(path, label, found)


def one_array(path: str, wanted: str | None) -> Found:
    """The array of a file that is meant: the one asked for, or the only one."""
    arrays = arrays_in(path)
    names = ", ".join(a.name for a in arrays[:20]) or "none"
    if wanted is not None:
        arrays = [a for a in arrays if a.name == wanted]
        if not arrays:
            raise InputError(f"{path}: has no array {wanted!r}; its arrays are {names}")
    if len(arrays) != 1:
        raise InputError(
            f"{path}: must hold one array, or FILE:NAME must choose one; its arrays are {names}"
        )
    return arrays[0]
