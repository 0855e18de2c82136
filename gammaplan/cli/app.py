"""The program: which commands there are, and the one place where errors become one line."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from gammaplan import __version__
from gammaplan.errors import GammaplanError

COMMANDS = {
    "table": "Know α and c: every draft length, its speedup, and how flat the peak is.",
    "optimum": "Know α and c: the best draft length in one line, why, and what would help most.",
    "tokens": "Know α: tokens per round for each draft length.",
    "ceiling": "Know α: the speedup that no draft length can pass.",
    "sweep": "Know a range of α and c: a map of the best draft length.",
    "convert": "Know one reported figure: α and what every engine calls it.",
    "fit": "Have a log or a metrics page: α with an honest interval, and what it depends on.",
    "watch": "Have a running server and c: α and the γ in use beside the best, as they change.",
    "plan": "Have reports, timings or runs: the draft length to use, and what to measure next.",
    "cost": "Have timings or runs: what a round costs, and where each term came from.",
    "alpha": "Have logits of target and draft: α, and what sampling settings do to it.",
    "explain": "Have a run: where a round's time goes, and what would make it pay.",
    "tree": "Know how often each child is accepted: the best draft tree, or a chain instead.",
    "adapt": "Have a trace, or an idea how α varies: whether an adaptive length is worth it.",
    "simulate": "Know α, or have logits: rounds played out, and whether a rule is lossless.",
    "report": "Have an answer: one page to send, with its curve to play with and what it rests on.",
    "schema": "The JSON Schema of a command's document.",
}
CLOSED_PIPE = 141  # what a shell reports for a program that SIGPIPE ended


class Gammaplan(TyperGroup):
    """Commands that are imported when called, and errors that fit on one line."""

    def list_commands(self, ctx: Any) -> list[str]:  # Any: typer's context class is private
        """The names, without importing any command."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported and built when it is asked for."""
        if cmd_name not in COMMANDS:
            return None
        if (built := self.commands.get(cmd_name)) is None:
            module = import_module(f"gammaplan.cli.{cmd_name}")
            child = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            child.command(cmd_name)(getattr(module, cmd_name))
            built = self.commands[cmd_name] = typer.main.get_command(child)
        return built

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` names; its near misses are offered where it is unknown."""
        if args[0] not in COMMANDS:
            raise typer.BadParameter(_no_such("command", args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """The root context; errors of the root's own options are one line too."""
        with one_line_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with one_line_errors():
            result = super().invoke(ctx)
            sys.stdout.flush()  # a pipe that was closed shows itself here, not at exit
            return result


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Every error that a user can cause, as one sentence on stderr and its exit code."""
    try:
        yield
    except BrokenPipeError:
        _leave_quietly()
        raise typer.Exit(CLOSED_PIPE) from None
    except OSError as error:  # a full disk; what was to be read has errors of its own
        _leave_quietly()
        _fail(f"the answer cannot be written: {error.strerror or error}", 1)
    except GammaplanError as error:
        _fail(str(error), error.exit_code)
    except TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        _fail(usage_sentence(error), error.exit_code)


def usage_sentence(error: TyperException) -> str:
    """What typer found wrong with the command line, in our words and on one line."""
    option = getattr(error, "option_name", None)
    param = getattr(error, "param", None)
    name = (param.opts or [param.name])[0] if param is not None else option
    if type(error).__name__ == "NoSuchOption":
        return _no_such("option", str(option), getattr(error, "possibilities", None) or [])
    if type(error).__name__ == "MissingParameter":
        return f"{name} is required, and is missing"
    if type(error).__name__ == "BadOptionUsage":
        return f"{name} needs a value, and none was given"
    if isinstance(error, typer.BadParameter) and param is not None:
        return f"{name} {error.message}"
    return error.message.rstrip(".")


def _no_such(kind: str, given: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(given, known)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no {kind} {given!r}{hint or '; --help lists them'}"


def _fail(sentence: str, exit_code: int) -> None:
    from gammaplan.cli.output import say

    say(f"Error: {sentence}")
    raise typer.Exit(exit_code) from None


def _leave_quietly() -> None:
    """Point stdout at nothing, so that the interpreter's own flush at exit is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"gammaplan {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    name="gammaplan",
    cls=Gammaplan,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=True,
)


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """How many tokens a speculative-decoding draft should propose.

    `optimum` and `table`: you know α and c. `convert`: you have a figure that
    an engine printed. `fit`: you have its log or metrics page.
    """


def main() -> None:
    """Run the program."""
    from gammaplan.cli.output import degrade_to_ascii

    # No command multiplies matrices: without BLAS threads numpy starts sooner and can be forked.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    degrade_to_ascii()
    app()
