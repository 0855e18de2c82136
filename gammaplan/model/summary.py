"""The overlap at many positions summed up, in memory that does not grow with them."""

import heapq
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gammaplan.model.arrays import Booleans, Floats
from gammaplan.model.intervals import Blocks, Interval, Requests, cluster_interval
from gammaplan.model.overlap import Measures

BINS = 4000  # of the histogram that quantiles are read from
WORST = 5


@dataclass
class Summary:
    """Running figures of one pair of samplers over positions, in order."""

    clustered: bool = False
    count: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    low: float = 1.0
    high: float = 0.0
    bins: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, np.int64))
    worst: list[tuple[float, int]] = field(default_factory=list)
    blocks: Blocks = field(default_factory=Blocks)
    whole: Requests = field(default_factory=Requests)
    open: tuple[float, int] = (0.0, 0)

    def add(self, found: Measures, first: Booleans) -> None:
        """More positions; `first` marks those that start a sequence."""
        alpha = found["alpha"]
        for name, figure in found.items():
            self.sums[name] = self.sums.get(name, 0.0) + float(figure.sum())
        self.low = min(self.low, float(alpha.min()))
        self.high = max(self.high, float(alpha.max()))
        self.bins += np.bincount((alpha * BINS).astype(np.int64).clip(0, BINS - 1), minlength=BINS)
        self._keep_worst(alpha)
        if self.clustered:
            self._cluster(alpha, first)
        else:
            self.blocks.add_many(alpha, np.ones(len(alpha)))
        self.count += len(alpha)

    def _keep_worst(self, alpha: Floats) -> None:
        """The lowest alphas so far; of equal ones the earliest."""
        few = np.argsort(alpha, kind="stable")[:WORST]
        new = [(float(alpha[i]), self.count + int(i)) for i in few]
        self.worst = heapq.nsmallest(WORST, [*self.worst, *new])

    def _cluster(self, alpha: Floats, first: Booleans) -> None:
        starts = np.flatnonzero(first)
        edges = [0, *starts.tolist(), len(alpha)]
        for i, (start, stop) in enumerate(pairwise(edges)):
            if i:
                self.whole.add(*self.open)
                self.open = (0.0, 0)
            self.open = (self.open[0] + float(alpha[start:stop].sum()), self.open[1] + stop - start)

    def mean(self, name: str) -> float:
        """The mean of one figure over the positions."""
        return self.sums[name] / self.count

    def interval(self, level: float) -> Interval | None:
        """The interval of the mean alpha, from sequences or, without them, blocks of positions."""
        if not self.clustered:
            return cluster_interval(Requests.of(self.blocks.independent()), level, "blocks")
        return cluster_interval(self.sequences(), level, "sequences")

    def sequences(self) -> Requests:
        """The sums over all sequences, the last one included."""
        every = Requests()
        every += self.whole
        every.add(*self.open)
        return every

    def quantile(self, share: float) -> float:
        """The alpha that `share` of the positions do not exceed, to half a bin."""
        at = np.searchsorted(np.cumsum(self.bins), share * self.count, side="left")
        return float(np.clip((int(at) + 0.5) / BINS, self.low, self.high))

    def histogram(self, bars: int) -> list[int]:
        """How many positions lie in each of `bars` equal parts of [0, 1]."""
        edges = np.arange(BINS) * bars // BINS
        return [int(n) for n in np.bincount(edges, weights=self.bins, minlength=bars)]
