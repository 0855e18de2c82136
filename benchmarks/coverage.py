"""How often the interval that fit gives contains what A / (A + R) tends to.

Where rounds are independent, where requests differ, and where good and bad
stretches alternate; long records, and those too short to show how acceptance varies.
Beside it, how often `few_clusters` calls the interval a lower bound.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gammaplan.engines.base import Batch, Record
from gammaplan.engines.groups import Group, clusters_of, sparse
from gammaplan.model.estimate import Counts
from gammaplan.model.estimation import estimate

Ints = NDArray[np.int64]
RUNS, LEVEL, SEED = 1_000, 0.95, 20
SIGMAS = 3


class Scenario(NamedTuple):
    """A way to draw records, and what A / (A + R) of ever longer ones tends to."""

    name: str
    draw: Callable[[np.random.Generator], Group]
    limit: float
    long: bool  # long enough for the interval to be one


class Found(NamedTuple):
    """Shares of the runs."""

    covered: float  # the interval contains the limit
    warned: float  # few_clusters is given
    either: float  # one or the other


def accepted(rng: np.random.Generator, alpha: NDArray[np.float64] | float, shape: object) -> Ints:
    """Accepted tokens of each round, were drafts of any length."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-rng.random(shape)) // np.log(alpha), dtype=np.int64)  # type: ignore[call-overload]  # a shape


def means(alpha: float, gamma: int) -> tuple[float, float]:
    """Accepted tokens of a round, and accepted with refused ones."""
    taken = sum(alpha**i for i in range(1, gamma + 1))
    return taken, taken + 1 - alpha**gamma


def ratio(alphas: list[float], gamma: int) -> float:
    """The limit where rounds of these alphas are equally frequent."""
    pairs = [means(alpha, gamma) for alpha in alphas]
    return sum(a for a, _ in pairs) / sum(t for _, t in pairs)


def counts_of(taken: Ints, gamma: int) -> Counts:
    """The counts of rounds of full drafts."""
    return Counts(
        len(taken),
        gamma * len(taken),
        int(taken.sum()),
        rejections=int((taken < gamma).sum()),
        gamma=gamma,
    )


def in_rounds(taken: Ints, gamma: int) -> Group:
    """Rounds told one by one."""
    sums = taken.astype(float)
    pairs = {(gamma, k): n for k, n in enumerate(np.bincount(taken).tolist()) if n}
    group = Group({}, pairs=pairs, records=len(taken))
    group.sums.trials.add_many(sums, sums + (taken < gamma))
    group.sums.rounds.add_many(sums, np.ones(len(taken)))
    return group


