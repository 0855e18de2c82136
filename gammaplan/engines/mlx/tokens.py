"""mlx-lm's tokens, of which each says whether it was drafted: rounds are rebuilt from them.

A round is a run of drafted tokens and the target's own token behind them. Every
draft has one length, which nothing records: where runs of the longest kind are
followed by a refusal as often as chance allows, a default longer than they are
is taken, else they are whole drafts.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Round
from gammaplan.engines.values import whole_number

DEFAULT = 3  # --num-draft-tokens
UNLIKELY = 0.05  # that every longest run was a refusal one token before a longer draft's end
MOST_HELD = 65_536  # rounds from which the draft length is taken
LONGEST = 4_096


class Told(NamedTuple):
    """One round: accepted tokens, whether the request ended in it, and the request's number."""

    accepted: int
    ended: bool
    request: int


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A token that says whether it was drafted."""
    return isinstance(value, dict) and isinstance(value.get("from_draft"), bool)


def read(values: Iterator[Any]) -> Iterator[Item]:
    """Every round by itself; requests are clusters where there are several."""
    held: list[Told] = []
    gamma, several, emptied = 0, False, 0
    for told in _rounds(values):
        if isinstance(told, Dropped):
            yield told
            continue
        held.append(told)
        if not gamma and len(held) < MOST_HELD:
            continue
        gamma = gamma or _length(held)
        several = several or told.request > 0
        yield from _told(held, gamma, several=several)
        emptied += not gamma
        held = []
    gamma = gamma or _length(held)
    yield from _told(held, gamma, several=bool(held) and held[-1].request > 0)
    if gamma:
        yield _assumed(gamma)
    elif held or emptied:
        yield finding("zero_drafts", records="a token stream (or one of refused drafts)")


def _rounds(values: Iterator[Any]) -> Iterator[Told | Dropped]:
    """The rounds; one with a damaged token in it is lost."""
    run = count = request = 0
    whole = True
    for index, value in enumerate(values, 1):
        if isinstance(value, Dropped) or not claims(value):
            lost = value if isinstance(value, Dropped) else Dropped(f"token {index}")
            whole = False
            yield lost
            continue
        number = whole_number(value.get("generation_tokens", value.get("i")))
        if number is not None and number < count:  # the next request
            if run and whole:
                yield Told(run, True, request)
            run, whole, request = 0, True, request + 1
        count = number if number is not None else count
        run += value["from_draft"]
        if run > LONGEST:
            yield Dropped(f"token {index}: a run of more than {LONGEST} drafted tokens")
            run, whole = 0, False
        ends = value.get("finish_reason") is not None
        if value["from_draft"] and not ends:
            continue
        if whole:
            yield Told(run, value["from_draft"], request)
        run, whole = 0, True
        if ends:
            count, request = 0, request + 1
    if run and whole:
        yield Told(run, True, request)


def _length(rounds: list[Told]) -> int:
    """The draft length; 0 where no token was drafted, or none accepted."""
    closed = [r.accepted for r in rounds if not r.ended]
    longest = max((r.accepted for r in rounds), default=0)
    reached = closed.count(longest)
    if not longest or longest >= DEFAULT:
        return longest
    accepted = sum(closed)
    refused = len(closed) - reached
    chance = (1 - accepted / (accepted + refused)) ** reached if accepted else 1.0
    return longest if chance < UNLIKELY else DEFAULT


def _told(rounds: list[Told], gamma: int, *, several: bool) -> Iterator[Item]:
    for accepted, ended, number in rounds if gamma else ():
        request = f"{number + 1}" if several else None
        if ended:
            yield finding("censored_by_stop")
        if ended and accepted < gamma:
            yield Round(accepted, accepted, {}, request)
        else:
            yield Round(max(gamma, accepted), accepted, {}, request, assumed=True)


def _assumed(gamma: int) -> Item:
    why = "the longest run of accepted tokens"
    if gamma == DEFAULT:
        why = "mlx-lm's default"
    return finding("gamma_assumed", gamma=gamma, why=why)
