"""The lines that llama.cpp prints about drafts, read key by key."""

import math
import re
from itertools import pairwise
from typing import NamedTuple

from gammaplan.engines.lines import Line

_WHOLE = r"(-?\d{1,15})(?!\d)"
_RATE = re.compile(r"draft acceptance(?: rate)?\s*[=:]\s*([^\s(]+(?:\(ind\))?%?)")
_ACCEPTED = re.compile(rf"(?<![\w.-]){_WHOLE}\s+accepted\b")
_GENERATED = re.compile(rf"(?<![\w.-]){_WHOLE}\s+(?:generated|drafted)\s*\)")
_MEAN = re.compile(r"mean acc(?:eptance)? len(?:gth)?|mean len(?:gth)?")
_RATES = re.compile(r"acc(?:eptance)?(?: rate)?(?: per |/)pos(?:ition)?s?")
_KIND = re.compile(r"statistics\s+([\w.+-]{1,80})\s*:")
_CALLS = re.compile(rf"#calls\s*\(b,\s*g,\s*a\)\s*=\s*{_WHOLE}\s+{_WHOLE}\s+{_WHOLE}")
_FIGURE = {
    name: re.compile(rf"#{name}\s*=\s*{_WHOLE}(?=\s*[^\s\d])")
    for name in ("gen drafts", "acc drafts", "gen tokens", "acc tokens")
}
_SLOT = re.compile(r"\bid\s+(\d{1,9})\s*\|\s*task\s+(-?\d{1,18})\s*\|")


class Printed(NamedTuple):
    """A number as it was printed, and half a unit of its last digit."""

    value: float
    half_unit: float


class Acceptance(NamedTuple):
    """One request: accepted and drafted tokens, and what else its line says."""

    accepted: int
    drafted: int
    undefined: bool  # a rate of 0/0 was printed
    mean: Printed | None
    rates: tuple[Printed, ...] | None


class Statistics(NamedTuple):
    """Totals of one kind of draft since the server started."""

    rounds: int
    drafted: int
    accepted: int
    first: int | None  # rounds that accepted at least one token

    def plus(self, other: "Statistics", sign: int = 1) -> "Statistics":
        """The sum, or the difference, of two totals."""
        known = None not in (self.first, other.first)
        return Statistics(
            self.rounds + sign * other.rounds,
            self.drafted + sign * other.drafted,
            self.accepted + sign * other.accepted,
            (self.first or 0) + sign * (other.first or 0) if known else None,
        )


NONE_YET = Statistics(0, 0, 0, 0)


def printed(text: str) -> Printed | None:
    """A number in [0, 10^9) with its precision; None for anything else."""
    match = re.fullmatch(r"\d{1,9}(?:\.(\d{1,12}))?", text)
    return Printed(float(text), 0.5 * 10.0 ** -len(match[1] or "")) if match else None


def slot_of(text: str) -> tuple[int, str] | None:
    """The slot and the task that a line is about."""
    match = _SLOT.search(text)
    return (int(match[1]), match[2]) if match else None


def acceptance(line: Line) -> Acceptance | str:
    """The figures of a request line, or why it cannot be used."""
    text = line.text
    rate = _RATE.search(text)
    accepted = _ACCEPTED.search(text, rate.end()) if rate else None
    drafted = _GENERATED.search(text, rate.end()) if rate else None
    if rate is None or accepted is None or drafted is None:
        return "a draft acceptance line"
    a, d = int(accepted[1]), int(drafted[1])
    if not 0 <= a <= d:
        return f"a request with {a} accepted of {d} drafted tokens"
    undefined = "nan" in rate[1].lower()
    share = printed(rate[1].rstrip("%"))
    if share is None and not undefined:
        return "a draft acceptance line"
    scale = 100 if rate[1].endswith("%") else 1
    off = share is not None and d and abs(scale * a / d - share.value) > share.half_unit + 1e-9
    if off or (undefined and d):
        return f"a request whose rate is not {a} of {d}"
    rates = position_rates(text)
    mean = _mean(text, whole=line.whole)
    if isinstance(rates, str) or isinstance(mean, str):
        return "a draft acceptance line"
    return Acceptance(a, d, undefined, mean, rates)


def _mean(text: str, *, whole: bool) -> Printed | str | None:
    """The printed mean length, where there is one; a text where it is cut."""
    key = _MEAN.search(text)
    if key is None:
        return None
    match = re.match(r"\s*=\s*(\d{1,9}\.\d{1,9})", text[key.end() :])
    if match is None:
        return None if "nan" in text[key.end() :] else "cut"
    ends = not text[key.end() + match.end() :].strip()
    if ends and not whole and len(match[1].partition(".")[2]) < 2:
        return "cut"
    return printed(match[1])


def position_rates(text: str) -> tuple[Printed, ...] | str | None:
    """The printed rates per position, where there are some; a text where they are cut."""
    key = _RATES.search(text)
    if key is None:
        return None
    match = re.match(r"\s*=\s*\(([^()]*)\)", text[key.end() :])
    if match is None:
        return "cut"
    found = [printed(item.strip()) for item in match[1].split(",")] if match[1].strip() else []
    rates = tuple(rate for rate in found if rate is not None)
    if len(rates) < len(found) or any(rate.value > 1 for rate in rates):
        return None if "nan" in match[1] else "cut"
    return rates or None


def rising(rates: tuple[Printed, ...]) -> bool:
    """Whether a later position was accepted more often than one before it."""
    return any(b.value > a.value + a.half_unit + b.half_unit for a, b in pairwise(rates))


def statistics(line: Line) -> tuple[str, Statistics] | str:
    """The kind and totals of a statistics line, or why it cannot be used."""
    text = line.text + " ;" if line.whole else line.text  # a last figure may be cut
    kind = _KIND.search(text)
    found = {name: figure.search(text) for name, figure in _FIGURE.items()}
    drafted, accepted = found["gen tokens"], found["acc tokens"]
    calls, generated, first = _CALLS.search(text), found["gen drafts"], found["acc drafts"]
    if kind is None or drafted is None or accepted is None or not (calls or generated):
        return "a statistics line"
    low = int(first[1]) if first else 0
    n = _rounds(int(calls[3]) if calls else 0, int(generated[1]) if generated else 0, low)
    total = Statistics(n, int(drafted[1]), int(accepted[1]), low if first else None)
    if not 0 <= total.accepted <= total.drafted or not 0 <= low <= min(n, total.accepted):
        return f"statistics of {kind[1]} that contradict each other"
    if n > total.drafted or (total.drafted and not n):
        return f"statistics of {kind[1]} with {total.drafted} drafted tokens in {n} rounds"
    return kind[1], total


def _rounds(calls: int, generated: int, first: int) -> int:
    """Verified drafts: the accept calls, where these were not only made for accepted drafts."""
    only_accepted = calls <= first and generated > calls
    return generated if only_accepted else calls


def gamma_of(total: Statistics) -> int | None:
    """The draft length that the totals imply: all drafts full, or (of two) all but very few.

    Longer drafts that often stop early have such averages too.
    """
    if not total.rounds:
        return None
    longest = math.ceil(total.drafted / total.rounds)
    missing = longest * total.rounds - total.drafted
    few = longest == 2 and total.rounds >= 50 and missing * 200 <= total.drafted
    return longest if missing == 0 or few else None
