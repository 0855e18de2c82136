"""cost --target: round costs from the shapes of models and a device, before anything is measured."""

import difflib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from gammaplan.cli.estimateoptions import EstimateFlags
from gammaplan.cli.verifying import LOOKUPS
from gammaplan.data.devices import DEVICES, Device
from gammaplan.data.findings import finding
from gammaplan.data.formats import DTYPES, METHODS, QUANTS
from gammaplan.data.roofline_errors import HIGH, LOW
from gammaplan.documents.configs import Config, read_config
from gammaplan.documents.writing import cost_shape
from gammaplan.errors import DomainError, Finding, InputError
from gammaplan.model.architecture import ModelShape, eagle_head, medusa_heads, mtp_head
from gammaplan.model.passes import PassTimes, pass_cost
from gammaplan.model.roofline import (
    EFFICIENCY,
    Machine,
    Pass,
    Precision,
    calibrated,
    pass_over,
    room,
    turn,
)
from gammaplan.report.plain import listed

if TYPE_CHECKING:
    from gammaplan.cli.costs import Asked
    from gammaplan.cli.setups import Answered
    from gammaplan.model.passes import DraftKind
    from gammaplan.shapes.estimates import EstimateShape, ModelFacts, PassEstimate
    from gammaplan.shapes.parts import CostShape
    from gammaplan.shapes.planning import CostResult

LONGEST, BLOCK, CONTEXT = 32, 8, 4096
SHOWN = (1, 2, 3, 5, 9, 17, 33)
EAGLE3_VOCABULARY = 32_000  # tokens that published EAGLE-3 heads can draft
HEADS = ("eagle3", "eagle", "mtp", "medusa")
MODELS = ("draft-model", "dflash", "dspark", "pard")
WAYS = "--method eagle3, eagle, mtp, medusa, ngram or suffix, or --draft FILE"


class Setting(NamedTuple):
    """One model on its machine, at its precision."""

    shape: ModelShape
    machine: Machine
    precision: Precision

    def run(self, tokens: Sequence[int] | int, batch: int, context: int) -> Pass:
        """A pass over so many tokens of each sequence."""
        return pass_over(
            self.shape, self.machine, self.precision, tokens, batch=batch, context=context
        )


def answered_by_shapes(
    asked: "Asked",
    flags: EstimateFlags,
    curves: Sequence[str] | None,
    batches: Sequence[int] | None,
    block: int | None,
) -> "Answered":
    """The cost that shapes and a device make, and the account of its inputs."""
    from gammaplan.cli.setups import Answered

    _check(asked, flags, curves)
    config = _read(flags.target or "", flags.parameters)
    context = _context(config, flags)
    device = _device(flags)
    target = _target(config, device, flags)
    sizes = list(batches or [1])
    if ms := asked.times.target_ms:
        try:
            machine = calibrated(*target, ms=ms, batch=sizes[0], context=context)
        except DomainError as error:
            raise typer.BadParameter(f"--target-ms: {error}") from None
        target = target._replace(machine=machine)
    kind, draft = _draft(asked.method, flags, target, block, context)
    result = _result(target, draft, kind, sizes, context, block)
    result["estimate"]["device"] = {
        "name": device.name,
        "devices": target.machine.devices,
        "bandwidth": target.machine.bandwidth,
        "flops": target.machine.flops,
        "memory": target.machine.memory,
        "source": f"{device.source}, {device.date}" if device.date else device.source,
    }
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
    given |= {"context": context, "efficiency": target.machine.efficiency, "tp": flags.tp or 1}
    return Answered(result, given, sources, _findings(result))


def _check(asked: "Asked", flags: EstimateFlags, curves: Sequence[str] | None) -> None:
    if flags.target is None:
        first = next(n for n, v in zip(flags._fields, flags, strict=True) if v is not None)
        raise typer.BadParameter(f"--{first.replace('_', '-')} needs --target FILE: a config.json")
    times = asked.times._replace(target_ms=None)
    stated = (*times, asked.gamma, *asked.runs, *(asked.files or ()), *(curves or ()))
    if asked.pick or any(value is not None for value in stated):
        raise typer.BadParameter(
            "--target estimates every round cost; leave out runs, evidence, --verify-curve, --pick "
            "and every timing but --target-ms, which calibrates the estimate"
        )
    if flags.efficiency is not None and asked.times.target_ms is not None:
        raise typer.BadParameter("--efficiency and --target-ms both say it; give one")
    if flags.efficiency == 0:
        raise typer.BadParameter("--efficiency must be above 0, got 0")


