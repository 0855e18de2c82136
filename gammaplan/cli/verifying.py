"""cost --verify-curve: round costs from timed passes of the target, a batch size at a time."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli.batchoptions import Curves
from gammaplan.cli.curvefiles import Curve, read_curves
from gammaplan.data.findings import finding
from gammaplan.documents.writing import cost_shape
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.passes import DraftKind, PassTimes, pass_cost
from gammaplan.model.posterior import family
from gammaplan.report.plain import listed, printable

if TYPE_CHECKING:
    from gammaplan.cli.costs import Asked
    from gammaplan.cli.setups import Answered
    from gammaplan.shapes.batches import CurveShape
    from gammaplan.shapes.parts import CostShape, Labels
    from gammaplan.shapes.planning import CostFitRow, CostResult, CostTerm

READING = "a draft pass over what was verified"
LOOKUPS = ("ngram", "n-gram", "lookup", "suffix")
KINDS: Mapping[DraftKind, str] = {
    "sequential": "a draft pass for each token",
    "one-pass": "one draft pass for all tokens",
    "lookup": "looked up, no draft pass",
}


def answered_by_curves(asked: "Asked", curves: Curves) -> "Answered":
    """The cost that timed passes make, and the account of its inputs."""
    from gammaplan.cli.setups import Answered

    if not curves.paths:
        stray = {"--draft-curve": curves.draft_path, "--batch": curves.batches}
        name = next((name for name, value in stray.items() if value), "--block")
        raise typer.BadParameter(f"{name} needs --verify-curve: timed passes of the target")
    target_ms, draft_ms = asked.times.target_ms, asked.times.draft_ms
    others = asked.times._replace(target_ms=None, draft_ms=None)
    stated = (*others, asked.gamma, *asked.runs, *(asked.files or ()))
    if any(value is not None for value in stated):
        raise typer.BadParameter(
            "--verify-curve states every round cost; leave out runs, evidence, --gamma and every "
            "timing but --target-ms and --draft-ms"
        )
    drafting = drafting_of(asked.method, draft_ms, curves.block, curves.draft_path)
    if curves.draft_path == "-" and "-" in curves.paths:
        raise typer.BadParameter("--verify-curve and --draft-curve cannot both be standard input")
    result, found = verified(
        curves.paths, drafting, target_ms=target_ms, batches=curves.batches, pick=asked.pick
    )
    given = {
        "draft_curve": curves.draft_path,
        "target_ms": target_ms,
        "draft_ms": draft_ms,
        "method": asked.method,
        "block": curves.block,
        "batch": list(curves.batches) if curves.batches else None,
    }
    files = ", ".join(f"evidence:{path}" for path in curves.paths)
    return Answered(
        result,
        inputs={"verify_curve": list(curves.paths), **given},
        sources={"verify_curve": files}
        | {name: "default" if value is None else "flag" for name, value in given.items()}
        | ({"draft_curve": f"evidence:{curves.draft_path}"} if curves.draft_path else {}),
        findings=found,
    )


class Drafting(NamedTuple):
    """How drafts are made, what one draft pass takes, and the passes of a draft that reads."""

    kind: DraftKind
    ms: float | None
    block: int | None
    path: str | None

    def reading(self, drafts: Sequence[Curve], curve: Curve) -> Curve | None:
        """The draft's passes that belong to those of the target; None where it reads nothing."""
        if self.path is None:
            return None
        found = [d for d in drafts if d.key.batch == curve.key.batch]
        found = [d for d in found if d.key.context == curve.key.context] or found
        if len(found) != 1:
            named = f" of {_said(curve)}" if _said(curve) else ""
            raise DomainError(f"{len(found)} curves of {self.path} belong to the passes{named}")
        return found[0]


