"""Text from outside, safe to print: nothing in it is obeyed by a terminal."""

import unicodedata


def printable(text: str) -> str:
    """`text` with control, format and line-breaking characters shown, not obeyed."""
    return "".join(
        c if c == " " or unicodedata.category(c)[0] not in "CZ" else _escaped(c) for c in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii") if character != "\u00a0" else " "
