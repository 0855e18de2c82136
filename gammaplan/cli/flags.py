"""Options that go together: a parameter of a command that stands for several options."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import typer

from gammaplan.cli import options as o


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each group of options spread out, in its place, as typer wants them."""
    own = inspect.signature(command).parameters.values()
    groups: dict[str, Any] = {  # Any: a class that NamedTuple made
        p.name: p.annotation
        for p in own
        if isinstance(p.annotation, type) and hasattr(p.annotation, "_fields")
    }
    spread: list[inspect.Parameter] = []
    for parameter in own:
        group = groups.get(parameter.name)
        hints = group.__annotations__ if group else {}
        defaults = group._field_defaults if group else {}
        for name, kind in hints.items():
            spread.append(parameter.replace(name=name, annotation=kind, default=defaults[name]))
        spread += [] if group else [parameter]

    @wraps(command)
    def called(**given: Any) -> None:  # Any: each option has the type that its parser makes
        for name, group in groups.items():
            given[name] = group(**{field: given.pop(field) for field in group._fields})
        command(**given)

    vars(called)["__signature__"] = inspect.Signature(spread)
    called.__annotations__ = {p.name: p.annotation for p in spread} | {"return": None}
    return called


class CostFlags(NamedTuple):
    """The options that state a cost."""

    c: o.C = None
    speed_ratio: o.SpeedRatio = None
    draft_ms: o.DraftMs = None
    target_ms: o.TargetMs = None
    overhead: o.Overhead = None
    verify_slope: o.VerifySlope = None

    @property
    def ratio(self) -> float | None:
        """c, by the one way in which it was given."""
        if (self.draft_ms is None) != (self.target_ms is None):
            there, missing = ("--draft-ms", "--target-ms")
            if self.draft_ms is None:
                there, missing = missing, there
            raise typer.BadParameter(f"{there} needs {missing} beside it")
        ways = {
            "--c": self.c,
            "--speed-ratio": None if self.speed_ratio is None else 1 / self.speed_ratio,
            "--draft-ms with --target-ms": None
            if self.draft_ms is None or self.target_ms is None
            else self.draft_ms / self.target_ms,
        }
        given = {way: value for way, value in ways.items() if value is not None}
        if len(given) > 1:
            raise typer.BadParameter(f"c was given by {' and by '.join(given)}; give it once")
        return next(iter(given.values()), None)

    @property
    def any(self) -> bool:
        """Whether any of them was given."""
        return any(value is not None for value in self)


class TimeFlags(NamedTuple):
    """The options that time the parts of a round."""

    c: o.C = None
    speed_ratio: o.SpeedRatio = None
    target_ms: o.TargetMs = None
    draft_ms: o.DraftMs = None
    draft_round_ms: o.DraftRoundMs = None
    verify_ms: o.VerifyMs = None


class RunFlags(NamedTuple):
    """The options that state measured runs, beside --gamma."""

    baseline_tps: o.BaselineTps = None
    spec_tps: o.SpecTps = None
    baseline_ms: o.BaselineMs = None
    spec_ms: o.SpecMs = None
    speedup: o.Speedup = None
    pooled_rate: o.PooledRate = None
    mean_length: o.MeanLength = None
    survival: o.Survival = None
    drafted_per_round: o.DraftedPerRound = None
    run: o.RunOption = None
    runs: o.RunsFiles = None

    @property
    def fast(self) -> bool:
        """Whether the options themselves state a speed with speculation."""
        return any(v is not None for v in (self.spec_tps, self.spec_ms, self.speedup))

    @property
    def baseline(self) -> dict[str, float]:
        """The plain speed, by the one option that gives it."""
        given = {"baseline_tps": self.baseline_tps, "baseline_ms": self.baseline_ms}
        found = {name: value for name, value in given.items() if value is not None}
        if len(found) > 1:
            raise typer.BadParameter("the baseline was given by --baseline-tps and --baseline-ms")
        return found

    @property
    def plain_tps(self) -> float | None:
        """The plain speed in tokens per second."""
        return tokens_per_second(self.baseline)

    @property
    def accepted(self) -> list[str]:
        """The options that state an acceptance figure of their run."""
        names = ("pooled_rate", "mean_length", "survival", "drafted_per_round")
        return [f"--{n.replace('_', '-')}" for n in names if getattr(self, n) is not None]

    @property
    def any(self) -> bool:
        """Whether any run is given, or a part of one beyond the plain speed."""
        return self.fast or bool(self.accepted or self.run or self.runs)


def tokens_per_second(baseline: Mapping[str, float]) -> float | None:
    """The plain speed, whichever way it was given."""
    ms = baseline.get("baseline_ms")
    return 1e3 / ms if ms else baseline.get("baseline_tps")


class OutputFlags(NamedTuple):
    """The options that say how the answer is printed."""

    format: o.Format = None
    json: o.Json = False
    plot: o.Plot = None
    quiet: o.Quiet = False
    strict: o.Strict = False


NO_COST, NO_TIMES, NO_RUNS, AS_TABLE = CostFlags(), TimeFlags(), RunFlags(), OutputFlags()
