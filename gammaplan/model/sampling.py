"""A sampler: temperature and truncation, from logits to what tokens are drawn from.

Every truncation keeps a head of the row when it is sorted by logit, so all of
them together are one cut through the row. The cut is found by selection, not by
sorting the row, and in the precision of the input: float64 for `transform`,
float32 where 16- and 32-bit files are streamed.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gammaplan.data.samplers import DEFAULT_ORDER, ORDERS, STEPS
from gammaplan.errors import DomainError
from gammaplan.model.arrays import Booleans

Reals: TypeAlias = NDArray[np.floating[Any]]  # Any: float32 or float64, as the input was

SHORT = 4096  # up to this vocabulary whole rows are sorted; beyond it candidates are
GROUPS = 512  # column groups whose maxima bound the k-th largest from below
SAMPLED = 2048  # logits of a row between which the end of its nucleus is bracketed
NARROW = 32  # of them in a bracket that is narrow enough


@dataclass(frozen=True)
class Sampler:
    """How tokens are drawn from logits.

    Parameters
    ----------
    temperature : float, >= 0
        Logits are divided by it; 0 takes the first largest logit.
    top_k : int, >= 0
        Keep the k largest logits, and those tied with the k-th; 0 is off.
    top_p : float
        Keep the largest while the mass before a token is below it. (0 to 1]; 1 is off.
    min_p : float
        Keep probabilities of at least this share of the largest. [0 to 1]; 0 is off.
    order : str or tuple of str
        An engine of `gammaplan.data.samplers`, or the four steps by name.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    order: str | tuple[str, ...] = DEFAULT_ORDER

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise DomainError(f"temperature must be at least 0, got {self.temperature:g}")
        if self.top_k < 0 or self.top_k != int(self.top_k):
            raise DomainError(
                f"top_k must be a whole number of at least 0 (0 is off), got {self.top_k}"
            )
        if not 0 < self.top_p <= 1:
            raise DomainError(f"top_p must be in (0, 1] (1 is off), got {self.top_p:g}")
        if not 0 <= self.min_p <= 1:
            raise DomainError(f"min_p must be in [0, 1] (0 is off), got {self.min_p:g}")
        steps_of(self.order)

    @property
    def truncates(self) -> bool:
        """Whether any token can be cut off."""
        return self.top_k > 0 or self.top_p < 1 or self.min_p > 0


def steps_of(order: str | tuple[str, ...]) -> tuple[str, ...]:
    """The steps of an order, first to last."""
    if isinstance(order, str):
        if order not in ORDERS:
            raise DomainError(f"order must be one of {', '.join(ORDERS)}, got {order}")
        return ORDERS[order].steps
    if sorted(order) != sorted(STEPS):
        raise DomainError(f"order must name {', '.join(STEPS)} once each, got {', '.join(order)}")
    return tuple(order)


def weights(
    logits: Reals, sampler: Sampler, out: Reals, inside: Booleans, spare: Reals | None = None
) -> Reals:
    """What tokens are drawn with, up to a factor: `out`, the largest of each row 1.

    Parameters
    ----------
    logits : ndarray of float32 or float64, shape ``(rows, vocab)``
        The largest of each row is 0.
    sampler : Sampler
        The transform.
    out : ndarray, as `logits`
        Filled in place; what is cut off is 0.
    inside : ndarray of bool, as `logits`
        Filled in place: the support, whose smallest probabilities may round to 0.
    spare : ndarray, as a row of `logits`, optional
        Memory to work in: new memory for every row takes longer than the work.
    """
    if sampler.temperature == 0:
        out.fill(0)
        out[np.arange(len(out)), logits.argmax(axis=-1)] = 1
        np.greater(out, 0, out=inside)
        return out
    _masses(logits, sampler.temperature, out)
    if not sampler.truncates:
        np.greater(logits, -np.inf, out=inside)
        return out
    spare = np.empty_like(logits[0]) if spare is None else spare
    for row, drawn, kept in zip(logits, out, inside, strict=True):
        _mark(row, sampler, kept, drawn, spare)
    return np.multiply(out, inside, out=out)


