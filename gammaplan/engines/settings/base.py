"""From a plan to the text to paste: what a writer of settings is, and how one is found."""

import math
import re
import shlex
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple, TypeAlias

from gammaplan.data.findings import finding
from gammaplan.errors import DomainError, Finding
from gammaplan.model.schedule import Range

Version: TypeAlias = tuple[int, ...]

TARGET, DRAFT = "TARGET", "DRAFT"
OFF = "# leave speculation off"
OPEN_END = 1_024  # where an open range ends for an engine that wants an end

# What users and engines call a method → our name for it.
_METHODS = {
    "draft-model": "draft-model draft model draftmodel standalone draft-target draft-simple",
    "eagle": "eagle eagle2 eagle-1 eagle-2 eagle1",
    "eagle3": "eagle3 eagle-3",
    "mtp": "mtp nextn deepseek-mtp draft-mtp",
    "medusa": "medusa",
    "dflash": "dflash draft-dflash",
    "dspark": "dspark draft-dspark",
    "ngram": "ngram n-gram lookup prompt-lookup ngram-simple",
    "ngram-mod": "ngram-mod",
    "suffix": "suffix suffix-decoding",
}
METHODS = {alias: name for name, aliases in _METHODS.items() for alias in aliases.split()}


def method_named(text: str) -> str:
    """Our name of a method, or the text itself where there is none."""
    plain = text.strip().lower()
    return METHODS.get(re.sub(r"[ _]", "-", plain), plain)


class Wanted(NamedTuple):
    """What an engine is to do.

    `gamma` is the draft length, and the longest one where there is a
    `schedule`; `survival` is P(the first i tokens are accepted), to simulate;
    `layers` are the MTP layers of the target, where they were said. `speedups`
    are those of each length from 0 on, where known: a row for `gamma`, then one
    for each range of the `schedule`. They choose among the lengths that an
    engine accepts where it does not accept the planned one.
    """

    gamma: int
    method: str = "draft-model"
    target: str = TARGET
    draft: str = DRAFT
    schedule: tuple[Range, ...] = ()
    survival: tuple[float, ...] = ()
    layers: int | None = None
    speedups: tuple[Sequence[float], ...] = ()


class Written(NamedTuple):
    """The settings, those that simulate the acceptance of the plan, and what to know of them."""

    text: str
    check: str | None
    gamma: int
    findings: tuple[Finding, ...]


class Writer(ABC):
    """What one engine accepts.

    `aliases` are other names of the engine. `newest` and `oldest` are the versions
    that were read; (0,) where the settings never changed. `infers` says that the
    engine finds the method itself.
    """

    name: str
    aliases: tuple[str, ...] = ()
    oldest: Version = (0,)
    newest: Version = (0,)
    infers = False

    @abstractmethod
    def methods(self, version: Version) -> list[str]:
        """Our names of what may draft, the usual one first."""

    @abstractmethod
    def off(self, wanted: Wanted, version: Version) -> str:
        """The settings without speculation."""

    @abstractmethod
    def write(self, wanted: Wanted, version: Version) -> str:
        """The settings, `wanted.gamma` at least 1."""

    def longest(self, version: Version) -> int | None:
        """The longest draft that is accepted; None where no limit is known."""
        return None

    def takes(self, gamma: int, wanted: Wanted) -> bool:
        """Whether a draft of `gamma`, none longer than the longest, is accepted."""
        return True

    def cannot_schedule(self, wanted: Wanted, version: Version) -> str | None:
        """Why the schedule cannot be expressed; None where it can."""
        return "it drafts one length whatever the batch"

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """The settings with acceptance simulated as planned; None where there are none."""
        return None


def names() -> list[str]:
    """The modules of all engines whose settings can be written, without loading any."""
    package = import_module("gammaplan.engines.settings")
    return sorted(m.name for m in iter_modules(package.__path__) if m.name != "base")


def find(name: str) -> Writer:
    """The writer of an engine; letters and digits decide, so llama.cpp is llamacpp.

    The module of that name, and only where there is none those whose aliases it is among.
    """
    wanted, modules = _plain(name), names()
    for module in sorted(modules, key=lambda known: _plain(known) != wanted):
        writer = _load(module)
        if wanted in map(_plain, (module, writer.name, *writer.aliases)):
            return writer
    known = ", ".join(_load(module).name for module in modules)
    raise DomainError(f"there are no settings of an engine {name!r}; there are {known}")


def _load(module: str) -> Writer:
    writer: Writer = import_module(f"gammaplan.engines.settings.{module}").WRITER
    return writer


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def parse(text: str) -> tuple[str, Version | None]:
    """The name and the version of ``vllm@0.24``."""
    name, at, version = text.partition("@")
    numbers = re.fullmatch(r"v?(\d{1,6}(?:[.-]\d{1,6}){0,3})(?:[.-]?[a-z]\w*)?", version.strip())
    if not name.strip() or (at and numbers is None):
        raise DomainError(f"an engine is NAME or NAME@VERSION, like vllm@0.24, got {text}")
    parts = re.split(r"[.-]", numbers[1]) if numbers else []
    return name.strip(), tuple(int(n) for n in parts) or None


