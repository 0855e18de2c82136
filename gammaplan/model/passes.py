"""Times of target passes by the tokens in them, and the round costs that they make."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, non_negative
from gammaplan.model.cost_tables import TableCost

LONGEST = 128  # draft lengths that a table of round costs is written out for
STEP = 0.02  # a point this share above the line between its neighbours is a step

# How a draft is made: token after token, in one pass for all of them, or looked up.
DraftKind: TypeAlias = Literal["sequential", "one-pass", "lookup"]


class Step(NamedTuple):
    """A place where the passes climb and then level off: `above` the line around it, a share."""

    tokens: int
    above: float


@dataclass(frozen=True)
class PassTimes:
    """How long one target pass takes, by the tokens in it.

    Parameters
    ----------
    tokens : sequence of int, increasing, >= 1
        Tokens in the pass (of each sequence, or of all, as they were measured).
    ms : sequence of float, > 0
        Its time. [ms, or any unit: only ratios are used]

    Notes
    -----
    Linear between neighbours and unknown (NaN) outside: a staircase drawn
    past its last step would be a guess.

    Examples
    --------
    >>> PassTimes((1, 2, 3, 5, 8), (8.47, 13.49, 15.64, 20.67, 28.13)).relative([2, 4, 9]).round(3)
    array([1.593, 2.143,   nan])
    """

    tokens: tuple[int, ...]
    ms: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.tokens or len(self.tokens) != len(self.ms):
            raise DomainError("pass times need one time for each of one or more token counts")
        if self.tokens[0] < 1 or any(np.diff(self.tokens) <= 0):
            raise DomainError(f"tokens must increase from at least 1, got {list(self.tokens)}")
        if not non_negative("ms", self.ms).min() > 0:
            raise DomainError(f"pass times must be above 0, got {min(self.ms):g}")

    def at(self, tokens: ArrayLike) -> Floats:
        """Time of a pass over so many tokens."""
        n = non_negative("tokens", tokens)
        return np.asarray(np.interp(n, self.tokens, self.ms, left=np.nan, right=np.nan))

    def relative(self, tokens: ArrayLike) -> Floats:
        """V(n): the same, in passes over one token."""
        return self.at(tokens) / self.at(1)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The measured points that lie above the line between their neighbours."""
        n, t = np.array(self.tokens, dtype=np.float64), np.array(self.ms)
        if len(n) < 3:
            return ()
        share = (n[1:-1] - n[:-2]) / (n[2:] - n[:-2])
        above = t[1:-1] / ((1 - share) * t[:-2] + share * t[2:]) - 1
        found = zip(self.tokens[1:-1], above.tolist(), strict=True)
        return tuple(Step(tokens, by) for tokens, by in found if by > STEP)

    @property
    def falls(self) -> tuple[tuple[int, int], ...]:
        """Neighbours of which the larger pass took less time."""
        pairs = zip(self.tokens, self.tokens[1:], np.diff(self.ms).tolist(), strict=False)
        return tuple((few, many) for few, many, more in pairs if more < 0)


def pass_times(points: Iterable[tuple[int, float]]) -> PassTimes:
    """Points in any order; of those of one token count the median, as what disturbs slows.

    Examples
    --------
    >>> pass_times([(2, 3.0), (1, 2.0), (2, 9.0), (2, 4.0)])
    PassTimes(tokens=(1, 2), ms=(2.0, 4.0))
    """
    by_tokens: dict[int, list[float]] = {}
    for tokens, ms in points:
        by_tokens.setdefault(tokens, []).append(ms)
    rows = sorted((n, median(times)) for n, times in by_tokens.items())
    return PassTimes(tuple(n for n, _ in rows), tuple(ms for _, ms in rows))


def pass_cost(
    passes: PassTimes,
    kind: DraftKind = "sequential",
    *,
    draft_ms: float = 0.0,
    batch: int = 1,
    block: int | None = None,
    reading: PassTimes | None = None,
) -> TableCost:
    """Round costs of a draft and the pass that verifies it, at every length that was measured.

    Parameters
    ----------
    passes : PassTimes
        Target passes.
    kind : {"sequential", "one-pass", "lookup"}
        Whether `draft_ms` is paid for each token, once a round, or not at all.
    draft_ms : float, >= 0
        One draft pass, in the unit of `passes`.
    batch : int, >= 1
        Sequences in a pass, where `passes` count the tokens of all of them.
    block : int, optional
        The longest draft of a one-pass draft. [tokens]
    reading : PassTimes, optional
        Draft passes, in the unit of `passes`, of an engine whose draft reads the
        tokens that were verified in a pass of its own.

    Returns
    -------
    TableCost
        ``(draft + t(B(gamma + 1)) + r(B(gamma + 1))) / t(B)`` for gamma from 1
        on, with r the pass that reads, if there is one.

    Raises
    ------
    DomainError
        If the plain pass, or every pass that verifies or reads anything, was not
        measured.

    Examples
    --------
    >>> passes = PassTimes((1, 2, 4), (10.0, 11.0, 14.0))
    >>> pass_cost(passes, draft_ms=1.0).round_costs
    (1.2, 1.45, 1.7)
    >>> pass_cost(passes, "one-pass", draft_ms=3.0).round_costs
    (1.4, 1.55, 1.7)
    >>> pass_cost(passes, draft_ms=1.0, reading=PassTimes((2, 4), (1.0, 2.0))).round_costs
    (1.3, 1.6, 1.9)
    """
    plain = float(passes.at(batch))
    if np.isnan(plain):
        raise DomainError(
            f"the plain pass, over {batch} token(s), was not measured; the passes are over "
            f"{passes.tokens[0]} to {passes.tokens[-1]}"
        )
    last = min(passes.tokens[-1] // batch - 1, LONGEST, block or LONGEST)
    if last < 1:
        raise DomainError(
            f"a round of batch {batch} verifies at least {2 * batch} tokens, and the passes end "
            f"at {passes.tokens[-1]}"
        )
    lengths = np.arange(1, last + 1)
    after = passes.at(batch * (lengths + 1))
    if reading is not None:
        after = after + reading.at(batch * (lengths + 1))
        lengths, after = lengths[~np.isnan(after)], after[~np.isnan(after)]
        if not len(lengths) or lengths[0] > 1:
            raise DomainError(
                f"the draft reads {2 * batch} tokens after a round of γ 1, and its passes are over "
                f"{reading.tokens[0]} to {reading.tokens[-1]}"
            )
    draft_passes = {"sequential": lengths, "one-pass": 1, "lookup": 0}[kind]
    costs = (draft_ms * np.asarray(draft_passes) + after) / plain
    return TableCost(lengths.tolist(), costs.tolist())
