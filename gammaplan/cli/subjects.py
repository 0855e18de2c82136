"""One set-up that a plan is about: its cases, from runs or from evidence, flags and priors."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli.evidence import Case, Cases, gather_from
from gammaplan.cli.flags import NO_COST, CostFlags
from gammaplan.data.findings import finding
from gammaplan.documents.evidence import Document, Evidence, fills
from gammaplan.documents.writing import acceptance_shape, cost_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Acceptance, Geometric
from gammaplan.model.cost import LinearCost
from gammaplan.model.planning import Spread, alpha_spread
from gammaplan.report.plain import printable

if TYPE_CHECKING:
    from gammaplan.model.calibration import Calibration
    from gammaplan.model.runs import Run

FITTED = ("fitted", "measured")  # kinds of cost with noise about them


class Given(NamedTuple):
    """What one subject was given: documents, α, a cost, runs, the draft's method."""

    documents: Sequence[Document]
    alpha: float | None = None
    cost: CostFlags = NO_COST
    runs: "Sequence[Run]" = ()
    method: str | None = None
    textbook: bool = False
    pick: Sequence[str] | None = None
    hit_rate: float | None = None
    prior_engine: str | None = None


class Subject:
    """The cases of one set-up, and what is uncertain in each."""

    def __init__(self, name: str, cases: Cases, given: Given) -> None:
        self.name = name
        self.cases = cases
        self.given = given
        self.calibrations: dict[int, Calibration] = {}
        self.workloads: list[tuple[str, float, Acceptance]] = []
        self.mix: Spread | None = None
        self.priced = False  # whether the spread of the mix has that of the cost in it
        self.measured: dict[int, float] = {}
        if given.runs:
            from gammaplan.model.runs import speedups

            self.measured = speedups(given.runs)

    def label(self, case: Case, **labels: int) -> Case:
        """The case with further labels, in its place."""
        at = self.cases.cases.index(case)
        shape = case.cost_shape and case.cost_shape.copy()
        if shape:
            shape["batch"] = labels.get("batch", shape["batch"])
        new = case._replace(labels={**case.labels, **labels}, cost_shape=shape)
        self.cases.cases[at] = new
        if (calibration := self.calibrations.pop(id(case), None)) is not None:
            self.calibrations[id(new)] = calibration
        return new

    def spreads(self, case: Case) -> list[Spread]:
        """The spreads that apply to a case; none where nothing is uncertain."""
        calibration = self.calibrations.get(id(case))
        if calibration is not None:
            return [calibrated_spread(calibration)] if calibration.measured else []
        found = [self.mix] if self.mix else law_spreads(case.of_hits or case, self.given.method)
        if case.of_hits and self.given.hit_rate is not None:
            from gammaplan.model.lookup import misses_spread

            law, share = case.of_hits.acceptance, self.given.hit_rate
            found = [misses_spread(one, law, share) for one in found]
        if case.cost_shape and case.cost_shape["kind"] == "prior":
            from gammaplan.model.unmeasured import prior_cost

            found.append(prior_cost(self.given.method)[1])
        elif case.cost_shape and case.cost_shape["kind"] == "estimated":
            from gammaplan.model.unmeasured import estimated_spread

            found.append(estimated_spread())
        elif case.cost_shape and case.cost_shape["kind"] in FITTED and not self.priced:
            from gammaplan.model.unmeasured import fitted_spread

            off, noise = case.cost_shape["worst_residual"], case.cost_shape.get("run_noise")
            found.append(fitted_spread(off, self.given.method, run_noise=noise))
        return found


def calibrated_spread(calibration: "Calibration") -> Spread:
    """The spread of a calibration's predictions: of its acceptance, its cost and a run."""
    from gammaplan.model.prediction import spread

    measured = calibration.measured
    assert measured is not None  # only a textbook calibration lacks it
    return lambda gammas: (spread(measured, gammas),) * 2


def law_spreads(case: Case, method: str | None) -> list[Spread]:
    """The spread of an acceptance: of the prior, or of the interval on α."""
    shape = case.acceptance_shape
    if shape.get("kind") == "prior":
        from gammaplan.model.unmeasured import prior_acceptance

        return [prior_acceptance(method)[1]]
    span = shape["interval"]
    if span is None or shape["alpha"] is None:
        return []
    ends = (span["low"], span["high"])
    return [alpha_spread(case.acceptance, ends, span["level"], alpha=shape["alpha"])]


def gathered(name: str, given: Given) -> Subject:
    """The cases of one set-up: from its runs, else from evidence, flags and priors."""
    subject = Subject(name, _without_runs(given), given) if not given.runs else _measured(given)
    subject.name = name
    if given.hit_rate is not None:
        if given.runs:
            raise typer.BadParameter(
                "--hit-rate and runs exclude each other: a run's speedup has its misses in it"
            )
        subject.cases.cases = [_with_misses(case, given.hit_rate) for case in subject.cases.cases]
    if given.textbook and not given.runs:
        subject.cases.cases = [_textbook(case) for case in subject.cases.cases]
    return subject