def _read(path: str, parameters: float | None = None) -> Config:
    if path == "-":
        return read_config(sys.stdin.buffer, "-", parameters=parameters)
    try:
        with Path(path).open("rb") as stream:
            return read_config(stream, path, parameters=parameters)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _context(config: Config, flags: EstimateFlags) -> int:
    longest = config.shape.context
    if flags.context is None:
        return min(CONTEXT, longest or CONTEXT)
    if longest and flags.context > longest:
        raise typer.BadParameter(
            f"--context must be at most the {longest} tokens of {flags.target}, got {flags.context}"
        )
    return flags.context


def _device(flags: EstimateFlags) -> Device:
    """The device by name, with what was given instead of what its vendor states."""
    own = (flags.bandwidth, flags.flops, flags.memory)
    if flags.device is None:
        if None in own:
            raise typer.BadParameter(
                "an estimate needs --device NAME, or --bandwidth, --flops and --memory"
            )
        found = Device("own", "", 1.0, 1.0, {}, "given", "")
    else:
        name = flags.device.lower().replace("_", "-")
        known = DEVICES.get(name)
        if known is None:
            near = difflib.get_close_matches(name, DEVICES, 4, 0.4) or list(DEVICES)[:4]
            near += [n for n in DEVICES if n.startswith(name) and n not in near]
            raise typer.BadParameter(
                f"--device must be a known device, got {flags.device}; near are {listed(near)}, and "
                "any other goes by --bandwidth, --flops and --memory"
            )
        found = known
    if flags.bandwidth is not None:
        found = found._replace(bandwidth=flags.bandwidth * 1e9)
    if flags.memory is not None:
        found = found._replace(memory=flags.memory * 1e9)
    return found


def _speed(device: Device, format_: str, option: str, flags: EstimateFlags) -> float:
    if flags.flops is not None:
        return flags.flops * 1e12
    if format_ not in device.flops:
        has = listed(sorted(device.flops)) if device.flops else "no format"
        raise typer.BadParameter(
            f"{option}: {device.vendor} states a speed of {device.name} for {has}, not for "
            f"{format_}; --flops gives one"
        )
    return device.flops[format_]


def _target(config: Config, device: Device, flags: EstimateFlags) -> Setting:
    dtype = flags.dtype or "bf16"
    plain = _speed(device, dtype, f"--dtype {dtype}", flags)
    name = flags.quant or METHODS.get(config.quantised or "") or "none"
    if flags.quant is None and config.quantised and config.quantised not in METHODS:
        raise typer.BadParameter(
            f"{flags.target} is quantised by {config.quantised[:40]}, which is not known; --quant "
            f"says how ({', '.join(QUANTS)})"
        )
    wide, cache = DTYPES[dtype] / 8, DTYPES[flags.kv_dtype or dtype] / 8
    precision, speed = Precision(wide, wide, wide, cache), plain
    if name != "none":
        quant = QUANTS[name]
        narrow = quant.bits / 8
        sparse = name == "mxfp4" and config.shape.routed > 0  # gpt-oss: the experts alone
        precision = Precision(wide if sparse else narrow, narrow, wide, cache)
        if quant.computes and not sparse:
            speed = _speed(device, quant.computes, f"--quant {name}", flags)
    machine = Machine(
        device.bandwidth, speed, plain, device.memory, flags.tp or 1, flags.efficiency or EFFICIENCY
    )
    _splits(config.shape, machine.devices, flags.target or "")
    return Setting(config.shape, machine, precision)


def _splits(shape: ModelShape, devices: int, path: str) -> None:
    if not shape.splits(devices):
        heads = shape.layers[0].attention
        raise typer.BadParameter(
            f"--tp must divide the {heads.heads} heads of {path} and fit its {heads.kv_heads} key "
            f"and value heads, got {devices}"
        )


