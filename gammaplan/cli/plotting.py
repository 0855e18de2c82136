"""The picture of an answer, into a file or the terminal."""

import logging
from collections.abc import Mapping
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
    from gammaplan.cli.wholefile import write_whole
    from gammaplan.report.pictures import picture_of

    picture = picture_of(command, with_curves(command, result, inputs), inputs)
    if picture is None:
        raise InputError(f"--plot {where}: this answer has nothing to draw")
    if where == "-":
        from gammaplan.report.terminal_plot import draw
        from gammaplan.report.words import console

        draw(picture, console())
        return
    write_whole(where, _image(picture, where.rpartition(".")[2].lower()))


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
