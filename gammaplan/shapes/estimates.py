"""What an estimate rests on: the models, the device, each pass by its parts, and the memory."""

from typing import TypedDict


class ModelFacts(TypedDict):
    name: str
    parameters: float
    active: float
    kv_bytes: float


class DeviceFacts(TypedDict):
    name: str
    devices: int
    bandwidth: float
    flops: float
    memory: float
    source: str


class TurnShape(TypedDict):
    weights: float
    experts: float | None


class PartTimes(TypedDict):
    memory: float
    compute: float


class PassEstimate(TypedDict):
    batch: int
    tokens: int
    ms: float
    relative: float
    weights: PartTimes
    experts: PartTimes
    attention: PartTimes
    overhead: float


class RoomShape(TypedDict):
    batch: int
    weights: float
    cache: float
    memory: float
    fits: bool


class DraftPass(TypedDict):
    batch: int
    ms: float


class EstimateShape(TypedDict):
    target: ModelFacts
    draft: ModelFacts | None
    device: DeviceFacts
    efficiency: float
    calibrated: bool
    context: int
    turn: TurnShape
    passes: list[PassEstimate]
    drafting: list[DraftPass]
    room: list[RoomShape]
