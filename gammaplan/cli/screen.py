"""The live view of watch in a terminal: drawn anew where something changed, and left as found."""

import os
import signal
import sys
import time
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

from rich.live import Live

from gammaplan.cli.evidence import Cases
from gammaplan.cli.keys import Keys, keys
from gammaplan.cli.saving import save
from gammaplan.cli.watched import Gained, Record, Watched
from gammaplan.cli.watching import EVENTS, Plan
from gammaplan.errors import Finding, InputError
from gammaplan.report.watching import View, draw, headline, settings, span, title
from gammaplan.report.words import console, named
from gammaplan.shapes.watch import WatchGroup

MOST_EVENTS = 50
PATIENT = 1.0  # seconds before the screen says that an answer is waited for
UNSAID = ("few_clusters", "few_drafts", "gamma_outside_band", "no_answer")  # shown otherwise
ENDED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def able() -> bool:
    """Whether the terminal can be drawn on."""
    return not console().is_dumb_terminal


class Screen:
    """The view, its keys and its end; see `Output`."""

    def __init__(self, plan: Plan, state: Watched, account: Cases) -> None:
        self._plan, self._state, self._account = plan, state, account
        cost = account.cases[0].cost_shape
        told = settings(cost, plan.every, plan.window)
        self._view = View(", ".join(plan.servers), told, span(plan.window))
        self._console = console()
        self._stack = ExitStack()
        self._live: Live
        self._keys: Keys
        self._size = (0, 0)
        self._codes: set[str] = set()
        self._inside: dict[str, bool | None] = {}
        self._gap: tuple[float, int, str] | None = None
        self._suspended = False
        self._saved: dict[int, Any] = {}  # Any: handlers of signals

    def __enter__(self) -> "Screen":
        for number in ENDED:
            self._saved[number] = signal.signal(number, _end)
        if hasattr(signal, "SIGTSTP"):
            self._saved[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        self._tell(self._account.findings)
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        for number, handler in self._saved.items():
            signal.signal(number, handler)
        if kind is None:
            self._console.print(headline(self._view.result))
            if self._plan.save is not None and self._plan.intervals == self._view.readings:
                save(self._plan.save, self._plan.servers, self._state, self._account)

    def _open(self) -> None:
        with ExitStack() as stack:
            self._keys = stack.enter_context(keys())
            self._live = stack.enter_context(
                Live(console=self._console, screen=True, auto_refresh=False)
            )
            self._stack = stack.pop_all()
        if self._keys.on:
            self._view.foot = f"q quit   s save to {self._plan.save or 'gammaplan-watch-TIME.json'}"
        else:
            self._view.foot = "Ctrl-C ends; keys are off: standard input is no terminal of ours"
        self._draw()

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        self._suspended = True

    def _pause(self) -> None:
        """Give the terminal back, stop as Ctrl-Z asks, and go on where that ends."""
        self._suspended = False
        self._stack.close()
        mine = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, mine)
        self._open()

    def idle(self, seconds: float, waited: float) -> bool:
        """Wait for keys; q ends."""
        pressed = self._keys.wait(seconds)
        if self._suspended:
            self._pause()
        waiting = f"no answer for {span(waited)}" if waited > PATIENT else ""
        changed = waiting != self._view.waiting or self._console.size != self._size
        self._view.waiting = waiting
        if "s" in pressed:
            self._save()
            changed = True
        if changed:
            self._draw()
        return "q" not in pressed

    def show(self, reading: Gained, record: Record) -> None:
        """Draw one more answer."""
        self._view.result, self._view.trends = record.result, record.trends
        self._view.readings += 1
        self._view.waiting = ""
        self._tell_gap(reading)
        self._tell(record.findings)
        if self._moved(record.result["groups"]) and self._plan.bell:
            self._console.bell()
        self._draw()

    def _draw(self) -> None:
        self._size = self._console.size
        self._live.update(draw(self._view, *self._size), refresh=True)

    def _say(self, text: str, instead_of: str | None = None) -> None:
        events = self._view.events
        if instead_of:  # of a length at the edge of its band the latest is enough
            events[:] = [e for e in events if not e[1].endswith(f" band: {instead_of}")]
        events.append((time.strftime("%H:%M:%S", time.gmtime()), text))
        del events[:-MOST_EVENTS]

    def _tell(self, findings: "list[Finding]") -> None:
        """Each finding once, as long as it holds; restarts each time."""
        before, self._codes = self._codes, {f.code for f in findings}
        for found in findings:
            new = found.code not in before or found.code in EVENTS
            if new and found.level != "note" and found.code not in UNSAID:
                self._say(found.message.partition("; ")[0])

    def _tell_gap(self, reading: Gained) -> None:
        """That no server answers, in one line as long as it lasts, and that one does again."""
        if reading.inputs is not None:
            if self._gap:
                self._say(f"answers again, after {span(reading.at - self._gap[0])}")
            self._gap = None
            return
        reason = reading.reason.removeprefix(f"{self._view.server}: ")
        if self._gap is None or self._gap[2] != reason:
            since = self._gap[0] if self._gap else reading.at
            self._gap = (since, 1, reason)
            self._say(reason)
            return
        since, times, _ = self._gap
        self._gap = (since, times + 1, reason)
        events = self._view.events
        for i in reversed(range(len(events))):  # something may have been saved meanwhile
            if events[i][1].startswith(reason):
                events[i] = (events[i][0], f"{reason} ({times + 1:,} readings)")
                return

    def _moved(self, groups: "list[WatchGroup]") -> bool:
        """Tell which groups left their band since the last answer, and which are back."""
        left = False
        for group in groups:
            name, inside = named(group["labels"]), group["in_band"]
            before, of = self._inside.get(name), f"γ {group['gamma_in_use']} of {title(group)}"
            if inside is not None and before not in (None, inside):
                told = f"back in the band: {of}" if inside else f"left the band: {of}"
                self._say(told, instead_of=of)
                left |= not inside
        self._inside = {named(g["labels"]): g["in_band"] for g in groups}
        return left

    def _save(self) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = self._plan.save or f"gammaplan-watch-{stamp}.json"
        try:
            save(path, self._plan.servers, self._state, self._account)
        except InputError as error:
            self._say(str(error))
        else:
            self._say(f"saved to {path}")


def _end(number: int, frame: FrameType | None) -> None:
    """End as a signal asks, by way of everything that is to be put back."""
    sys.exit(128 + number)
