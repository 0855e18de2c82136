"""Intervals for alpha: exact for independent rounds, from clusters where they are not."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from gammaplan.model.arrays import Floats

FEWEST_BLOCKS, MOST_BLOCKS = 10, 20
MOST_ALIKE = 7  # blocks that are left where neighbours are alike
MOST_KEPT = 4 * MOST_BLOCKS
ALIKE = 1.96  # deviations; 2.5 % of independent records reach as many
FEWEST_REQUESTS = 3


@dataclass(frozen=True)
class Interval:
    """A confidence interval and how it was made."""

    level: float
    low: float
    high: float
    method: str


def clopper_pearson(accepted: float, rejections: float, level: float) -> Interval:
    """The exact interval for A successes in A + R trials.

    Notes
    -----
    ``[B(t; A, R + 1), B(1 - t; A + 1, R)]`` with B the quantile of the beta
    distribution and ``t = (1 - level) / 2``; 0 where A = 0, 1 where R = 0.
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(accepted, rejections + 1, tail)) if accepted else 0.0
    high = float(betaincinv(accepted + 1, rejections, 1 - tail)) if rejections else 1.0
    return Interval(level, low, high, "clopper-pearson")


def wilson(accepted: float, rejections: float, level: float) -> Interval:
    """Wilson's interval for A successes in A + R trials: narrower than the exact one.

    Notes
    -----
    The roots p of ``(p - A / n)**2 = z**2 * p * (1 - p) / n``; the root near 0
    or 1 is taken as a quotient, so that no digits cancel.
    """
    from scipy.special import ndtri

    n, z = accepted + rejections, float(ndtri((1 + level) / 2))
    spread = z * math.sqrt(z * z + 4 * accepted * rejections / n)
    low = 2 * accepted * accepted / n / (2 * accepted + z * z + spread)
    high = 1 - 2 * rejections * rejections / n / (2 * rejections + z * z + spread)
    return Interval(level, low, high, "wilson")


@dataclass
class Blocks:
    """Consecutive records merged into 40 to 80 blocks of equal length, in constant memory.

    Blocks long enough are independent even where neighbours in time are not.
    """

    size: int = 1
    sums: list[list[float]] = field(default_factory=list)
    filled: int = 0

    def add(self, accepted: float, trials: float) -> None:
        """One more record, in order."""
        if not self.sums or self.filled == self.size:
            if len(self.sums) == MOST_KEPT:
                self._double()
            self.sums.append([0.0, 0.0])
            self.filled = 0
        self.sums[-1][0] += accepted
        self.sums[-1][1] += trials
        self.filled += 1

    def add_many(self, accepted: Floats, trials: Floats) -> None:
        """Many records, in order."""
        at = 0
        while at < len(accepted):
            room = self.size - self.filled if self.sums and self.filled < self.size else 0
            if not room:
                self.add(float(accepted[at]), float(trials[at]))
                at += 1
                continue
            stop = min(len(accepted), at + room)
            self.sums[-1][0] += float(accepted[at:stop].sum())
            self.sums[-1][1] += float(trials[at:stop].sum())
            self.filled += stop - at
            at = stop

    def joined(self, later: "Blocks") -> "Blocks":
        """These blocks and those of records that came later."""
        parts = [Blocks(b.size, [list(s) for s in b.sums], b.filled) for b in (self, later)]
        size = max(b.size for b in parts)
        for part in parts:
            while part.size < size:
                part._double()
        first, second = parts
        if not second.sums:
            return first
        whole = Blocks(size, first.sums + second.sums, second.filled)
        while len(whole.sums) > MOST_KEPT:
            whole._double()
        return whole

    def _double(self) -> None:
        """Merge neighbours; a last block without one stays as it is."""
        alone = [self.sums[-1]] if len(self.sums) % 2 else []
        pairs = zip(self.sums[::2], self.sums[1::2], strict=False)
        self.sums = [[a + c, b + d] for (a, b), (c, d) in pairs] + [[*s] for s in alone]
        self.filled += 0 if alone else self.size
        self.size *= 2

    def array(self, most: int = MOST_BLOCKS) -> Floats:
        """Accepted and trials of at most `most` whole blocks, shape ``(blocks, 2)``.

        A last block that is less than half full is joined to its neighbour.
        """
        merged = replace(self)
        while len(merged.sums) > most:
            merged._double()
        sums = [list(s) for s in merged.sums]
        if len(sums) > 1 and 2 * merged.filled < merged.size:
            short = sums.pop()
            sums[-1][0] += short[0]
            sums[-1][1] += short[1]
        return np.asarray(sums, dtype=np.float64).reshape(-1, 2)

    def independent(self) -> Floats:
        """The blocks of an interval: 10 to 20, or 4 to 7 where neighbours are alike."""
        return self.array(MOST_ALIKE if alike(self.array(MOST_KEPT)) else MOST_BLOCKS)


