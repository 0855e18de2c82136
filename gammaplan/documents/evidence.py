"""What a document says that other commands can plan with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gammaplan.errors import Finding
from gammaplan.model.acceptance import Acceptance
from gammaplan.model.cost import Cost

if TYPE_CHECKING:
    from gammaplan.shapes.parts import AcceptanceShape, CostShape, Labels


class Evidence(NamedTuple):
    """One thing that a document says: a law of acceptance, a cost, or both, and its labels."""

    source: str
    labels: "Labels"
    acceptance: Acceptance | None = None
    acceptance_shape: "AcceptanceShape | None" = None
    cost: Cost | None = None
    cost_shape: "CostShape | None" = None
    gamma: int | None = None


class Document(NamedTuple):
    """A gammaplan document that was read: where from, what it says, what it warned of."""

    source: str
    command: str
    whole: tuple[Evidence, ...]
    parts: tuple[Evidence, ...]
    findings: tuple[Finding, ...]
    bounds: tuple[float, float] | None = None
    method: str | None = None

    def slot(self, name: str, *, parts_first: bool) -> list[Evidence]:
        """What it says of "acceptance" or "cost": as a whole, else in its groups or rows.

        With `parts_first`, for a choice among them, the other way round.
        """
        first, second = (self.parts, self.whole) if parts_first else (self.whole, self.parts)
        for evidence in (first, second):
            if found := [e for e in evidence if getattr(e, name) is not None]:
                return found
        return []


def fills(documents: Sequence[Document], slot: str) -> list[Document]:
    """The documents that bring an "acceptance" or a "cost"."""
    return [d for d in documents if d.slot(slot, parts_first=False)]


def length_in_use(documents: Sequence[Document]) -> int | None:
    """The draft length that the acceptance of the evidence was at, where it is one."""
    known = {e.gamma for d in documents for e in d.slot("acceptance", parts_first=False)}
    return known.pop() if len(known) == 1 else None
