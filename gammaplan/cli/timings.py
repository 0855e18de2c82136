"""The timed parts of a round, from options and evidence, in plain target passes."""

from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli.evidence import CostFlags

if TYPE_CHECKING:
    from gammaplan.documents.evidence import Evidence


class Timings(NamedTuple):
    """What was timed, in plain target passes; `target_ms` turns them back into time."""

    c: float | None
    draft: float | None
    verify: float | None
    target_ms: float | None

    def drafting(self, gamma: int) -> float | None:
        """Drafting of a round of `gamma`."""
        if self.draft is not None:
            return self.draft
        return None if self.c is None else self.c * gamma


def timings_of(
    flags: CostFlags,
    gamma: int | None,
    target: float | None,
    drafting: float | None,
    verify: float | None,
) -> Timings:
    """What the options time, each in plain target passes."""
    ratio = flags.ratio
    if drafting is not None and ratio is not None:
        raise typer.BadParameter("drafting was given by --draft-round-ms and by c; give it once")
    for name, value in (("--draft-round-ms", drafting), ("--verify-ms", verify)):
        if value is not None and target is None:
            raise typer.BadParameter(f"{name} needs --target-ms beside it")
    draft = drafting / target if drafting is not None and target else None
    if draft is not None and gamma:
        ratio = draft / gamma
    return Timings(ratio, draft, verify / target - 1 if verify and target else None, target)


def with_evidence(
    timings: Timings, price: "Evidence", gamma: int | None, *, needed: bool
) -> Timings:
    """The timings, with the c and the verification of a cost that evidence brings."""
    from gammaplan.model.cost import LinearCost

    if not isinstance(price.cost, LinearCost):
        if not needed:
            return timings
        raise typer.BadParameter(
            f"explain needs c apart, and {price.source} has a table of whole rounds; give --c"
        )
    verify = timings.verify
    if verify is None and price.cost.verify_slope and gamma:
        verify = price.cost.verify_slope * gamma
    return timings._replace(c=price.cost.c, verify=verify)
