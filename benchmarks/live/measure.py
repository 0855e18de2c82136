"""Step 4: every length, interleaved, against the plain server, after the predictions alone."""

from pathlib import Path
from typing import Any

from benchmarks.live.design import SAMPLING, Setup
from benchmarks.live.order import MEASUREMENTS, left, lines, may_measure
from benchmarks.live.session import Progress, session


def measure(cache: Path, setup: Setup, run: Path) -> list[dict[str, Any]]:
    """Measure what is not measured yet; each record carries the seal of the predictions."""
    sealed = may_measure(run)
    file = run / MEASUREMENTS
    if asked := left(setup.turns(), file):
        progress = Progress("measurement", len(asked))
        with session(cache, setup, run, "measurements", setup.ways()) as open_:
            for turn, cell, way in asked:
                more = {"turn": turn, "predictions": sealed}
                open_.ask(way, cell, setup.tokens, SAMPLING, more)
                progress.step()
    return lines(file)