def drafting_of(
    method: str | None, ms: float | None, block: int | None, path: str | None
) -> Drafting:
    """The kind of a draft by its method: token after token where it is not known."""
    plain = (method or "").lower()
    kind: DraftKind = "sequential"
    if any(word in plain for word in LOOKUPS):
        kind = "lookup"
    elif family(method) == "block" or block is not None:
        kind = "one-pass"
    if kind == "lookup" and ms:
        raise typer.BadParameter(f"--method {method} looks drafts up and has no --draft-ms")
    if kind == "lookup" and path is not None:
        raise typer.BadParameter(f"--method {method} looks drafts up and has no --draft-curve")
    if kind == "one-pass" and path is not None and ms is None:
        raise typer.BadParameter(
            "--draft-curve has no pass that makes a whole draft; give its time by --draft-ms"
        )
    return Drafting(kind, 0.0 if kind == "lookup" else ms, block, path)


def verified(
    paths: Sequence[str],
    drafting: Drafting,
    *,
    target_ms: float | None,
    batches: Sequence[int] | None,
    pick: Sequence[str] | None,
) -> "tuple[CostResult, list[Finding]]":
    """The costs that timed passes make, and what to know of them."""
    curves = _picked([curve for path in paths for curve in read_curves(path)], pick)
    found = list(_findings(curves))
    drafts = [] if drafting.path is None else read_curves(drafting.path)
    if any(draft.relative for draft in drafts):
        raise InputError(
            f"{drafting.path}: its times are relative; the draft's passes must be in ms"
        )
    whose = printable(drafting.path or "")
    found += [f._replace(origin=whose) for f in _findings(drafts)]
    timed = drafting.ms is not None or drafts
    if not timed and all(curve.draft_ms is None for curve in curves):
        found.append(finding("drafting_not_timed"))
    result: CostResult = {"costs": [], "textbook": None, "terms": [], "rows": [], "curves": []}
    failed: list[tuple[str, str]] = []
    for curve in curves:
        passes = _with_target(curve, target_ms)
        result["curves"].append(_curve_shape(curve, passes))
        before, why = len(result["costs"]), ""
        try:
            reading = drafting.reading(drafts, curve)
        except DomainError as error:
            failed.append((_said(curve), str(error)))
            continue
        for batch in _batches(curve, batches):
            try:
                _add(result, curve, passes, batch, drafting, reading.passes if reading else None)
            except DomainError as error:
                why = why or str(error)
        if len(result["costs"]) > before:
            found += [said for said in _contexts(curve, reading) if said not in found]
        elif why:
            failed.append((_said(curve), why))
    if not result["costs"]:
        which, why = (
            failed[0] if failed else ("", f"no curve has a batch of {listed(batches or [])}")
        )
        raise InputError(f"{paths[0]}: {which}{which and ': '}{why}")
    found += [
        finding("curve_without_cost", curve=printable(which), why=why) for which, why in failed
    ]
    known = sorted({cost["batch"] for cost in result["costs"] if cost["batch"] is not None})
    if missed := [b for b in batches or [] if b not in known]:
        found.append(finding("batch_not_measured", batches=listed(missed), measured=listed(known)))
    return result, found


def _picked(curves: list[Curve], pick: Sequence[str] | None) -> list[Curve]:
    for wanted in pick or []:
        key, equals, value = wanted.partition("=")
        if key not in ("curve", "batch", "context") or not equals:
            raise typer.BadParameter(
                f"--pick must be curve=NAME, batch=N or context=N for a curve, got {wanted}"
            )
        there = sorted({str(getattr(c.key, key)) for c in curves})
        curves = [c for c in curves if str(getattr(c.key, key)) == value]
        if not curves:
            raise typer.BadParameter(f"--pick {wanted} matches no curve; {', '.join(there)[:300]}")
    return curves


def _findings(curves: Sequence[Curve]) -> list[Finding]:
    found = []
    if len({(c.key.batch, c.key.context) for c in curves}) < len(curves):
        found.append(finding("curves_apart", curves=len(curves)))
    if pooled := sorted({n for c in curves for n in c.repeated}):
        found.append(finding("passes_pooled", tokens=listed(pooled)))
    if falls := [f"{few} to {many}" for c in curves for few, many in c.passes.falls]:
        found.append(finding("passes_fall", falls=listed(falls)))
    if steps := sorted({step.tokens for c in curves for step in c.passes.steps}):
        found.append(finding("pass_steps", tokens=listed(steps)))
    return found


