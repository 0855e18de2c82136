"""What `simulate` answers."""

from typing import NotRequired, TypedDict

from gammaplan.shapes.parts import AcceptanceShape, Labels


class SimulatedRow(TypedDict):
    accepted: int
    rounds: int
    share: float
    expected_share: float


class RuleShape(TypedDict):
    name: str
    exact: bool
    lossless: bool | None
    alpha: float | None
    expected_tokens: float | None
    measured_tokens: float
    standard_error: float | None
    statistic: float | None
    df: int | None
    p_value: float | None


class SimulateResult(TypedDict):
    labels: NotRequired[Labels]
    rounds: int
    seed: int
    gamma: int
    expected_tokens: float | None
    measured_tokens: float
    standard_error: float | None
    rows: list[SimulatedRow]
    rules: list[RuleShape]
    windows: int | None
    acceptance: AcceptanceShape | None
