"""The picture of each command's result: what it shows, in numbers and words; knows no formula."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gammaplan.report.picture import Picture

PICTURES = {
    "table": "speedups.table",
    "tokens": "tokens.tokens",
    "sweep": "sweep.sweep",
    "convert": "hazards.convert",
    "fit": "hazards.fit",
    "plan": "planned.plan",
    "cost": "costs.cost",
    "alpha": "alphas.alpha",
    "explain": "parts.explain",
    "tree": "trees.tree",
    "adapt": "policies.adapt",
    "simulate": "simulated.simulate",
}


def picture_of(command: str, result: Mapping[str, Any], inputs: Mapping[str, Any]) -> Picture:
    """The picture of the result of a command."""
    module, function = PICTURES[command].split(".")
    draw = getattr(import_module(f"gammaplan.report.pictures.{module}"), function)
    made: Picture = draw(result, inputs)
    return made
