"""From counts to alpha: the point, its bounds, its interval, and the law that follows."""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.constancy import SIGNIFICANT, Constancy, beta_geometric, constancy
from gammaplan.model.convert import alpha_from_mean_length
from gammaplan.model.estimate import NARROW, Counts, alpha_bounds, rejection_bounds
from gammaplan.model.intervals import Interval, Requests, clopper_pearson, cluster_interval
from gammaplan.model.positions import PerPosition
from gammaplan.results import Ends, Result

Method: TypeAlias = Literal["mle", "mean_length", "nearly_full_drafts", "bounds", "none"]
STEPS = 60  # halvings of [0, 1], down to the last bit


@dataclass(frozen=True)
class Estimate(Result):
    """What counts say of acceptance.

    Attributes
    ----------
    alpha : float or None
        The estimate; None where the counts only bound it. [0 to 1]
    method : {"mle", "mean_length", "nearly_full_drafts", "bounds", "none"}
        How `alpha` was found, or what there is instead.
    interval : Interval or None
        For the limit of A / (A + R); None where there are no counts.
    bounds : Ends or None
        What alpha must lie in, where refusals were not counted.
    counts : Counts
        The counts, refusals filled in where counting leaves one value.
    constancy : Constancy or None
        Whether one alpha describes every position, where positions are known.
    acceptance : Geometric, PerPosition, BetaGeometric or None
        The law to plan with.
    """

    alpha: float | None
    method: Method
    interval: Interval | None
    bounds: Ends | None
    counts: Counts
    constancy: Constancy | None
    acceptance: Acceptance | None


def estimate(
    counts: Counts,
    *,
    level: float = 0.95,
    full_drafts: bool = False,
    mean_length: float | None = None,
    clusters: tuple[Requests, str] | None = None,
) -> Estimate:
    """The acceptance probability from counts, with an honest interval.

    Parameters
    ----------
    counts : Counts
        What was counted; what is None is not used.
    level : float, in (0, 1)
        Confidence of the interval.
    full_drafts : bool
        Take every draft to have had ``counts.gamma`` tokens.
    mean_length : float, optional
        Tokens per round, where only an average is known: no interval then.
    clusters : (Requests, str), optional
        Accepted and trials of windows, blocks or requests, and their kind: the
        wider of their interval and the exact one is given.

    Returns
    -------
    Estimate

    Raises
    ------
    DomainError
        If `level` leaves (0, 1), or full drafts contradict the counts.

    Notes
    -----
    In this order: ``A / (A + R)``; the root of the mean length, where every
    draft was full; the middle of the bounds, where they are within 0.02; else
    the bounds alone. Bounds by counting refusals: see `alpha_bounds`.

    Examples
    --------
    >>> found = estimate(Counts.from_histogram([39, 1, 0, 3]))
    >>> found.alpha, found.method, round(found.interval.low, 3), round(found.interval.high, 3)
    (0.2, 'mle', 0.1, 0.337)
    """
    if not 0 < level < 1:
        raise DomainError(f"level must be in (0, 1), got {level:g}")
    known = _completed(counts, full_drafts)
    if known.accepted is not None and known.rejections is not None:
        return _counted(known, level, clusters)
    length = known.mean_length if mean_length is None else mean_length
    bounds = _bounds(known)
    root = None
    if length is not None and known.gamma and (known.full_drafts or mean_length is not None):
        root = float(alpha_from_mean_length(min(length, known.gamma + 1), known.gamma))
    if root is not None:
        interval = None if mean_length is not None else _of_length(known, level, clusters)
        return Estimate(root, "mean_length", interval, bounds, known, None, Geometric(root))
    if bounds is None:
        return Estimate(None, "none", None, None, known, None, None)
    if bounds[1] - bounds[0] >= NARROW:
        return Estimate(None, "bounds", None, bounds, known, None, None)
    alpha = sum(bounds) / 2
    least, most = _rejections(known)
    accepted = known.accepted or 0
    interval = Interval(
        level,
        clopper_pearson(accepted, most, level).low,
        clopper_pearson(accepted, least, level).high,
        "clopper-pearson over the bounds",
    )
    law = Geometric(alpha)
    return Estimate(alpha, "nearly_full_drafts", interval, bounds, known, None, law)


def _completed(counts: Counts, full_drafts: bool) -> Counts:
    """The counts with what full drafts, or counting alone, leave no choice about."""
    if full_drafts:
        counts = _asserted(counts)
    if counts.full_drafts and counts.accepted == 0:
        counts = Counts.full(counts.rounds or 0, (0,) * (counts.gamma or 0))
    if counts.full_drafts and counts.drafted_at_least is None:
        counts = replace(counts, drafted_at_least=(counts.rounds or 0,) * (counts.gamma or 0))
    if counts.accepted is None or counts.rejections is not None:
        return counts
    if not counts.drafted and counts.rounds is None:
        return counts
    least, most = _rejections(counts)
    if least != most or most == math.inf:
        return counts
    return replace(counts, rejections=int(most))


