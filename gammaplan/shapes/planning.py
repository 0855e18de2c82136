"""What `plan`, `cost` and `explain` answer."""

from typing import Literal, NotRequired, TypedDict

from gammaplan.shapes.answers import OptimumResult
from gammaplan.shapes.batches import BatchShape, CrossoverShape, CurveShape, ScheduleShape
from gammaplan.shapes.estimates import EstimateShape
from gammaplan.shapes.parts import AcceptanceShape, CostKind, CostShape, Labels


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


class DraftShape(TypedDict):
    name: str
    gamma: int | None
    speedup: float | None
    low: float | None
    high: float | None
    tied: bool
    rows: list[PlanRow]


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
    batches: list[BatchShape]
    crossover: CrossoverShape | None
    drafts: list[DraftShape]
    workloads: list[WorkloadShape]
    gamma_per_workload: ApartShape | None
    settings: dict[str, str]
    checks: dict[str, str]


class CostTerm(TypedDict):
    name: Literal["c", "draft", "reading", "overhead", "verify_slope", "round_cost"]
    value: float
    source: str


class CostFitRow(TypedDict):
    batch: NotRequired[int | None]
    gamma: int
    round_cost: float
    low: NotRequired[float]
    high: NotRequired[float]
    fitted: float
    residual: float
    textbook: float | None


class TextbookCost(TypedDict):
    c: float
    source: str


class CostResult(TypedDict):
    labels: NotRequired[Labels]
    costs: list[CostShape]
    textbook: TextbookCost | None
    terms: list[CostTerm]
    rows: list[CostFitRow]
    curves: list[CurveShape]
    estimate: NotRequired[EstimateShape]


class PartShape(TypedDict):
    name: Literal["target", "draft", "verify", "overhead", "unexplained"]
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


class TextbookShape(TypedDict):
    c: float
    kind: CostKind
    speedup: float
    low: float | None
    high: float | None


class ExplainResult(TypedDict):
    labels: NotRequired[Labels]
    gamma: int
    mean_length: float
    alpha: float | None
    round_cost: float
    measured_speedup: float | None
    timed_speedup: float | None
    textbook_speedup: float | None
    textbook: TextbookShape
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
