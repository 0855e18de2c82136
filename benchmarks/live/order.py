"""Predictions are written before anything is measured: who may go on, and who must not."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.live.design import Cell, Way

PREDICTIONS, MEASUREMENTS = "predictions.json", "measurements.jsonl"


class OutOfOrder(Exception):
    """A step that would make the comparison worthless."""


def now() -> str:
    """The time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines; none where there is no file, no half line at its end."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def append(path: Path, record: dict[str, Any]) -> None:
    """One more record, on disk when this returns; what was cut off before is dropped."""
    data = path.read_bytes() if path.exists() else b""
    if data and not data.endswith(b"\n"):
        path.write_bytes(data[: data.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def left(wanted: Iterable[tuple[int, Cell, Way]], file: Path) -> list[tuple[int, Cell, Way]]:
    """The requests without a record yet, in their order; some come more than once."""
    done = Counter((r["turn"], r["cell"], r["draft"], r["gamma"]) for r in lines(file))
    found = []
    for turn, cell, way in wanted:
        if done[key := (turn, cell.name, *way)]:
            done[key] -= 1
        else:
            found.append((turn, cell, way))
    return found


def seal(folder: Path) -> str:
    """The SHA-256 of the predictions: every measurement carries it."""
    return hashlib.sha256((folder / PREDICTIONS).read_bytes()).hexdigest()


def may_calibrate(folder: Path) -> None:
    """Nothing may be added to what a prediction that was written was made from."""
    if (folder / PREDICTIONS).exists():
        raise OutOfOrder(f"{folder.name}: the predictions are written, so no calibration is added")


def may_predict(folder: Path) -> None:
    """Predictions are made once, and before the first measurement."""
    if lines(folder / MEASUREMENTS):
        raise OutOfOrder(f"{folder.name}: measurements exist, so nothing may be predicted any more")
    if (folder / PREDICTIONS).exists():
        raise OutOfOrder(f"{folder.name}: the predictions are written, and are not made again")


def may_measure(folder: Path) -> str:
    """Only what was predicted is measured; gives the seal of the predictions."""
    if not (folder / PREDICTIONS).exists():
        raise OutOfOrder(f"{folder.name}: there is no {PREDICTIONS}, so nothing may be measured")
    found = seal(folder)
    for record in lines(folder / MEASUREMENTS):
        if record["predictions"] != found:
            raise OutOfOrder(f"{folder.name}: measurements were made after other predictions")
    return found


def checked(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The predictions and the measurements, if the first were written before the second began."""
    may_measure(folder)
    predictions = json.loads((folder / PREDICTIONS).read_text(encoding="utf-8"))
    measured = lines(folder / MEASUREMENTS)
    if not measured:
        raise OutOfOrder(f"{folder.name}: nothing was measured")
    written = datetime.fromisoformat(predictions["written"])
    if early := [t for t in _starts(measured) if t <= written]:
        raise OutOfOrder(
            f"{folder.name}: {len(early)} measurements began before the predictions were "
            f"written, {written.isoformat()}"
        )
    return predictions, measured


def _starts(measured: list[dict[str, Any]]) -> Iterator[datetime]:
    return (datetime.fromisoformat(record["started"]) for record in measured)
