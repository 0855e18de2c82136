"""The policies that `adapt` compares, what they meet, and the verdict."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gammaplan.data.switches import switches
from gammaplan.model.adaptive import OWN_ALPHA, Comparison, Gain, compare_policies, round_costs
from gammaplan.model.causal import best_causal
from gammaplan.model.cost import Cost
from gammaplan.model.policies import Discounted, Fixed, Heuristic, Policy, Tiers
from gammaplan.model.processes import Process, Regimes, Tokens, drawn
from gammaplan.model.stops import (
    MOST,
    Stop,
    StopAfter,
    StopBefore,
    StopOnProduct,
    Worth,
    best_floor,
)
from gammaplan.model.streams import Singles, Streams
from gammaplan.model.traces import calibrated, recorded

if TYPE_CHECKING:
    from gammaplan.cli.tracing import Trace
    from gammaplan.shapes.adapt import AdaptBounds, AdaptResult, PolicyShape
    from gammaplan.shapes.parts import CostShape

LEVEL = 0.95
DRAFTS = 8_192  # on which the floor of the product is tuned
PRIOR = 2.0  # tokens that the discounted counts start from
Needs = Literal["history", "confidence", "own_alpha"]


class Entry(NamedTuple):
    """One policy of the comparison, and what is to be said of it."""

    policy: Policy | Stop
    needs: Needs
    parameters: dict[str, float]
    greedy_only: bool = False


class Setting(NamedTuple):
    """What the policies meet."""

    blocks: Callable[[], Iterable[Streams]]
    alpha: float
    worth: Worth | None = None
    drafts: Singles | None = None
    causal: Regimes | None = None


def assumed(process: Process, alpha: float, *, requests: int, tokens: int, seed: int) -> Setting:
    """An assumed process."""
    blocks = drawn(process, requests=requests, tokens=tokens, seed=seed)
    if isinstance(process, Tokens):
        shown = process.scores(DRAFTS * MOST, np.random.default_rng(seed))
        return Setting(blocks, alpha, process.worth, process.worth(shown).reshape(DRAFTS, MOST))
    return Setting(blocks, alpha, causal=process if isinstance(process, Regimes) else None)


def traced(trace: "Trace", seed: int) -> Setting:
    """A trace, and what its confidences are worth."""
    blocks = recorded(trace.parts, seed=seed)
    alpha = trace.accepted / max(trace.accepted + trace.refused, 1)
    if not trace.scored:
        return Setting(blocks, alpha)
    scores = calibrated(blocks)
    return Setting(blocks, alpha, scores.worth, scores.worth(scores.drafts))


def entries(setting: Setting, cost: Cost, costs: np.ndarray) -> dict[str, Entry]:
    """The policies that can be tried in this setting, by name."""
    longest = len(costs) - 1
    prior = PRIOR * setting.alpha, PRIOR * (1 - setting.alpha)
    ours = Discounted(cost, prior=prior)
    found = {
        "fixed_5": Entry(Fixed(min(5, longest)), "history", {"gamma": min(5, longest)}),
        "heuristic": Entry(Heuristic(), "history", {"first": Heuristic.first}),
        "ema_tiers": Entry(Tiers(), "history", {"smoothing": Tiers.smoothing}),
        "discounted": Entry(
            ours,
            "history",
            {"alpha": setting.alpha, "strength": PRIOR, "memory": ours.memory}
            | {f"discount_{i}": d for i, d in enumerate(ours.discounts, 1)},
        ),
    }
    if setting.drafts is not None:
        floor, _ = best_floor(setting.drafts, costs[: setting.drafts.shape[1] + 1])
        after, before = StopAfter(), StopBefore()
        found |= {
            "confidence_stop": Entry(after, "confidence", {"threshold": after.threshold}),
            "p_min": Entry(before, "confidence", {"threshold": before.threshold}, True),
            "product_stop": Entry(
                StopOnProduct(floor, setting.worth), "confidence", {"floor": floor}
            ),
        }
    return found


def comparison(
    setting: Setting,
    cost: Cost,
    shape: "CostShape",
    *,
    max_gamma: int | None,
    least_gain: float,
    dropped: int,
) -> "AdaptResult":
    """Every policy in this setting, and whether one is worth its while."""
    costs = round_costs(cost, max_gamma)
    tried = entries(setting, cost, costs)
    policies = {name: entry.policy for name, entry in tried.items()}
    found = compare_policies(setting.blocks, policies, cost, max_gamma=max_gamma, level=LEVEL)
    advised = _advised(found, least_gain)
    fixed = float(found.fixed[found.best_fixed])
    limit = best_causal(setting.causal, costs).gain if setting.causal else None
    bounds: AdaptBounds = {
        "clairvoyant": found.bounds["clairvoyant"],
        "perfect_confidence": found.bounds["perfect_confidence"],
        "causal": None if limit is None else fixed * (1 + limit),
    }
    return {
        "verdict": "worth_it" if advised else "not_worth_it",
        "advised": advised,
        "best_fixed": {
            "gamma": found.best_fixed,
            "speedup": fixed,
            "modelled": found.modelled,
        },
        "policies": [
            _policy(name, gain, tried.get(name))
            for name, gain in sorted(found.gains.items(), key=lambda one: -one[1].gain)
        ],
        "bounds": bounds,
        "level": LEVEL,
        "tokens": found.tokens,
        "requests": found.requests,
        "clusters": found.clusters,
        "rounds_dropped": dropped,
        "costs": [shape],
    }


def _advised(found: Comparison, least_gain: float) -> str | None:
    """The policy to use: the one that surely gains, and at least as much as it must."""
    sure = {
        name: gain.gain
        for name, gain in found.gains.items()
        if name not in (OWN_ALPHA, "fixed_5") and gain.gain >= least_gain and (gain.low or 0.0) > 0
    }
    return max(sure, key=lambda name: sure[name], default=None)


def _policy(name: str, gain: Gain, entry: Entry | None) -> "PolicyShape":
    parameters = entry.parameters if entry else {}
    return {
        "name": name,
        "speedup": gain.speedup,
        "gain": gain.gain,
        "low": gain.low,
        "high": gain.high,
        "gap_closed": gain.gap_closed,
        "exact": not (entry and entry.greedy_only),
        "exact_if": "greedy_draft" if entry and entry.greedy_only else None,
        "needs": entry.needs if entry else "own_alpha",
        "modelled": gain.modelled,
        "parameters": {key: float(value) for key, value in parameters.items()},
        "switches": switches(name, parameters),
        "lengths": list(gain.lengths),
    }
