"""How acceptance falls with the position in the draft, and α with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.convert import headline as converted
from gammaplan.report.fit import headline as fitted_line
from gammaplan.report.picture import Axis, Line, Mark, Panel, Picture, Points, Rule, Span
from gammaplan.report.pictures.parts import few, left_out, lengths_axis, named_panel, upwards
from gammaplan.report.words import named, percent
from gammaplan.shapes.figures import ConvertResult, FitFigures, FitResult

MOST_NAMES = 24


def fit(result: FitResult, inputs: Mapping[str, Any]) -> Picture | None:
    """The hazards of the pooled answer, or those of the groups; and α of each group."""
    groups = [g for g in result["groups"] if g["alpha"] is not None or g["bounds"] is not None]
    panels: list[Panel] = []
    notes: tuple[str, ...] = ()
    if result["pooled"] or not groups:
        title = fitted_line(result)
        panels += _one(result)
    else:
        title = f"{len(groups)} groups that must not be added up."
        shown = few([g for g in groups if len(g["survival"]) > 1])
        if shown:
            panels.append(_several(shown))
            notes = left_out(len(shown), len(groups), "groups by position")
    if len(groups) > 1:
        panels.append(_groups(groups[:MOST_NAMES]))
        notes += left_out(min(MOST_NAMES, len(groups)), len(groups), "intervals")
    return Picture(title, tuple(panels), notes) if panels else None


def _one(figures: FitFigures) -> list[Panel]:
    panels = []
    if figures["survival"]:
        panels.append(_by_position(figures["hazards"], figures["survival"], figures))
    elif figures["alpha"] is not None or figures["bounds"] is not None:
        panels.append(_groups([figures]))
    known = [a for a in figures["trend"] if a is not None]
    if len(known) > 3:
        panels.append(_over_time(figures))
    return panels


def _by_position(
    hazards: Sequence[float | None], survival: Sequence[float], figures: Mapping[str, Any]
) -> Panel:
    at = list(range(1, len(survival) + 1))
    marks: list[Mark] = []
    span, alpha = figures.get("interval"), figures.get("alpha")
    if span and alpha is not None:
        level = percent(span["level"], 0)
        marks.append(Span("y", span["low"], span["high"], f"α {alpha:.3f}, {level} interval"))
    elif alpha is not None:
        marks.append(Rule("y", alpha, f"α {alpha:.3f}"))
    marks.append(Line(at, list(survival), "all so far", 1))
    if hazards:
        known = figures.get("hazard_intervals") or []
        low = [s and s["low"] for s in known]
        high = [s and s["high"] for s in known]
        marks.append(Line(at, list(hazards), "", 0, points=False))
        marks.append(Points(at, list(hazards), "given all before", 0, low, high))
    return Panel(_positions(len(at)), _share("accepted"), tuple(marks))


def _positions(last: int) -> Axis:
    return Axis("position in the draft", 0.5, last + 0.5, whole=True)


def _share(label: str) -> Axis:
    return Axis(label, 0.0, 1.02, "probability")


def _several(groups: Sequence[FitFigures]) -> Panel:
    marks: list[Mark] = []
    longest = max(len(g["survival"]) for g in groups)
    given = all(g["hazards"] for g in groups)
    for i, group in enumerate(groups):
        at = list(range(1, len(group["survival"]) + 1))
        label = named(group["labels"]) or "unnamed"
        marks.append(Line(at, list(group["hazards"] if given else group["survival"]), label, i))
    x = _positions(longest)
    what = "accepted, given all before" if given else "accepted, all so far"
    return Panel(x, _share(what), tuple(marks))


def _groups(groups: Sequence[FitFigures]) -> Panel:
    """α of each group with its interval, or its bounds."""
    names = [named(g.get("labels", {})) or "all" for g in groups]
    spans = [g["interval"] or g["bounds"] for g in groups]
    at = list(range(len(groups)))
    low, high = ([s and s[end] for s in spans] for end in ("low", "high"))
    points = Points([g["alpha"] for g in groups], at, "", 0, low, high, "x")
    values = [*(g["alpha"] for g in groups), *low, *high]
    x = upwards("acceptance probability α", "", values)
    x = x._replace(low=max(x.low, -0.02), high=min(x.high, 1.02))
    return named_panel(names, x, [points], heading="α with its interval or bounds")


def _over_time(figures: FitFigures) -> Panel:
    trend = figures["trend"]
    at = list(range(1, len(trend) + 1))
    y = upwards("acceptance probability α", "", trend)
    y = y._replace(low=max(y.low, -0.02), high=min(y.high, 1.02))
    x = Axis("part of the input, in its order", 0.5, len(trend) + 0.5, whole=True)
    return Panel(x, y, (Line(at, list(trend), "α over time"),), height=0.5)


def convert(result: ConvertResult, inputs: Mapping[str, Any]) -> Picture | None:
    """Hazards and survival of the figure; without a length, what α each length would mean."""
    title = converted(result)
    if result["survival"]:
        return Picture(title, (_by_position(result["hazards"], result["survival"], result),))
    rows = result.get("rows") or []
    known = [row for row in rows if row["alpha"] is not None]
    if not known:
        return None
    at = [row["gamma"] for row in rows]
    line = Line(at, [row["alpha"] for row in rows], "α that it means")
    return Picture(title, (Panel(lengths_axis(at), _share("α"), (line,)),))