def _masses(logits: Reals, temperature: float, out: Reals) -> Reals:
    """``exp(logits / temperature)``, for a temperature as small as there are numbers."""
    with np.errstate(over="ignore"):  # all but the largest go to -inf
        np.divide(logits, max(temperature, float(np.finfo(out.dtype).tiny)), out=out)
    return np.exp(out, out=out)


def _mark(row: Reals, sampler: Sampler, inside: Booleans, mass: Reals, spare: Reals) -> None:
    """Mark in `inside` which tokens of a row survive; `mass` is `exp(row / temperature)`."""
    steps = steps_of(sampler.order)
    warm = {  # the temperature that is in force at a step
        step: sampler.temperature if "temperature" in steps[:i] else 1.0
        for i, step in enumerate(steps)
    }
    cuts: dict[str, Any] = {}  # Any: scalars of the row's type
    if 0 < sampler.top_k < len(row):
        cuts["top_k"] = _kth_largest(row, sampler.top_k, inside)
    if sampler.min_p > 0:
        cuts["min_p"] = row.dtype.type(warm["min_p"] * math.log(sampler.min_p))
    cut = max(cuts.values(), default=-math.inf)
    count = len(row)
    if sampler.top_p < 1:
        held = row
        earlier = [c for step, c in cuts.items() if steps.index(step) < steps.index("top_p")]
        if earlier:
            held = row.compress(np.greater_equal(row, max(earlier), out=inside))
        if earlier or warm["top_p"] != sampler.temperature:
            mass = _masses(held, warm["top_p"], np.empty_like(held))
        last, count = _nucleus(held, mass, sampler.top_p, warm["top_p"], inside, spare)
        cut = max(cut, last)
    np.greater_equal(row, max(cut, np.finfo(row.dtype).min), out=inside)
    surplus = np.count_nonzero(inside) - count
    if sampler.top_p < 1 and cut == last and surplus > 0:
        inside[np.flatnonzero(row == last)[-surplus:]] = False  # of the tied the first stay


def _kth_largest(row: Reals, k: int, mask: Booleans) -> Any:  # Any: a scalar of the row's type
    """The k-th largest of a row, sought among what lies above a bound."""
    if len(row) > SHORT and k <= GROUPS:
        whole = len(row) // GROUPS * GROUPS
        maxima = row[:whole].reshape(-1, GROUPS).max(axis=0)
        bound = np.partition(maxima, GROUPS - k)[GROUPS - k]
        row = row.compress(np.greater_equal(row, bound, out=mask))
    return np.partition(row, len(row) - k)[len(row) - k]


def _nucleus(
    held: Reals, mass: Reals, top_p: float, warmth: float, mask: Booleans, spare: Reals
) -> tuple[Any, int]:  # Any: a scalar of the row's type
    """The last logit of the nucleus, and how many tokens the nucleus has.

    Logits taken from the row at even steps, sorted, are the rungs between which
    the end of a long nucleus is sought by halving; only what lies between the
    last two is sorted.
    """
    wanted = top_p * float(mass.sum())
    before, count = 0.0, 0
    if len(held) > SHORT:
        rungs = np.sort(held[:: len(held) // SAMPLED])
        low, high, steps = 0, len(rungs), [64, 8]  # most nuclei are short: look there first
        while high - low > NARROW:
            middle = high - (high - low) // (steps.pop(0) if steps else 2)
            above = np.greater_equal(held, rungs[middle], out=mask[: len(held)])
            upper = float(np.multiply(mass, above, out=spare[: len(held)]).sum())
            if upper < wanted:
                high, before, count = middle, upper, int(np.count_nonzero(above))
                continue
            low = middle
            if 4 * np.count_nonzero(above) < len(held):
                held = held.compress(above)  # several times faster than held[above]
                mass = _masses(held, warmth, np.empty_like(held))
        between = held >= (rungs[low] if low else -np.inf)
        if high < len(rungs):
            between &= held < rungs[high]
        held = held.compress(between)
    held = np.sort(held)[::-1]
    mass = _masses(held, warmth, np.empty_like(held))
    ahead = before + np.cumsum(mass, dtype=np.float64) - mass
    more = max(1, int(np.count_nonzero(ahead < wanted)))
    return held[more - 1], count + more
