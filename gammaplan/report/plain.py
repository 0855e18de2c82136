"""Text from outside, safe to print: nothing in it is obeyed by a terminal."""

from collections.abc import Sequence


def printable(text: str) -> str:
    """`text` with control, format and line-breaking characters shown, not obeyed."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii") if character != "\u00a0" else " "


def listed(values: Sequence[object], most: int = 12) -> str:
    """The first of many values in a row, so that a sentence stays one."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more