def _without_runs(given: Given) -> Cases:
    prior = None if given.textbook else priors(given.method)
    return gather_from(
        given.documents, alpha=given.alpha, cost=given.cost, pick=given.pick, prior=prior
    )


def unknown_method(method: str | None) -> list[Finding]:
    """What to say of a draft method that no prior is of."""
    if method is None:
        return []
    from gammaplan.model.posterior import FAMILIES, family

    if family(method) != "unknown":
        return []
    known = "; ".join(f"{name} ({', '.join(words)})" for name, words in FAMILIES.items())
    return [finding("unknown_method", method=printable(method), known=known)]


def priors(method: str | None) -> Callable[[str], Evidence]:
    """What stands for an "acceptance" or a "cost" that nobody gave."""

    def prior(slot: str) -> Evidence:
        from gammaplan.model.unmeasured import prior_acceptance, prior_cost

        if slot == "cost":
            cost = prior_cost(method)[0]
            shape = cost_shape(cost, kind="prior", source="prior")
            return Evidence("prior", {}, cost=cost, cost_shape=shape)
        law = prior_acceptance(method)[0]
        known = acceptance_shape(law)
        known["kind"], known["observed_to"], known["alpha"] = "prior", None, None
        return Evidence("prior", {}, acceptance=law, acceptance_shape=known)

    return prior


def _measured(given: Given) -> Subject:
    """Acceptance and cost from runs; evidence may bring the acceptance figure of the runs."""
    from gammaplan.cli.setups import given_once, unmeasured_case
    from gammaplan.model.calibration import calibrate

    if given.cost.any or fills(given.documents, "cost"):
        raise typer.BadParameter(
            "a run states what its rounds cost; leave out --c and its like and evidence of a cost, "
            "or leave out the run"
        )
    if given.alpha is None and not given.documents:
        cases = Cases([unmeasured_case()])
        says = any(run.says_acceptance for run in given.runs)
        cases.note("alpha", None, "runs" if says else "prior")
    else:
        given_once(given.runs, "--alpha" if given.alpha is not None else given.documents[0].source)
        cases = gather_from(
            given.documents, alpha=given.alpha, cost=NO_COST, pick=given.pick, cost_needed=False
        )
    for name in ("c", "overhead", "verify_slope"):
        cases.note(name, None, "runs")
    subject = Subject("", cases, given)
    known = given.alpha is not None or bool(given.documents)
    for i, case in enumerate(cases.cases):
        runs = [run.accepting(case.acceptance) if known else run for run in given.runs]
        found = calibrate(
            runs, engine=given.prior_engine, method=given.method, textbook=given.textbook
        )
        shape = acceptance_shape(found.acceptance)
        if known:
            shape["counts"] = case.acceptance_shape["counts"]
        price = cost_shape(found.cost, kind="fitted", source="runs", labels=case.labels)
        law = found.acceptance
        cases.cases[i] = Case(case.labels, law, shape, found.cost, price, case.gamma)
        subject.calibrations[id(cases.cases[i])] = found
    return subject


def _with_misses(case: Case, hit_rate: float) -> Case:
    """The average round, where a lookup finds something in a share of them only."""
    from gammaplan.model.lookup import with_misses

    law, cost = with_misses(case.acceptance, case.cost, hit_rate)
    shape = acceptance_shape(law)
    if (prior := case.acceptance_shape.get("kind")) is not None:
        shape["kind"] = prior
    old = case.cost_shape
    kind = old["kind"] if old else "given"
    price = cost_shape(cost, kind=kind, source=old and old["source"], labels=case.labels)
    price["worst_residual"] = old and old["worst_residual"]
    if old and "run_noise" in old:
        price["run_noise"] = old["run_noise"]
    return Case(case.labels, law, shape, cost, price, case.gamma, of_hits=case)


def _textbook(case: Case) -> Case:
    """One α, and a round cost of 1 + cγ."""
    alpha, cost = case.acceptance_shape["alpha"], case.cost
    if alpha is None or not isinstance(cost, LinearCost):
        missing = "one α" if alpha is None else "c, and the evidence has a table of round costs"
        raise typer.BadParameter(f"--textbook needs {missing}; give --alpha or --c")
    law, price = Geometric(alpha, case.acceptance.observed_to), LinearCost(cost.c)
    shape = acceptance_shape(law)
    shape["counts"] = case.acceptance_shape["counts"]
    shape["interval"] = case.acceptance_shape["interval"]
    kind = case.cost_shape["kind"] if case.cost_shape else "given"
    return Case(case.labels, law, shape, price, cost_shape(price, kind=kind))
