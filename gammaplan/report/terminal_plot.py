"""A picture in the terminal."""

from rich.console import Console

from gammaplan.report.picture import Picture


def draw(picture: Picture, console: Console) -> None:
    """Draw a picture as wide as the console."""
    raise NotImplementedError
