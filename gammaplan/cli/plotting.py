"""The picture of an answer, into a file or the terminal."""

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gammaplan.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from gammaplan.report.picture import Picture


def plot(
    command: str, result: Mapping[str, object], inputs: Mapping[str, object], where: str
) -> None:
    """Draw the result of a command: where `where` is -, in the terminal.

    A file is written whole or not at all.
    """
    from gammaplan.cli.plotted import with_curves
    from gammaplan.report.pictures import picture_of

    picture = picture_of(command, with_curves(command, result, inputs), inputs)
    if picture is None:
        raise InputError(f"--plot {where}: this answer has nothing to draw")
    if where == "-":
        from gammaplan.report.terminal_plot import draw
        from gammaplan.report.words import console

        draw(picture, console())
        return
    path = Path(where)
    content = _image(picture, path.suffix[1:].lower())
    try:
        write_whole(path, content)
    except OSError as error:
        raise InputError(f"{where}: cannot be written: {error.strerror or error}") from None


def _image(picture: "Picture", kind: str) -> bytes:
    """The picture as a file; matplotlib says nothing of the user's fonts, folders and settings."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        from gammaplan.report.drawing import image

        return image(picture, kind)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise MissingExtra(
            "--plot FILE needs matplotlib, which the extra named plot brings: "
            "pip install 'gammaplan[plot]'"
        ) from None
    finally:
        logger.setLevel(level)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or as it was before.

    What is no file on a disk (a pipe, a terminal) is written to as it is.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    beside = path.with_name(f".{path.name[:64]}.{os.getpid()}")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
