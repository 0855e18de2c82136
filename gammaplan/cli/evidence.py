"""From files and flags to the cases to answer: an acceptance, a cost, and where each came from."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

# Loaded from here: ten imports further down CPython 3.11 maps and unmaps its frame stack 700 times.
import numpy  # noqa: F401
import typer

from gammaplan.cli.flags import CostFlags
from gammaplan.documents.evidence import Document, Evidence
from gammaplan.documents.writing import acceptance_shape, cost_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.cost import Cost, LinearCost

if TYPE_CHECKING:
    from gammaplan.shapes.parts import AcceptanceShape, CostShape, Labels

EXAMPLE_ALPHA, EXAMPLE_C = 0.8, 0.1
WAYS_TO_ALPHA = (
    "--alpha, or evidence that knows acceptance (gammaplan convert … --json | gammaplan … -)"
)
WAYS_TO_C = "--c, --speed-ratio, or --draft-ms with --target-ms, or evidence that knows a cost"


class Case(NamedTuple):
    """One question to answer; a command that can do without a cost gets a free one, unshaped.

    Where a lookup may find nothing, the case is of the average round, and `of_hits` of those
    that draft.
    """

    labels: "Labels"
    acceptance: Acceptance
    acceptance_shape: "AcceptanceShape"
    cost: Cost
    cost_shape: "CostShape | None"
    gamma: int | None = None
    of_hits: "Case | None" = None


class Cases:
    """The questions of one command line, and the account of their inputs."""

    def __init__(self, cases: list[Case], findings: Sequence[Finding] = ()) -> None:
        self.cases = cases
        self.inputs: dict[str, object] = {}
        self.sources: dict[str, str] = {}
        self.findings = list(findings)

    def note(self, name: str, value: object, source: str) -> None:
        """Record one input as it was used, and where it came from."""
        self.inputs[name] = value
        self.sources[name] = source

    def note_gamma(self, flag: int | None) -> None:
        """Record the draft length in use: the flag's, else the one that the evidence was at."""
        known = {case.gamma for case in self.cases}
        if flag is None and len(known) == 1 and None not in known:
            self.note("gamma", known.pop(), self.sources["alpha"])
        else:
            self.note_option("gamma", flag)

    def note_option(self, name: str, value: object, default: object = None) -> None:
        """Record an option whose only sources are its flag and its default."""
        self.note(name, default if value is None else value, "default" if value is None else "flag")


def gather(
    files: Sequence[str] | None,
    *,
    alpha: float | None,
    cost: CostFlags,
    pick: Sequence[str] | None = None,
    cost_needed: bool = True,
) -> Cases:
    """The cases that files and flags describe: a flag beats evidence, evidence beats defaults."""
    documents: list[Document] = []
    if files:
        from gammaplan.cli.inputs import read_documents

        documents = read_documents(files)
    return gather_from(documents, alpha=alpha, cost=cost, pick=pick, cost_needed=cost_needed)


def gather_from(
    documents: Sequence[Document],
    *,
    alpha: float | None,
    cost: CostFlags,
    pick: Sequence[str] | None = None,
    cost_needed: bool = True,
    law: Evidence | None = None,
    prior: Callable[[str], Evidence] | None = None,
) -> Cases:
    """`gather` over documents that were read.

    `law` stands for the acceptance that they would bring; `prior` gives the
    "acceptance" or the "cost" that is missing.
    """
    choosing = bool(pick)
    laws = [law] if law else []
    if alpha is None and law is None:
        laws = _slot(documents, "acceptance", choosing)
    prices = [] if cost.ratio is not None else _slot(documents, "cost", choosing)
    ratio = cost.ratio
    found = [f for d in documents for f in d.findings if ratio is None or f.code not in OF_A_COST]
    if alpha is None and not laws and ratio is None and not prices and not cost.any:
        alpha, ratio = EXAMPLE_ALPHA, EXAMPLE_C if cost_needed else None
        from gammaplan.data.findings import finding

        found.append(
            finding("worked_example", given=f"α {alpha}" + f" and c {ratio}" * (ratio is not None))
        )
        origin = "default"
    else:
        origin = "flag"
    if prior and alpha is None and not laws:
        laws = [prior("acceptance")]
    if prior and ratio is None and not prices and not cost.any:
        prices = [prior("cost")]
    if alpha is None and not laws:
        raise typer.BadParameter(f"acceptance is missing; give {WAYS_TO_ALPHA}")
    if ratio is None and not prices and (cost_needed or cost.any):
        raise typer.BadParameter(f"the cost of a draft is missing; give {WAYS_TO_C}")
    if alpha is not None:
        one = Geometric(alpha)
        laws = [Evidence(origin, {}, acceptance=one, acceptance_shape=acceptance_shape(one))]
    if ratio is not None:
        price = LinearCost(ratio, cost.overhead or 0.0, cost.verify_slope or 0.0)
        shape = cost_shape(price, kind="given")
        prices = [Evidence(origin, {}, cost=price, cost_shape=shape)]
    else:
        prices = [_overridden(p, cost) for p in prices]
    pairs = _pairs(laws, prices, pick)
    cases = Cases([_case(law, price) for law, price in pairs], findings=found)
    _account(cases, pairs, cost)
    if any(isinstance(c.cost, LinearCost) and c.cost.c >= 1 for c in cases.cases):
        worst = max(c.cost.c for c in cases.cases if isinstance(c.cost, LinearCost))
        from gammaplan.data.findings import finding

        cases.findings.append(finding("looks_inverse", c=f"{worst:g}"))
    return cases


