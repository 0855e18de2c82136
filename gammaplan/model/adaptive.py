"""Policies of draft length compared on the same streams: gains, paired by request."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import Floats
from gammaplan.model.cost import Cost
from gammaplan.model.hindsight import bound_times, fixed_speedups, fixed_times, segment_counts
from gammaplan.model.policies import Fixed, Policy, best_lengths
from gammaplan.model.replay import Replayed, replay
from gammaplan.model.stops import Stop
from gammaplan.model.streams import LONGEST, Ints, Streams
from gammaplan.results import Plain, Result, figures

SEARCH = 128  # the longest draft, where neither user nor cost says
FEWEST_REQUESTS = 10  # with fewer, their parts are the clusters
OWN_ALPHA, FIXED = "own_alpha", "best_fixed"
CLAIRVOYANT, PERFECT = "clairvoyant", "perfect_confidence"
Blocks: TypeAlias = Callable[[], Iterable[Streams]]


class Gain(NamedTuple):
    """One policy beside the best fixed length.

    `gain`, `low` and `high` are shares of the best fixed length's speedup;
    `gap_closed` is the share of its distance from the clairvoyant, `modelled` that
    of the rounds which turned on an outcome that was not recorded.
    """

    speedup: float
    gain: float
    low: float | None
    high: float | None
    gap_closed: float | None
    modelled: float
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Comparison(Result):
    """What each policy would have reached on the same streams.

    `gains` has the names that were given, `fixed` the speedup of every fixed
    length, and `bounds` the speedups that need more than a policy may know.
    `modelled` is the share of the best fixed length's rounds which turned on an
    outcome that was not recorded.
    """

    tokens: int
    requests: int
    clusters: int
    best_fixed: int
    modelled: float
    fixed: Floats
    gains: Mapping[str, Gain]
    bounds: Mapping[str, float]

    def to_dict(self) -> Plain:
        """As `gammaplan adapt --json` has it: the policies are a list, the best of them first."""
        speedup = float(self.fixed[self.best_fixed])
        best = {"gamma": self.best_fixed, "speedup": speedup, "modelled": self.modelled}
        gains = sorted(self.gains.items(), key=lambda one: -one[1].gain)
        policies = [{"name": name, **figures(gain)} for name, gain in gains]
        found = figures(self) | {"best_fixed": best, "policies": policies}
        del found["gains"], found["modelled"]
        return found


def round_costs(cost: Cost, max_gamma: int | None = None) -> Floats:
    """The cost of a round by its length, up to the longest that is allowed."""
    if max_gamma is not None and not 0 <= max_gamma <= LONGEST:
        raise DomainError(f"max_gamma must be from 0 to {LONGEST}, got {max_gamma}")
    known = [n for n in (max_gamma, cost.max_gamma) if n is not None]
    longest = min(LONGEST, *known) if known else SEARCH
    return np.asarray(cost.round_cost(np.arange(longest + 1)), dtype=np.float64)


def compare_policies(
    blocks: Blocks,
    policies: Mapping[str, Policy | Stop],
    cost: Cost,
    *,
    max_gamma: int | None = None,
    level: float = 0.95,
) -> Comparison:
    """Replay every policy over the same streams, beside the best fixed length.

    Parameters
    ----------
    blocks : callable
        Gives the streams, some at a time, and the same again when it is asked
        again, which it is where the first ones have another best length.
    policies : mapping of str to Policy or Stop
        Who takes part, by name.
    cost : Cost
        What a round costs. [target passes]
    max_gamma : int, optional
        The longest draft; default what the cost knows, at most 128. [tokens]
    level : float
        Of the intervals. [0 to 1]

    Returns
    -------
    Comparison
        `best_fixed`, the `fixed` speedups, `gains` by name and `bounds`. Where
        streams have an α each, `gains` has "own_alpha" too: the best length for
        the true α of each.

    Raises
    ------
    DomainError
        If there are no tokens, a policy is called like a result, or `max_gamma`
        leaves 0 to 255.
    PolicyError
        If a policy raises or returns what is no draft length.

    Notes
    -----
    The best fixed length is chosen in hindsight, on these very streams: a policy
    has to beat what tuning by trial would have found. The interval of a gain
    treats requests as independent; both times of a request are compared with
    each other.

    Examples
    --------
    >>> from gammaplan import LinearCost
    >>> from gammaplan.model.policies import Heuristic
    >>> from gammaplan.model.processes import Regimes, drawn
    >>> blocks = drawn(Regimes(0.9, 0.4, 100), requests=200, tokens=2_000, seed=0)
    >>> found = compare_policies(blocks, {"heuristic": Heuristic()}, LinearCost(0.1))
    >>> found.best_fixed, round(found.gains["heuristic"].gain, 2)
    (3, 0.05)
    """
    if taken := {OWN_ALPHA, FIXED, CLAIRVOYANT, PERFECT} & policies.keys():
        raise DomainError(f"a policy must not be called {min(taken)}: that is one of the results")
    costs = round_costs(cost, max_gamma)
    own = best_lengths(cost, len(costs) - 1)
    counts = np.zeros(1, dtype=np.int64)
    ledger, guess = _Ledger(), 0
    for streams in blocks():
        counts = _added(counts, segment_counts(streams))
        guess = guess or int(np.argmax(fixed_speedups(counts, costs)))
        ledger.enter(streams)
        ledger.note(FIXED, replay(streams, Fixed(guess), costs))
        for name, each in bound_times(streams, costs)._asdict().items():
            ledger.time(name, each)
        for name, policy in policies.items():
            ledger.note(name, replay(streams, policy, costs))
        if streams.alpha is not None:
            at = (streams.alpha * (len(own) - 1)).astype(np.int64)
            ledger.time(OWN_ALPHA, fixed_times(streams, own[at], costs))
    if not counts[1:].any():
        raise DomainError("there are no tokens to compare policies on")
    fixed = fixed_speedups(counts, costs)
    best = int(np.argmax(fixed))
    if best != guess:  # the first streams misled
        ledger.forget(FIXED)
        for streams in blocks():
            ledger.note(FIXED, replay(streams, Fixed(best), costs))
    return ledger.comparison(best, fixed, level)


def _added(a: Ints, b: Ints) -> Ints:
    if len(a) < len(b):
        a, b = b, a
    total = a.copy()
    total[: len(b)] += b
    return total


class _Ledger:
    """The time of every stream under every policy, and what else is worth keeping."""

    def __init__(self) -> None:
        self._tokens: list[Ints] = []
        self._request: list[Ints] = []
        self._times: dict[str, list[Floats]] = {}
        self._done: dict[str, tuple[int, int, tuple[int, ...]]] = {}

    def enter(self, streams: Streams) -> None:
        """The streams whose times come next."""
        self._tokens.append(streams.tokens)
        self._request.append(streams.request)

    def time(self, name: str, each: Floats) -> None:
        """What each of these streams took."""
        self._times.setdefault(name, []).append(each)

    def forget(self, name: str) -> None:
        """All that was noted of one."""
        del self._times[name], self._done[name]

    def note(self, name: str, done: Replayed) -> None:
        """Times, rounds that were counted, and the lengths of the very first stream."""
        self.time(name, done.time)
        rounds, modelled, lengths = self._done.get(name, (0, 0, done.lengths))
        self._done[name] = rounds + done.rounds, modelled + done.modelled, lengths

    def comparison(self, best: int, fixed: Floats, level: float) -> Comparison:
        """All of it summed up by request."""
        tokens = np.concatenate(self._tokens)
        names, cluster = np.unique(np.concatenate(self._request), return_inverse=True)
        if len(names) < FEWEST_REQUESTS:
            cluster = np.arange(len(tokens))  # its parts, which start the policy anew
        total = float(tokens.sum())
        sums = {
            name: np.bincount(cluster, np.concatenate(each)).astype(np.float64)
            for name, each in self._times.items()
        }
        bounds = {name: total / float(sums.pop(name).sum()) for name in (CLAIRVOYANT, PERFECT)}
        bounds[PERFECT] = max(bounds[PERFECT], 1.0)  # or it does not draft at all
        base = sums.pop(FIXED)
        whole, made_up, _ = self._done[FIXED]
        gains = {}
        for name, time in sums.items():
            gain, low, high = paired_gain(base, time, level)
            speedup = total / float(time.sum())
            room = bounds[CLAIRVOYANT] - fixed[best]
            rounds, modelled, lengths = self._done.get(name, (1, 0, ()))
            closed = float((speedup - fixed[best]) / room) if room > 1e-9 else None
            gains[name] = Gain(speedup, gain, low, high, closed, modelled / rounds, lengths)
        clusters = len(base)
        share = made_up / whole
        return Comparison(int(total), len(names), clusters, best, share, fixed, gains, bounds)


def paired_gain(
    base: Floats, time: Floats, level: float = 0.95
) -> tuple[float, float | None, float | None]:
    """How much faster `time` is than `base`, and the interval of that.

    Parameters
    ----------
    base, time : ndarray of float, shape ``(clusters,)``
        What the same work took in both ways. [target passes]
    level : float
        Of the interval. [0 to 1]

    Returns
    -------
    (float, float or None, float or None)
        ``sum(base) / sum(time) - 1`` and its interval, None for one cluster.

    Notes
    -----
    The variance of a ratio of sums over clusters, linearised, with Student's t
    of n - 1 degrees of freedom: ``n / (n - 1) * sum((base - ratio * time)**2) /
    sum(time)**2``. What both times of a cluster share cancels.

    Examples
    --------
    >>> gain, low, high = paired_gain(np.array([10.0, 20.0, 30.0]), np.array([9.0, 19.0, 27.0]))
    >>> print(f"{gain:.3f} {low:.3f} {high:.3f}")
    0.091 0.002 0.180
    """
    from scipy.special import stdtrit

    whole = float(time.sum())
    ratio, n = float(base.sum()) / whole, len(base)
    if n < 2:
        return ratio - 1, None, None
    off = base - ratio * time
    error = math.sqrt(float((off * off).sum()) * n / (n - 1)) / whole
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return ratio - 1, ratio - 1 - reach, ratio - 1 + reach
