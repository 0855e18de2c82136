"""What `tokens`, `table`, `optimum`, `ceiling` and `sweep` answer."""

from typing import NotRequired, TypedDict

from gammaplan.shapes.parts import AcceptanceShape, Change, CostShape, Labels


class GapShape(TypedDict):
    low: int
    high: int


class BandShape(TypedDict):
    tolerance: float
    low: int | None
    high: int | None
    plain: bool
    gaps: list[GapShape]


class BreakEvenShape(TypedDict):
    at_gamma: int
    alpha: float | None
    c: float | None
    gamma: float | None


class CRangeShape(TypedDict):
    low: float
    high: float | None


class HelpShape(TypedDict):
    change: Change
    gamma: int | None
    speedup: float | None
    gain: float | None
    best_gamma: int | None
    best_speedup: float | None


class InUseShape(TypedDict):
    gamma: int
    speedup: float
    loss: float | None


class AnswerIntervalShape(TypedDict):
    level: float
    gamma_low: int | None
    gamma_high: int | None
    speedup_low: float | None
    speedup_high: float | None


class RobustShape(TypedDict):
    gamma: int
    worst_regret: float


class TokensRow(TypedDict):
    gamma: int
    expected_tokens: float
    accepted_per_round: float
    pooled_rate: float | None


class TokensResult(TypedDict):
    labels: NotRequired[Labels]
    ceiling: float | None
    rows: list[TokensRow]
    acceptance: AcceptanceShape


class OptimumResult(TypedDict):
    labels: NotRequired[Labels]
    gamma: int | None
    speedup: float | None
    expected_tokens: float | None
    gamma_continuous: float | None
    speedup_continuous: float | None
    band: BandShape
    ceiling: float | None
    share_of_ceiling: float | None
    unbounded: bool
    break_even: BreakEvenShape
    c_range: CRangeShape | None
    helps: list[HelpShape]
    in_use: InUseShape | None
    interval: AnswerIntervalShape | None
    robust: RobustShape | None
    rounds_needed: int | None
    acceptance: AcceptanceShape
    costs: list[CostShape]


class TableRow(TypedDict):
    gamma: int
    expected_tokens: float
    round_cost: float | None
    speedup: float | None
    relative: float | None
    in_band: bool
    best: bool


class TableResult(TypedDict):
    labels: NotRequired[Labels]
    rows: list[TableRow]
    optimum: OptimumResult
    acceptance: AcceptanceShape
    costs: list[CostShape]


class CeilingResult(TypedDict):
    labels: NotRequired[Labels]
    ceiling: float | None
    speedup: float | None
    share_of_ceiling: float | None
    acceptance: AcceptanceShape


class SweepRow(TypedDict):
    alpha: float
    c: float
    gamma: int | None
    speedup: float | None
    gamma_continuous: float | None
    band_low: int | None
    band_high: int | None
    ceiling: float | None


class SweepResult(TypedDict):
    rows: list[SweepRow]