FREE = LinearCost(0.0)
OF_A_COST = ("cost_estimated", "kinds_of_cost_mixed")  # untrue of a cost that a flag gives instead


def _case(law: Evidence, price: Evidence | None) -> Case:
    assert law.acceptance is not None
    assert law.acceptance_shape is not None
    labels = {**law.labels, **(price.labels if price else {})}
    if price is None or price.cost is None:
        return Case(labels, law.acceptance, law.acceptance_shape, FREE, None, law.gamma)
    shapes = (law.acceptance_shape, price.cost_shape)
    return Case(labels, law.acceptance, shapes[0], price.cost, shapes[1], law.gamma)


def _slot(documents: Sequence[Document], name: str, choosing: bool) -> list[Evidence]:
    """The evidence for one slot: from one file; two for it are a contradiction here."""
    full = [(d.source, found) for d in documents if (found := d.slot(name, parts_first=choosing))]
    if len(full) > 1:
        names = " and ".join(source for source, _ in full)
        raise typer.BadParameter(f"one {name} is needed, and {names} each bring one; give one file")
    return full[0][1] if full else []


def _overridden(price: Evidence, flags: CostFlags) -> Evidence:
    changes = {
        name: value
        for name in ("overhead", "verify_slope")
        if (value := getattr(flags, name)) is not None
    }
    if not changes:
        return price
    from dataclasses import replace

    if not isinstance(price.cost, LinearCost):
        raise typer.BadParameter(
            "--overhead and --verify-slope change a cost of the form 1 + overhead + (c + "
            f"verify_slope)·γ, and {price.source} has a table of round costs"
        )
    cost = replace(price.cost, **changes)
    shape = price.cost_shape and price.cost_shape.copy()
    if shape:
        shape["overhead"], shape["verify_slope"] = cost.overhead, cost.verify_slope
    return price._replace(cost=cost, cost_shape=shape)


def _pairs(
    laws: Sequence[Evidence], prices: Sequence[Evidence], pick: Sequence[str] | None
) -> list[tuple[Evidence, Evidence | None]]:
    """Every law with every price, those that share a label's key only where its value agrees."""
    options: Sequence[Evidence | None] = prices or [None]
    pairs = [(law, price) for law in laws for price in options if _agree(law, price)]
    if not pairs:
        raise typer.BadParameter("no acceptance and cost of the evidence share their labels")
    for wanted in pick or []:
        key, equals, value = wanted.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"--pick must be KEY=VALUE, got {wanted}")
        kept = [p for p in pairs if _matches(_labels(p).get(key), value)]
        if not kept:
            known = sorted({str(_labels(p)[key]) for p in pairs if key in _labels(p)})
            keys = sorted({k for p in pairs for k in _labels(p)})
            there = (
                f"{key} is {', '.join(known)}"
                if known
                else f"the labels are {', '.join(keys) or 'none'}"
            )
            raise typer.BadParameter(f"--pick {wanted} matches nothing in the evidence; {there}")
        pairs = kept
    return pairs


def _labels(pair: tuple[Evidence, Evidence | None]) -> "Labels":
    law, price = pair
    return {**law.labels, **(price.labels if price else {})}


def _agree(law: Evidence, price: Evidence | None) -> bool:
    shared = set(law.labels) & set(price.labels) if price else set()
    return all(price is not None and law.labels[k] == price.labels[k] for k in shared)


def _matches(label: object, value: str) -> bool:
    if str(label) == value:
        return True
    try:
        return isinstance(label, int | float) and float(value) == label
    except ValueError:
        return False


def _account(
    cases: Cases, pairs: Sequence[tuple[Evidence, Evidence | None]], flags: CostFlags
) -> None:
    laws = {id(law): law for law, _ in pairs}.values()
    alphas = [law.acceptance.alpha for law in laws if law.acceptance]
    cases.note("alpha", alphas[0] if len(alphas) == 1 else None, _origin(next(iter(laws))))
    prices = list({id(p): p for _, p in pairs if p}.values())
    linear = [p.cost for p in prices if isinstance(p.cost, LinearCost)]
    for name in ("c", "overhead", "verify_slope"):
        one = getattr(linear[0], name) if len(prices) == len(linear) == 1 else None
        origin = _origin(prices[0]) if prices else "default"
        if name != "c" and origin in ("flag", "default"):
            origin = "default" if getattr(flags, name) is None else "flag"
        elif name != "c" and getattr(flags, name) is not None:
            origin = "flag"
        cases.note(name, one, origin)


def _origin(evidence: Evidence) -> str:
    plain = evidence.source in ("flag", "default", "prior", "mix", "runs")
    return evidence.source if plain else f"evidence:{evidence.source}"
