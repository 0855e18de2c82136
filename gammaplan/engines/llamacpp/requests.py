"""The counts of one request, from its line and from what other lines say of the same work."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gammaplan.engines.llamacpp.wording import Acceptance, Printed, Statistics
from gammaplan.model.consistency import rounded_counts, rounds_of
from gammaplan.model.estimate import Counts

MOST_TRIED = 20_000  # numbers of rounds tried for one request


@dataclass(slots=True)
class Request:
    """A finished request; several where only their sum is known."""

    task: str
    drafted: int
    accepted: int
    mean: Printed | None = None
    rates: tuple[Printed, ...] | None = None
    rounds: int | None = None
    first: int | None = None  # rounds that accepted at least one token
    absorbed: bool = False  # it is counted in another one

    @classmethod
    def of(cls, task: str, told: Acceptance) -> "Request":
        """A request as its own line tells it."""
        return cls(task, told.drafted, told.accepted, told.mean, told.rates)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The counts of a request, and whether they were rebuilt from rounded figures."""

    counts: Counts
    rounded: bool = False
    wrong: bool = field(default=False)  # no counts fit the figures


def share(requests: Sequence[Request], gained: Statistics) -> None:
    """Give requests the rounds that the statistics counted for exactly the same tokens."""
    first, *others = requests
    if others and all(r.rates and not resolve(r, len(r.rates)).wrong for r in requests):
        return  # each tells its own
    if others:
        first.task = f"{first.task}..{others[-1].task}"
        first.drafted, first.accepted = gained.drafted, gained.accepted
        first.mean = first.rates = None
    for other in others:
        other.absorbed = True
    first.rounds, first.first = gained.rounds, gained.first


def pooled_gamma(requests: Iterable[Request]) -> Statistics | None:
    """Rounds and tokens of all requests; None where the rounds of one are unknown."""
    rounds = drafted = accepted = 0
    for request in requests:
        if request.absorbed or not request.drafted:
            continue
        if request.rounds is None:
            return None
        rounds += request.rounds
        drafted += request.drafted
        accepted += request.accepted
    return Statistics(rounds, drafted, accepted, None)


def resolve(request: Request, gamma: int | None) -> Resolved:
    """All that the figures of a request determine, given the longest draft."""
    drafted, accepted, rounds = request.drafted, request.accepted, request.rounds
    rates = request.rates
    if gamma is None:
        return Resolved(Counts(rounds, drafted, accepted))
    if rates is not None:
        return _positions(request, gamma, rates)
    if rounds is None:
        return Resolved(Counts(None, drafted, accepted, gamma=gamma))
    at_least = _without_rates(request, rounds, gamma)
    return Resolved(assemble(rounds, drafted, accepted, at_least, gamma))


def assemble(
    rounds: int,
    drafted: int,
    accepted: int,
    at_least: tuple[int, ...] | None,
    gamma: int,
) -> Counts:
    """Counts of `rounds` rounds; where every draft was full, refusals are known too."""
    if drafted == rounds * gamma:
        if at_least is not None:
            return Counts.full(rounds, at_least)
        every = (rounds,) * gamma
        return Counts(rounds, drafted, accepted, drafted_at_least=every, gamma=gamma)
    return Counts(rounds, drafted, accepted, at_least, gamma=gamma)


def _without_rates(request: Request, rounds: int, gamma: int) -> tuple[int, ...] | None:
    """The positions that the first one, or a sum of 0, leaves no choice about."""
    accepted, first = request.accepted, request.first
    if accepted == 0:
        return (0,) * gamma
    if gamma == 1:
        return (accepted,)
    if gamma == 2 and first is not None and 0 <= accepted - first <= first <= rounds:
        return (first, accepted - first)
    return None


def _positions(request: Request, gamma: int, rates: tuple[Printed, ...]) -> Resolved:
    drafted, accepted = request.drafted, request.accepted
    gamma = max(gamma, len(rates))
    shares = [r.value for r in rates] + [0.0] * (gamma - len(rates))
    half = max(r.half_unit for r in rates)
    rounds = request.rounds
    if rounds is None:
        found = _search(request, gamma, shares, half)
        if isinstance(found, Resolved):
            return found
        rounds = found
    if not rounds <= drafted <= rounds * gamma:
        return Resolved(Counts(rounds, drafted, accepted), wrong=True)
    rebuilt = _counts(shares, rounds, accepted, half)
    if rebuilt is None:
        return Resolved(assemble(rounds, drafted, accepted, None, gamma), rounded=True)
    counts = assemble(rounds, drafted, accepted, rebuilt[0], gamma)
    return Resolved(counts, rounded=not rebuilt[1])


def _counts(
    shares: Sequence[float], rounds: int, accepted: int, half: float
) -> tuple[tuple[int, ...], bool] | None:
    if len(shares) == 1:
        off = abs(accepted - shares[0] * rounds)
        return ((accepted,), True) if off <= half * rounds + 1e-6 else None
    return rounded_counts(shares, rounds, accepted, half)


def _search(request: Request, gamma: int, shares: Sequence[float], half: float) -> int | Resolved:
    """The number of rounds that the length and the positions allow; counts without it if none."""
    drafted, accepted, mean = request.drafted, request.accepted, request.mean
    gain = sum(shares) if mean is None else mean.value - 1
    off = 1e-9 + (half * gamma if mean is None else mean.half_unit)
    if drafted % gamma == 0:
        rounds = drafted // gamma
        fits = abs(accepted / rounds - gain) <= off
        if fits and _counts(shares, rounds, accepted, half):
            return rounds
    span = rounds_of(accepted, gain, off)
    least, most = max(span.start, -(-drafted // gamma)), min(span.stop, drafted + 1)
    unknown = Counts(None, drafted, accepted, gamma=gamma)
    if accepted == 0:
        return Resolved(unknown, wrong=gain > off)
    if most - least > MOST_TRIED:
        return Resolved(unknown, rounded=True)
    tried = range(least, most)
    exact = [n for n in tried if sum(round(u * n) for u in shares) == accepted]
    found = [n for n in exact or tried if _counts(shares, n, accepted, half)]
    if len(found) == 1:
        return found[0]
    return Resolved(unknown, rounded=bool(found), wrong=not found)
