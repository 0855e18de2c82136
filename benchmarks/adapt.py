"""gammaplan adapt: 10^7 rounds of every policy against drawing 10^7 uniforms.

    python benchmarks/adapt.py [SHARE]  # share of the rounds, default 1

The uniforms are float64, 10^5 at a time, so that they stay in the cache. CPU
time of one process; a single stream cannot run beside others and is shown apart.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from measure import Ratio, ratio, report

from gammaplan import Discounted, Heuristic, LinearCost, Requests, Tokens, drawn
from gammaplan.model.adaptive import compare_policies, round_costs
from gammaplan.model.hindsight import bound_times, fixed_times
from gammaplan.model.policies import Fixed, Tiers
from gammaplan.model.replay import replay
from gammaplan.model.stops import StopAfter, StopBefore, StopOnProduct

ROUNDS, TOKENS_A_ROUND, LENGTH, PAIRS = 10**7, 4, 1_000, 5
COST = LinearCost(0.1)
PROCESS = Tokens(0.8, 0.28)
PAST = {
    "fixed 5": Fixed(5),
    "heuristic": Heuristic(),
    "tiers": Tiers(),
    "discounted": Discounted(COST),
}
STOPS = {
    "confidence stop": StopAfter(),
    "p-min": StopBefore(),
    "product stop": StopOnProduct(0.35, PROCESS.worth),
}


def cpu(function: Callable[[], object]) -> Callable[[], float]:
    """The CPU time of one call."""

    def once() -> float:
        start = time.process_time()
        function()
        return time.process_time() - start

    return once


def uniforms(count: int) -> Callable[[], object]:
    """Draw so many, some at a time."""
    rng = np.random.default_rng(0)
    return lambda: [rng.random(10**5) for _ in range(count // 10**5)]


def stepping(policies: dict[str, object], requests: int) -> Callable[[], object]:
    """Every policy over streams that are there."""
    costs = round_costs(COST)
    streams = next(drawn(PROCESS, requests=requests, tokens=LENGTH, seed=0)())
    streams.ahead, streams.segments  # noqa: B018 - made once, as in a comparison

    def run() -> None:
        fixed_times(streams, 6, costs)
        bound_times(streams, costs)
        for policy in policies.values():
            replay(streams, policy, costs)

    return run


def whole(
    policies: dict[str, object], process: Tokens | Requests, requests: int
) -> Callable[[], object]:
    """From the seed to the gains."""
    blocks = drawn(process, requests=requests, tokens=LENGTH, seed=0)
    return lambda: compare_policies(blocks, policies, COST)


def alone(count: int) -> Callable[[], object]:
    """The heuristic on one stream, in a plain loop."""
    kept = np.random.default_rng(0).geometric(0.2, count) - 1

    def run() -> None:
        gamma = 5
        for run_ahead in kept.tolist():
            gamma = gamma + 2 if run_ahead >= gamma else max(1, gamma - 1)

    return run


def main() -> None:
    """Print every ratio; blocks of about 10^6 rounds, and uniforms to match."""
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rounds = int(ROUNDS * share)
    requests = rounds * TOKENS_A_ROUND // LENGTH
    few = min(requests, 4_000)
    small = uniforms(few * LENGTH // TOKENS_A_ROUND)
    every = PAST | STOPS

    def against(function: Callable[[], object], under: Callable[[], object]) -> Ratio:
        return ratio(cpu(function), cpu(under), pairs=PAIRS)

    for name, policy in every.items():
        report(f"stepping {name}", against(stepping({name: policy}, few), small))
    report("stepping all, bounds", against(stepping(every, few), small), at_most=40)
    large = uniforms(rounds)
    report(
        "seed to gains, policies of the past",
        against(whole(PAST, Requests(0.8), requests), large),
        at_most=40,
    )
    report(
        "seed to gains, all, with confidences",
        against(whole(every, PROCESS, requests), large),
        at_most=40,
    )
    report("one stream alone, a round, the heuristic", against(alone(10**6), uniforms(10**6)))


if __name__ == "__main__":
    main()
