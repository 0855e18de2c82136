"""What a set of reported figures cannot be, and the counts that rounded figures stand for."""

import math
from collections.abc import Sequence
from itertools import pairwise

SLACK = 1e-9  # of a count: what printing and reading a decimal may add


def contradiction(
    *,
    accepted: float | None = None,
    drafted: float | None = None,
    rounds: float | None = None,
    gamma: float | None = None,
    mean_length: float | None = None,
    survival: Sequence[float] = (),
    pooled_rate: float | None = None,
    half_unit: float = 0.0,
) -> str | None:
    """The first way in which these figures cannot all be true; None if they can.

    Parameters
    ----------
    accepted, drafted, rounds : float, optional
        Counts, or figures per round with ``rounds`` = 1.
    gamma : float, optional
        The longest draft. [tokens]
    mean_length : float, optional
        Tokens per round, the bonus token counted.
    survival : sequence of float
        P(at least i accepted), i = 1, 2, ...
    pooled_rate : float, optional
        Accepted over drafted tokens.
    half_unit : float
        Half a unit of the last printed digit: what rounding may explain.

    Returns
    -------
    str or None
        A clause that names the figures, for a message.
    """
    off = half_unit + 1e-9
    if accepted is not None and drafted is not None and accepted > drafted + off:
        return f"{accepted:g} accepted of {drafted:g} drafted tokens"
    most = math.inf if rounds is None or gamma is None else rounds * gamma
    if drafted is not None and drafted > most + off:
        return f"{drafted:g} drafted tokens in {rounds:g} rounds of at most {gamma:g}"
    if pooled_rate is not None and not -off <= pooled_rate <= 1 + off:
        return f"an accepted share of {pooled_rate:g}"
    for i, (earlier, later) in enumerate(zip((1.0, *survival), survival, strict=False), 1):
        if not -off <= later <= earlier + 2 * off:
            return f"position {i} accepted in {later:g} of rounds after {earlier:g}"
    if mean_length is not None:
        longest = math.inf if gamma is None else gamma + 1
        if not 1 - off <= mean_length <= longest + off:
            return f"a mean length of {mean_length:g} with drafts of at most {gamma} tokens"
        if survival and len(survival) == gamma:
            sum_ = 1 + sum(survival)
            if abs(mean_length - sum_) > off * (len(survival) + 1):
                return f"a mean length of {mean_length:g} beside 1 + positions = {sum_:.4g}"
        if pooled_rate is not None and gamma and pooled_rate < (mean_length - 1) / gamma - 2 * off:
            return f"an accepted share of {pooled_rate:g} below (length - 1) / gamma"
    return None


def rounded_counts(
    rates: Sequence[float], rounds: int, accepted: int, half_unit: float
) -> tuple[tuple[int, ...], bool] | None:
    """The counts per position behind rounded rates, and whether they are the only ones.

    Parameters
    ----------
    rates : sequence of float
        Share of rounds that accepted at least i tokens, rounded. [0 to 1]
    rounds, accepted : int
        Rounds, and accepted tokens: the sum of the counts.
    half_unit : float
        Half a unit of the rates' last digit.

    Returns
    -------
    (counts, unique) or None
        None where no non-increasing counts round to these rates and sum to
        `accepted`.
    """
    reach = half_unit * rounds + SLACK * max(1, rounds)
    low = [max(0, math.ceil(u * rounds - reach)) for u in rates]
    high = [min(rounds, math.floor(u * rounds + reach)) for u in rates]
    if any(a > b for a, b in zip(low, high, strict=True)):
        return None
    counts = [min(b, max(a, round(u * rounds))) for u, a, b in zip(rates, low, high, strict=True)]
    while gap := accepted - sum(counts):
        step = 1 if gap > 0 else -1
        room = [i for i, c in enumerate(counts) if low[i] <= c + step <= high[i]]
        if not room:
            return None
        best = max(room, key=lambda i: step * (rates[i] * rounds - counts[i]))
        counts[best] += step
    if any(later > earlier for earlier, later in pairwise(rates)):
        return None
    counts.sort(reverse=True)  # equal rates may have been moved apart in the wrong order
    return tuple(counts), low == high


def rounds_of(accepted: int, accepted_per_round: float, half_unit: float) -> range:
    """The numbers of rounds for which accepted / rounds rounds to what was printed."""
    low, high = accepted_per_round - half_unit, accepted_per_round + half_unit
    if accepted == 0 or high <= 0:
        return range(0)
    most = accepted / low if low > 0 else float(accepted) * 1e4
    return range(math.ceil(accepted / high - SLACK), math.floor(min(most, 1e12) + SLACK) + 1)
