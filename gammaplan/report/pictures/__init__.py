"""The picture of each command's result: what it shows, in numbers and words; knows no formula."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gammaplan.report.picture import Picture

PICTURES = {
    "table": "speedups.table",
    "optimum": "speedups.table",
    "tokens": "tokens.tokens",
    "ceiling": "tokens.tokens",
    "sweep": "sweeps.sweep",
    "convert": "positions.convert",
    "fit": "positions.fit",
    "cost": "costs.cost",
    "alpha": "alphas.alpha",
    "plan": "plans.plan",
    "explain": "explained.explain",
    "tree": "trees.tree",
    "adapt": "policies.adapt",
    "simulate": "simulated.simulate",
}


def picture_of(
    command: str, result: Mapping[str, Any], inputs: Mapping[str, Any]
) -> Picture | None:
    """The picture of the result of a command; None where nothing in it can be drawn."""
    module, function = PICTURES[command].split(".")
    draw = getattr(import_module(f"gammaplan.report.pictures.{module}"), function)
    made: Picture | None = draw(result, inputs)
    return made
