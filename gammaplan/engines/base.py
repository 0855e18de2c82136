"""What an engine is to gammaplan: its words, its formats, and the records they yield."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from gammaplan.engines.lines import Block
from gammaplan.errors import Finding
from gammaplan.model.arrays import Floats
from gammaplan.model.estimate import Counts

Quantity = Literal[
    "mean_length", "accepted_per_round", "pooled_rate", "survival", "hazards", "rate_with_bonus"
]
Unit = Literal["window", "request", "round", "total"]
Labels: TypeAlias = dict[str, str]

SHARED = {
    "addresses", "base", "fetch", "files", "following", "groups", "lines", "live", "prometheus",
    "reading", "recent", "reports", "responses", "rounds", "series", "server", "shards", "times",
    "treesettings", "values", "walk",
}  # fmt: skip


class Word(NamedTuple):
    """One figure that an engine prints: its label, our name for it, and what to know of it."""

    label: str
    quantity: Quantity
    note: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One observation: some counts, and what they must not be added up with.

    Attributes
    ----------
    counts : Counts
        What was counted.
    group : dict of str
        What must not be added up: model, container, replica, kind of draft.
    unit : {"window", "request", "round", "total"}
        What the record is a sample of: consecutive windows and rounds form
        blocks, requests are independent, a total stands alone.
    name : str
        Which window (its time stamp) or request it is, for ``--by``.
    part : dict of str
        Ranks and engines that do add up but that ``--by`` may tell apart.
    average : (float, float) or None
        Mean tokens per round (bonus counted) and its weight in rounds, where
        only a mean was printed.
    rate : float or None
        Accepted over drafted, where only that was printed.
    tree : bool
        Drafts were trees: the length is an accepted depth, and no chain alpha.
    unusable : bool
        The counts are no acceptance counts: no alpha, no bounds.
    time : str
        When it was, for ``--since`` and ``--until``; a window's name is its time.
    repeated : bool
        Other records count the same work: this one is listed by ``--by`` and
        added to no group.
    assumed : bool
        The draft length is the engine's default: what the user states beats it.
    """

    counts: Counts
    group: Labels = field(default_factory=dict)
    unit: Unit = "total"
    name: str = ""
    part: Labels = field(default_factory=dict)
    average: tuple[float, float] | None = None
    rate: float | None = None
    tree: bool = False
    unusable: bool = False
    time: str = ""
    repeated: bool = False
    assumed: bool = False


class Round(NamedTuple):
    """One round told by itself; `assumed`: a whole draft, of the engine's default length."""

    drafted: int
    accepted: int
    group: Labels
    request: str | None = None
    time: str = ""
    assumed: bool = False


class Batch(NamedTuple):
    """Many records of one group added up, where their names are not asked for.

    `accepted`, `trials` (accepted + refused) and `rounds` keep them apart for
    the interval, in order.
    """

    counts: Counts
    group: Labels
    unit: Unit
    accepted: Floats
    trials: Floats
    rounds: Floats


class Dropped(NamedTuple):
    """A record that was cut or damaged, and is not in the counts."""

    what: str
    offset: int = -1  # bytes from the start of the input; -1 where it has none


Item: TypeAlias = Record | Round | Batch | Finding | Dropped


class Sample(NamedTuple):
    """One line of Prometheus text."""

    name: str
    labels: Mapping[str, str]
    value: float


class LogFormat(NamedTuple):
    """Lines of text, found by marks; `claims` tells whose line it is where engines share one.

    `marks` are the byte strings of which every line of interest has one, the
    records' own first; `read` gets blocks of whole lines from the first such
    line on. `read_fast`, where there is one, gives the same counts without the
    names of single records. `ends` tells a line that is the end of a record,
    which an input may start with. Where every line `stands_alone`, a large
    input may be read in shards.
    """

    name: str
    marks: tuple[bytes, ...]
    read: Callable[[Iterator[Block]], Iterator[Item]]
    claims: Callable[[bytes], bool] = lambda line: True
    read_fast: Callable[[Iterator[Block]], Iterator[Item]] | None = None
    ends: Callable[[bytes], bool] = lambda line: False
    stands_alone: bool = False


class JsonFormat(NamedTuple):
    """JSON or JSON lines (or Python reprs of the same), found by the shape of a value.

    A `general` shape is one that other engines' values may have too: it is
    taken only where no other format claims one of the first values.
    """

    name: str
    claims: Callable[[Any], bool]
    read: Callable[[Iterator[Any]], Iterator[Item]]
    general: bool = False


class ExpositionFormat(NamedTuple):
    """Prometheus text: `proofs` are substrings of names that only this format has.

    `families` are the substrings of the names that `read` wants, also the ones
    that a Prometheus server is asked for. `settings` are gauges that say how
    speculation is set up: between two scrapes they tell nothing where they changed.
    """

    name: str
    proofs: tuple[str, ...]
    families: tuple[str, ...]
    read: Callable[[Sequence[Sample]], Iterator[Item]]
    settings: tuple[str, ...] = ()


Format: TypeAlias = LogFormat | JsonFormat | ExpositionFormat


class Engine(Protocol):
    """A module of this package that knows one engine; `ALIASES` are its other names."""

    NAME: str
    ALIASES: tuple[str, ...]
    WORDS: tuple[Word, ...]
    FORMATS: tuple[Format, ...]


@cache
def engines() -> tuple[Engine, ...]:
    """Every engine there is: the modules and folders of this package but the shared ones.

    What engines accept is in ``settings``, a module each, and found in ``settings/base.py``.
    """
    package = import_module("gammaplan.engines")
    apart = SHARED | {"settings"}
    names = sorted(m.name for m in iter_modules(package.__path__) if m.name not in apart)
    return tuple(import_module(f"gammaplan.engines.{name}") for name in names)


def engine_named(name: str) -> Engine | None:
    """The engine of this name or alias, in any spelling: LlamaCpp and llama-cpp are one."""
    wanted = _plain(name)
    known = ((engine, (engine.NAME, *engine.ALIASES)) for engine in engines())
    return next((e for e, names in known if wanted in map(_plain, names)), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def words() -> Iterator[tuple[str, tuple[Word, ...]]]:
    """The words of every engine that has some, by the engine's own name."""
    for engine in engines():
        if engine.WORDS:
            yield engine.NAME, engine.WORDS
