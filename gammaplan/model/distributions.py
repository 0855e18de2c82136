"""From the distributions of target and draft to the probability of acceptance."""

import numpy as np

from gammaplan.data.samplers import DEFAULT_ORDER
from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, Number, as_given, numbers
from gammaplan.model.rules import RULES, Rule
from gammaplan.model.sampling import Sampler, weights

WHOLE = 1e-6  # how far from 1 the sum of a distribution may be


def transform(
    logits: ArrayLike,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    order: str | tuple[str, ...] = DEFAULT_ORDER,
) -> Floats:
    """The distribution that tokens are drawn from.

    Parameters
    ----------
    logits : array_like of float, shape ``(..., vocab)``
        Logits, or log-probabilities; ``-inf`` masks a token.
    temperature : float, >= 0
        Logits are divided by it; 0 takes the first largest logit.
    top_k : int, >= 0
        Keep the k largest, and those tied with the k-th; 0 is off.
    top_p : float
        Keep the largest while the mass before a token is below it, at least
        one; 1 is off. (0 to 1]
    min_p : float
        Keep probabilities of at least this share of the largest. [0 to 1]
    order : str or tuple of str
        In which order: an engine of `gammaplan.data.samplers.ORDERS`, or the
        names of the four steps. Each step sees what the last one left,
        renormalised.

    Returns
    -------
    ndarray of float64, shape ``(..., vocab)``
        Probabilities; the last axis sums to 1.

    Raises
    ------
    DomainError
        If a setting leaves its domain, or a row has NaN, ``+inf``, or only
        ``-inf``.

    Examples
    --------
    >>> transform([2.0, 0.0], temperature=0.5).round(3)
    array([0.982, 0.018])
    >>> transform([3.0, 2.0, 1.0], top_k=2).round(3)
    array([0.731, 0.269, 0.   ])
    """
    array = numbers("logits", logits)
    sampler = Sampler(temperature, top_k, top_p, min_p, order)
    if array.ndim == 0 or not array.shape[-1]:
        raise DomainError(f"logits must have shape (..., vocab), got {array.shape}")
    rows = array.reshape(-1, array.shape[-1])
    top = rows.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        i = int(np.flatnonzero(~np.isfinite(top))[0])
        raise DomainError(
            "logits must have no NaN, no +inf and a finite value in each row, "
            f"got {top[i, 0]:g} as the largest of row {i}"
        )
    shifted = rows - top
    drawn: Floats = np.empty_like(shifted)
    weights(shifted, sampler, drawn, np.empty(shifted.shape, bool))
    drawn /= drawn.sum(axis=-1, keepdims=True)
    return drawn.reshape(array.shape)


def alpha_from_distributions(
    p: ArrayLike, q: ArrayLike, *, rule: str | Rule = "residual"
) -> Number:
    """Probability that one drafted token is accepted.

    Parameters
    ----------
    p, q : array_like of float, shape ``(..., vocab)``
        Distributions of target and draft, as they are drawn from; broadcast.
    rule : str or Rule
        How the draft is verified: a name in `gammaplan.model.rules.RULES`, or
        a rule with parameters of its own, such as ``Lenience(0.5)``.

    Returns
    -------
    float or ndarray of float64, shape ``broadcast(p, q)[:-1]``
        By the default rule ``sum(min(p, q)) = 1 - TV(p, q)`` [1]_ theorem 3.5,
        corollary 3.6. [0 to 1]

    Raises
    ------
    DomainError
        If the vocabularies differ, a probability is negative or NaN, or a
        distribution does not sum to 1.

    References
    ----------
    .. [1] Y. Leviathan, M. Kalman and Y. Matias, "Fast inference from
       transformers via speculative decoding," ICML, 2023. arXiv:2211.17192.

    Examples
    --------
    >>> p, q = transform([2, 0]), transform([1.5, 0])
    >>> round(alpha_from_distributions(p, q), 4)
    0.9368
    >>> round(alpha_from_distributions(p, q, rule="greedy_draft"), 4)
    0.8808
    """
    target, draft = _pair(p, q)
    if isinstance(rule, str):
        if rule not in RULES:
            raise DomainError(f"rule must be one of {', '.join(RULES)}, got {rule}")
        rule = RULES[rule]
    alpha = rule.accepted(target, draft).sum(axis=-1, dtype=np.float64)
    return as_given(np.minimum(np.asarray(alpha), 1.0))


def residual(p: ArrayLike, q: ArrayLike) -> Floats:
    """What a refused token is replaced from: ``max(0, p - q)``, normalised.

    Parameters
    ----------
    p, q : array_like of float, shape ``(..., vocab)``
        Distributions of target and draft; broadcast.

    Returns
    -------
    ndarray of float64, shape ``broadcast(p, q)``
        Its normaliser is ``1 - alpha``, the probability of a refusal. Where p
        equals q nothing is ever refused, and p itself is returned.

    Raises
    ------
    DomainError
        As `alpha_from_distributions`.

    Examples
    --------
    >>> residual([0.5, 0.3, 0.2], [0.6, 0.2, 0.2])
    array([0., 1., 0.])
    """
    target, draft = np.broadcast_arrays(*_pair(p, q))
    over = np.maximum(target - draft, 0)
    total = over.sum(axis=-1, keepdims=True)
    return np.where(total > 0, over / np.where(total > 0, total, 1), target)


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    target, draft = distribution("p", p), distribution("q", q)
    if target.shape[-1] != draft.shape[-1]:
        raise DomainError(
            f"p and q must have one vocabulary, got {target.shape[-1]} and {draft.shape[-1]}"
        )
    return target, draft


def distribution(name: str, value: ArrayLike) -> Floats:
    """`value` as float64, if its last axis holds probabilities that sum to 1."""
    array = numbers(name, value)
    if array.ndim == 0 or not array.shape[-1]:
        raise DomainError(f"{name} must have shape (..., vocab), got {array.shape}")
    if not array.min() >= 0:  # NaN fails too
        raise DomainError(f"{name} must hold probabilities, got {array.min():g}")
    off = np.abs(array.sum(axis=-1) - 1)
    if not off.max() <= WHOLE:
        raise DomainError(f"{name} must sum to 1, and is off by {off.max():g}")
    return array
