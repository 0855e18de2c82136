"""Which model runs on which device, in which number format: target and draft of an estimate."""

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
from gammaplan.data.formats import DTYPES, METHODS, QUANTS
from gammaplan.documents.configs import Config, read_config
from gammaplan.errors import InputError
from gammaplan.model.architecture import ModelShape, eagle_head, medusa_heads, mtp_head
from gammaplan.model.roofline import EFFICIENCY, Machine, Pass, Precision, pass_over
from gammaplan.report.plain import listed

if TYPE_CHECKING:
    from gammaplan.model.passes import DraftKind

BLOCK = 8  # the longest draft of one pass, where nothing says it
EAGLE3_VOCABULARY = 32_000  # tokens that published EAGLE-3 heads can draft
HEADS = ("eagle3", "eagle", "mtp", "medusa")
MODELS = ("draft-model", "dflash", "dspark", "pard")
WAYS = "--method eagle3, eagle, mtp, medusa, ngram or suffix, or --draft FILE"


class Setting(NamedTuple):
    """One model on its machine, at its precision; `whole`: one pass of it is over all it drafts."""

    shape: ModelShape
    machine: Machine
    precision: Precision
    whole: bool = False

    def run(self, tokens: Sequence[int] | int, batch: int, context: int) -> Pass:
        """A pass over so many tokens of each sequence."""
        return pass_over(
            self.shape, self.machine, self.precision, tokens, batch=batch, context=context
        )


def read_model(path: str, parameters: float | None = None) -> Config:
    """The configuration in a file, or on standard input."""
    if path == "-":
        return read_config(sys.stdin.buffer, "-", parameters=parameters)
    try:
        with Path(path).open("rb") as stream:
            return read_config(stream, path, parameters=parameters)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def device_of(flags: EstimateFlags) -> Device:
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
                f"--device must be a known device, got {flags.device}; near are {listed(near)}, "
                "and any other goes by --bandwidth, --flops and --memory"
            )
        found = known
    if flags.bandwidth is not None:
        found = found._replace(bandwidth=flags.bandwidth * 1e9)
    if flags.memory is not None:
        found = found._replace(memory=flags.memory * 1e9)
    names = ("--bandwidth", "--flops", "--memory")
    changed = [name for name, value in zip(names, own, strict=True) if value is not None]
    if changed and found.date:
        found = found._replace(date=f"{found.date}; {listed(changed)} as given")
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


def dtype_of(config: Config, flags: EstimateFlags) -> str:
    """The format that is computed in."""
    return flags.dtype or ("fp16" if config.dtype == "float16" else "bf16")


def quant_of(config: Config, flags: EstimateFlags) -> str:
    """The format of the target's weights, "none" for that of the dtype."""
    if flags.quant is None and config.quantised and config.quantised not in METHODS:
        raise typer.BadParameter(
            f"{flags.target} is quantised by {config.quantised[:40]}, which is not known; --quant "
            f"says how ({', '.join(QUANTS)})"
        )
    return flags.quant or METHODS.get(config.quantised or "") or "none"


def target_of(config: Config, device: Device, flags: EstimateFlags) -> Setting:
    """The target on its devices, its weights in the format asked for, else in the config's."""
    dtype = dtype_of(config, flags)
    plain = _speed(device, dtype, f"--dtype {dtype}", flags)
    name = quant_of(config, flags)
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


def draft_of(
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
        config = read_model(flags.draft)
        _splits(config.shape, target.machine.devices, flags.draft)
        if config.shape.context and context > config.shape.context:
            raise typer.BadParameter(
                f"--context must be at most the {config.shape.context} tokens of {flags.draft}, "
                f"got {context}"
            )
        if name == "draft-model":
            return "sequential", _plainly(target, config.shape)
        return "one-pass", _plainly(target, config.shape)._replace(whole=True)
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
    return "sequential", _plainly(target, eagle_head(target.shape, inputs=inputs, vocabulary=small))


def _plainly(target: Setting, shape: ModelShape) -> Setting:
    """A draft on the target's devices, its weights in the format that is computed in."""
    wide = target.precision.head
    machine = replace(target.machine, flops=target.machine.attention_flops)
    return Setting(shape, machine, Precision(wide, wide, wide, target.precision.cache))
