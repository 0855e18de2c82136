"""What is said by batch size: timed passes, schedules, where speculation stops to pay."""

from typing import TypedDict


class PassShape(TypedDict):
    tokens: int
    ms: float | None
    relative: float | None


class StepShape(TypedDict):
    tokens: int
    above: float


class CurveShape(TypedDict):
    curve: str | None
    batch: int | None
    context: int | None
    points: list[PassShape]
    steps: list[StepShape]


class ScheduleShape(TypedDict):
    batch_low: int
    batch_high: int | None
    gamma: int | None
    speedup: float | None
    loss: float
    gain: float | None


class BatchShape(TypedDict):
    batch: int
    gamma: int
    speedup: float
    planned_gamma: int
    planned_speedup: float


class CrossoverShape(TypedDict):
    pays_to: int | None
    loses_from: int | None
