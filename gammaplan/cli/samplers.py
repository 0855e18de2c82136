"""Sampler options: lists in, every combination of them out."""

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli import values
from gammaplan.cli.values import Lengths, Numbers
from gammaplan.data.samplers import ORDERS, STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gammaplan.model.overlap import Drawn
    from gammaplan.shapes.parts import Labels

MOST_SETTINGS = 1000  # rows of one sweep


class Lists(NamedTuple):
    """The values of each sampler option; None where the option was not given."""

    temperature: Numbers | None
    top_k: Lengths | None
    top_p: Numbers | None
    min_p: Numbers | None


OFF: dict[str, float] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def temperatures(text: str) -> Numbers:
    """Temperatures: 0.7, 0,0.5,1 or 0..1.5:0.1."""
    return _checked(text, "temperatures of at least 0 like 0.7, 0,0.5,1 or 0..1.5:0.1", 0, None)


def counts(text: str) -> Lengths:
    """Whole numbers of tokens; 0 is off."""
    required = "whole numbers of at least 0 (0 is off) like 40 or 0,20,40"
    found = _checked(text, required, 0, None)
    if any(k != int(k) or k > values.LONGEST for k in found):
        raise values.refuse(required, text)
    return Lengths(int(k) for k in found)


def masses(text: str) -> Numbers:
    """Masses of a nucleus; 1 is off."""
    required = "fractions above 0 and at most 1 (1 is off) like 0.95 or 0.8,0.9,1"
    found = _checked(text, required, 0, 1)
    if min(found) == 0:
        raise values.refuse(required, text)
    return found


def shares(text: str) -> Numbers:
    """Shares of the largest probability; 0 is off."""
    return _checked(text, "fractions in [0, 1] (0 is off) like 0.05 or 0,0.02,0.05", 0, 1)


def _checked(text: str, required: str, low: float, high: float | None) -> Numbers:
    found = Numbers(float(v) for v in values.number_list(text, required))
    if min(found) < low or (high is not None and max(found) > high):
        raise values.refuse(required, text)
    return found


def order(text: str) -> str:
    """An engine whose order is known, or the four steps."""
    steps = tuple(step.strip().replace("-", "_") for step in text.split(","))
    if text not in ORDERS and sorted(steps) != sorted(STEPS):
        raise values.refuse(f"one of {', '.join(ORDERS)}, or {','.join(STEPS)} in any order", text)
    return text


def lenience(text: str) -> float:
    """What q is multiplied by; 1 is exact."""
    value = values.fraction(text)
    if value == 0:
        raise values.refuse("a fraction above 0 and at most 1 (1 is exact)", text)
    return value


def logit_list(text: str) -> Numbers:
    """Logits of one position: 2,0,-inf."""
    required = "at least two logits like 2,0 (-inf masks a token)"
    found = []
    for item in text.split(","):
        try:
            value = float(item)
        except ValueError:
            raise values.refuse(required, text) from None
        if not value < float("inf"):
            raise values.refuse(required, text)
        found.append(value)
    if len(found) < 2 or max(found) == -float("inf"):
        raise values.refuse(required, text)
    return Numbers(found)


def settings(target: Lists, draft: Lists, order: str) -> "tuple[Drawn, ...]":
    """Every combination; what the draft is not given is that of the target. Temperature last."""
    from gammaplan.model.overlap import Drawn
    from gammaplan.model.sampling import Sampler

    steps: str | tuple[str, ...] = order
    if order not in ORDERS:
        steps = tuple(step.strip().replace("-", "_") for step in order.split(","))
    axes = [_axis(name, target, draft) for name in ("top_k", "top_p", "min_p", "temperature")]
    rows = 1
    for axis in axes:
        rows *= len(axis)
    if rows > MOST_SETTINGS:
        raise typer.BadParameter(
            f"the sampler options must span at most {MOST_SETTINGS:,} combinations, got {rows:,}"
        )
    return tuple(
        Drawn(*(Sampler(heat[side], int(k[side]), p[side], share[side], steps) for side in (0, 1)))
        for k, p, share, heat in product(*axes)
    )


def _axis(name: str, target: Lists, draft: Lists) -> list[tuple[float, float]]:
    """The values of one option, for the target and for the draft."""
    of_target = getattr(target, name) or (OFF[name],)
    of_draft = getattr(draft, name)
    if of_draft is None:
        return [(value, value) for value in of_target]
    return list(product(of_target, of_draft))


def labels(drawn: "Drawn", every: "Sequence[Drawn]") -> "Labels":
    """What names a row: its temperature, and what any row truncates or gives the draft alone."""
    found: Labels = {}
    for name, off in OFF.items():
        if name == "temperature" or any(getattr(one.target, name) != off for one in every):
            found[name] = getattr(drawn.target, name)
        if any(getattr(one.draft, name) != getattr(one.target, name) for one in every):
            found[f"draft_{name}"] = getattr(drawn.draft, name)
    return found
