"""One round as explain shows it: its known parts, the textbook's promise, what it would take."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gammaplan.cli.evidence import Case
from gammaplan.cli.flags import NO_RUNS, NO_TIMES, RunFlags, TimeFlags
from gammaplan.cli.timings import Timings
from gammaplan.documents.writing import finite, whole
from gammaplan.model.acceptance import Acceptance
from gammaplan.model.breakdown import Round, verdict
from gammaplan.model.convert import alpha_from_mean_length
from gammaplan.model.cost import Cost, LinearCost
from gammaplan.model.decision import decide
from gammaplan.model.planning import Spread, around
from gammaplan.model.unmeasured import prior_cost

if TYPE_CHECKING:
    from gammaplan.shapes.parts import AcceptanceShape, CostKind, CostShape
    from gammaplan.shapes.planning import ExplainResult, TextbookShape


class Asked(NamedTuple):
    """The command line of an explanation."""

    files: Sequence[str]
    alpha: float | None = None
    gamma: int | None = None
    runs: RunFlags = NO_RUNS
    method: str | None = None
    pick: Sequence[str] | None = None
    times: TimeFlags = NO_TIMES
    overhead: float | None = None
    verify_slope: float | None = None
    goal: float = 1.0
    max_gamma: int | None = None


class Known(NamedTuple):
    """What is known of one round beyond its run: its timed parts, and whose they are."""

    c: float | None
    verify: float | None
    verify_slope: float | None
    overhead: float | None
    kind: "CostKind"

    def draft(self, drafted: float) -> float | None:
        """Drafting of a round. [target passes]"""
        return None if self.c is None else self.c * drafted

    def verifying(self, drafted: float) -> float | None:
        """What its verification costs beyond a plain pass."""
        if self.verify is not None:
            return self.verify
        return None if self.verify_slope is None else self.verify_slope * drafted


def known_of(asked: Asked, timings: Timings, case: Case) -> Known:
    """The parts that options and evidence time; a flag beats evidence."""
    own = case.cost if case.cost_shape and isinstance(case.cost, LinearCost) else None
    kind: CostKind = "given"
    if own is None or timings.c is not None:
        given = asked.verify_slope
        if given is None:
            given = timings.verify_slope
        return Known(timings.c, timings.verify, given, asked.overhead, kind)
    slope = asked.verify_slope if asked.verify_slope is not None else own.verify_slope or None
    fixed = asked.overhead if asked.overhead is not None else own.overhead or None
    kind = case.cost_shape["kind"] if case.cost_shape else kind
    return Known(own.c, timings.verify, slope, fixed, kind)


class Curves(NamedTuple):
    """The two curves that the best length is read from, and their documents."""

    law: Acceptance
    law_shape: "AcceptanceShape"
    cost: Cost
    cost_shape: "CostShape"


def textbook_of(
    part: Round, kind: "CostKind", method: str | None, spreads: Sequence[Spread]
) -> "TextbookShape":
    """The textbook's speedup: with the c that is known, else with that of public sweeps."""
    c, speed = part.c, part.textbook
    if c is None or speed is None:
        cost, spread = prior_cost(method)
        passes = float(cost.round_cost(part.drafts))
        c, speed, kind = (passes - 1) / part.drafts, part.tokens / passes, "prior"
        spreads = [*spreads, spread]
    low, high = around(speed, part.gamma, spreads)
    return {"c": c, "kind": kind, "speedup": speed, "low": low, "high": high}


def result_of(
    part: Round,
    curves: Curves,
    textbook: "TextbookShape",
    timings: Timings,
    asked: Asked,
    *,
    measured: bool,
) -> "ExplainResult":
    """The round, its best length and what it would take, as a document says it."""
    best = decide(curves.law, curves.cost, max_gamma=asked.max_gamma)
    ms = timings.target_ms
    foretold = not measured and part.draft is not None  # then nothing is left unexplained
    return {
        "gamma": part.gamma,
        "mean_length": part.tokens,
        "alpha": alpha_of(part.tokens, part.gamma),
        "round_cost": part.cost,
        "measured_speedup": part.speedup if measured else None,
        "timed_speedup": part.timed,
        "textbook_speedup": textbook["speedup"],
        "textbook": textbook,
        "parts": [
            {
                "name": name,
                "target_passes": value,
                "share": value / part.cost,
                "ms": value * ms if ms else None,
            }
            for name, value in part.parts
            if not (foretold and name == "unexplained")
        ],
        "best": {"gamma": whole(best.gamma), "speedup": finite(best.speedup)},
        "needed": {
            "goal": asked.goal,
            "alpha": part.needed_alpha(asked.goal),
            "c": part.needed_c(asked.goal),
        },
        "levers": [
            {"change": name, "speedup": value}
            for name, value in part.ceilings().items()
            if not (foretold and "unexplained" in name) and math.isfinite(value)
        ],
        "verdict": verdict(part, best.gamma, best.speedup),
        "acceptance": curves.law_shape,
        "costs": [curves.cost_shape],
    }


def alpha_of(tokens: float, gamma: int) -> float:
    """The one α that gives as many tokens per round."""
    return float(alpha_from_mean_length(tokens, gamma))
