"""What `alpha` answers."""

from typing import TypedDict

from gammaplan.shapes.parts import AcceptanceShape, IntervalShape, Labels


class QuantileShape(TypedDict):
    share: float
    alpha: float


class WorstShape(TypedDict):
    position: int
    alpha: float


class TokensByShape(TypedDict):
    gamma: int
    by_mean: float
    by_sequence: float | None


class RuleShape(TypedDict):
    alpha: float
    lossless: bool
    distortion: float | None


class AlphaRow(TypedDict):
    labels: Labels
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    draft_temperature: float
    draft_top_k: int
    draft_top_p: float
    draft_min_p: float
    alpha: float
    interval: IntervalShape | None
    tv: float
    argmax_agreement: float
    draft_mass_outside_target: float
    target_mass_outside_draft: float
    target_support: float
    draft_support: float
    positions: int
    quantiles: list[QuantileShape]
    histogram: list[int]
    worst: list[WorstShape]
    expected_tokens: list[TokensByShape]
    rules: dict[str, RuleShape]
    acceptance: AcceptanceShape


class AlphaResult(TypedDict):
    rows: list[AlphaRow]
    order: list[str]
    positions: int
    vocab: int
    sequences: int | None
    alpha: float | None
    acceptance: AcceptanceShape | None
