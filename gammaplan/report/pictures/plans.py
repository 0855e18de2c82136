"""The plan: the schedule over batch sizes, the drafts compared, the curve that is predicted."""

from collections.abc import Mapping, Sequence
from typing import Any

from gammaplan.report.picture import (
    Area,
    Axis,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Steps,
    fitted,
)
from gammaplan.report.pictures.parts import (
    MOST_LINES,
    PLAIN,
    few,
    left_out,
    lengths_axis,
    named_panel,
    speed_axis,
    wide,
)
from gammaplan.report.pictures.speedups import band, best, outside
from gammaplan.report.plan_words import headline
from gammaplan.report.schedule import headline as scheduled
from gammaplan.report.words import named, parts, percent, times
from gammaplan.shapes.planning import DraftShape, PlanResult, PlanRow, WorkloadShape

NEAR = 1.6  # a ceiling so many times above the intervals is said, not drawn


def plan(result: PlanResult, inputs: Mapping[str, Any]) -> Picture | None:
    """The plan, or the curves of its groups on one axis."""
    cases = [part for part in parts(result) if part["rows"]]
    if not cases:
        return None
    if len(cases) > 1:
        return _several(cases)
    part = cases[0]
    panels: list[Panel] = []
    title = headline(part)
    if part["schedule"]:
        title = scheduled(part)
        panels += [_schedule(part), _by_batch(part)]
    if len(part["drafts"]) > 1:
        panels.append(_drafts(part["drafts"]))
    if part["workloads"]:
        panels.append(_workloads(part["workloads"]))
    who = part["drafts"][0]["name"] if part["drafts"] else ""
    heading = f"With {who}" if who else ""
    if part["schedule"]:
        heading = f"At batch {part['costs'][0]['batch']}"
    panels.append(_curve(part, heading))
    return Picture(title, tuple(panels), _notes(part))


def _notes(part: PlanResult) -> tuple[str, ...]:
    notes = []
    if part["prediction"]:
        level = percent(part["prediction"]["level"], 0)
        notes.append(f"The shaded interval is where {level} of runs are predicted to fall.")
    ceiling, top = part["ceiling"], _top(part["rows"])
    if ceiling is not None and ceiling > NEAR * top:
        notes.append(f"The ceiling, {times(ceiling)}, lies above what is drawn.")
    return (*notes, *outside(part, [row["gamma"] for row in part["rows"]]))


def _top(rows: list[PlanRow]) -> float:
    return max((v for r in rows for v in (r["speedup"], r["high"]) if v is not None), default=1.0)


def _curve(part: PlanResult, heading: str) -> Panel:
    """The predicted speedups with their interval, and the runs that were measured."""
    rows = part["rows"]
    at = [row["gamma"] for row in rows]
    x = lengths_axis(at)
    values: list[float | None] = [row["speedup"] for row in rows]
    marks: list[Mark] = [*band(part, x), PLAIN]
    ceiling = part["ceiling"]
    if ceiling is not None and ceiling <= NEAR * _top(rows):
        marks.append(Rule("y", ceiling, f"ceiling {times(ceiling)}"))
        values.append(ceiling)
    if any(row["low"] is not None for row in rows):
        low, high = [row["low"] for row in rows], [row["high"] for row in rows]
        level = part["prediction"]["level"] if part["prediction"] else 0.8
        marks.append(Area(at, low, high, f"{percent(level, 0)} of runs", 0))
        values += [*low, *high]
    marks += best(part, at)
    marks.append(Line(at, [row["speedup"] for row in rows], "predicted", 0))
    runs = [row for row in rows if row["measured"] is not None]
    if runs:
        seen = [row["measured"] for row in runs]
        marks.append(Points([row["gamma"] for row in runs], seen, "measured", 1))
        values += seen
    return Panel(x, speed_axis(values), tuple(marks), heading)


