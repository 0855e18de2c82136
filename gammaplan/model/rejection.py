"""Which child is accepted where several drafts of one position are verified one after another."""

from typing import NamedTuple

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, numbers

WHOLE = 1e-6  # how far from 1 the sum of a distribution may be
MOST_CELLS = 2**21  # numbers held at once while sequences are enumerated


class Ranked(NamedTuple):
    """P(the i-th child is the accepted one), and how that was found."""

    ranks: Floats
    exact: bool


def rank_acceptance(
    p: ArrayLike,
    q: ArrayLike,
    children: int,
    *,
    replacement: bool = False,
    rng: np.random.Generator | None = None,
) -> Ranked:
    """P(the i-th child is the accepted one) under recursive rejection.

    Parameters
    ----------
    p, q : array_like of float, shape ``(..., vocab)``
        Distributions of target and draft; positions are averaged.
    children : int, >= 1
        Drafts of one position.
    replacement : bool
        Whether a child may repeat an elder sibling (SpecInfer). Without,
        each is drawn from what its elders left of q (Sequoia).
    rng : numpy.random.Generator, optional
        Draws one sequence of rejected children a position where there are
        too many to enumerate.

    Returns
    -------
    Ranked
        `ranks` of shape ``(children,)``, and whether they are exact.

    Raises
    ------
    DomainError
        If a row is no distribution, shapes differ, or the sequences are too
        many and there is no `rng`.

    Notes
    -----
    Child i is accepted with probability ``min(1, r_i(x) / q_i(x))``, where
    r_1 = p and a rejection leaves ``r_(i+1) ~ max(r_i - q_i, 0)``. With
    replacement r_i does not depend on what was drawn. Without, the sum runs
    over the sequences of rejected tokens; only a token that the draft
    overrates, ``q_i > r_i``, can be rejected. A child that q has no token
    left for is not drafted, and counts as not accepted.

    References
    ----------
    .. [1] Z. Chen et al., "Sequoia: scalable, robust, and hardware-aware
       speculative decoding," 2024, Algorithm 2. arXiv:2402.12374.

    Examples
    --------
    >>> p, q = [0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.4, 0.1]
    >>> rank_acceptance(p, q, 4).ranks.round(3)
    array([0.7  , 0.168, 0.079, 0.053])
    >>> rank_acceptance(p, q, 4, replacement=True).ranks.round(3)
    array([0.7  , 0.125, 0.044, 0.033])
    """
    target, draft = _distributions("p", p), _distributions("q", q)
    if target.shape != draft.shape:
        raise DomainError(f"p and q must have one shape, got {target.shape} and {draft.shape}")
    if children < 1:
        raise DomainError(f"children must be at least 1, got {children}")
    if replacement:
        return Ranked(_repeated(target, draft, children).mean(axis=0), exact=True)
    exact = all(_enumerable(q_, children) for q_ in draft)
    if exact:
        found = [_enumerated(p_, q_, children) for p_, q_ in zip(target, draft, strict=True)]
        return Ranked(np.mean(found, axis=0), exact=True)
    if rng is None:
        raise DomainError(
            f"{children} children of {int((draft > 0).sum(axis=1).max()):,} tokens have too many "
            "sequences to enumerate; a generator of random numbers is needed"
        )
    return Ranked(_drawn(target, draft, children, rng).mean(axis=0), exact=False)


def _distributions(name: str, rows: ArrayLike) -> Floats:
    given = numbers(name, rows)
    if given.ndim == 0 or not given.size:
        raise DomainError(f"{name} must have one probability a token, got the shape {given.shape}")
    given = given.reshape(-1, given.shape[-1])
    if not (given.min() >= 0 and np.abs(given.sum(axis=1) - 1).max() <= WHOLE):
        raise DomainError(f"{name} must be distributions: at least 0, and 1 in sum")
    return np.asarray(given / given.sum(axis=1, keepdims=True))


def _repeated(target: Floats, draft: Floats, children: int) -> Floats:
    """Ranks by position, shape ``(positions, children)``, with replacement."""
    left, refused, ranks = target, np.ones(len(target)), []
    for _ in range(children):
        accepted = np.minimum(left, draft).sum(axis=1)
        ranks.append(refused * accepted)
        refused = refused * np.maximum(1 - accepted, 0)
        left = _scaled(np.maximum(left - draft, 0))
    return np.stack(ranks, axis=1)


def _drawn(target: Floats, draft: Floats, children: int, rng: np.random.Generator) -> Floats:
    """The same without replacement, along one drawn sequence of rejections a position.

    Each rank is exact given the sequence, so that its mean is free of bias.
    """
    left, source, refused, ranks = target, draft, np.ones(len(target)), []
    for _ in range(children):
        accepted = np.minimum(left, source).sum(axis=1)
        ranks.append(refused * accepted)
        rejected = np.maximum(source - left, 0)
        mass = rejected.cumsum(axis=1)
        refused = refused * mass[:, -1]
        point = rng.random(len(target)) * mass[:, -1]
        token = (mass > point[:, None]).argmax(axis=1)
        left = _scaled(np.maximum(left - source, 0))
        source = source.copy()
        source[np.arange(len(source)), token] = 0
        source = _scaled(source)
    return np.stack(ranks, axis=1)


def _enumerable(draft: Floats, children: int) -> bool:
    support = float(np.count_nonzero(draft))
    return (support + 1) * support ** (children - 1) <= MOST_CELLS


def _enumerated(p: Floats, q: Floats, children: int) -> Floats:
    """The same for one position, over all sequences of rejected tokens."""
    drafted = q > 0  # tokens that are never drafted are never rejected: they stand in one
    left = np.append(p[drafted], p[~drafted].sum())[None]
    source = np.append(q[drafted], 0.0)[None]
    weight, ranks = np.ones(1), np.zeros(children)
    for child in range(children):
        ranks[child] = weight @ np.minimum(left, source).sum(axis=1)
        if child == children - 1:
            break
        rejected = weight[:, None] * np.maximum(source - left, 0)
        at, token = np.nonzero(rejected)
        if not len(at):
            break
        weight = rejected[at, token]
        left = _scaled(np.maximum(left - source, 0))[at]
        source = source[at]
        source[np.arange(len(at)), token] = 0
        source = _scaled(source)
    return ranks


def _scaled(rows: Floats) -> Floats:
    """Rows that sum to 1; a row of zeros stays one."""
    total = rows.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(rows, total, out=np.zeros_like(rows), where=total > 0))