def _draft(
    method: str | None,
    flags: EstimateFlags,
    target: Setting,
    block: int | None,
    context: int,
) -> "tuple[DraftKind, Setting | None]":
    """How drafts are made, and by what."""
    name = (method or ("draft-model" if flags.draft else "")).lower()
    if any(word in name for word in LOOKUPS):
        if flags.draft:
            raise typer.BadParameter(f"--method {method} looks drafts up; leave out --draft")
        return "lookup", None
    if name in MODELS:
        if flags.draft is None:
            raise typer.BadParameter(f"--method {name} drafts by a model of its own: --draft FILE")
        config = _read(flags.draft)
        _splits(config.shape, target.machine.devices, flags.draft)
        if config.shape.context and context > config.shape.context:
            raise typer.BadParameter(
                f"--context must be at most the {config.shape.context} tokens of {flags.draft}, got "
                f"{context}"
            )
        return ("sequential" if name == "draft-model" else "one-pass"), _plainly(target, config.shape)
    if name not in HEADS:
        said = f"got --method {method}" if method else "neither was given"
        raise typer.BadParameter(f"an estimate needs {WAYS}; {said}")
    if flags.draft:
        raise typer.BadParameter(
            f"--method {name} is estimated from the target's config; leave out --draft"
        )
    if name == "medusa":
        return "one-pass", _plainly(target, medusa_heads(target.shape, block or BLOCK))
    if name == "mtp":
        return "sequential", target._replace(shape=mtp_head(target.shape))
    small = EAGLE3_VOCABULARY if name == "eagle3" else None
    inputs = 3 if name == "eagle3" else 2
    return "sequential", _plainly(
        target, eagle_head(target.shape, inputs=inputs, vocabulary=small)
    )


def _plainly(target: Setting, shape: ModelShape) -> Setting:
    """A draft on the target's devices, its weights in the format that is computed in."""
    wide = target.precision.head
    machine = replace(target.machine, flops=target.machine.attention_flops)
    return Setting(shape, machine, Precision(wide, wide, wide, target.precision.cache))


def _result(
    target: Setting,
    draft: Setting | None,
    kind: "DraftKind",
    batches: Sequence[int],
    context: int,
    block: int | None,
) -> "CostResult":
    tokens = range(1, LONGEST + 2)
    last = block or (BLOCK if kind == "one-pass" else LONGEST)
    estimate: EstimateShape = {
        "target": _facts(target),
        "draft": _facts(draft) if draft else None,
        "device": {
            "name": "", "devices": 1, "bandwidth": 0.0, "flops": 0.0, "memory": 0.0, "source": "",
        },
        "efficiency": target.machine.efficiency,
        "calibrated": False,
        "context": context,
        "turn": {**turn(*target)._asdict()},  # type: ignore[typeddict-item]
        "passes": [],
        "drafting": [],
        "room": [],
    }  # fmt: skip
    costs: list[CostShape] = []
    both = [(s.shape, s.precision) for s in (target, draft) if s]
    for batch in batches:
        passed = target.run(tokens, batch, context)
        width = last + 1 if kind == "one-pass" else 1
        ms = float(draft.run(width, batch, context).ms) if draft else 0.0
        times = PassTimes(tuple(tokens), tuple(passed.ms.tolist()))
        cost = pass_cost(times, kind, draft_ms=ms, block=min(last, LONGEST))
        shape = cost_shape(
            cost, kind="estimated", source="roofline", labels={"batch": batch, "context": context}
        )
        for row in shape["table"]:
            row["low"], row["high"] = row["round_cost"] * LOW, row["round_cost"] * HIGH
        costs.append(shape)
        estimate["passes"] += _passes(passed, batch)
        estimate["drafting"].append({"batch": batch, "ms": ms})
        held = room(both, target.machine, batch=batch, context=context)
        estimate["room"].append({"batch": batch, **held._asdict(), "fits": held.fits})  # type: ignore[typeddict-item]
    return {
        "costs": costs,
        "curves": [],
        "textbook": None,
        "terms": [],
        "rows": [],
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
    rows: list[PassEstimate] = []
    ms = passed.ms.tolist()
    for n in SHOWN:
        i = n - 1
        memory = compute = 0.0
        parts = {}
        for name in ("weights", "experts", "attention"):
            part = getattr(passed, name)
            both = {"memory": float(part.memory[i]), "compute": float(part.compute[i])}
            parts[name] = both
            memory += both["memory"] if both["memory"] >= both["compute"] else 0.0
            compute += both["compute"] if both["compute"] > both["memory"] else 0.0
        longest = max((memory, "memory"), (compute, "compute"), (passed.overhead, "overhead"))
        rows.append(
            {
                "batch": batch,
                "tokens": n,
                "ms": ms[i],
                "relative": ms[i] / ms[0],
                **parts,
                "overhead": passed.overhead,
                "bound": longest[1],
            }  # type: ignore[typeddict-item]
        )
    return rows


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
                remedy=f"; batch {max(fitting)} fits" if fitting else "; a larger --tp divides them",
            )
        )
    return found
