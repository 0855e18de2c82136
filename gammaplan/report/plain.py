"""Text from outside, safe to print: nothing in it is obeyed by a terminal."""


def printable(text: str) -> str:
    """`text` with control, format and line-breaking characters shown, not obeyed."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii") if character != "\u00a0" else " "
