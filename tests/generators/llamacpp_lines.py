"""The text of llama-server log records: engines.md section 5.1 (formats as of autumn 2026)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .process import Round, count

Head = Callable[[], str]
"""Gives the head of the next line: nothing in old logs, time and level in new ones."""


@dataclass(frozen=True, slots=True)
class Request:
    """One finished request: the slot it ran in and its verify rounds."""

    slot: int
    task: int
    rounds: Sequence[Round]

    @property
    def tokens(self) -> int:
        """Generated tokens: one from the prompt, one a round, the accepted ones, some plain."""
        return 1 + len(self.rounds) + sum(a for _, a in self.rounds) + self.task % 3

    @property
    def drafted(self) -> int:
        """Draft tokens of the request."""
        return sum(d for d, _ in self.rounds)


def new_head(rng: random.Random, port: int | None = None) -> Head:
    """The time since start and the level, behind the port in router mode."""
    now = rng.randrange(10**9)
    steps = random.Random(rng.random())

    def head() -> str:
        nonlocal now
        now += steps.randrange(1, 200_000)
        seconds, micros = divmod(now, 1_000_000)
        time = f"{seconds // 60}.{seconds % 60:02d}.{micros // 1000:03d}.{micros % 1000:03d}"
        return ("" if port is None else f"[{port}] ") + f"{time} I "

    return head


def no_head() -> str:
    """The head of old logs."""
    return ""


def acceptance(rounds: Sequence[Round], *, replayed: int = 0) -> str:
    """The ratio and its counts, with C's field widths."""
    drafted, accepted = sum(d for d, _ in rounds), sum(a for _, a in rounds) + replayed
    return f"{accepted / drafted:.5f} ({accepted:5d} accepted / {drafted:5d} generated)"


def mean_length(rounds: Sequence[Round]) -> str:
    """1 + A/N with two decimals, five wide."""
    return f"{1 + sum(a for _, a in rounds) / len(rounds):5.2f}"


def positions(rounds: Sequence[Round], gamma: int) -> list[str]:
    """c_i/N with three decimals."""
    reached = count(rounds, gamma).accepted_at_least
    return [f"{c / len(rounds):.3f}" for c in reached]


def listed(rates: Sequence[str]) -> str:
    """The rates in parentheses."""
    return f"({', '.join(rates)})"


def timing_lines(request: Request) -> list[str]:
    """The three timing lines that come before the acceptance."""
    tokens, spent = request.tokens, 11.3 * request.tokens
    return [
        f"prompt eval time = {228.52:10.2f} ms / {14:5d} tokens "
        f"({16.32:8.2f} ms per token, {61.26:8.2f} tokens per second)",
        f"       eval time = {spent:10.2f} ms / {tokens:5d} tokens "
        f"({11.3:8.2f} ms per token, {88.5:8.2f} tokens per second)",
        f"      total time = {spent + 228.52:10.2f} ms / {tokens + 14:5d} tokens",
    ]


def old_block(request: Request) -> list[str]:
    """Until May 2026: the acceptance on a line of its own after the timing block."""
    lines = [f"slot print_timing: id {request.slot:2d} | task {request.task} | "]
    lines += timing_lines(request)
    if request.drafted:
        lines.append(f"draft acceptance rate = {acceptance(request.rounds)}")
    return lines


def slot_line(request: Request, text: str) -> str:
    """Since May 2026: slot and task in front of everything."""
    return f"slot print_timing: id {request.slot:2d} | task {request.task} | {text}"


def slot_block(request: Request, *endings: str, replayed: int = 0) -> list[str]:
    """The timing lines, the acceptance with the first ending, and further lines of the slot."""
    lines = timing_lines(request)
    if request.drafted:
        first, *rest = endings or ("",)
        shown = acceptance(request.rounds, replayed=replayed)
        lines += [f"draft acceptance = {shown}{first}", *rest]
    return [slot_line(request, text) for text in lines]


def statistics(
    rng: random.Random,
    kind: str,
    rounds: Sequence[Round],
    requests: int,
    *,
    gamma: int | None = None,
    idle: int = 0,
    replayed: int = 0,
) -> str:
    """Totals of one implementation since start; with `gamma` also the length and the positions.

    `idle` adds draft calls that found nothing; `replayed` what replays add to the accepted.
    """
    n, accepted = len(rounds), sum(a for _, a in rounds) + replayed
    first = n if replayed else sum(a > 0 for _, a in rounds)
    begun, calls = requests, n + idle
    drafted = sum(d for d, _ in rounds)
    more = ""
    if gamma is not None:
        rates = listed(positions(rounds, gamma))
        more = f", #mean acc len = {mean_length(rounds).strip()}, #acc rate/pos = {rates}"
    spent = f", dur(b,g,a) = 0.012, {n * 3.7:.3f}, 0.241 ms"
    if rng.random() < 0.5:
        return (
            f"statistics {kind}: #calls(b,g,a) = {begun} {calls} {n}, #gen drafts = {n}, "
            f"#acc drafts = {first}, #gen tokens = {drafted}, #acc tokens = {accepted}"
            f"{more}{spent}"
        )
    return (
        f"statistics {kind:>16}: #calls(b,g,a) = {begun:4d} {calls:6d} {n:6d}, "
        f"#gen drafts = {n:6d}, #acc drafts = {first:5d}, #gen tokens = {drafted:6d}, "
        f"#acc tokens = {accepted:5d}{more}{spent}"
    )


def server_noise(rng: random.Random) -> str:
    """Lines of the same server that tell nothing about drafts."""
    return rng.choice(
        (
            "srv  update_slots: all slots are idle",
            "srv  log_server_r: request: POST /v1/chat/completions?accepted=draft 192.0.2.4 200",
            "slot launch_slot_: id  0 | task 12 | processing task",
            "srv  params_from_: Chat format: Content-only",
        )
    )
