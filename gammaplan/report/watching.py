"""A live view of groups: γ in use against the best, what that costs, and how α goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gammaplan.report.optimum import priced
from gammaplan.report.plain import printable
from gammaplan.report.words import lengths, percent

if TYPE_CHECKING:
    from gammaplan.shapes.parts import CostShape
    from gammaplan.shapes.watch import WatchGroup, WatchResult

TICKS = "▁▂▃▄▅▆▇█"
LEAST_SPAN = 0.1  # of α over the height of a trend: less is noise
WITH_INTERVAL, WITH_TREND, WIDE = 64, 76, 100  # columns of a terminal
LEAST_TICKS, MOST_TICKS = 6, 20  # columns of a trend
MOST_SAID = 5  # events at the foot
MOST_IN_LINE = 3  # groups that one plain line tells


@dataclass
class View:
    """What the screen shows; `events` are times of day and sentences, the newest last."""

    server: str
    settings: str
    window: str
    result: WatchResult | None = None
    trends: Sequence[Sequence[float | None]] = ()
    readings: int = 0
    events: list[tuple[str, str]] = field(default_factory=list)
    foot: str = ""
    waiting: str = ""


def settings(cost: CostShape | None, every: float, window: float) -> str:
    """What the view rests on."""
    price = "" if cost is None else priced(cost) + " · "
    return f"{price}every {span(every)} · α of the last {span(window)}"


def span(seconds: float) -> str:
    """A length of time: 0.5 s, 90 s, 5 min, 2 h."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size or seconds == size:
            return f"{round(seconds / size, 1):g} {unit}"
    return f"{round(seconds, 1):g} s"


def draw(view: View, width: int, height: int) -> RenderableType:
    """The whole screen."""
    head = Table.grid(expand=True, padding=(0, 2, 0, 0))
    head.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    head.add_column(justify="right", no_wrap=True)
    at = view.result["time"][11:19] + " UTC" if view.result else ""
    head.add_row(Text(f"gammaplan watch {printable(view.server)}"), Text(view.waiting or at))
    lines: list[RenderableType] = [
        head,
        _line(f"{view.settings} · {view.readings:,} reading{'s' * (view.readings != 1)}"),
        Text(),
    ]
    groups = view.result["groups"] if view.result else []
    said = [_line(f"{at}  {text}") for at, text in view.events[-_events(height) :]]
    lines.append(Text(headline(view.result), style="bold", no_wrap=True, overflow="ellipsis"))
    if groups:
        room = height - len(lines) - 2 - (len(said) + 1 if said else 0) - 2
        lines += [Text(), *_table(view, groups, width, max(1, room))]
    if said:
        lines += [Text(), *said]
    used = sum(_rows(line) for line in lines)
    lines += [Text()] * max(0, height - used - 1) + [_line(view.foot)]
    return Group(*lines)


def _rows(line: RenderableType) -> int:
    return line.row_count + 1 if isinstance(line, Table) and line.show_header else 1


