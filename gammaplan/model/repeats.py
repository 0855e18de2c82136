r"""The noise of a run, from runs that were repeated.

Runs of one length differ by their noise alone, and so do the plain runs that they are compared
with. With :math:`v` the mean square of ln speed about its mean, :math:`n` the repeats behind it
(measurements less means), and :math:`s` the noise of published runs, repeats add

.. math::
    e = \max\left(0, \frac{(n + 2) v - n s^2}{n + 1}\right)

to :math:`s^2`: the published noise weighs as one repeat, and the 2 makes up for a :math:`v` of few
repeats, about as Student's t would. A speedup over plain runs of its own has that of the runs and
that of the plain ones; what was not repeated of the two is taken to differ as the other does. The
mean of the plain runs is in every speedup, so its own error is shared by all lengths.

On simulated machines the intervals hold their level (``test_coverage.py``). Repeats of one hour
share what changes from day to day, so they can raise the noise alone.
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


ALONE = Repeats()  # one measurement: nothing was repeated


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


class Noise(NamedTuple):
    """Standard deviations of ln speedup.

    Parameters
    ----------
    run : float
        From run to run, the plain run that it is compared with included.
    shared : float
        Of the plain speed that all runs were compared with.
    """

    run: float
    shared: float = 0.0


def noise(published: float, runs: Repeats, plain: Repeats | None = None) -> Noise:
    """The noise that repeats show, at least that of `published` runs.

    `plain` is how far the plain runs differ that all others are compared with; None where every
    run has a baseline of its own.
    """
    own = _excess(published, runs)
    if plain is None:
        return Noise(math.sqrt(published**2 + own))
    base = _excess(published, plain) if plain.number else own
    own = own if runs.number else base
    return Noise(math.sqrt(published**2 + own + base), math.sqrt(base / (plain.number + 1)))


def _excess(published: float, seen: Repeats) -> float:
    """The variance that repeats show beyond the published one."""
    n = seen.number
    return max(0.0, ((n + FEW) * seen.square - n * published**2) / (n + 1)) if n else 0.0
