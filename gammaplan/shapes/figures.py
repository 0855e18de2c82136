"""What `convert` and `fit` answer: the figures that an engine reports, and α."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from gammaplan.model.constancy import Direction
from gammaplan.model.estimation import Method
from gammaplan.shapes.parts import (
    AcceptanceShape,
    BoundsShape,
    CountsShape,
    GammaByC,
    IntervalShape,
    Labels,
)


class ConvertRow(TypedDict):
    gamma: int
    alpha: float | None
    mean_length: float | None


class ConvertResult(TypedDict):
    alpha: float | None
    alpha_other: float | None
    gamma: int | None
    mean_length: float | None
    accepted_per_round: float | None
    pooled_rate: float | None
    survival: list[float]
    hazards: list[float | None]
    bounds: BoundsShape | None
    gamma_by_c: list[GammaByC]
    engines: dict[str, dict[str, float | Sequence[float | None] | None]]
    acceptance: AcceptanceShape | None
    rows: NotRequired[list[ConvertRow]]


class ConstancyShape(TypedDict):
    statistic: float
    df: int
    p_value: float
    direction: Direction


class FitFigures(TypedDict):
    labels: NotRequired[Labels]
    alpha: float | None
    method: Method
    interval: IntervalShape | None
    bounds: BoundsShape | None
    gamma: int | None
    mean_length: float | None
    pooled_rate: float | None
    hazards: list[float | None]
    survival: list[float]
    counts: CountsShape | None
    constancy: ConstancyShape | None
    gamma_by_c: list[GammaByC]
    trend: list[float | None]
    acceptance: AcceptanceShape | None


class PeriodShape(TypedDict):
    start: str
    end: str
    scrapes: int
    processes: int


class FitResult(FitFigures):
    period: PeriodShape | None
    pooled: bool
    groups: list[FitFigures]
    engine: str | None
    format: str | None
