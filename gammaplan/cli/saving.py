"""The evidence of what is watched, as a document that optimum and plan read."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from gammaplan.cli.evidence import Cases
from gammaplan.cli.watched import Watched
from gammaplan.documents.writing import document, to_json
from gammaplan.errors import InputError


def save(path: str, servers: Sequence[str], state: Watched, account: Cases) -> None:
    """Write the fit of the window, whole or not at all.

    Raises
    ------
    InputError
        If nothing was counted yet, or the file cannot be written.
    """
    done = state.evidence()
    if not done.result["groups"]:
        raise InputError("nothing was counted yet, and there is no evidence to save")
    kept = ("every", "window", "by", "gamma")
    whole = document(
        "fit",
        inputs={"files": list(servers), **{k: account.inputs[k] for k in kept}},
        sources={"files": "flag", **{k: account.sources[k] for k in kept}},
        result=done.result,
        findings=done.findings,
    )
    _write(Path(path), to_json(whole) + "\n")


def _write(path: Path, text: str) -> None:
    """Write a file by way of a neighbour that takes its name once it is complete."""
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():  # a pipe, a device: nothing to replace
            target.write_text(text, encoding="utf-8")
            return
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{path}: cannot be written: {reason}") from None