def in_windows(taken: Ints, gamma: int, rounds: int) -> Group:
    """Windows of so many rounds, as a log has them."""
    whole = taken[: len(taken) // rounds * rounds].reshape(-1, rounds)
    sums = whole.sum(axis=1).astype(float)
    trials = sums + (whole < gamma).sum(axis=1)
    group = Group({})
    each = np.full(len(whole), float(rounds))
    group.add(Batch(counts_of(whole.ravel(), gamma), {}, "window", sums, trials, each))
    return group


def independent(rounds: int, alpha: float, gamma: int, *, told: bool) -> Scenario:
    """Rounds that do not depend on each other, as a total or told one by one."""

    def draw(rng: np.random.Generator) -> Group:
        taken = np.minimum(accepted(rng, alpha, rounds), gamma)
        if told:
            return in_rounds(taken, gamma)
        group = Group({})
        group.add(Record(counts_of(taken, gamma)))
        return group

    name = f"independent, {rounds:,} rounds{' one by one' if told else ''}, α {alpha}, γ {gamma}"
    return Scenario(name, draw, alpha, long=True)


def of_requests(requests: int, rounds: int, p: float, q: float, gamma: int) -> Scenario:
    """Requests whose alphas are drawn from Beta(p, q)."""

    def draw(rng: np.random.Generator) -> Group:
        alphas = rng.beta(p, q, size=(requests, 1))
        group = Group({})
        for i, taken in enumerate(np.minimum(accepted(rng, alphas, (requests, rounds)), gamma)):
            group.add(Record(counts_of(taken, gamma), unit="request", name=str(i)))
        return group

    moments = [math.prod((p + j) / (p + q + j) for j in range(i)) for i in range(1, gamma + 1)]
    limit = sum(moments) / (sum(moments) + 1 - moments[-1])
    name = f"{requests} requests of {rounds} rounds, α from Beta({p:g}, {q:g}), γ {gamma}"
    return Scenario(name, draw, limit, long=requests >= 3)


def two_states(
    dwells: float, dwell: int, gamma: int, *, good: float, bad: float, window: int = 1
) -> Scenario:
    """Good and bad stretches of `dwell` rounds on average; 20 blocks of `dwells` of them each."""
    rounds = int(20 * dwells * dwell)

    def draw(rng: np.random.Generator) -> Group:
        state = (np.cumsum(rng.random(rounds) < 1 / dwell) + rng.integers(2)) % 2
        taken = np.minimum(accepted(rng, np.where(state, good, bad), rounds), gamma)
        return in_windows(taken, gamma, window)

    size = f"blocks of {dwells * dwell:g} rounds or more, {dwells:g} stretches"
    name = f"two states, α {good} and {bad}, γ {gamma}, {size}"
    return Scenario(name, draw, ratio([good, bad], gamma), long=dwells >= 10)


SCENARIOS = (
    *(independent(n, 0.8, 4, told=t) for n in (20, 60, 1_000) for t in (False, True)),
    *(independent(n, 0.5, 1, told=True) for n in (20, 60, 1_000)),
    independent(5_000, 0.95, 8, told=True),
    *(of_requests(n, 200, 8, 2, 4) for n in (3, 5, 10, 40)),
    of_requests(3, 50, 3, 2, 3),
    two_states(10, 10, 4, good=0.9, bad=0.5),
    two_states(10, 50, 3, good=0.85, bad=0.6),
    two_states(20, 10, 4, good=0.9, bad=0.5),
    two_states(20, 50, 3, good=0.85, bad=0.6, window=25),
)
SHORT = (
    of_requests(2, 200, 8, 2, 4),
    *(two_states(d, 200, 4, good=0.9, bad=0.5, window=5) for d in (0.1, 0.5, 1, 2, 5)),
    *(two_states(d, 200, 3, good=0.85, bad=0.75, window=5) for d in (0.1, 0.5, 1, 2, 5)),
)


def found(scenario: Scenario, runs: int = RUNS, seed: int = SEED) -> Found:
    """How often the interval contains the limit, and how often it is called a lower bound."""
    rng = np.random.default_rng(seed)
    covered, warned = np.zeros(runs, bool), np.zeros(runs, bool)
    for i in range(runs):
        group = scenario.draw(rng)
        clusters = clusters_of([group], by_trials=True)
        interval = estimate(group.total, level=LEVEL, clusters=clusters).interval
        assert interval is not None
        covered[i] = interval.low <= scenario.limit <= interval.high
        warned[i] = any(sparse([group]))
    return Found(*(float(shares.mean()) for shares in (covered, warned, covered | warned)))


def allowance(share: float, runs: int) -> float:
    """What chance alone takes from a share in so many runs, almost never more."""
    return SIGMAS * math.sqrt(share * (1 - share) / runs)


def main() -> None:
    """Print the tables."""
    for title, scenarios in (("long records", SCENARIOS), ("short records", SHORT)):
        print(
            f"\n| {title}, {RUNS:,} runs each | coverage of {LEVEL:.0%} | few_clusters | either |"
        )
        print("|---|---|---|---|")
        for scenario in scenarios:
            share = found(scenario)
            figures = " | ".join(f"{part:.1%}" for part in share)
            print(f"| {scenario.name} | {figures} |")


if __name__ == "__main__":
    main()