def alike(sums: Floats) -> bool:
    """Whether neighbouring blocks resemble each other more than independent ones would.

    Notes
    -----
    Von Neumann's ratio of the residuals ``r = (a - alpha t) / sqrt(t)``,
    ``sum(diff(r)**2) / sum(r**2)``. Of n independent residuals
    ``u = 1 - ratio / 2`` has mean 0 and variance ``(n - 2) / (n**2 - 1)``; of
    residuals that follow each other it is their correlation. One-sided, at 2.5 %.
    """
    accepted, trials = sums[sums[:, 1] > 0].T
    n = len(accepted)
    if n < FEWEST_BLOCKS:
        return False
    residuals = (accepted - accepted.sum() / trials.sum() * trials) / np.sqrt(trials)
    residuals -= residuals.mean()
    squares = float(residuals @ residuals)
    steps = np.diff(residuals)
    resemblance = squares - float(steps @ steps) / 2
    return resemblance > ALIKE * math.sqrt((n - 2) / (n * n - 1)) * squares


@dataclass
class Requests:
    """Sums over independent requests: all that a ratio's variance needs.

    ``n``, and the sums of a, t, a*a, a*t and t*t over requests with a accepted
    of t trials.
    """

    n: int = 0
    a: float = 0.0
    t: float = 0.0
    aa: float = 0.0
    at: float = 0.0
    tt: float = 0.0

    def add(self, accepted: float, trials: float) -> None:
        """One more request."""
        if trials:
            self.n += 1
            self.a += accepted
            self.t += trials
            self.aa += accepted * accepted
            self.at += accepted * trials
            self.tt += trials * trials

    def __iadd__(self, other: "Requests") -> "Requests":
        for name in ("n", "a", "t", "aa", "at", "tt"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    @classmethod
    def of(cls, sums: Floats) -> "Requests":
        """From accepted and trials of each cluster, shape ``(clusters, 2)``."""
        a, t = sums[sums[:, 1] > 0].T
        figures = (a.sum(), t.sum(), (a * a).sum(), (a * t).sum(), (t * t).sum())
        return cls(len(a), *map(float, figures))


def cluster_interval(sums: Requests, level: float, kind: str) -> Interval | None:
    """The interval of ``sum(a) / sum(t)`` over clusters; None for fewer than two.

    Notes
    -----
    The variance of a ratio, linearised: ``n / (n - 1) * sum((a - alpha t)**2)
    / sum(t)**2``, on the logit scale with Student's t of n - 1 degrees of
    freedom, so that it stays inside [0, 1].
    """
    if sums.n < 2 or not 0 < sums.a < sums.t:
        return None
    from scipy.special import stdtrit

    alpha = sums.a / sums.t
    squares = sums.aa - 2 * alpha * sums.at + alpha * alpha * sums.tt
    error = math.sqrt(max(0.0, squares) * sums.n / (sums.n - 1)) / sums.t
    reach = float(stdtrit(sums.n - 1, (1 + level) / 2)) * error / (alpha * (1 - alpha))
    centre = math.log(alpha / (1 - alpha))
    low, high = (1 / (1 + math.exp(-min(700.0, max(-700.0, centre + s * reach)))) for s in (-1, 1))
    return Interval(level, low, high, kind)
