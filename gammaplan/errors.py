"""What can go wrong, and what is worth saying.

An error ends a command with one sentence and a documented exit code. A finding
does not end anything: it is something true about the input that the reader of
the answer should know.
"""

from typing import Literal, NamedTuple, TypeAlias

Level: TypeAlias = Literal["note", "warning", "refusal"]


class GammaplanError(Exception):
    """Base of every error that gammaplan raises on purpose."""

    exit_code = 1


class DomainError(GammaplanError, ValueError):
    """A value outside its domain: what was required, and what was given."""

    exit_code = 2


class InputError(GammaplanError, ValueError):
    """A file, stream or server that could not be read; the message says where."""


class MissingExtra(GammaplanError):
    """A feature whose dependency is not installed; the message names the extra."""


class Finding(NamedTuple):
    """Something true about an input that the user should know.

    `code` is stable and documented, `level` is note, warning or refusal,
    `message` is a sentence, and `origin` names the evidence that it was
    carried on from (None for a finding of this run).
    """

    code: str
    level: Level
    message: str
    origin: str | None = None

    def to_dict(self) -> dict[str, str]:
        """The same as in a document: `from` is the origin, where there is one."""
        found = {"code": self.code, "level": self.level, "message": self.message}
        return found if self.origin is None else {**found, "from": self.origin}
