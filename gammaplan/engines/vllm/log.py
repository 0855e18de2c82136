"""The V1 engine's SpecDecoding lines: windows of the log interval, to be added up."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np

from gammaplan.data.findings import finding
from gammaplan.engines.base import Batch, Dropped, Item, Labels, Record
from gammaplan.engines.lines import Block, Line, clean, matching
from gammaplan.model.arrays import Floats
from gammaplan.model.consistency import rounded_counts, rounds_of
from gammaplan.model.estimate import Counts

MARK = b"SpecDecoding metrics: "
CONFIG = b"SpeculativeConfig("
MARKS = (MARK, CONFIG)
HALF_RATE, HALF_LENGTH = 5e-4, 5e-3  # half a unit of the last printed digit
FIGURES, RATES = 4, 3  # figures kept of a window, and which of them are the rates
BATCH = 4_096  # windows added up at a time
STARTUP = 64 * 2**20  # bytes in which a large log is searched for the start-up line
LONGEST_LEAD = 100  # bytes before the mark, in a line that nothing wraps
MOST_TRIED = 20_000  # numbers of rounds tried for one window whose drafts vary

_KEYS = {
    "length": re.compile(r"Mean acceptance length: (\d+\.\d\d|-?nan)(?![\d.])"),
    "accepted": re.compile(r"[ ,]Accepted: (\d+) tokens"),
    "drafted": re.compile(r"Drafted: (\d+) tokens"),
    "rates": re.compile(r"Per-position acceptance rate: ((?:\d+\.\d{3}(?!\d)|-?nan|, )*)"),
    "rate": re.compile(r"Draft acceptance rate: (\d+\.\d|-?nan)%"),
}
_TIME = re.compile(r"(\d\d-\d\d \d\d:\d\d:\d\d)")
_FIGURES = (
    rb"SpecDecoding metrics: Mean acceptance length: (\d+\.\d\d), Accepted throughput: [\d.]+ "
    rb"tokens/s, Drafted throughput: [\d.]+ tokens/s, Accepted: (\d+) tokens, Drafted: (\d+) "
    rb"tokens, Per-position acceptance rate: ([01]\.\d{3}(?:, [01]\.\d{3})*), Avg Draft "
    rb"acceptance rate: \d+\.\d%\r?\n"
)
_NEWEST = re.compile(_FIGURES)
_SETTING = re.compile(r"(?:rejection_sample_method|acceptance_method)='?(\w+)")
_LONGEST = re.compile(r"num_spec(?:ulative)?_tokens=(\d{1,4})\b")
_END = re.compile(
    rb"Drafted: \d+ tokens|Per-position acceptance rate: |Avg Draft acceptance rate: "
)


class Window(NamedTuple):
    """The figures of one line; None for what its version does not print."""

    accepted: int
    drafted: int
    length: float | None
    rates: tuple[float, ...]
    undefined: bool  # a rate of 0/0 was printed


def claims(line: bytes) -> bool:
    """LMDeploy prints the same words inside its own throughput line."""
    return b"Avg thr (in/out)" not in line


def ends(line: bytes) -> bool:
    """Whether a line is a record without its start."""
    return MARK not in line and bool(_END.search(line))


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """A record a window; settings that change what acceptance means are findings."""
    longest: dict[str, int] = {}
    for line in matching(blocks, MARKS):
        if MARK.decode() not in line.text:
            yield from _settings(line, longest)
            continue
        yield from _records(line, longest)


def read_fast(blocks: Iterator[Block]) -> Iterator[Item]:
    """The same counts without the windows' names: the newest wording is added up in arrays.

    This is the loop that large logs spend their time in; every other wording,
    and every line in a wrapper, goes the slow way. What stands before the mark
    is mostly as long as it was last time: looking there first saves searching
    for the start of the line.
    """
    rows: dict[str, list[bytes]] = {"": []}
    longest: dict[str, int] = {}
    add, lead, unwrapped = rows[""].extend, 0, _unwrapped(0)
    for buffer, end, offset in blocks:
        if offset < STARTUP and buffer.find(CONFIG, 0, end) >= 0:
            for line in matching(iter([(buffer, end, offset)]), (CONFIG,)):
                yield from _settings(line, longest)
        find = buffer.find
        at = find(MARK, 0, end)
        while at >= 0:
            match = unwrapped(buffer, at - lead, end)
            if not match:
                start = buffer.rfind(b"\n", 0, at) + 1
                lead = min(at - start, LONGEST_LEAD)
                unwrapped = _unwrapped(lead)
                match = unwrapped(buffer, at - lead, end)
            if match:
                add(match.groups())
                at = find(MARK, match.end(), end)
                continue
            stop = find(b"\n", at, end) + 1 or end
            raw = bytes(buffer[start:stop])
            yield from _wrapped(raw, offset + start, rows, longest)
            at = find(MARK, stop, end)
        if len(rows[""]) >= BATCH * FIGURES or len(rows) > 1:
            yield from _added(rows)
    yield from _added(rows)


@lru_cache(LONGEST_LEAD + 1)
def _unwrapped(lead: int) -> Callable[[bytearray, int, int], re.Match[bytes] | None]:
    """Matches a line of the newest wording that no container wraps, its mark after `lead` bytes.

    Such a line starts with "(APIServer pid=1) " or "INFO 06-01 ".
    """
    return re.compile(rb"(?m:^)(?=\(|INFO \d).{%d}" % lead + _FIGURES).match


def _wrapped(
    raw: bytes, offset: int, rows: dict[str, list[bytes]], longest: dict[str, int]
) -> Iterator[Item]:
    """One line in a wrapper or in another wording: its figures go to `rows` where they can."""
    line = clean(raw)._replace(offset=offset, whole=raw.endswith(b"\n"))
    match = None if raw.startswith(b"{") else _NEWEST.match(raw, raw.find(MARK))
    if match:
        rows.setdefault(line.instance or "", []).extend(match.groups())
    else:
        yield from _records(line, longest)


def _added(rows: dict[str, list[bytes]]) -> Iterator[Item]:
    """The sums of many windows, which leave `rows`."""
    for instance, flat in rows.items():
        columns = [flat[i::FIGURES] for i in range(FIGURES)]
        flat.clear()
        widths = dict.fromkeys(map(len, columns[RATES]))
        for width in widths:
            alike = columns
            if len(widths) > 1:
                fits = [len(rates) == width for rates in columns[RATES]]
                alike = [list(compress(column, fits)) for column in columns]
            yield from _added_alike(instance, alike, (width + 2) // 7)


def _added_alike(instance: str, columns: list[list[bytes]], gamma: int) -> Iterator[Item]:
    """The sum of windows of one draft length; odd ones are looked at one by one."""
    accepted, drafted = (np.fromiter(map(int, column), float) for column in columns[1:RATES])
    rates = _thousandths(columns[RATES], gamma) / 1000
    rounds = drafted // gamma
    length = np.fromiter(map(float, columns[0]), float)
    counts = np.rint(rates * rounds[:, None])
    whole = (
        (drafted > 0)
        & (drafted == rounds * gamma)
        & (rounds <= 1 / (2 * HALF_RATE))
        & (counts.sum(axis=1) == accepted)
        & (np.abs(accepted - (length - 1) * rounds) <= (HALF_LENGTH + 1e-9) * rounds)
        & (np.diff(counts, axis=1) <= 0).all(axis=1)
    )
    kept = counts[whole]
    if len(kept):
        trials = accepted[whole] + rounds[whole] - kept[:, -1]
        total = Counts.full(int(rounds[whole].sum()), kept.sum(axis=0).astype(int).tolist())
        group: Labels = {"container": instance} if instance else {}
        yield Batch(total, group, "window", accepted[whole], trials, rounds[whole])
    for i in np.flatnonzero(~whole):
        figures = tuple(float(u) for u in columns[RATES][i].split(b","))
        totals = (int(accepted[i]), int(drafted[i]), float(length[i]))
        window = Window(*totals, figures, undefined=False)
        yield from counted(window, instance, "")


def _thousandths(rows: list[bytes], gamma: int) -> Floats:
    """The numbers of rows like ``0.917, 0.839, 0.694``, times 1000, shape ``(rows, gamma)``."""
    digits = np.frombuffer(b", ".join((*rows, b"")), dtype=np.uint8).reshape(-1, gamma, 7)
    ones, tenths, hundredths, thousandths = (digits[..., i] - 48.0 for i in (0, 2, 3, 4))
    return np.asarray(1000 * ones + 100 * tenths + 10 * hundredths + thousandths)


def _records(line: Line, longest: dict[str, int]) -> Iterator[Item]:
    """The windows of one line: several where processes wrote into each other's lines."""
    text = line.text
    further = [match.start() for match in re.finditer(MARK.decode(), text)][1:]
    for start, end in pairwise([0, *further, len(text)]):
        part = text[start:end]
        window = parse(part)
        if window is None or not (line.whole or end < len(text) or ends_whole(part)):
            yield Dropped("a SpecDecoding line", line.offset)
            continue
        times = _TIME.findall(text[:start] if start else part)
        name = times[-1 if start else 0] if times else line.time or ""
        instance = line.instance or ""
        yield from counted(window, instance, name, line.offset, longest.get(instance))


