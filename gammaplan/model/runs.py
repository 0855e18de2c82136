"""One measured operating point, and what it says of acceptance and drafting."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from gammaplan.errors import DomainError
from gammaplan.model.consistency import contradiction
from gammaplan.model.repeats import Noise, Repeats, noise, repeats

if TYPE_CHECKING:
    from gammaplan.model.acceptance import Acceptance

LONGEST = 1_024  # the longest draft that a run may have
PRINTED = 0.02  # what rounding and short requests may move a printed length or rate by
FULL = 0.98  # drafts at least this share of gamma count as full


@dataclass(frozen=True, slots=True)
class Run:
    """One measured operating point.

    Parameters
    ----------
    gamma : int
        Draft length asked for, at least 1.
    speedup : float
        Speed with over speed without speculation.
    mean_length : float, optional
        Tokens per round with the bonus token.
    pooled_rate : float, optional
        Accepted over drafted tokens. Not alpha.
    survival : sequence of float, optional
        P(first i accepted) for i = 1, 2, ...; used as printed at the positions it covers.
    drafted_per_round : float, optional
        Tokens drafted per round where drafts stop early; gamma otherwise.
    baseline_repeats : Repeats, optional
        How far the plain runs differ whose mean `speedup` is relative to, where other runs are
        relative to the same: `repeats([speeds])`. None: a baseline of its own.

    Examples
    --------
    >>> run = Run(5, 1.45, pooled_rate=0.55)
    >>> run.tokens(), round(run.round_cost, 3)
    (3.75, 2.586)
    """

    gamma: int
    speedup: float
    mean_length: float | None = None
    pooled_rate: float | None = None
    survival: Sequence[float] | None = None
    drafted_per_round: float | None = None
    baseline_repeats: Repeats | None = None

    def __post_init__(self) -> None:
        if not (1 <= self.gamma <= LONGEST and self.gamma == int(self.gamma)):
            raise DomainError(
                f"gamma of a run must be a whole number from 1 to {LONGEST:,}, got {self.gamma:g}"
            )
        if not (math.isfinite(self.speedup) and self.speedup > 0):
            raise DomainError(f"speedup must be above 0, got {self.speedup:g}")
        rates = [r for r in (self.pooled_rate, *(self.survival or ())) if r is not None]
        if bad := [r for r in rates if not 0 <= r <= 1]:
            remedy = f" ({bad[0]:g} % is {bad[0] / 100:g})" if 1 < bad[0] <= 100 else ""
            raise DomainError(f"rates must be fractions in [0, 1], got {bad[0]:g}{remedy}")
        length = self.mean_length
        if length is not None and not 1 <= length <= self.gamma + 1:
            raise DomainError(
                f"mean_length must be from 1 to gamma + 1, got {length:g} at gamma {self.gamma}"
            )
        if self.survival is not None and len(self.survival) > self.gamma:
            raise DomainError(
                f"survival has {len(self.survival)} positions and gamma is {self.gamma}"
            )
        drafted = self.drafted_per_round
        if drafted is not None and not 0 < drafted <= self.gamma * (1 + PRINTED):
            raise DomainError(
                f"drafted_per_round must be above 0 and at most gamma {self.gamma}, got {drafted:g}"
            )
        what = contradiction(
            gamma=self.gamma,
            mean_length=length,
            survival=self.survival or (),
            pooled_rate=self.pooled_rate,
            half_unit=PRINTED,
        )
        if what:
            raise DomainError(f"a run at gamma {self.gamma} cannot have {what}")

    @property
    def round_cost(self) -> float | None:
        """Plain target passes per round: tokens per round over speedup, where tokens are known."""
        tokens = self.tokens()
        return None if tokens is None else tokens / self.speedup

    def tokens(self) -> float | None:
        """Tokens per round: as printed, else 1 + rate times drafted, else from the survival."""
        if self.mean_length is not None:
            return self.mean_length
        if self.pooled_rate is not None:
            return 1 + self.pooled_rate * min(self.drafted_per_round or self.gamma, self.gamma)
        if self.survival is not None and len(self.survival) == self.gamma:
            return 1 + math.fsum(self.survival)
        return None

    @property
    def says_acceptance(self) -> bool:
        """Whether it brings an acceptance figure of its own."""
        return self.tokens() is not None or bool(self.survival)

    def accepting(self, law: "Acceptance") -> "Run":
        """The run, accepted as `law` says where it brings no figure of its own."""
        if self.says_acceptance:
            return self
        measured = min(self.gamma, law.observed_to or 0)
        if law.model == "geometric" or not measured:
            return replace(self, mean_length=float(law.expected_tokens(self.gamma)))
        return replace(self, survival=tuple(law.survival(range(1, measured + 1)).tolist()))

    def drafted(self) -> float:
        """Tokens drafted per round: as printed, else accepted over rate, else gamma."""
        drafted = float(self.gamma)
        if self.drafted_per_round is not None:
            drafted = self.drafted_per_round
        elif self.mean_length is not None and self.pooled_rate:
            drafted = (self.mean_length - 1) / self.pooled_rate
        return drafted if 0 < drafted < FULL * self.gamma else float(self.gamma)


def by_length(runs: Iterable[Run]) -> dict[int, list[Run]]:
    """The runs of each length, the shortest first."""
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(run.gamma, []).append(run)
    return dict(sorted(found.items()))


def speedups(runs: Iterable[Run]) -> dict[int, float]:
    """The speedup measured at each length: the geometric mean of its runs."""
    return {g: math.exp(fmean(math.log(r.speedup) for r in s)) for g, s in by_length(runs).items()}


def pooled(runs: Sequence[Run]) -> Run:
    """Runs of one length as one: speedup, tokens and drafted tokens, and no rates by position."""
    first, *others = runs
    if not others:
        return first
    known = [tokens for run in runs if (tokens := run.tokens()) is not None]
    return Run(
        first.gamma,
        speedups(runs)[first.gamma],
        mean_length=fmean(known) if known else None,
        drafted_per_round=fmean(run.drafted() for run in runs),
    )


def run_noise(runs: Sequence[Run], published: float) -> Noise:
    """The noise of a run that repeats of a length, and of the plain runs they share, show."""
    own = repeats([run.speedup for run in same] for same in by_length(runs).values())
    shared = {r.baseline_repeats for r in runs if r.baseline_repeats is not None}
    number = sum(r.number for r in shared)
    square = math.fsum(r.square * r.number for r in shared) / max(number, 1)
    return noise(published, own, Repeats(square, number) if shared else None)
