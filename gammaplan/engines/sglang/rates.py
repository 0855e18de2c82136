"""Which rate SGLang printed, and the draft length that follows from it and the length."""

import math
from typing import NamedTuple

LONGEST = 256  # drafted tokens that are tried
_SLACK = 1e-9
Range = tuple[float, float]


class Printed(NamedTuple):
    """A decimal and half a unit of its last digit."""

    value: float
    half: float


class Fit(NamedTuple):
    """The draft lengths for which every pair of length and rate so far is explained.

    Under the strict definition ``rate = (length - 1) / gamma``; up to 0.5.10 the bonus token
    was in it: ``rate = length / (gamma + 1)``.
    """

    strict: Range = (1.0, float(LONGEST))
    bonus: Range = (1.0, float(LONGEST))

    def narrowed(self, length: Printed, rate: Printed) -> "Fit":
        """What one more pair leaves."""
        low, high = _quotient(Printed(length.value - 1, length.half), rate)
        below, above = _quotient(length, rate)
        return Fit(
            (max(self.strict[0], low), min(self.strict[1], high)),
            (max(self.bonus[0], below - 1), min(self.bonus[1], above - 1)),
        )

    def lengths(self, *, strict: bool) -> range:
        """The draft lengths that one definition allows."""
        low, high = self.strict if strict else self.bonus
        return range(math.ceil(low), math.floor(high) + 1)

    def only(self, *, definition: bool | None) -> "Fit":
        """What is left where the definition is known (True: strict)."""
        never = (1.0, 0.0)
        if definition is None:
            return self
        return Fit(self.strict, never) if definition else Fit(never, self.bonus)

    @property
    def possible(self) -> bool:
        """Whether anything explains the pairs."""
        return bool(self.lengths(strict=True) or self.lengths(strict=False))

    @property
    def gamma(self) -> int | None:
        """The draft length, where only one explains the pairs."""
        both = [self.lengths(strict=True), self.lengths(strict=False)]
        ends = {end for r in both if r for end in (r[0], r[-1])}
        return ends.pop() if len(ends) == 1 else None

    @property
    def definition(self) -> bool | None:
        """Whether the rate is strict (True) or has the bonus token in it; None: either."""
        strict, bonus = bool(self.lengths(strict=True)), bool(self.lengths(strict=False))
        return strict if strict != bonus else None


def _quotient(part: Printed, whole: Printed) -> Range:
    """The range of a quotient of two rounded figures."""
    low = (part.value - part.half - _SLACK) / (whole.value + whole.half + _SLACK)
    under = whole.value - whole.half - _SLACK
    high = (part.value + part.half + _SLACK) / under if under > 0 else math.inf
    return low, min(high, 2.0 * LONGEST)
