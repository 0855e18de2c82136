"""Single keys of a terminal, read without waiting; the terminal is left as it was."""

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Keys:
    """Waits for keys, or only waits where there are none to be had."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    @property
    def on(self) -> bool:
        """Whether keys are read."""
        return self._fd is not None

    def wait(self, seconds: float) -> str:
        """The plain keys that were pressed, in lower case; nothing after so many seconds."""
        if self._fd is None:
            time.sleep(seconds)
            return ""
        if not select.select([self._fd], [], [], seconds)[0]:
            return ""
        pressed = os.read(self._fd, 64)
        if not pressed:  # the terminal is gone
            self._fd = None
        special = pressed.startswith(b"\x1b")  # an arrow, or a function key
        return "" if special else pressed.decode("ascii", "ignore").lower()


@contextmanager
def keys() -> Iterator[Keys]:
    """Keys of standard input, where that is a terminal in whose foreground we are."""
    fd, saved = _terminal()
    try:
        yield Keys(fd)
    finally:
        if fd is not None:
            import termios

            termios.tcsetattr(fd, termios.TCSAFLUSH, saved)


def _terminal() -> tuple[int | None, Any]:  # Any: the attributes of a terminal
    """Standard input, read key by key from now on, and how it was set before."""
    try:
        import termios
        import tty
    except ImportError:  # a system without terminals of this kind
        return None, None
    try:
        fd = sys.stdin.fileno()
        if not os.isatty(fd) or os.tcgetpgrp(fd) != os.getpgrp():
            return None, None
        saved = termios.tcgetattr(fd)
        tty.setcbreak(fd)
    except (OSError, ValueError, AttributeError, termios.error):
        return None, None
    return fd, saved
