"""gammaplan adapt: 10^7 rounds of every policy against drawing 10^7 uniforms.

    python benchmarks/adapt.py [SHARE]  # share of the rounds, default 1

The uniforms are float64, 10^5 at a time into one array, so that they stay in the
cache; drawn into an array of their own they take longer, which is shown. CPU time
of one process; a single stream cannot run beside others and is shown apart.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from measure import Ratio, ratio, report

from gammaplan import Discounted, Heuristic, LinearCost, Requests, Tokens, drawn
from gammaplan.model.adaptive import compare_policies, round_costs
from gammaplan.model.hindsight import bound_times, fixed_times
from gammaplan.model.policies import Fixed, Past, Tiers
from gammaplan.model.replay import replay
from gammaplan.model.stops import StopAfter, StopBefore, StopOnProduct

ROUNDS, TOKENS_A_ROUND, LENGTH, PAIRS = 10**7, 4, 1_000, 5
COST = LinearCost(0.1)
COSTS = round_costs(COST)
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


class Constant:
    """The cheapest policy that is asked every round: what stepping alone takes."""

    def lengths(self, past: Past) -> np.ndarray:
        """5, always."""
        return self.five if past.round else self.first(past)

    def first(self, past: Past) -> np.ndarray:
        """Made once."""
        self.five = np.full(past.streams, 5, dtype=np.uint8)
        return self.five


def uniforms(count: int) -> Callable[[], object]:
    """Draw so many, some at a time."""
    rng, array = np.random.default_rng(0), np.empty(10**5)

    def run() -> None:
        for _ in range(count // len(array)):
            rng.random(out=array)

    return run


def at_once(count: int) -> Callable[[], object]:
    """Draw so many into an array of their own."""
    rng = np.random.default_rng(0)
    return lambda: rng.random(count)


def drawing(process: Tokens | Requests, requests: int) -> Callable[[], object]:
    """Outcomes, and how many are accepted in a row, for the policies to meet."""
    blocks = drawn(process, requests=requests, tokens=LENGTH, seed=0)
    return lambda: [(streams.ahead, streams.segments) for streams in blocks()]


def hindsight(requests: int) -> Callable[[], object]:
    """A fixed length and the bounds over streams that are there."""
    streams, costs = next(drawn(PROCESS, requests=requests, tokens=LENGTH, seed=0)()), COSTS
    return lambda: (fixed_times(streams, 6, costs), bound_times(streams, costs))


def stepping(policies: dict[str, object], requests: int) -> Callable[[], object]:
    """Every policy over streams that are there."""
    streams = next(drawn(PROCESS, requests=requests, tokens=LENGTH, seed=0)())
    return lambda: [replay(streams, policy, COSTS) for policy in policies.values()]


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
    few = min(requests, 8_000)
    small = uniforms(few * LENGTH // TOKENS_A_ROUND)
    every = PAST | STOPS

    def against(function: Callable[[], object], under: Callable[[], object]) -> Ratio:
        return ratio(cpu(function), cpu(under), pairs=PAIRS)

    report("the uniforms in an array of their own", against(at_once(rounds), uniforms(rounds)))
    report("drawing outcomes", against(drawing(Requests(0.8), few), small))
    report("drawing outcomes and confidences", against(drawing(PROCESS, few), small))
    report("a fixed length and the bounds", against(hindsight(few), small))
    report("stepping alone", against(stepping({"constant": Constant()}, few), small))
    for name, policy in every.items():
        report(f"stepping {name}", against(stepping({name: policy}, few), small))
    report("stepping all", against(stepping(every, few), small), at_most=40)
    large = uniforms(rounds)
    for what, policies, process in (
        ("policies of the past", PAST, Requests(0.8)),
        ("all, with confidences", every, PROCESS),
    ):
        run = whole(policies, process, requests)
        report(f"seed to gains, {what}", against(run, large), at_most=40)
        report("  the same, array of their own", against(run, at_once(rounds)), at_most=40)
    report("one stream alone, a round, the heuristic", against(alone(10**6), uniforms(10**6)))


if __name__ == "__main__":
    main()
