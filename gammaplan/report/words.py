"""Numbers and labels as people read them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from rich.console import Console

from gammaplan.report.plain import printable

Result = TypeVar("Result")

EIGHTHS = " ▏▎▍▌▋▊▉█"


class _Pipe(Console):
    """A console that leaves a closed pipe to the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Standard output; nothing that is printed there is read as markup."""
    return _Pipe(highlight=False, markup=False, emoji=False, soft_wrap=False)


def parts(result: Result) -> list[Result]:
    """The results of a document: the one, or those of its groups."""
    several = cast("dict[str, Any]", result).get("groups")
    return several or [result]


def say(out: Console, text: str = "", style: str | None = None) -> None:
    """One paragraph, wrapped at the width of the terminal between words."""
    out.print(text, style=style)


def say_each(result: Result, draw: Callable[[Console, Result], None]) -> None:
    """Each result of a document, with its labels above it where there are several."""
    out = console()
    for i, part in enumerate(parts(result)):
        if i:
            out.print()
        if labels := cast("dict[str, Any]", part).get("labels"):
            say(out, named(labels), style="bold")
        draw(out, part)


def times(value: float | None) -> str:
    """A speedup: 2.47×, more digits near 1, where they decide."""
    if value is None:
        return "∞"
    if value >= 1e6:
        return f"{value:.3g}×"
    return f"{value:.3f}×" if abs(value - 1) < 0.0995 else f"{value:.2f}×"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def plain(value: float | None, digits: int = 4) -> str:
    """A number with up to so many significant digits, no trailing zeros."""
    return "∞" if value is None else f"{value:.{digits}g}"


def lengths(low: int | None, high: int | None) -> str:
    """A run of draft lengths: 4..8, 6, or 15 and longer."""
    if low is None:
        return "every length"
    if high is None:
        return f"{low} and longer"
    return f"{low}" if low == high else f"{low}..{high}"


def bar(share: float, width: int) -> str:
    """A bar of `share` of `width` cells, in eighths of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (EIGHTHS[rest] if rest else "")


def named(labels: Mapping[str, object]) -> str:
    """Labels in one line: temperature=0.7, batch=8."""
    return printable(", ".join(f"{key}={value}" for key, value in labels.items()))


def joined(values: Sequence[float | None], digits: int = 3) -> str:
    """Probabilities in a row; a dash where there is none."""
    return " ".join("-" if v is None else f"{v:.{digits}f}" for v in values)
