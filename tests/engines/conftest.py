"""Reports written by a test, and what fit makes of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest


class Fitted(NamedTuple):
    """What fit says of a report: its figures, the codes of its findings, all sentences."""

    result: dict[str, Any]
    codes: set[str]
    said: str

    @property
    def counted(self) -> tuple[int | None, int | None, int | None]:
        """Rounds, drafted and accepted tokens."""
        counts = self.result["counts"] or {}
        return counts.get("rounds"), counts.get("drafted"), counts.get("accepted")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """What alpha lies in, where it is only bounded."""
        bounds = self.result["bounds"]
        return (bounds["low"], bounds["high"]) if bounds else None


@pytest.fixture
def fit(cli, tmp_path):
    """Fit a report: text, bytes, or values that become JSON lines."""

    def run(report: str | bytes | Mapping[str, Any] | Sequence[Any], *args: str) -> Fitted:
        if isinstance(report, Mapping):
            report = json.dumps(report, indent=1)
        elif not isinstance(report, str | bytes):
            report = "".join(json.dumps(value) + "\n" for value in report)
        path = tmp_path / "report"
        path.write_bytes(report.encode() if isinstance(report, str) else report)
        done = cli(["fit", str(path), "--json", *args])
        assert done.exit_code in (0, 1), done.stderr
        document = json.loads(done.stdout)
        said = "\n".join(w["message"] for w in document["warnings"])
        return Fitted(document["result"], {w["code"] for w in document["warnings"]}, said)

    return run
