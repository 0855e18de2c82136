"""What `tree` answers."""

from typing import Literal, TypedDict

from gammaplan.model.treeshapes import ShapeName

Verdict = Literal["tree", "chain", "plain"]


class TreeRow(TypedDict):
    nodes: int
    depth: int
    expected_tokens: float
    round_cost: float | None
    speedup: float | None
    best: bool


class ChainShape(TypedDict):
    gamma: int | None
    expected_tokens: float | None
    speedup: float | None


class RivalShape(TypedDict):
    name: ShapeName
    width: int | None
    steps: int | None
    depth: int
    expected_tokens: float
    round_cost: float | None
    speedup: float | None
    loss: float | None


class TreeCostShape(TypedDict):
    c: float
    overhead: float
    verify_slope: float
    passes: list[list[float]]


class TreeResult(TypedDict):
    expected_tokens: float
    depth: int
    nodes: int
    width: int
    children: list[int]
    parents: list[int]
    path_probabilities: list[float]
    round_cost: float | None
    speedup: float | None
    method: Literal["best_first", "recurrence"]
    verdict: Verdict | None
    gain: float | None
    chain: ChainShape | None
    best: TreeRow | None
    rows: list[TreeRow]
    shapes: list[RivalShape]
    settings: dict[str, str]
    settings_loss: float | None
    ranks: list[list[float]]
    cost: TreeCostShape | None