def _events(height: int) -> int:
    """How many events there is room for."""
    return max(1, min(MOST_SAID, height // 5))


def _line(text: str) -> Text:
    return Text(printable(text), no_wrap=True, overflow="ellipsis")


def headline(result: WatchResult | None) -> str:
    """The answer in one line."""
    groups = result["groups"] if result else []
    if not groups:
        return "No rounds yet."
    outside = [g for g in groups if g["in_band"] is False]
    judged = [g for g in groups if g["in_band"] is not None]
    if outside:
        worst = max(outside, key=lambda g: g["loss"] or 0.0)
        best = worst["gamma_best"]
        of = f" of {_short(worst, 26)}" if len(groups) > 1 else ""
        better = "longer drafts are better" if best is None else f"γ {best} is best"
        told = f"γ {worst['gamma_in_use']}{of} loses {percent(worst['loss'])}: {better}"
        more = f"; {len(outside) - 1} more outside" if len(outside) > 1 else ""
        return f"! {told}{more}."
    if len(judged) == 1 == len(groups):
        return f"γ {groups[0]['gamma_in_use']} is in the band: {percent(groups[0]['loss'])} lost."
    if judged:
        apart = len(groups) - len(judged)
        rest = f", {apart} cannot be judged yet" if apart else ""
        verb = "is" if len(judged) == 1 else "are"
        return f"{len(judged)} of {len(groups)} groups {verb} in the band{rest}."
    return "Too few rounds to judge yet, or no α follows from what is counted."


def line(result: WatchResult, reason: str = "") -> str:
    """One interval in one line."""
    groups = _worst_first(result["groups"])
    told = [_told(g, alone=len(groups) == 1) for _, g in groups[:MOST_IN_LINE]]
    more = [f"and {len(groups) - MOST_IN_LINE} more"] if len(groups) > MOST_IN_LINE else []
    missing = [] if result["answered"] else [f"no answer ({reason})"]
    return printable(f"{result['time']} " + "; ".join([*missing, *told, *more] or ["no rounds"]))


def _told(g: WatchGroup, *, alone: bool) -> str:
    name = "" if alone else f"{title(g)}: "
    figures = f"α {_alpha(g['alpha'])} (now {_alpha(g['alpha_now'])})"
    if g["gamma_in_use"] is not None:
        figures += f", γ {g['gamma_in_use']} in use"
    if g["band"]:
        best = "∞" if g["gamma_best"] is None else str(g["gamma_best"])
        figures += f", best {best}, {percent(g['loss'])} lost"
    if g["in_band"] is False and g["band"]:
        figures += f", outside {lengths(g['band']['low'], g['band']['high'])} !"
    return f"{name}{figures}"


def _worst_first(groups: Sequence[WatchGroup]) -> list[tuple[int, WatchGroup]]:
    """Those outside their band first, each in the order of names; with their places."""
    numbered = list(enumerate(groups))
    return sorted(numbered, key=lambda row: (row[1]["in_band"] is not False, title(row[1])))


def _table(view: View, groups: Sequence[WatchGroup], width: int, room: int) -> list[RenderableType]:
    """A row a group, as many as there is room for."""
    rows = _worst_first(groups)
    most = len(rows) if len(rows) <= room else max(1, room - 1)
    wide = width >= WIDE
    columns = ["α now", "α", *(["interval"] if width >= WITH_INTERVAL else [])]
    columns += [*(["rounds"] if wide else []), "γ", "best", "band", "lost"]
    columns += ["trend"] if width >= WITH_TREND else []
    cells = [_cells(g, wide) | {"trend": ""} for _, g in rows[:most]]
    widest = {c: max(len(c), *(len(row[c]) for row in cells)) for c in columns}
    spare = width - 2 - sum(2 + size for size in widest.values())
    room_of_name = max(8, spare - (LEAST_TICKS - widest.get("trend", LEAST_TICKS)))
    names = [_short(g, room_of_name) for _, g in rows[:most]]
    ticks = min(MOST_TICKS, spare + widest.get("trend", 0) - max(map(len, names)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    keys = {tuple(g["labels"]) for g in groups}
    header = ", ".join(next(iter(keys))) if len(keys) == 1 else "group"
    table.add_column(Text("  " + printable(header)[:room_of_name]), no_wrap=True)
    for column in columns:
        right = column != "trend"
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    for (i, g), row, name in zip(rows, cells, names, strict=False):
        row["trend"] = sparkline(view.trends[i], max(LEAST_TICKS, ticks))
        outside = g["in_band"] is False
        texts = [("! " if outside else "  ") + name, *(row[column] for column in columns)]
        table.add_row(*(Text(text, style="bold" if outside else "") for text in texts))
    cut = rows[most:]
    if not cut:
        return [table]
    unseen = sum(g["in_band"] is False for _, g in cut)
    return [table, _line(f"… and {len(cut)} more" + (f", {unseen} outside" if unseen else ""))]


def _cells(g: WatchGroup, wide: bool) -> dict[str, str]:
    span, band = g["interval"] or g["bounds"], g["band"]
    digits = 3 if wide else 2
    return {
        "α now": _alpha(g["alpha_now"]),
        "α": _alpha(g["alpha"]),
        "interval": f"{span['low']:.{digits}f}..{span['high']:.{digits}f}" if span else "-",
        "rounds": "-" if g["rounds"] is None else f"{g['rounds']:,}",
        "γ": "-" if g["gamma_in_use"] is None else str(g["gamma_in_use"]),
        "best": "-" if band is None else "∞" if g["gamma_best"] is None else str(g["gamma_best"]),
        "band": "-" if band is None else _band(band["low"], band["high"]),
        "lost": percent(g["loss"]),
    }


def _band(low: int | None, high: int | None) -> str:
    return f"{low}.." if low is not None and high is None else lengths(low, high)


def _alpha(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def title(g: WatchGroup) -> str:
    """What a group is called: the values of its labels."""
    return ", ".join(_values(g)) or "all"


def _values(g: WatchGroup) -> list[str]:
    values = {key: printable(str(value)) for key, value in g["labels"].items()}
    if len(values) > 1 and "file" in values:  # of an address what tells servers apart
        values["file"] = re.sub(r"^https?://|/metrics$", "", values["file"])
    return list(values.values())


def _short(g: WatchGroup, room: int) -> str:
    """What a group is called, in so many columns: the ends of its names, which differ."""
    text = title(g)
    if len(text) <= room:
        return text
    own = [_ended(value, room) for value in _values(g)]
    if len(joined := ", ".join(own)) > room:
        share = max(2, (room + 2) // len(own) - 2)
        joined = ", ".join(_ended(value, share) for value in own)
    return joined[:room]


def _ended(text: str, room: int) -> str:
    """The end of a text: of a model's name its own, without who made it, if that is enough."""
    if len(text) <= room and "/" not in text:
        return text
    own = f"…/{text.rpartition('/')[2]}"
    return own if 2 < len(own) <= room else "…" + text[max(1, len(text) - room + 1) :]


def sparkline(trend: Sequence[float | None], width: int) -> str:
    """The last steps of a trend, a column each; a gap where there was none."""
    shown = list(trend)[-width:]
    known = [a for a in shown if a is not None]
    if not known:
        return ""
    low, span = min(known), max(LEAST_SPAN, max(known) - min(known))
    low = max(0.0, min(low, (min(known) + max(known) - span) / 2))
    return "".join(" " if a is None else TICKS[min(7, int(8 * (a - low) / span))] for a in shown)