def _schedule(part: PlanResult) -> Panel:
    """The length of each range of batch sizes, beside the best of each batch planned."""
    steps, batches = part["schedule"], part["batches"]
    planned = [b["batch"] for b in batches]
    last = max([s["batch_low"] for s in steps] + planned)
    end = 2.0 * last if steps[-1]["batch_high"] is None else float(steps[-1]["batch_high"])
    edges = [float(s["batch_low"]) for s in steps] + [max(end, steps[-1]["batch_low"] + 1.0)]
    lengths = [s["gamma"] for s in steps]
    marks = (
        Steps(edges, lengths, "schedule", 0),
        Points(planned, [b["gamma"] for b in batches], "best of each batch", 1),
    )
    low, high = fitted([*lengths, *(b["gamma"] for b in batches)], include=[0], margin=0.1)
    y = Axis("draft length γ", low, high, "tokens", whole=True)
    return Panel(_batches([*edges, *planned]), y, marks, "Schedule", 0.6)


def _batches(values: list[float]) -> Axis:
    low, high = fitted(values)
    return wide(Axis("batch size", low, high, "sequences", whole=True), values)


def _by_batch(part: PlanResult) -> Panel:
    batches = part["batches"]
    at = [b["batch"] for b in batches]
    marks: list[Mark] = [
        PLAIN,
        Line(at, [b["speedup"] for b in batches], "best of each batch", 1),
        Line(at, [b["planned_speedup"] for b in batches], "by the schedule", 0),
    ]
    y = speed_axis([v for b in batches for v in (b["speedup"], b["planned_speedup"])])
    edges = [float(s["batch_low"]) for s in part["schedule"]]
    last = max([*edges, *map(float, at)])
    return Panel(_batches([*edges, *map(float, at), 2 * last]), y, tuple(marks), height=0.7)


def _drafts(drafts: list[DraftShape]) -> Panel:
    """The curves of several drafts on one axis."""
    marks: list[Mark] = [PLAIN]
    shown = drafts[:MOST_LINES]
    for i, draft in enumerate(shown):
        rows = draft["rows"]
        at, speeds = [row["gamma"] for row in rows], [row["speedup"] for row in rows]
        marks.append(Line(at, speeds, draft["name"], i))
        top = [row for row in rows if row["best"]]
        low, high = [row["low"] for row in top], [row["high"] for row in top]
        marks.append(
            Points([r["gamma"] for r in top], [r["speedup"] for r in top], "", i, low, high)
        )
    every = [row for draft in shown for row in draft["rows"]]
    values = [v for r in every for v in (r["speedup"], *(_ends(r) if r["best"] else ()))]
    x = lengths_axis(row["gamma"] for row in every)
    heading = "Drafts"
    if any(row["low"] is not None for row in every):
        heading += ", each with the interval of its best"
    if len(shown) < len(drafts):
        heading += f"; the best {len(shown)} of {len(drafts)}"
    return Panel(x, speed_axis(values), tuple(marks), heading)


def _ends(row: PlanRow) -> tuple[float | None, float | None]:
    return row["low"], row["high"]


def _workloads(works: list[WorkloadShape]) -> Panel:
    names = [f"{w['name']}, {percent(w['share'], 0)}" for w in works]
    at = list(range(len(works)))
    own, mixed = [w["speedup"] for w in works], [w["speedup_at_mix"] for w in works]
    marks: list[Mark] = [
        Rule("x", 1.0, "plain decoding"),
        Points(mixed, at, "at the γ of the mix", 0),
        Points(own, at, "at its own γ", 1, hollow=True),
    ]
    return named_panel(names, speed_axis([*own, *mixed]), marks, heading="Workloads")


def _several(cases: Sequence[PlanResult]) -> Picture:
    shown = few(cases)
    marks: list[Mark] = [PLAIN]
    for i, part in enumerate(shown):
        at = [row["gamma"] for row in part["rows"]]
        said = "longer is faster" if part["gamma"] is None else f"best γ {part['gamma']}"
        label = f"{named(part.get('labels', {}))}: {said}"
        marks.append(Line(at, [row["speedup"] for row in part["rows"]], label, i))
        runs = [row for row in part["rows"] if row["measured"] is not None]
        seen = [row["measured"] for row in runs]
        marks.append(Points([row["gamma"] for row in runs], seen, "", i))
    every = [row for part in shown for row in part["rows"]]
    x = lengths_axis(row["gamma"] for row in every)
    y = speed_axis(v for row in every for v in (row["speedup"], row["measured"]))
    title = f"The predicted speedup of {len(cases)} cases over the draft length."
    return Picture(title, (Panel(x, y, tuple(marks)),), left_out(len(shown), len(cases), "cases"))