def _contexts(curve: Curve, reading: Curve | None) -> list[Finding]:
    """What to know where the draft was timed at another context than its target."""
    target, draft = curve.key.context, reading and reading.key.context
    if target is None or draft is None or target == draft:
        return []
    return [finding("draft_context", draft=draft, target=target)]


def _with_target(curve: Curve, target_ms: float | None) -> PassTimes:
    """The passes; --target-ms is that over one token where the curve has none."""
    passes = curve.passes
    if target_ms is None:
        return passes
    if passes.tokens[0] == 1:
        raise typer.BadParameter(
            f"--target-ms {target_ms:g} and the curve's {passes.ms[0]:g} both time the pass over "
            "one token; leave out --target-ms"
        )
    return PassTimes((1, *passes.tokens), (target_ms, *passes.ms))


def _batches(curve: Curve, asked: Sequence[int] | None) -> list[int]:
    """The batches that a curve is asked for; tokens of a curve with a batch are per sequence."""
    if curve.key.batch is None:
        return list(asked or [1])
    return [curve.key.batch] if asked is None or curve.key.batch in asked else []


def _said(curve: Curve) -> str:
    """What tells a curve from the others, as the report writes it."""
    return ", ".join(f"{k}={v}" for k, v in curve.key._asdict().items() if v is not None)


def _add(
    result: "CostResult",
    curve: Curve,
    passes: PassTimes,
    batch: int,
    drafting: Drafting,
    reading: PassTimes | None,
) -> None:
    """One cost, its terms and its rows."""
    together = 1 if curve.key.batch is not None else batch
    plain = float(passes.at(together))
    ms = drafting.ms if drafting.ms is not None else curve.draft_ms
    if ms is None:
        ms = float(reading.at(together)) if reading else 0.0
    if math.isnan(ms):
        raise DomainError(f"the draft's pass over {together} token(s) was not measured")
    if curve.relative and (ms or reading):
        raise DomainError("its times are relative; a draft pass needs those of the target in ms")
    cost = pass_cost(
        passes, drafting.kind, draft_ms=ms, batch=together, block=drafting.block, reading=reading
    )
    labels: Labels = {"batch": batch, "context": curve.key.context}
    named = f"{curve.key.curve}: " if curve.key.curve else ""
    source = f"timed passes, {KINDS[drafting.kind]}" + (f", {READING}" if reading else "")
    shape: CostShape = cost_shape(cost, kind="measured", source=named + source, labels=labels)
    result["costs"].append(shape)
    c = ms / plain
    term: CostTerm = {
        "name": "draft" if drafting.kind == "one-pass" else "c",
        "value": c,
        "source": KINDS[drafting.kind] + ("" if batch == 1 else f", batch {batch}"),
    }
    result["terms"].append(term)
    if reading:
        result["terms"].append(
            {
                "name": "reading",
                "value": float(reading.at(2 * together)) / plain,
                "source": f"{READING}, here at γ 1" + ("" if batch == 1 else f", batch {batch}"),
            }
        )
    for gamma, passes_ in zip(cost.gammas, cost.round_costs, strict=True):
        row: CostFitRow = {
            "batch": batch,
            "gamma": gamma,
            "round_cost": passes_,
            "fitted": passes_,
            "residual": 0.0,
            "textbook": None if drafting.kind == "one-pass" else 1 + c * gamma,
        }
        if together * (gamma + 1) in passes.tokens:
            result["rows"].append(row)


def _curve_shape(curve: Curve, passes: PassTimes) -> "CurveShape":
    unit = passes.ms[0] if passes.tokens[0] == 1 else None
    return {
        "curve": curve.key.curve,
        "batch": curve.key.batch,
        "context": curve.key.context,
        "points": [
            {
                "tokens": n,
                "ms": None if curve.relative else ms,
                "relative": ms / unit if unit else None,
            }
            for n, ms in zip(passes.tokens, passes.ms, strict=True)
        ],
        "steps": [{"tokens": n, "above": by} for n, by in passes.steps],
    }
