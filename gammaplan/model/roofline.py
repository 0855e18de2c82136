"""How long a pass takes, from what it reads and computes: the roofline of Williams et al. (2009).

Every part of a pass takes ``max(bytes / bandwidth, flops / peak)``; the parts follow one another,
and an overhead comes on top. Sizes are bytes, times ms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.architecture import Attention, ModelShape
from gammaplan.model.arrays import ArrayLike, Floats, non_negative

EFFICIENCY = 0.7  # share of the stated bandwidth and speed that passes reach
PASS_MS = 0.1  # launching and sampling of one pass
LAYER_MS = 0.01  # small kernels of a layer
EXCHANGE_MS = 0.02  # two exchanges of a layer between devices


@dataclass(frozen=True)
class Precision:
    """Bytes of one number: in the layers, in routed experts, in the output projection, cached."""

    linear: float
    experts: float
    head: float
    cache: float


@dataclass(frozen=True)
class Machine:
    """Devices that run one model together.

    Parameters
    ----------
    bandwidth : float, > 0
        Memory bandwidth of one device. [bytes/s]
    flops : float, > 0
        Dense matrix speed of one device at the precision of the weights. [1/s]
    attention_flops : float, > 0
        The same at the precision of the activations. [1/s]
    memory : float, > 0
        Memory of one device. [bytes]
    devices : int, >= 1
        Devices that split each layer (tensor parallelism).
    efficiency : float, in (0, 1.5]
        Share of both speeds that is reached.
    """

    bandwidth: float
    flops: float
    attention_flops: float
    memory: float
    devices: int = 1
    efficiency: float = EFFICIENCY

    def __post_init__(self) -> None:
        for name in ("bandwidth", "flops", "attention_flops", "memory", "efficiency"):
            if not non_negative(name, getattr(self, name)) > 0:
                raise DomainError(f"{name} must be above 0, got {getattr(self, name):g}")
        if self.devices < 1:
            raise DomainError(f"devices must be at least 1, got {self.devices}")


class Part(NamedTuple):
    """One part of a pass: its time by memory and by computing; it takes the longer. [ms]"""

    memory: Floats
    compute: Floats

    @property
    def ms(self) -> Floats:
        """What it takes."""
        return np.maximum(self.memory, self.compute)


class Pass(NamedTuple):
    """A pass by its parts: weights that every token uses, routed experts, attention, overhead."""

    weights: Part
    experts: Part
    attention: Part
    overhead: float

    @property
    def ms(self) -> Floats:
        """What the pass takes in all."""
        return self.weights.ms + self.experts.ms + self.attention.ms + self.overhead


def pass_over(
    shape: ModelShape,
    machine: Machine,
    precision: Precision,
    tokens: ArrayLike,
    *,
    batch: ArrayLike = 1,
    context: float,
) -> Pass:
    """The time of one pass over `tokens` of each of `batch` sequences.

    Parameters
    ----------
    shape, machine, precision
        What runs where.
    tokens, batch : array_like, >= 1, broadcast
        Tokens of a sequence in the pass (gamma + 1 for a verification), and sequences.
    context : float, >= 0
        Cached tokens of a sequence, all of which its tokens attend to.

    Returns
    -------
    Pass
        Weights are read once for all tokens, the cache once for each
        sequence, routed experts as `Experts.read` says.
    """
    sequences = non_negative("batch", batch)
    n = sequences * non_negative("tokens", tokens)
    split = machine.devices
    read = 1e3 / (machine.bandwidth * machine.efficiency)
    work = 1e3 / (machine.flops * machine.efficiency)
    attend = 1e3 / (machine.attention_flops * machine.efficiency)
    dense = shape.linear * precision.linear + shape.head * precision.head
    weights = Part(
        np.full_like(n, dense / split * read), 2 * (shape.linear + shape.head) * n / split * work
    )
    expert_bytes, expert_flops = np.zeros_like(n), np.zeros_like(n)
    cached, queries = 0.0, 0.0
    for group in shape.layers:
        if group.experts:
            size = group.count * group.experts.parameters
            expert_bytes = expert_bytes + group.experts.read(n) * size * precision.experts
            expert_flops = expert_flops + 2 * group.experts.chosen * size * n
        seen = min(context, group.window or context)
        each = group.attention.kv_elements / _kv_split(group.attention, split)
        cached += group.count * seen * each
        queries += group.count * seen * group.attention.flops
    return Pass(
        weights,
        Part(expert_bytes / split * read, expert_flops / split * work),
        Part(
            np.zeros_like(n) + sequences * cached * precision.cache * read,
            n * queries / split * attend,
        ),
        overhead_ms(shape, split),
    )


def overhead_ms(shape: ModelShape, devices: int) -> float:
    """What a pass takes beside reading and computing. [ms]"""
    return PASS_MS + shape.depth * (LAYER_MS + (EXCHANGE_MS if devices > 1 else 0.0))


def _kv_split(attention: Attention, devices: int) -> int:
    """Among how many devices the cache is split: whole heads, and a latent not at all."""
    return 1 if attention.latent else min(devices, attention.kv_heads)


class Turn(NamedTuple):
    """Tokens in a pass up to which reading the weights outlasts computing with them."""

    weights: float
    experts: float | None


def turn(shape: ModelShape, machine: Machine, precision: Precision) -> Turn:
    """n*: where the weights turn from memory-bound to compute-bound.

    ``peak * bytes_per_parameter / (2 * bandwidth)``: efficiency cancels. A
    routed expert sees K/M of the tokens, so experts turn M/K times later,
    once all of them are read.

    Examples
    --------
    >>> from gammaplan.model.architecture import ModelShape
    >>> machine = Machine(3.35e12, 989.4e12, 989.4e12, 80e9)
    >>> shape = ModelShape("dense", 1, 0.0, 0.0, (), extra=8e9)
    >>> round(turn(shape, machine, Precision(2, 2, 2, 2)).weights)
    295
    """
    ridge = machine.flops / (2 * machine.bandwidth)
    size = shape.linear + shape.head
    bytes_each = (shape.linear * precision.linear + shape.head * precision.head) / size
    routed = next((g.experts for g in shape.layers if g.experts), None)
    if routed is None:
        return Turn(ridge * bytes_each, None)
    return Turn(ridge * bytes_each, ridge * precision.experts * routed.count / routed.chosen)


class Room(NamedTuple):
    """What the memory of one device holds. [bytes]"""

    weights: float
    cache: float
    memory: float

    @property
    def fits(self) -> bool:
        """Whether weights and cache fit."""
        return self.weights + self.cache <= self.memory


def room(
    shapes: Sequence[tuple[ModelShape, Precision]], machine: Machine, *, batch: int, context: int
) -> Room:
    """The memory that models and their caches take on each device; a borrowed head takes none."""
    weights = cache = 0.0
    for shape, precision in shapes:
        weights += shape.linear * precision.linear + shape.routed * precision.experts
        weights += (0.0 if shape.borrowed else shape.head + shape.embedding) * precision.head
        for group in shape.layers:
            kept = min(context, group.window or context) * group.count
            split = _kv_split(group.attention, machine.devices)
            cache += batch * kept * group.attention.kv_elements * precision.cache / split
    return Room(weights / machine.devices, cache, machine.memory)


def calibrated(
    shape: ModelShape,
    machine: Machine,
    precision: Precision,
    *,
    ms: float,
    batch: int,
    context: int,
) -> Machine:
    """The machine with the efficiency at which a plain pass takes the measured time.

    Raises
    ------
    DomainError
        If the overhead alone takes longer, or more than the stated speeds would be needed.
    """
    whole = replace(machine, efficiency=1.0)
    plain = pass_over(shape, whole, precision, 1, batch=batch, context=context)
    least = float(plain.ms) - plain.overhead
    left = ms - plain.overhead
    if left <= 0 or least / left > 1.5:
        raise DomainError(
            f"a plain pass cannot take {ms:g} ms: the stated speeds give {least:.3g} ms and "
            f"{plain.overhead:.3g} ms of overhead"
        )
    return replace(machine, efficiency=least / left)
