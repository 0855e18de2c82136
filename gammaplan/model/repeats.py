r"""The noise of a run, from runs that were repeated.

Runs of one length differ by their noise alone, and so do the plain runs that they are compared
with; a speedup has both. With :math:`v` the mean square of ln speed about its mean and :math:`n`
the repeats behind it (measurements less means), each the sum of the runs' and the plain runs', and
:math:`s` the noise of published runs,

.. math::
    \sigma^2 = \max\left(s^2, \frac{s^2 + (n + 2) v}{1 + n}\right)

The published noise weighs as one repeat, and the 2 makes up for a :math:`v` of few repeats, about
as Student's t would: on simulated machines the intervals hold their level (``test_coverage.py``).
Repeats of one session share what changes between sessions, so they can raise the noise alone.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from gammaplan.errors import DomainError

FEW = 2  # repeats are counted as so many more, for what few of them do not show


class Repeats(NamedTuple):
    """How far repeated measurements differ.

    Parameters
    ----------
    square : float
        Mean square of ln speed about the mean of its group.
    number : int
        Repeats behind it: measurements less groups.
    """

    square: float = 0.0
    number: int = 0


ALONE = Repeats()  # nothing was repeated


def repeats(groups: Iterable[Sequence[float]]) -> Repeats:
    """How far speeds differ within groups, each measured in one way.

    Parameters
    ----------
    groups : iterable of sequences of float, > 0
        Speeds of each way, in any unit, since only ratios within a group count.

    Returns
    -------
    Repeats
        Variance of ln speed within the groups, and the repeats behind it; 0 of
        both where nothing was measured twice.

    Raises
    ------
    DomainError
        If a speed is not above 0 and finite.

    Examples
    --------
    >>> found = repeats([(1.40, 1.40), (50.0, 55.0)])
    >>> round(found.square**0.5, 4), found.number
    (0.0477, 2)
    """
    total, count = 0.0, 0
    for group in filter(None, groups):
        if bad := [speed for speed in group if not 0 < speed < math.inf]:
            raise DomainError(f"speeds must be above 0 and finite, got {bad[0]:g}")
        logs = [math.log(speed) for speed in group]
        middle = fmean(logs)
        total += math.fsum((x - middle) ** 2 for x in logs)
        count += len(logs) - 1
    return Repeats(total / count if count else 0.0, count)


def run_noise(published: float, runs: Repeats, plain: Repeats) -> float:
    """Standard deviation of ln speedup from run to run; `published` where no more is seen."""
    count, square = runs.number + plain.number, runs.square + plain.square
    if not count:
        return published
    return max(published, math.sqrt((published**2 + (count + FEW) * square) / (1 + count)))