def settings(engine: str, wanted: Wanted, *, method: str | None = None) -> Written:
    """The text that makes an engine draft as planned.

    Parameters
    ----------
    engine : str
        ``vllm``, or ``vllm@0.24``; the newest version that was read without one.
    wanted : Wanted
        The plan. Its method is replaced by `method`.
    method : str, optional
        What drafts; the engine's usual method without it, and that is said.

    Raises
    ------
    DomainError
        If the engine, its version or its method is not known, or a name has a
        control character.

    Examples
    --------
    >>> print(settings("mlx-lm", Wanted(3)).text)
    mlx_lm.server --model TARGET --draft-model DRAFT --num-draft-tokens 3
    """
    name, version = parse(engine)
    writer, found = find(name), []
    at = version or writer.newest
    if len(writer.newest) > 1 and at > (*writer.newest, 10**6):
        found.append(
            finding("engine_newer", engine=writer.name, version=dotted(at),
                    newest=dotted(writer.newest))
        )  # fmt: skip
    if len(writer.oldest) > 1 and at < writer.oldest:
        raise DomainError(
            f"the settings of {writer.name} {dotted(at)} are not known; they are from "
            f"{dotted(writer.oldest)} on"
        )
    for kind, given in (("target", wanted.target), ("draft", wanted.draft)):
        refuse_unsafe(kind, given)
    wanted = wanted._replace(method=_method(writer, at, method, found))
    why = writer.cannot_schedule(wanted, at) if len(wanted.schedule) > 1 else None
    wanted = _within_limits(writer, at, wanted._replace(schedule=()) if why else wanted, found)
    if why is not None:
        found.append(
            finding("schedule_not_settable", engine=writer.name, why=why, gamma=wanted.gamma)
        )
    if wanted.gamma == 0:
        found = [f for f in found if f.code != "method_assumed"]
        found.append(finding("leave_off", engine=writer.name))
        return Written(writer.off(wanted, at), None, 0, tuple(found))
    wanted = wanted._replace(survival=wanted.survival[: wanted.gamma])
    return Written(
        writer.write(wanted, at),
        writer.check(wanted, at) if len(wanted.survival) == wanted.gamma else None,
        wanted.gamma,
        tuple(found),
    )


def _method(writer: Writer, version: Version, method: str | None, found: list[Finding]) -> str:
    known = list(writer.methods(version))
    if method is None:
        if not writer.infers and len(known) > 1:
            others = ", ".join(known[1:])
            found.append(
                finding("method_assumed", engine=writer.name, method=known[0], others=others)
            )
        return "" if writer.infers else known[0]
    name = method_named(method)
    if name not in known:
        raise DomainError(
            f"{_named(writer, version)} cannot draft by {method}; it can by {', '.join(known)}"
        )
    return name


def _within_limits(
    writer: Writer, version: Version, wanted: Wanted, found: list[Finding]
) -> Wanted:
    """The lengths that the engine accepts for those wanted, each change said once."""
    parts, rows = wanted.schedule, wanted.speedups[1:]
    if not parts:
        parts, rows = (Range(1, None, wanted.gamma),), wanted.speedups[:1]
    most, taken = writer.longest(version), []
    for at, part in enumerate(parts):
        gamma = part.gamma
        if (most is not None and gamma > most) or not writer.takes(gamma, wanted):
            gamma = _accepted(writer, most, wanted, gamma, rows[at] if rows else ())
            over = most is not None and part.gamma > most
            code = "engine_limit" if over else "mtp_multiple"
            said = finding(code, engine=writer.name, most=most, layers=wanted.layers, gamma=gamma,
                           planned=part.gamma)  # fmt: skip
            found += [said] if said not in found else []
        taken.append(part._replace(gamma=gamma))
    ranges = merged(taken)
    longest = max(part.gamma for part in ranges)
    return wanted._replace(gamma=longest, schedule=ranges if len(ranges) > 1 else ())


def _accepted(
    writer: Writer, most: int | None, wanted: Wanted, gamma: int, speedups: Sequence[float]
) -> int:
    """The fastest length that is accepted; the longest below `gamma` where no speed is known."""
    known = [g for g, speed in enumerate(speedups) if not math.isnan(speed)]
    lengths = [
        g
        for g in known or range(gamma + 1)
        if (most is None or g <= most) and writer.takes(g, wanted)
    ]
    return max(lengths, key=lambda g: (speedups[g], -g) if known else (g, 0))


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Neighbours of one length as one range."""
    found: list[Range] = []
    for part in ranges:
        if found and found[-1].gamma == part.gamma:
            found[-1] = found[-1]._replace(high=part.high)
        else:
            found.append(part)
    return tuple(found)


def refuse_unsafe(kind: str, name: str) -> None:
    """Raise where a terminal would obey the name, or a program take it for an option."""
    if bad := next((c for c in name if unicodedata.category(c)[0] in "CZ" and c != " "), None):
        shown = bad.encode("unicode_escape").decode()
        raise DomainError(f"the name of the {kind} must have no control character, got {shown}")
    if not name.strip() or name.startswith("-"):
        shown = name.strip() or "nothing"
        raise DomainError(f"the name of the {kind} must not start with a hyphen, got {shown}")


def _named(writer: Writer, version: Version) -> str:
    return writer.name if version == (0,) else f"{writer.name} {dotted(version)}"


def dotted(version: Version) -> str:
    """0.24."""
    return ".".join(map(str, version))


def shell(*words: object) -> str:
    """Words as one line of a shell."""
    return shlex.join(str(word) for word in words)


def flow(fields: Mapping[str, object]) -> str:
    """A YAML flow mapping of plain keys: numbers and words as they are, names quoted."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def rates(survival: Sequence[float]) -> list[float]:
    """Rates to write out: rounded, within [0, 1], never rising."""
    found: list[float] = []
    for value in survival:
        found.append(min(round(min(max(value, 0.0), 1.0), 6), found[-1] if found else 1.0))
    return found


def ends(ranges: Sequence[Range]) -> list[tuple[int, int, int]]:
    """(low, high, gamma) of each range, an open one closed."""
    top = max(OPEN_END, ranges[-1].low)
    return [(low, top if high is None else high, gamma) for low, high, gamma in ranges]
