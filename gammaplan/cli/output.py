"""One answer, printed once: as a table, JSON, CSV or Markdown; then findings; then gates."""

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import typer

from gammaplan.errors import Finding

NO_ANSWER, GATE_FAILED = 1, 3
MOST_NAMED = 5  # inputs that one sentence names; the rest is counted


class Output(NamedTuple):
    """How the user wants the answer printed."""

    format: str
    quiet: bool
    strict: bool
    plot: str | None = None

    @classmethod
    def of(
        cls, format: str | None, json: bool, plot: str | None, quiet: bool, strict: bool
    ) -> "Output":
        """From the options; what contradicts another is refused."""
        if json and format not in (None, "json"):
            raise typer.BadParameter(f"--json and --format {format} contradict; give one")
        chosen = "json" if json else format or "table"
        if plot == "-" and chosen != "table":
            raise typer.BadParameter(f"--plot - draws in the terminal; with {chosen} give a file")
        return cls(chosen, quiet, strict, plot)


def show(
    command: str,
    *,
    inputs: Mapping[str, object],
    sources: Mapping[str, str],
    result: Mapping[str, object],
    findings: Iterable[Finding],
    out: Output,
    render: Callable[[], Callable[..., None]],
    failed_gates: Iterable[str] = (),
    answered: bool = True,
) -> None:
    """Print the document of one command and end it: 0, 1 without an answer, 3 on a failed gate.

    `render` imports and returns the function that draws the result in a
    terminal, so that the other formats do not load it.
    """
    from gammaplan.documents.writing import document, to_json

    findings = list(findings)
    whole = document(command, inputs=inputs, sources=sources, result=result, findings=findings)
    if out.format == "json":
        sys.stdout.write(to_json(whole) + "\n")
    elif out.format == "table":
        render()(result, inputs)
    else:
        from gammaplan.report.rows import csv_text, markdown_text

        sys.stdout.write((csv_text if out.format == "csv" else markdown_text)(result))
    sys.stdout.flush()
    if not out.quiet:
        for sentence in _sentences(findings):
            say(sentence)
    failed = list(failed_gates)
    if out.strict:
        codes = dict.fromkeys(f.code for f in findings if f.level != "note")
        failed += [f"--strict: {', '.join(codes)}"] if codes else []
    for gate in failed:
        say(f"Failed: {gate}")
    if out.plot and answered:
        from gammaplan.cli.plotting import plot

        plot(command, result, inputs, out.plot)
    if not answered:
        raise typer.Exit(NO_ANSWER)
    if failed:
        raise typer.Exit(GATE_FAILED)


def _sentences(findings: Iterable[Finding]) -> Iterator[str]:
    """A sentence a finding, with whose it is; what is true of several inputs is said once."""
    whose: dict[str, list[str]] = {}
    for found in findings:
        names = whose.setdefault(f"{found.level}: {found.message}", [])
        if found.origin and found.origin not in found.message:
            names.append(found.origin)
    for sentence, names in whose.items():
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"{sentence} [{', '.join(names[:MOST_NAMED])}{more}]" if names else sentence


def say(sentence: str) -> None:
    """One sentence on stderr: one line in a file or a pipe, whole words in a terminal."""
    from gammaplan.report.plain import printable

    text = printable(sentence)
    if sys.stderr.isatty():
        from shutil import get_terminal_size
        from textwrap import fill

        width = get_terminal_size().columns
        text = fill(text, width, subsequent_indent="  ", break_long_words=False)
    sys.stderr.write(text + "\n")


ASCII = {
    "γ": "g", "α": "a", "×": "x", "÷": "/", "·": ".", "…": ".", "≥": ">", "≤": "<", "−": "-",
    "–": "-", "—": "-", "→": ">", "±": "+", "Σ": "S", "█": "#", "│": "|", "─": "-", "▏": " ",
    "▁": ".", "▂": ".", "▃": "-", "▄": "-", "▅": "+", "▆": "+", "▇": "#", "▎": " ",
    "▍": " ", "▌": "#", "▋": "#", "▊": "#", "▉": "#", "∞": "8", "’": "'", "├": "|",
    "└": "`", "╰": "+", "┬": "+", "┤": "+", "┆": "|", "┊": ":", "╌": "-", "━": "=",
    "●": "o", "▲": "^", "■": "#", "◆": "&", "★": "*", "✚": "+", "▼": "v", "◉": "@",
    "○": "O", "△": "A", "□": "H", "◇": "X", "☆": "s", "✛": "T", "▽": "V", "◎": "Q",
    "░": ".", "▒": "-", "▓": "%", "²": "2",
}  # fmt: skip


def _plain(character: str) -> str:
    from unicodedata import east_asian_width

    wide = east_asian_width(character) in "WF"
    dots = "\u2800" < character < "\u2900"
    return ASCII.get(character, "." if dots else "??" if wide else "?")


def degrade_to_ascii() -> None:
    """Where the terminal's encoding lacks a character of ours, print a plain one as wide."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        text = error.object[error.start : error.end]
        return "".join(map(_plain, text)), error.end

    codecs.register_error("gammaplan", replace)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="gammaplan")
