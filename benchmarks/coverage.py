"""How often the interval that fit gives contains what A / (A + R) tends to.

Where rounds are independent, where requests differ, and where good and bad
stretches alternate; long records, and those too short to show how acceptance varies.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gammaplan import Counts
from gammaplan.model.estimation import estimate
from gammaplan.model.intervals import Blocks, Requests

Ints = NDArray[np.int64]
Clusters = tuple[Requests, str] | None
RUNS, LEVEL, SEED = 1_000, 0.95, 20
SIGMAS = 3


class Record(NamedTuple):
    """Accepted tokens of every round, and what the rounds are grouped by."""

    accepted: Ints
    clusters: Clusters


class Scenario(NamedTuple):
    """A way to draw records, and what A / (A + R) of ever longer ones tends to."""

    name: str
    draw: Callable[[np.random.Generator], Record]
    limit: float
    gamma: int
    long: bool  # long enough for the interval to be one


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


def in_blocks(taken: Ints, gamma: int) -> Clusters:
    """The rounds in order, as a log of rounds or of windows gives them."""
    blocks = Blocks()
    blocks.add_many(taken.astype(float), (taken + (taken < gamma)).astype(float))
    return Requests.of(blocks.array()), "blocks"


def independent(rounds: int, alpha: float, gamma: int, *, blocks: bool) -> Scenario:
    """Rounds that do not depend on each other, as a total or one by one."""

    def draw(rng: np.random.Generator) -> Record:
        taken = np.minimum(accepted(rng, alpha, rounds), gamma)
        return Record(taken, in_blocks(taken, gamma) if blocks else None)

    name = f"independent, {rounds:,} rounds{' one by one' if blocks else ''}, α {alpha}, γ {gamma}"
    return Scenario(name, draw, alpha, gamma, long=True)


def of_requests(requests: int, rounds: int, p: float, q: float, gamma: int) -> Scenario:
    """Requests whose alphas are drawn from Beta(p, q)."""

    def draw(rng: np.random.Generator) -> Record:
        alphas = rng.beta(p, q, size=(requests, 1))
        taken = np.minimum(accepted(rng, alphas, (requests, rounds)), gamma)
        trials = taken + (taken < gamma)
        sums = np.stack([taken.sum(axis=1), trials.sum(axis=1)], axis=1).astype(float)
        return Record(taken.ravel(), (Requests.of(sums), "requests"))

    moments = [math.prod((p + j) / (p + q + j) for j in range(i)) for i in range(1, gamma + 1)]
    limit = sum(moments) / (sum(moments) + 1 - moments[-1])
    name = f"{requests} requests of {rounds} rounds, α from Beta({p:g}, {q:g}), γ {gamma}"
    return Scenario(name, draw, limit, gamma, long=requests >= 3)


def two_states(dwells: float, dwell: int, gamma: int, *, good: float, bad: float) -> Scenario:
    """Good and bad stretches of `dwell` rounds on average; a block is `dwells` of them or more."""
    rounds = int(20 * dwells * dwell)

    def draw(rng: np.random.Generator) -> Record:
        state = (np.cumsum(rng.random(rounds) < 1 / dwell) + rng.integers(2)) % 2
        taken = np.minimum(accepted(rng, np.where(state, good, bad), rounds), gamma)
        return Record(taken, in_blocks(taken, gamma))

    name = f"two states, α {good} and {bad}, {dwell} rounds each, {dwells:g} in a block, γ {gamma}"
    return Scenario(name, draw, ratio([good, bad], gamma), gamma, long=dwells >= 10)


SCENARIOS = (
    *(independent(n, 0.8, 4, blocks=b) for n in (20, 60, 1_000) for b in (False, True)),
    *(independent(n, 0.5, 1, blocks=True) for n in (20, 60, 1_000)),
    *(of_requests(n, 200, 8, 2, 4) for n in (3, 5, 10, 40)),
    of_requests(3, 50, 3, 2, 3),
    two_states(10, 10, 4, good=0.9, bad=0.5),
    two_states(10, 50, 3, good=0.85, bad=0.6),
    two_states(20, 10, 4, good=0.9, bad=0.5),
)
SHORT = (
    of_requests(2, 200, 8, 2, 4),
    two_states(0.1, 10, 4, good=0.9, bad=0.5),
    two_states(0.5, 10, 4, good=0.9, bad=0.5),
    two_states(2, 10, 4, good=0.9, bad=0.5),
    two_states(5, 10, 4, good=0.9, bad=0.5),
)


def covered(scenario: Scenario, runs: int = RUNS, seed: int = SEED) -> float:
    """The share of runs whose interval contains the limit."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(runs):
        taken, clusters = scenario.draw(rng)
        counts = Counts(
            rounds=len(taken),
            accepted=int(taken.sum()),
            rejections=int((taken < scenario.gamma).sum()),
            gamma=scenario.gamma,
        )
        interval = estimate(counts, level=LEVEL, clusters=clusters).interval
        assert interval is not None
        hits += interval.low <= scenario.limit <= interval.high
    return hits / runs


def allowance(share: float, runs: int) -> float:
    """What chance alone takes from a share in so many runs, almost never more."""
    return SIGMAS * math.sqrt(share * (1 - share) / runs)


def main() -> None:
    """Print the table."""
    print(f"| record, {RUNS:,} runs each | coverage of {LEVEL:.0%} |\n|---|---|")
    for scenario in SCENARIOS:
        print(f"| {scenario.name} | {covered(scenario):.1%} |")
    print("\nRecords too short to show how acceptance varies:\n")
    print(f"| record, {RUNS:,} runs each | coverage of {LEVEL:.0%} |\n|---|---|")
    for scenario in SHORT:
        print(f"| {scenario.name} | {covered(scenario):.1%} |")


if __name__ == "__main__":
    main()
