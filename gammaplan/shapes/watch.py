"""What `watch` answers, once an interval."""

from typing import TypedDict

from gammaplan.shapes.answers import BandShape
from gammaplan.shapes.parts import AcceptanceShape, BoundsShape, IntervalShape, Labels


class WatchGroup(TypedDict):
    labels: Labels
    alpha: float | None
    interval: IntervalShape | None
    bounds: BoundsShape | None
    alpha_now: float | None
    rounds: int | None
    rounds_now: int | None
    gamma_in_use: int | None
    gamma_best: int | None
    band: BandShape | None
    in_band: bool | None
    speedup_in_use: float | None
    speedup_best: float | None
    loss: float | None
    acceptance: AcceptanceShape | None


class WatchResult(TypedDict):
    time: str
    answered: bool
    seconds: float | None
    groups: list[WatchGroup]