def parse(text: str) -> Window | None:
    """The figures of one line, key by key, since versions order them differently."""
    found = {name: key.search(text) for name, key in _KEYS.items()}
    accepted, drafted = found["accepted"], found["drafted"]
    if accepted is None or drafted is None or not (found["rate"] or found["length"]):
        return None
    length, rates = found["length"], found["rates"]
    newer = "Accepted throughput" in text
    if newer and not (length and rates and found["rate"]):
        return None
    shown = rates[1].strip(", ").split(", ") if rates else []
    if rates and (not shown or not shown[0] or rates[1].endswith(", ") != ("Avg" in text)):
        return None  # the list is cut, or runs into something that is no rate
    undefined = any("nan" in m[1] for m in (length, found["rate"]) if m) or "nan" in shown
    return Window(
        int(accepted[1]),
        int(drafted[1]),
        None if length is None or "nan" in length[1] else float(length[1]),
        tuple(0.0 if "nan" in u else float(u) for u in shown),
        undefined,
    )


def ends_whole(text: str) -> bool:
    """Whether a last line without its newline ends where a record may end."""
    return bool(re.search(r"(?:tokens|acceptance rate: [\d.]+%|nan%|\d\.\d{3})$", text))


def counted(
    window: Window, instance: str, name: str, offset: int = -1, stated: int | None = None
) -> Iterator[Item]:
    """The record of one window, and what its figures make worth saying."""
    group: Labels = {"container": instance} if instance else {}
    gamma = len(window.rates) or stated
    if window.undefined:
        yield finding("nan_rate", records="a window")
    if window.accepted > window.drafted:
        yield Dropped(
            f"a window with {window.accepted} accepted of {window.drafted} drafted tokens", offset
        )
    elif window.drafted == 0:
        yield Record(Counts(0, 0, 0, gamma=gamma), group, "window", name)
    elif gamma is None or window.length is None or not window.rates:
        counts = Counts(drafted=window.drafted, accepted=window.accepted, gamma=gamma)
        yield Record(counts, group, "window", name)
    else:
        found = _positions(window, gamma, window.length)
        if found is None:
            yield Dropped("a window whose figures contradict each other", offset)
            return
        counts, without_bonus, unique = found
        if without_bonus:
            yield finding("length_excludes_bonus")
        if not unique:
            yield finding("rounding_only")
        yield Record(counts, group, "window", name)


