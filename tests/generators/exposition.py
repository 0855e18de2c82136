"""Prometheus exposition text as prometheus_client writes it: engines.md section 3.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Labels = dict[str, str]
Point = tuple[Labels, float]


@dataclass(frozen=True, slots=True)
class Style:
    """How an exporter words its families; `born` is the unix time of the `_created` gauges."""

    openmetrics: bool = False
    born: float | None = None
    extra: tuple[tuple[str, str], ...] = ()


def go_float(value: float) -> str:
    """A float the way Go's exporters print it: exponents from a million on, no digit lost."""
    whole, _, rest = repr(float(value)).partition(".")
    if len(whole) <= 6 or not whole.isdigit():
        return f"{whole}.{rest}"
    digits = (whole + rest).rstrip("0")
    mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return f"{mantissa}e+{len(whole) - 1:02d}"


def point(name: str, labels: Labels, value: float) -> str:
    """One sample line, labels in alphabetical order."""
    inside = ",".join(f'{key}="{text}"' for key, text in sorted(labels.items()))
    return f"{name}{{{inside}}} {go_float(value)}" if inside else f"{name} {go_float(value)}"


def gauge(name: str, text: str, points: Sequence[Point]) -> list[str]:
    """A gauge family."""
    head = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    return head + [point(name, labels, value) for labels, value in points]


def counter(name: str, text: str, points: Sequence[Point], style: Style) -> list[str]:
    """A counter family, its `name` without `_total`, perhaps with creation times."""
    shown = [(labels | dict(style.extra), value) for labels, value in points]
    values = [point(f"{name}_total", labels, value) for labels, value in shown]
    births = []
    if style.born is not None:
        births = [
            point(f"{name}_created", x, style.born + i * 1e-4) for i, (x, _) in enumerate(shown)
        ]
    if style.openmetrics:
        return [f"# HELP {name} {text}", f"# TYPE {name} counter", *values, *births]
    lines = [f"# HELP {name}_total {text}", f"# TYPE {name}_total counter", *values]
    if births:
        lines += [f"# HELP {name}_created {text}", f"# TYPE {name}_created gauge", *births]
    return lines
