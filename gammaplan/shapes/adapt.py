"""What `adapt` answers."""

from typing import Literal, TypedDict

from gammaplan.shapes.parts import CostShape


class FixedShape(TypedDict):
    gamma: int
    speedup: float
    modelled: float


class PolicyShape(TypedDict):
    name: str
    speedup: float
    gain: float
    low: float | None
    high: float | None
    gap_closed: float | None
    exact: bool
    exact_if: Literal["greedy_draft"] | None
    needs: Literal["history", "confidence", "own_alpha"]
    modelled: float
    parameters: dict[str, float]
    switches: dict[str, str]
    lengths: list[int]


class AdaptBounds(TypedDict):
    clairvoyant: float
    perfect_confidence: float
    causal: float | None


class AdaptResult(TypedDict):
    verdict: Literal["worth_it", "not_worth_it"]
    advised: str | None
    best_fixed: FixedShape
    policies: list[PolicyShape]
    bounds: AdaptBounds
    level: float
    tokens: int
    requests: int
    clusters: int
    rounds_dropped: int
    costs: list[CostShape]