def _positions(window: Window, gamma: int, length: float) -> tuple[Counts, bool, bool] | None:
    """The counts of a window, whether its length lacks the bonus token, whether they are sure.

    Full drafts are tried first; then every number of rounds that the printed
    length allows, of which the positions leave one.
    """
    accepted, drafted = window.accepted, window.drafted
    if drafted % gamma == 0:
        rounds = drafted // gamma
        per_round = accepted / rounds
        without = abs(per_round - length) <= HALF_LENGTH + 1e-9
        if without or abs(1 + per_round - length) <= HALF_LENGTH + 1e-9:
            exact = gamma == 1
            rebuilt = rounded_counts(window.rates, rounds, accepted, HALF_RATE)
            if exact or rebuilt:
                at_least, unique = ((accepted,), True) if exact else rebuilt or ((), True)
                return Counts.full(rounds, at_least), without, unique
    best: tuple[float, int, tuple[int, ...], bool] | None = None
    for rounds in rounds_of(accepted, length - 1, HALF_LENGTH)[:MOST_TRIED]:
        if not rounds <= drafted <= rounds * gamma:
            continue
        rebuilt = rounded_counts(window.rates, rounds, accepted, HALF_RATE)
        if rebuilt:
            off = sum(abs(c / rounds - u) for c, u in zip(rebuilt[0], window.rates, strict=True))
            if best is None or off < best[0]:
                best = (off, rounds, rebuilt[0], best is None)
    if best is None:
        if accepted:
            return None
        return Counts(None, drafted, 0, (0,) * gamma, gamma=gamma), False, True
    counts = Counts(best[1], drafted, accepted, best[2], gamma=gamma)
    return counts, False, True


def _settings(line: Line, longest: dict[str, int]) -> Iterator[Item]:
    """What the start-up line says of the draft length and of what acceptance means."""
    if length := _LONGEST.search(line.text):
        longest[line.instance or ""] = int(length[1])
    for value in _SETTING.findall(line.text):
        if value == "synthetic":
            yield finding("synthetic_acceptance", setting="rejection_sample_method synthetic")
        elif value in ("fly", "typical_acceptance_sampler"):
            yield finding("lossy_acceptance", setting=value)
