"""A file that is there whole, whatever happens, or as it was before."""

import os
from contextlib import suppress
from pathlib import Path

from gammaplan.errors import InputError


def write_whole(path: str, content: bytes | str) -> None:
    """Write a file by way of a neighbour that takes its name once it is complete.

    What is no file on a disk (a pipe, a device) has no whole, and is written to as it is.

    Raises
    ------
    InputError
        If it cannot be written; an older file is then as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        beside = target.with_name(f".gammaplan.{os.getpid()}.part")
        try:
            with beside.open("xb") as file:
                file.write(data)
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{path or repr(path)}: cannot be written: {reason}") from None
