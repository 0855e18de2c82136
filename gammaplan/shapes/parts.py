"""What several documents share: acceptance, costs, counts, intervals, findings."""

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
    low: NotRequired[float]
    high: NotRequired[float]


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
    run_noise: NotRequired[float]


class GammaByC(TypedDict):
    gamma: int
    c_low: float | None
    c_high: float | None