def _asserted(counts: Counts) -> Counts:
    gamma, drafted = counts.gamma, counts.drafted
    if not gamma:
        raise DomainError("full drafts need their length: give --gamma")
    rounds = counts.rounds
    if rounds is None and drafted is not None and drafted % gamma == 0:
        rounds = drafted // gamma
    if rounds is None or (drafted is not None and drafted != rounds * gamma):
        raise DomainError(
            f"full drafts of {gamma} tokens contradict the counts: {drafted} drafted tokens "
            f"in {'an unknown number of' if rounds is None else rounds} rounds"
        )
    return replace(counts, rounds=rounds, drafted=rounds * gamma)


def _rejections(counts: Counts) -> tuple[float, float]:
    """The fewest and most refusals, by every count there is."""
    at_least, gamma = counts.accepted_at_least, counts.gamma
    whole = at_least[-1] if at_least and gamma == len(at_least) else None
    least, most = rejection_bounds(
        counts.accepted or 0,
        drafted=counts.drafted,
        rounds=counts.rounds,
        gamma=gamma,
        full_accepts=whole,
    )
    longest = counts.drafted_at_least
    if longest and whole is not None and gamma == len(longest):
        least = max(least, longest[-1] - whole)
    return least, max(least, most)


def _bounds(counts: Counts) -> Ends | None:
    if counts.accepted is None or (counts.drafted is None and counts.rounds is None):
        return None
    if counts.drafted == 0:
        return None
    least, most = _rejections(counts)
    if counts.accepted == 0:
        return Ends(*alpha_bounds(0, drafted=counts.drafted, rounds=counts.rounds))
    accepted = counts.accepted
    return Ends(accepted / (accepted + most), accepted / (accepted + least))


def _counted(counts: Counts, level: float, clusters: tuple[Requests, str] | None) -> Estimate:
    accepted, refused = counts.accepted or 0, counts.rejections or 0
    if accepted + refused == 0:
        return Estimate(None, "none", None, None, counts, None, None)
    alpha = accepted / (accepted + refused)
    interval = clopper_pearson(accepted, refused, level)
    by_cluster = cluster_interval(clusters[0], level, clusters[1]) if clusters else None
    if by_cluster and by_cluster.high - by_cluster.low > interval.high - interval.low:
        interval = by_cluster
    test, law = None, None
    tried = counts.at_risk
    if counts.accepted_at_least and tried and len(tried) == len(counts.accepted_at_least):
        test = constancy(counts.accepted_at_least, tried)
        law = _law(counts, test)
    return Estimate(
        alpha, "mle", interval, None, counts, test, law or Geometric(alpha, counts.gamma)
    )


def _law(counts: Counts, test: Constancy) -> Acceptance | None:
    """One alpha unless the test rejects it; a mixture for rising hazards that it fits."""
    if test.p_value >= SIGNIFICANT or counts.accepted_at_least is None or counts.at_risk is None:
        return None
    if test.direction == "rising":
        mixture = beta_geometric(counts.accepted_at_least, counts.at_risk)
        if mixture is not None:
            return mixture
    hazards = [h for h in counts.hazards or () if h is not None]
    return PerPosition(tuple(hazards)) if len(hazards) > 1 else None


def _of_length(
    counts: Counts, level: float, clusters: tuple[Requests, str] | None
) -> Interval | None:
    """The interval of a root: the alphas whose mean length is within reach of the measured one.

    The reach is that of i.i.d. acceptance at each such alpha (a score interval,
    as Wilson's is) or, where wider, what the clusters show.
    """
    from scipy.special import ndtri

    gamma, rounds, length = counts.gamma, counts.rounds, counts.mean_length
    if not gamma or not rounds or length is None:
        return None
    reach = float(ndtri((1 + level) / 2)) / math.sqrt(rounds)
    low, high = (_reached(length - 1, gamma, side * reach) for side in (1, -1))
    found = Interval(level, low, high, "mean length")
    if clusters is None:
        return found
    shown = _ratio_reach(clusters[0], level)
    ends = (min(gamma, max(0.0, length - 1 + side * shown)) for side in (-1, 1))
    low, high = (float(alpha_from_mean_length(1 + end, gamma)) for end in ends)
    wider = high - low > found.high - found.low
    return Interval(level, low, high, clusters[1]) if wider else found


def _reached(accepted: float, gamma: int, reach: float) -> float:
    """The alpha whose accepted tokens per round are `reach` deviations from `accepted`."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        alpha = (low + high) / 2
        mean = sum(alpha**i for i in range(1, gamma + 1))
        square = sum((2 * i - 1) * alpha**i for i in range(1, gamma + 1))
        if mean + reach * math.sqrt(max(0.0, square - mean * mean)) < accepted:
            low = alpha
        else:
            high = alpha
    return high if reach < 0 else low


def _ratio_reach(sums: Requests, level: float) -> float:
    """Half the interval of ``sum(a) / sum(t)`` over clusters; 0 for fewer than two."""
    from scipy.special import stdtrit

    if sums.n < 2 or not sums.t:
        return 0.0
    ratio = sums.a / sums.t
    squares = max(0.0, sums.aa - 2 * ratio * sums.at + ratio * ratio * sums.tt)
    error = math.sqrt(squares * sums.n / (sums.n - 1)) / sums.t
    return float(stdtrit(sums.n - 1, (1 + level) / 2)) * error
