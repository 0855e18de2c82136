"""Text from outside, safe to print: nothing in it is obeyed by a terminal."""

import unicodedata
from collections.abc import Sequence


def printable(text: str) -> str:
    """`text` with control, format and line-breaking characters shown, not obeyed."""
    return "".join(
        c if c == " " or unicodedata.category(c)[0] not in "CZ" else _escaped(c) for c in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii") if character != "\u00a0" else " "


def listed(values: Sequence[object], most: int = 12) -> str:
    """The first of many values in a row, so that a sentence stays one."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more
