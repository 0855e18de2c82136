"""Stretches of rows as distributions, for rounds that are played over them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from gammaplan.arrays.pairs import Pair
from gammaplan.errors import InputError
from gammaplan.model.arrays import Floats
from gammaplan.model.distributions import transform
from gammaplan.model.overlap import BadRow, Drawn, Kind, peaked

MOST = 64  # windows: enough to see many contexts
ELEMENTS = 2**24  # probabilities of all windows together: a few seconds for every rule


def window_starts(positions: int, rows: int, vocab: int) -> list[int]:
    """Where windows of so many rows start: apart, spread evenly, and not too many.

    Examples
    --------
    >>> window_starts(30, 7, 2)
    [0, 7, 14, 21]
    >>> window_starts(4, 7, 2)  # the rows are repeated
    [0]
    """
    most = max(1, min(MOST, ELEMENTS // (rows * vocab), positions // rows))
    return [i * (positions // most) for i in range(most)]


def windows(
    pair: Pair, starts: Sequence[int], rows: int, drawn: Drawn, kind: Kind
) -> Iterator[tuple[Floats, Floats]]:
    """Target rows and draft rows of each window, as they are drawn from.

    The draft has a row less: the last position is the bonus token's. An array
    with fewer rows than a window is repeated.

    Raises
    ------
    InputError
        At the first row that is no distribution, or that cannot be read.
    """
    for start in starts:
        p, q = _window(pair, start, min(start + rows, pair.positions), drawn, kind)
        repeated = np.arange(rows) % len(p)
        yield p[repeated], q[repeated[:-1]]


def _window(pair: Pair, start: int, stop: int, drawn: Drawn, kind: Kind) -> tuple[Floats, Floats]:
    p, q = (np.empty((stop - start, pair.vocab)) for _ in range(2))
    for first, target, draft in pair.blocks(start, stop):
        at = slice(first - start, first - start + len(target))
        sides = (pair.target, target, p, drawn.target), (pair.draft, draft, q, drawn.draft)
        for source, block, out, sampler in sides:
            try:
                out[at] = transform(peaked(block, kind, source.element), **asdict(sampler))
            except BadRow as bad:
                raise InputError(f"{source.where(first + bad.row)} {bad.what}") from None
    return p, q
