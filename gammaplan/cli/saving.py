"""The evidence of what is watched, as a document that optimum and plan read."""

from collections.abc import Sequence

from gammaplan.cli.evidence import Cases
from gammaplan.cli.watched import Watched
from gammaplan.cli.wholefile import write_whole
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
    write_whole(path, to_json(whole) + "\n")
