"""cost --target: round costs from shapes of models and a device, before anything is measured."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gammaplan.cli.batchoptions import Curves
from gammaplan.cli.estimateoptions import EstimateFlags
from gammaplan.cli.modelled import (
    BLOCK,
    Setting,
    device_of,
    draft_of,
    dtype_of,
    quant_of,
    read_model,
    target_of,
)
from gammaplan.data.devices import Device
from gammaplan.data.findings import finding
from gammaplan.data.roofline_errors import HIGH, LOW
from gammaplan.documents.configs import Config
from gammaplan.documents.writing import cost_shape
from gammaplan.errors import DomainError, Finding
from gammaplan.model.passes import PassTimes, pass_cost
from gammaplan.model.roofline import (
    Part,
    Pass,
    calibrated,
    room,
    turn,
)

if TYPE_CHECKING:
    from gammaplan.cli.costs import Asked
    from gammaplan.cli.setups import Answered
    from gammaplan.model.passes import DraftKind
    from gammaplan.shapes.estimates import EstimateShape, ModelFacts, PartTimes, PassEstimate
    from gammaplan.shapes.parts import CostShape
    from gammaplan.shapes.planning import CostFitRow, CostResult

LONGEST, CONTEXT, LEAST = 32, 4096, 0.001
SHOWN = (1, 2, 3, 5, 9, 17, 33)


def answered_by_shapes(asked: "Asked", flags: EstimateFlags, curves: Curves) -> "Answered":
    """The cost that shapes and a device make, and the account of its inputs."""
    from gammaplan.cli.setups import Answered

    _check(asked, flags, curves)
    batches, block = curves.batches, curves.block
    config = read_model(flags.target or "", flags.parameters)
    context = _context(config, flags)
    device = device_of(flags)
    target = target_of(config, device, flags)
    sizes = list(batches or [1])
    if ms := asked.times.target_ms:
        try:
            machine = calibrated(*target[:3], ms=ms, batch=sizes[0], context=context)
        except DomainError as error:
            raise typer.BadParameter(f"--target-ms: {error}") from None
        target = target._replace(machine=machine)
    kind, draft = draft_of(asked.method, flags, target, block, context)
    result = _result(target, draft, kind, sizes, context, block, device)
    result["estimate"]["calibrated"] = ms is not None
    given: dict[str, object] = {
        **flags._asdict(),
        "target_ms": ms,
        "method": asked.method,
        "batch": sizes,
        "block": block,
    }
    sources = {name: "default" if value is None else "flag" for name, value in given.items()}
    sources["batch"] = "flag" if batches else "default"
    dtype = dtype_of(config, flags)
    given |= {"context": context, "efficiency": target.machine.efficiency, "tp": flags.tp or 1}
    given |= {"dtype": dtype, "quant": quant_of(config, flags), "kv_dtype": flags.kv_dtype or dtype}
    told = {"dtype": config.dtype, "quant": config.quantised}
    sources |= {
        name: f"evidence:{flags.target}"
        for name, value in told.items()
        if value and sources[name] == "default"
    }
    return Answered(result, given, sources, _findings(result))


def _check(asked: "Asked", flags: EstimateFlags, curves: Curves) -> None:
    if flags.target is None:
        first = next(n for n, v in zip(flags._fields, flags, strict=True) if v is not None)
        raise typer.BadParameter(f"--{first.replace('_', '-')} needs --target FILE: a config.json")
    times = asked.times._replace(target_ms=None)
    timed = (*curves.paths, curves.draft_path)
    stated = (*times, asked.gamma, *asked.runs, *(asked.files or ()), *timed)
    if asked.pick or any(value is not None for value in stated):
        raise typer.BadParameter(
            "--target estimates every round cost; leave out runs, evidence, --verify-curve, "
            "--draft-curve, --pick and every timing but --target-ms, which calibrates the estimate"
        )
    if flags.target == flags.draft == "-":
        raise typer.BadParameter("--target and --draft cannot both be standard input")
    if flags.efficiency is not None and asked.times.target_ms is not None:
        raise typer.BadParameter("--efficiency and --target-ms both say it; give one")
    if flags.efficiency is not None and flags.efficiency < LEAST:
        raise typer.BadParameter(f"--efficiency must be at least {LEAST}, got {flags.efficiency:g}")


def _context(config: Config, flags: EstimateFlags) -> int:
    longest = config.shape.context
    if flags.context is None:
        return min(CONTEXT, longest or CONTEXT)
    if longest and flags.context > longest:
        raise typer.BadParameter(
            f"--context must be at most the {longest} tokens of {flags.target}, got {flags.context}"
        )
    return flags.context


def _result(
    target: Setting,
    draft: Setting | None,
    kind: "DraftKind",
    batches: Sequence[int],
    context: int,
    block: int | None,
    device: Device,
) -> "CostResult":
    tokens = range(1, LONGEST + 2)
    last = block or (BLOCK if kind == "one-pass" else LONGEST)
    at = turn(*target[:3])
    estimate: EstimateShape = {
        "target": _facts(target),
        "draft": _facts(draft) if draft else None,
        "device": {
            "name": device.name,
            "devices": target.machine.devices,
            "bandwidth": target.machine.bandwidth,
            "flops": target.machine.flops,
            "memory": target.machine.memory,
            "source": ", ".join(filter(None, (device.source, device.date))),
        },
        "efficiency": target.machine.efficiency,
        "calibrated": False,
        "context": context,
        "turn": {"weights": at.weights, "experts": at.experts},
        "passes": [],
        "drafting": [],
        "room": [],
    }
    costs: list[CostShape] = []
    rows: list[CostFitRow] = []
    both = [(s.shape, s.precision) for s in (target, draft) if s]
    for batch in batches:
        passed = target.run(tokens, batch, context)
        width = last + 1 if draft and draft.whole else 1
        ms = float(draft.run(width, batch, context).ms) if draft else 0.0
        times = PassTimes(tuple(tokens), tuple(passed.ms.tolist()))
        cost = pass_cost(times, kind, draft_ms=ms, block=min(last, LONGEST))
        shape = cost_shape(
            cost, kind="estimated", source="roofline", labels={"batch": batch, "context": context}
        )
        for row in shape["table"]:
            row["low"], row["high"] = row["round_cost"] * LOW, row["round_cost"] * HIGH
            rows.append(
                {
                    "batch": batch,
                    **row,
                    "fitted": row["round_cost"],
                    "residual": 0.0,
                    "textbook": None,
                }
            )
        costs.append(shape)
        estimate["passes"] += _passes(passed, batch)
        estimate["drafting"].append({"batch": batch, "ms": ms})
        held = room(both, target.machine, batch=batch, context=context)
        estimate["room"].append(
            {
                "batch": batch,
                "weights": held.weights,
                "cache": held.cache,
                "memory": held.memory,
                "fits": held.fits,
            }
        )
    return {
        "costs": costs,
        "curves": [],
        "textbook": None,
        "terms": [],
        "rows": rows,
        "estimate": estimate,
    }


def _facts(setting: Setting) -> "ModelFacts":
    shape = setting.shape
    return {
        "name": shape.name,
        "parameters": shape.parameters,
        "active": shape.active,
        "kv_bytes": shape.kv_elements * setting.precision.cache,
    }


def _passes(passed: Pass, batch: int) -> "list[PassEstimate]":
    ms = passed.ms.tolist()
    return [
        {
            "batch": batch,
            "tokens": n,
            "ms": ms[n - 1],
            "relative": ms[n - 1] / ms[0],
            "weights": _times(passed.weights, n - 1),
            "experts": _times(passed.experts, n - 1),
            "attention": _times(passed.attention, n - 1),
            "overhead": passed.overhead,
        }
        for n in SHOWN
    ]


def _times(part: Part, i: int) -> "PartTimes":
    return {"memory": float(part.memory[i]), "compute": float(part.compute[i])}


def _findings(result: "CostResult") -> list[Finding]:
    found = [finding("cost_estimated", low=f"{LOW:g}", high=f"{HIGH:g}")]
    estimate = result["estimate"]
    tight = next((r for r in estimate["room"] if not r["fits"]), None)
    if tight:
        fitting = [r["batch"] for r in estimate["room"] if r["fits"]]
        found.append(
            finding(
                "does_not_fit",
                batch=tight["batch"],
                context=estimate["context"],
                weights=f"{tight['weights'] / 1e9:.1f}",
                cache=f"{tight['cache'] / 1e9:.1f}",
                memory=f"{tight['memory'] / 1e9:.1f}",
                remedy=f"; batch {max(fitting)} fits"
                if fitting
                else "; a larger --tp divides them",
            )
        )
    return found
