"""What adaptive policies gain over the best fixed length, and the lengths that they choose."""

from collections.abc import Mapping
from typing import Any

from gammaplan.report.adapt import NAMES, headline
from gammaplan.report.picture import Axis, Cells, Mark, Panel, Picture, Points, Rule
from gammaplan.report.pictures.parts import named_panel, upwards
from gammaplan.report.words import percent, times
from gammaplan.shapes.adapt import AdaptResult


def adapt(result: AdaptResult, inputs: Mapping[str, Any]) -> Picture:
    """Gains with their intervals, then γ round by round of one request."""
    policies = result["policies"]
    panels = [_gains(result)]
    chosen = [p for p in policies if p["lengths"]]
    if chosen:
        longest = max(len(p["lengths"]) for p in chosen)
        padded = [[*p["lengths"], *[None] * (longest - len(p["lengths"]))] for p in chosen]
        texts = (
            [["" if v is None else str(v) for v in row] for row in padded] if longest < 40 else ()
        )
        names = tuple(_name(p["name"]) for p in chosen)
        panels.append(
            Panel(
                Axis("round, counted from 0", -0.5, longest - 0.5, whole=True),
                Axis("", len(names) - 0.5, -0.5, names=names),
                (Cells(padded, texts, "γ"),),
                "Draft lengths of one request, round by round",
                0.2,
            )
        )
    return Picture(headline(result), tuple(panels))


def _name(name: str) -> str:
    return NAMES[name]


def _gains(result: AdaptResult) -> Panel:
    """The gain of each policy over the best fixed length, and what bounds it."""
    policies, fixed = result["policies"], result["best_fixed"]["speedup"]
    names = [
        _name(p["name"]) + (" (advised)" if p["name"] == result["advised"] else "")
        for p in policies
    ]
    at = list(range(len(policies)))
    low, high = ([_percent(p[end]) for p in policies] for end in ("low", "high"))
    gains = [_percent(p["gain"]) for p in policies]
    best = f"best fixed γ {result['best_fixed']['gamma']}, {times(fixed)}"
    marks: list[Mark] = [Rule("x", 0.0, best)]
    speeds = {
        "any that sees the past": result["bounds"]["causal"],
        "perfect confidence": result["bounds"]["perfect_confidence"],
        "clairvoyant": result["bounds"]["clairvoyant"],
    }
    bounds = [(name, speed) for name, speed in speeds.items() if speed is not None]
    above = [100 * (speed / fixed - 1) for _, speed in bounds]
    rows = list(range(len(policies), len(policies) + len(bounds)))
    marks.append(Points(gains, at, "", 0, low, high, "x"))
    marks.append(Points(above, rows, "", -1, hollow=True))
    names += [name for name, _ in bounds]
    x = upwards("gain over the best fixed length", "%", [*gains, *low, *high, *above], 0.0)
    level = percent(result["level"], 0)
    return named_panel(names, x, marks, heading=f"Gain, with its {level} interval")


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
