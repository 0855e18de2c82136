"""How drafts are accepted: survival by position, and the tokens that a round emits."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from gammaplan.model.arrays import ArrayLike, Floats, Number, as_given, fraction, non_negative
from gammaplan.results import Plain, Result, plain

LawName: TypeAlias = Literal["geometric", "per_position", "beta_geometric"]
LawParameters: TypeAlias = dict[str, float | list[float | None]]
IMPLIED_POSITIONS = 8  # survival shown for a law that was given, not measured


def geometric_sum(alpha: Floats, terms: Floats) -> Floats:
    """1 + alpha + ... + alpha**(terms - 1), continued to real `terms` >= 0.

    Written as ``-expm1(terms * log(alpha)) / (1 - alpha)``, which keeps full
    precision as alpha nears 1; exactly 1 for one term.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        total = -np.expm1(terms * np.log(alpha)) / (1 - alpha)
    total = np.where(alpha == 1, terms, total)
    return np.where(terms == 1, 1.0, np.where(terms == 0, 0.0, total))


def expected_tokens(alpha: ArrayLike, gamma: ArrayLike) -> Number:
    """Expected tokens emitted by one round, if acceptances are i.i.d.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]
    gamma : array_like of float, >= 0
        Draft length, real or infinite; broadcast against `alpha`. [tokens]

    Returns
    -------
    float or ndarray of float64, shape ``broadcast(alpha, gamma)``
        From 1 to ``gamma + 1``; the bonus token is counted. [tokens/round]

    Raises
    ------
    DomainError
        If `alpha` leaves [0, 1] or is NaN, or `gamma` is negative.

    Notes
    -----
    The sum of ``alpha**k`` for k = 0..gamma, [1]_ eq. (1).

    References
    ----------
    .. [1] Y. Leviathan, M. Kalman and Y. Matias, "Fast inference from
       transformers via speculative decoding," ICML, 2023. arXiv:2211.17192.

    Examples
    --------
    >>> expected_tokens(0.8, [0, 4])
    array([1.    , 3.3616])
    """
    terms = non_negative("gamma", gamma, finite=False) + 1
    return as_given(geometric_sum(fraction("alpha", alpha), terms))


def ceiling(alpha: ArrayLike) -> Number:
    """Tokens per round of an endless draft: the speedup that no draft length reaches.

    Parameters
    ----------
    alpha : array_like of float
        Probability that a drafted token is accepted. [0 to 1]

    Returns
    -------
    float or ndarray of float64, shape of `alpha`
        ``1 / (1 - alpha)``; infinite at alpha = 1. [tokens/round]

    Raises
    ------
    DomainError
        If `alpha` leaves [0, 1] or is NaN.

    Notes
    -----
    The limit of `expected_tokens` for gamma to infinity. It bounds a single
    chain of i.i.d. acceptances; trees and mixtures may exceed it.

    Examples
    --------
    >>> round(ceiling(0.8), 12)
    5.0
    """
    with np.errstate(divide="ignore"):
        return as_given(np.asarray(1 / (1 - fraction("alpha", alpha))))


class Acceptance(Protocol):
    """A law of acceptance: all that a decision needs to know of target and draft."""

    model: ClassVar[LawName]

    @property
    def parameters(self) -> LawParameters:
        """What it takes to make the law again: `model` and these are its document form."""

    @property
    def beyond(self) -> float | None:
        """The hazard of every position past the measured ones, where it is one number."""

    @property
    def alpha(self) -> float | None:
        """The one acceptance probability that sums the law up, where there is one."""

    @property
    def observed_to(self) -> int | None:
        """The last position that was measured; None for a law that was simply given."""

    @property
    def ceiling(self) -> float:
        """Tokens per round of an endless draft."""

    def survival(self, gamma: ArrayLike) -> Floats:
        """P(the first `gamma` drafted tokens are all accepted)."""

    def expected_tokens(self, gamma: ArrayLike) -> Floats:
        """Tokens per round, the bonus token counted."""

    def raised(self, step: float) -> "Acceptance":
        """The same law with every conditional acceptance moved by `step`, within [0, 1]."""


class Law(Result):
    """A law of acceptance as a result: every law has the same keys."""

    def to_dict(self: "Acceptance") -> Plain:
        """The same as in a document."""
        shown = self.observed_to or IMPLIED_POSITIONS
        return {
            "model": self.model,
            "parameters": self.parameters,
            "alpha": self.alpha,
            "survival": plain(self.survival(range(1, shown + 1))),
            "observed_to": self.observed_to,
            "beyond": self.beyond,
        }


@dataclass(frozen=True)
class Geometric(Law):
    """Independent acceptances with one probability alpha.

    Examples
    --------
    >>> Geometric(0.8).expected_tokens([0, 4])
    array([1.    , 3.3616])
    """

    alpha: float
    observed_to: int | None = None
    model: ClassVar[LawName] = "geometric"

    def __post_init__(self) -> None:
        fraction("alpha", self.alpha)

    @property
    def parameters(self) -> LawParameters:
        """Alpha."""
        return {"alpha": self.alpha}

    @property
    def beyond(self) -> float:
        """alpha, at every position."""
        return self.alpha

    @property
    def ceiling(self) -> float:
        """1 / (1 - alpha)."""
        return float(ceiling(self.alpha))

    def survival(self, gamma: ArrayLike) -> Floats:
        """Alpha ** gamma."""
        return np.asarray(self.alpha ** non_negative("gamma", gamma, finite=False))

    def expected_tokens(self, gamma: ArrayLike) -> Floats:
        """Sum of alpha ** k for k = 0..gamma."""
        return np.asarray(expected_tokens(self.alpha, gamma))

    def raised(self, step: float) -> "Geometric":
        """The same with alpha + step, within [0, 1]."""
        return Geometric(within(self.alpha + step), self.observed_to)


def within(probability: float) -> float:
    """`probability`, moved into [0, 1] where it lies outside."""
    return min(1.0, max(0.0, probability))


def censored_alpha(survival: ArrayLike) -> float:
    """The one alpha that fits survival best: ``A / (A + R)`` per round.

    Parameters
    ----------
    survival : array_like of float, shape ``(gamma,)``
        P(the first i drafted tokens are accepted), i = 1..gamma. [0 to 1]

    Returns
    -------
    float
        ``sum(s) / (sum(s) + 1 - s[-1])``: a round accepted whole is censored,
        not refused. [0 to 1]

    Notes
    -----
    The maximum-likelihood estimate of i.i.d. acceptance: a binomial with
    ``A`` successes in ``A + R`` trials.

    Examples
    --------
    >>> round(censored_alpha([0.917, 0.837, 0.648, 0.538, 0.451, 0.348]), 4)
    0.8515
    """
    s = fraction("survival", survival)
    accepted, refused = float(s.sum()), 1 - float(s[-1])
    return accepted / (accepted + refused)
