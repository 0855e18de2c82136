"""What llama-speculative, llama-speculative-simple and llama-lookup print after a run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.lines import Block, Line, matching
from gammaplan.engines.llamacpp import settings as setup
from gammaplan.engines.llamacpp.requests import Request, resolve
from gammaplan.engines.llamacpp.settings import Settings
from gammaplan.engines.llamacpp.wording import Statistics, gamma_of, printed, statistics
from gammaplan.model.estimate import Counts

FORMAT_MARKS = (b"n_drafted", *setup.MARKS)
MARKS = (
    b"n_drafted",
    b"n_draft ",
    b"n_predict ",
    b"n_accept",
    b"accept ",
    b"n_parallel",
    b"#gen tokens",
    *setup.MARKS,
)
MOST_KINDS = 64

_FIGURE = re.compile(
    r"(?:^|\s)(n_draft|n_predict|n_drafted|n_accept|n_parallel|accept)\s*=\s*"
    r"([^\s,;]{1,40}(?: ?\(ind\)%?)?)\s*$"
)
_OWN = re.compile(rb"(?:^|\s)n_drafted\s*=")


def claims(line: bytes) -> bool:
    """The figure that only these programs print."""
    return _OWN.search(line) is not None


@dataclass
class _Run:
    """The figures of one run, as printed."""

    figures: dict[str, str] = field(default_factory=dict)
    totals: dict[str, Statistics] = field(default_factory=dict)
    offset: int = -1
    cut: str = ""

    def whole(self, name: str) -> int | None:
        """A figure that is a whole number."""
        text = self.figures.get(name, "")
        return int(text) if re.fullmatch(r"\d{1,15}", text) else None


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a run."""
    run, settings, index = _Run(), Settings(), 0
    for line in matching(blocks, MARKS):
        match = _FIGURE.search(line.text)
        if match is None:
            yield from _other(run, settings, line)
            continue
        name, value = match.groups()
        if name in run.figures:
            index += 1
            yield from _record(run, settings, index)
            run = _Run()
        run.figures[name] = value
        run.offset = line.offset if run.offset < 0 else run.offset
        if not line.whole and name != "accept":
            run.cut = name  # its last digits may be missing
    yield from _record(run, settings, index + 1)


def _other(run: _Run, settings: Settings, line: Line) -> Iterator[Item]:
    if "#gen tokens" not in line.text:
        yield from settings.see(line.text)
        return
    told = statistics(line)
    if isinstance(told, str):
        yield Dropped(told, line.offset)
    elif len(run.totals) < MOST_KINDS:
        run.totals[told[0]] = told[1]


def _record(run: _Run, settings: Settings, index: int) -> Iterator[Item]:
    drafted, accepted = run.whole("n_drafted"), run.whole("n_accept")
    predicted, parallel = run.whole("n_predict"), run.whole("n_parallel")
    if not run.figures.keys() & {"n_drafted", "n_accept"}:
        if run.cut:
            yield Dropped("the figures of a run", run.offset)
        return
    wrong = _wrong(run, drafted, accepted)
    if wrong or drafted is None or accepted is None:
        yield Dropped(wrong or "the figures of a run", run.offset)
        return
    if "nan" in run.figures.get("accept", "").lower():
        yield finding("nan_rate", records="a run")
    if not drafted:
        yield finding("zero_drafts", records="a run")
        yield Record(Counts(0, 0, 0), unit="request", name=f"{index}")
        return
    tree = settings.tree or (parallel or 0) > 1
    if tree:
        yield finding("tree_draft")
    active = {kind: total for kind, total in run.totals.items() if total.drafted}
    if len(active) > 1 and sum(total.drafted for total in active.values()) == drafted:
        for kind, total in active.items():
            gamma = None if "ngram" in kind else gamma_of(total)
            own = Request("", total.drafted, total.accepted, rounds=total.rounds, first=total.first)
            yield Record(
                resolve(own, gamma).counts,
                {"type": kind},
                "request",
                f"{index}",
                tree=tree,
                unusable=settings.synthetic,
            )
        return
    counts = _counts(run, drafted, accepted, predicted)
    if not tree and counts.rejections is None and counts.gamma is None:
        yield _shorter(run, counts)
    yield Record(counts, unit="request", name=f"{index}", tree=tree, unusable=settings.synthetic)


def _wrong(run: _Run, drafted: int | None, accepted: int | None) -> str | None:
    if run.cut or drafted is None or accepted is None:
        return "the figures of a run"
    if accepted > drafted:
        return f"a run with {accepted} accepted of {drafted} drafted tokens"
    text = run.figures.get("accept", "")
    share = printed(text.rstrip("%")) if text.endswith("%") else None
    if share and (
        not drafted or abs(100 * accepted / drafted - share.value) > share.half_unit + 1e-9
    ):
        return f"a run whose rate is not {accepted} of {drafted}"
    return None


def _counts(run: _Run, drafted: int, accepted: int, predicted: int | None) -> Counts:
    """Rounds by the drafter's own statistics, else what was generated less what was accepted."""
    rounds = None if predicted is None or predicted <= accepted else predicted - accepted
    first = None
    for total in run.totals.values():
        if (total.drafted, total.accepted) == (drafted, accepted):
            rounds, first = total.rounds, total.first
    longest = run.whole("n_draft")
    full = rounds is not None and longest and drafted == rounds * longest
    request = Request("", drafted, accepted, rounds=rounds, first=first)
    return resolve(request, longest if full else None).counts


def _shorter(run: _Run, counts: Counts) -> Item:
    drafted, rounds = counts.drafted or 0, counts.rounds
    mean = f"{drafted / rounds:.2f}" if rounds else "an unknown number"
    longest = run.whole("n_draft") or "an unknown longest"
    return finding("variable_draft_length", mean=mean, gamma=longest)
