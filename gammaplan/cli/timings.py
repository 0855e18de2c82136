"""The timed parts of a round, in plain target passes."""

from typing import NamedTuple

import typer

from gammaplan.cli.flags import CostFlags, TimeFlags
from gammaplan.data.findings import finding
from gammaplan.errors import Finding


class Timings(NamedTuple):
    """What was timed, in plain target passes; `target_ms` turns them back into time.

    `verify` is what the verifying pass costs beyond a plain one; `c_source`
    names the options that c is from.
    """

    c: float | None
    verify: float | None
    verify_slope: float | None
    target_ms: float | None
    c_source: str
    findings: tuple[Finding, ...]


def timings_of(flags: TimeFlags, gamma: int | None) -> Timings:
    """What the options time; whole rounds are of `gamma` drafted tokens."""
    target, drafting, verify = flags.target_ms, flags.draft_round_ms, flags.verify_ms
    passes = CostFlags(
        flags.c, flags.speed_ratio, flags.draft_ms, None if flags.draft_ms is None else target
    )
    ratio = passes.ratio
    for name, value in (("--draft-round-ms", drafting), ("--verify-ms", verify)):
        if value is not None and target is None:
            raise typer.BadParameter(f"{name} needs --target-ms beside it")
        if value is not None and not gamma:
            raise typer.BadParameter(f"{name} needs --gamma, the tokens that were drafted")
    if drafting is not None and ratio is not None:
        raise typer.BadParameter("drafting was given by --draft-round-ms and by c; give it once")
    source = "--draft-ms ÷ --target-ms"
    if flags.draft_ms is None:
        source = "--c" if flags.speed_ratio is None else "1 ÷ --speed-ratio"
    if drafting is not None and target and gamma:
        ratio, source = drafting / target / gamma, "--draft-round-ms ÷ --target-ms ÷ γ"
    beyond = slope = None
    found = []
    if verify is not None and target and gamma:
        beyond = verify / target - 1
        slope = max(0.0, round(beyond / gamma, 15))
        if beyond < 0:
            found.append(finding("verify_below_target", verify=verify, target=target))
    if ratio is not None and ratio >= 1:
        found.append(finding("looks_inverse", c=f"{ratio:g}"))
    return Timings(ratio, beyond, slope, target, source, tuple(found))


def account(flags: TimeFlags, inputs: dict[str, object], sources: dict[str, str]) -> None:
    """Record the times as they were given."""
    for name in TimeFlags._fields[2:]:
        value = getattr(flags, name)
        inputs[name], sources[name] = value, "default" if value is None else "flag"
