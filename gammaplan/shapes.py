"""The shape of every gammaplan document, as types: the JSON contract and its schemas.

Nothing here runs when a command does: these are the types that the documents
are checked against when this package is type-checked, and that `gammaplan
schema` turns into JSON Schema.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

from gammaplan.model.acceptance import LawName, LawParameters

Labels: TypeAlias = dict[str, str | int | float | None]
Value: TypeAlias = bool | int | float | str | list[int | float | str] | dict[str, str] | None


FindingShape = TypedDict(
    "FindingShape",
    {
        "code": str,
        "level": Literal["note", "warning", "refusal"],
        "message": str,
        "from": NotRequired[str],
    },
)


class IntervalShape(TypedDict):
    level: float
    low: float
    high: float
    method: str


class BoundsShape(TypedDict):
    low: float
    high: float


class CountsShape(TypedDict):
    rounds: int | None
    drafted: int | None
    accepted: int | None
    accepted_at_least: list[int] | None
    drafted_at_least: list[int] | None
    full_accepts: int | None
    rejections: int | None


CostKind: TypeAlias = Literal["given", "measured", "fitted", "estimated", "prior"]
Change: TypeAlias = Literal["gamma", "alpha + 0.05", "c / 2"]


class AcceptanceShape(TypedDict):
    model: LawName
    parameters: LawParameters
    alpha: float | None
    survival: list[float]
    observed_to: int | None
    beyond: float | None
    counts: CountsShape | None
    interval: IntervalShape | None
    bounds: BoundsShape | None
    kind: NotRequired[CostKind]


class CostRow(TypedDict):
    gamma: int
    round_cost: float


class CostShape(TypedDict):
    batch: int | None
    context: int | None
    kind: CostKind
    c: float | None
    overhead: float | None
    verify_slope: float | None
    table: list[CostRow]
    source: str | None
    worst_residual: float | None


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


class PlanRow(TypedDict):
    gamma: int
    speedup: float | None
    low: float | None
    high: float | None
    expected_tokens: float
    round_cost: float | None
    measured: float | None
    in_band: bool
    best: bool
    tps: float | None
    ms_per_token: float | None


class PredictionShape(TypedDict):
    level: float
    covers: list[str]


class EndToEndShape(TypedDict):
    speedup: float
    output_tokens: int
    prefill_ms: float
    plain_ms: float
    total_ms: float


class NextRunShape(TypedDict):
    gamma: int
    why: str


class NarrowShape(TypedDict):
    figure: str
    option: str
    width: float
    then: float


class AssumptionShape(TypedDict):
    name: str
    value: float | None
    source: str
    option: str | None


class ScheduleShape(TypedDict):
    batch_low: int
    batch_high: int | None
    gamma: int | None
    speedup: float | None


class DraftShape(TypedDict):
    name: str
    gamma: int | None
    speedup: float | None
    low: float | None
    high: float | None
    tied: bool


class WorkloadShape(TypedDict):
    name: str
    share: float
    gamma: int | None
    speedup: float | None
    speedup_at_mix: float | None


class ApartShape(TypedDict):
    weighting: str
    speedup: float | None
    gain: float | None


class PlanResult(OptimumResult):
    rows: list[PlanRow]
    prediction: PredictionShape | None
    always_within: list[int]
    end_to_end: EndToEndShape | None
    next_runs: list[NextRunShape]
    narrows: NarrowShape | None
    assumptions: list[AssumptionShape]
    schedule: list[ScheduleShape]
    drafts: list[DraftShape]
    workloads: list[WorkloadShape]
    gamma_per_workload: ApartShape | None
    settings: dict[str, str]


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


class GammaByC(TypedDict):
    gamma: int
    c_low: float | None
    c_high: float | None


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
    direction: Literal["constant", "rising", "falling", "uneven"]


class FitFigures(TypedDict):
    labels: NotRequired[Labels]
    alpha: float | None
    method: Literal["mle", "mean_length", "nearly_full_drafts", "bounds", "none"]
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


class FitResult(FitFigures):
    pooled: bool
    groups: list[FitFigures]
    engine: str | None
    format: str | None


class CostTerm(TypedDict):
    name: Literal["c", "overhead", "verify_slope", "round_cost"]
    value: float
    source: str


class CostFitRow(TypedDict):
    gamma: int
    round_cost: float
    fitted: float
    residual: float
    textbook: float | None


class TextbookCost(TypedDict):
    c: float
    source: str


class CostResult(TypedDict):
    costs: list[CostShape]
    textbook: TextbookCost | None
    terms: list[CostTerm]
    rows: list[CostFitRow]


class PartShape(TypedDict):
    name: Literal["target", "draft", "verify", "unexplained"]
    target_passes: float
    share: float
    ms: float | None


class BestShape(TypedDict):
    gamma: int | None
    speedup: float | None


class NeededShape(TypedDict):
    goal: float
    alpha: float | None
    c: float | None


class TopShape(TypedDict):
    change: str
    speedup: float


class ExplainResult(TypedDict):
    gamma: int
    mean_length: float
    alpha: float | None
    round_cost: float
    measured_speedup: float | None
    timed_speedup: float | None
    textbook_speedup: float | None
    parts: list[PartShape]
    best: BestShape
    needed: NeededShape
    levers: list[TopShape]
    verdict: Literal[
        "baseline_suspect",
        "pays",
        "pays_wrong_gamma",
        "wrong_gamma",
        "acceptance_too_low",
        "draft_too_slow",
        "verification_too_slow",
        "overhead_too_high",
        "round_too_slow",
    ]
    acceptance: AcceptanceShape
    costs: list[CostShape]
