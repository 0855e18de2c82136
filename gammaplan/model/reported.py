"""One reported figure, and every other figure that it implies."""

from dataclasses import dataclass

from gammaplan.errors import DomainError
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.convert import alpha_from_mean_length
from gammaplan.model.decision import switch_cost
from gammaplan.model.estimate import NARROW, Counts, alpha_bounds
from gammaplan.model.positions import PerPosition


@dataclass(frozen=True)
class Reported:
    """What one reported figure says of acceptance.

    Attributes
    ----------
    gamma : int or None
        The draft length it was measured at. [tokens]
    alpha : float or None
        The censored estimate where positions are known, the root of the mean
        length otherwise; None where refusals are not known. [0 to 1]
    alpha_by_length : float or None
        The root of the mean length, beside a censored estimate.
    accepted_per_round, drafted_per_round : float or None
        Without the bonus token. [tokens/round]
    bounds : (float, float) or None
        What alpha must lie in whatever was assumed.
    measured : PerPosition or None
        Acceptance position by position, where it was reported.
    counts : Counts or None
        The counts behind it, where it was a histogram.
    """

    gamma: int | None
    alpha: float | None
    alpha_by_length: float | None = None
    accepted_per_round: float | None = None
    drafted_per_round: float | None = None
    bounds: tuple[float, float] | None = None
    measured: PerPosition | None = None
    counts: Counts | None = None

    @property
    def acceptance(self) -> Acceptance | None:
        """The law to plan with: measured positions as they are, else one alpha."""
        if self.measured is not None:
            return self.measured
        return None if self.alpha is None else Geometric(self.alpha)

    @property
    def mean_length(self) -> float | None:
        """Tokens per round, the bonus token counted."""
        return None if self.accepted_per_round is None else 1 + self.accepted_per_round

    @property
    def pooled_rate(self) -> float | None:
        """Accepted over drafted tokens."""
        if self.accepted_per_round is None or not self.drafted_per_round:
            return None
        return self.accepted_per_round / self.drafted_per_round


def from_alpha(alpha: float, gamma: int | None) -> Reported:
    """Alpha itself, with full drafts of `gamma` tokens."""
    if gamma is None:
        return Reported(None, alpha)
    accepted = float(Geometric(alpha).expected_tokens(gamma)) - 1
    return Reported(gamma, alpha, accepted_per_round=accepted, drafted_per_round=gamma)


def from_positions(law: PerPosition, gamma: int | None, drafted: float | None) -> Reported:
    """Survival or hazards of every position; censored where every draft was full."""
    length = law.observed_to
    if gamma not in (None, length):
        raise DomainError(f"{length} positions were given, so gamma must be {length}, got {gamma}")
    accepted = float(law.expected_tokens(length)) - 1
    last = float(law.survival(length))
    if drafted is None or drafted == length:
        by_length = float(alpha_from_mean_length(min(1 + accepted, length + 1), length))
        return Reported(length, law.alpha, by_length, accepted, length, measured=law)
    _check_drafted(accepted, drafted)
    bounds = _bounds(accepted, drafted, length, last)
    return Reported(length, _middle(bounds), None, accepted, drafted, bounds)


def from_counts(counts: Counts, gamma: int | None) -> Reported:
    """A histogram of accepted tokens per round, every draft full."""
    if gamma not in (None, counts.gamma):
        raise DomainError(
            f"a histogram of {len(counts.accepted_at_least or ()) + 1} entries has gamma "
            f"{counts.gamma}, got {gamma}"
        )
    length = counts.mean_length
    assert length is not None
    assert counts.gamma is not None
    return Reported(
        counts.gamma,
        counts.alpha,
        float(alpha_from_mean_length(length, counts.gamma)),
        length - 1,
        counts.gamma,
        measured=counts.per_position,
        counts=counts,
    )


def from_accepted(accepted: float, gamma: int | None, drafted: float | None) -> Reported:
    """Accepted tokens per round (the mean length less the bonus token)."""
    if accepted < 0:
        raise DomainError(f"the mean length must be at least 1, got {1 + accepted:g}")
    _check_drafted(accepted, drafted)
    certain = (accepted / (1 + accepted), 1.0)
    if gamma is None:
        return Reported(None, None, None, accepted, drafted, certain)
    if accepted > gamma:
        raise DomainError(
            f"the mean length must be in [1, gamma + 1] = [1, {gamma + 1}], got {1 + accepted:g}"
        )
    if drafted is None or drafted == gamma:
        alpha = float(alpha_from_mean_length(1 + accepted, gamma)) if gamma else None
        return Reported(gamma, alpha, None, accepted, gamma)
    bounds = _bounds(accepted, drafted, gamma, None)
    return Reported(gamma, _middle(bounds), None, accepted, drafted, bounds)


def from_pooled_rate(rate: float, gamma: int | None, drafted: float | None) -> Reported:
    """Accepted over drafted tokens: full drafts are assumed unless `drafted` per round is known.

    ``alpha >= rate`` needs no assumption at all: a refusal wastes at least one
    drafted token.
    """
    if drafted is not None:
        found = from_accepted(rate * drafted, gamma, drafted)
        low, high = found.bounds or (rate, 1.0)
        return Reported(gamma, found.alpha, None, rate * drafted, drafted, (max(rate, low), high))
    if not gamma:
        return Reported(gamma, None, bounds=(rate, 1.0))
    highest = alpha_bounds(rate, drafted=1.0, gamma=gamma)[1] if rate else 0.0
    alpha = float(alpha_from_mean_length(min(1 + rate * gamma, gamma + 1), gamma))
    return Reported(gamma, alpha, None, rate * gamma, gamma, (rate, highest))


def gamma_by_c(law: Acceptance, longest: int) -> list[tuple[int, float | None, float | None]]:
    """For which c each length is the best: ``(gamma, c_low, c_high)``, longest last.

    Notes
    -----
    For ``T = 1 + c * gamma`` the length gamma is the best exactly for
    ``c_gamma <= c < c_(gamma - 1)``. The last row, whose `c_low` is None, is
    that length or a longer one; the first, whose `c_high` is None, is plain
    decoding.
    """
    switches = [switch_cost(law, gamma) for gamma in range(longest)]
    rows: list[tuple[int, float | None, float | None]] = [(0, switches[0], None)]
    for gamma in range(1, longest):
        if switches[gamma] < switches[gamma - 1]:
            rows.append((gamma, switches[gamma], switches[gamma - 1]))
    rows.append((longest, None, switches[-1]))
    return rows


def _check_drafted(accepted: float, drafted: float | None) -> None:
    if drafted is not None and accepted > drafted:
        raise DomainError(
            f"accepted tokens per round must be at most the {drafted:g} drafted, got {accepted:g}"
        )


def _bounds(
    accepted: float, drafted: float, gamma: int, full_accepts: float | None
) -> tuple[float, float]:
    if drafted > gamma:
        raise DomainError(
            f"drafted tokens per round must be at most gamma, {gamma}, got {drafted:g}"
        )
    return alpha_bounds(
        accepted, drafted=drafted, rounds=1.0, gamma=gamma, full_accepts=full_accepts
    )


def _middle(bounds: tuple[float, float]) -> float | None:
    return sum(bounds) / 2 if bounds[1] - bounds[0] < NARROW else None
