"""Timed target passes by the tokens in them, from text or a file."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import typer

from gammaplan.cli.curvefiles import Curve, read_curves
from gammaplan.errors import DomainError
from gammaplan.model.passes import PassTimes

_POINT = re.compile(r"\s*(\d{1,9})\s*:\s*(\d[\d.eE+-]*)\s*")
KEYS = ("curve", "batch", "context")


class Timed(NamedTuple):
    """The passes, what a draft pass took where the file says, and the picks not used."""

    passes: PassTimes
    draft_ms: float | None = None
    picks: tuple[str, ...] = ()


def read_passes(text: str, pick: Sequence[str]) -> Timed:
    """The passes of ``1:10,8:12``, or of a file that `cost --verify-curve` reads.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no timed pass.
    """
    if not _POINT.match(text):
        return _of_file(text, pick)
    points = [_POINT.fullmatch(part) for part in text.split(",")]
    try:
        pairs = sorted((int(p[1]), float(p[2])) for p in points if p)
    except ValueError:
        pairs = []
    if len(pairs) < len(points):
        raise typer.BadParameter(
            f"--verify-curve must be TOKENS:MS with commas, like 1:10,8:12, got {text}"
        )
    try:
        passes = PassTimes(tuple(n for n, _ in pairs), tuple(ms for _, ms in pairs))
    except DomainError as error:
        raise typer.BadParameter(f"--verify-curve: {error}") from None
    return Timed(_from_one(passes, text), picks=tuple(pick))


def _of_file(path: str, pick: Sequence[str]) -> Timed:
    curves, left = read_curves(path), []
    for wanted in pick:
        key, _, value = wanted.partition("=")
        if key not in KEYS:
            left.append(wanted)
            continue
        there = [str(getattr(curve.key, key)) for curve in curves]
        curves = [c for c, name in zip(curves, there, strict=True) if name == value]
        if not curves:
            known = ", ".join(dict.fromkeys(there))
            raise typer.BadParameter(f"--pick {wanted} matches no curve; {key} is {known}")
    if len(curves) > 1:
        raise typer.BadParameter(
            f"{path} has {len(curves)} curves, and a tree is planned for one; choose it with "
            f"--pick {_apart(curves)}=VALUE"
        )
    return Timed(_from_one(curves[0].passes, path), curves[0].draft_ms, tuple(left))


def _apart(curves: Sequence[Curve]) -> str:
    """The label in which the curves differ."""
    return next((k for k in KEYS if len({getattr(c.key, k) for c in curves}) > 1), KEYS[0])


def _from_one(passes: PassTimes, source: str) -> PassTimes:
    if passes.tokens[0] != 1:
        raise typer.BadParameter(
            "--verify-curve must start with a pass over 1 token, the plain one, got "
            f"{passes.tokens[0]} in {source}"
        )
    return passes
