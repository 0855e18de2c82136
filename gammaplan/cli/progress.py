"""A progress bar on a terminal's stderr: over the bytes of large inputs, or over many rounds."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

WORTH = 512 * 2**20  # bytes that take about a second to read
EVERY = 0.1  # seconds between two steps of a bar


def worth_a_bar(paths: Sequence[str]) -> bool:
    """Whether reading these takes longer than a second, and somebody watches."""
    return sys.stderr.isatty() and _size(paths) > WORTH


def _size(paths: Sequence[str]) -> int:
    return sum(Path(p).stat().st_size for p in paths if p != "-" and Path(p).is_file())


@contextmanager
def bar_over(paths: Sequence[str]) -> Iterator[Callable[[str, int], None]]:
    """A bar that is told the bytes read of each input; it leaves nothing behind.

    It starts when it is first told, so that workers are forked before its thread runs.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    read: dict[str, int] = {}
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("read", total=_size(paths))

    def told(name: str, so_far: int) -> None:
        bar.start()
        read[name] = so_far
        bar.update(task, completed=sum(read.values()))

    try:
        yield told
    finally:
        bar.stop()


def countdown(seconds: float) -> None:
    """Wait, with a bar that tells how long it still takes."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    end = time.monotonic() + seconds
    columns = (TextColumn("waiting for the second reading"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("wait", total=seconds)
        while (left := end - time.monotonic()) > 0:
            bar.update(task, completed=seconds - left)
            time.sleep(min(left, 0.2))


@contextmanager
def bar_of_rounds(total: int, *, worth: bool) -> Iterator[Callable[[int], None] | None]:
    """A bar that is told how many more rounds are done; None where nobody watches or waits."""
    if not (worth and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    done, shown = 0, time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("playing", total=total)

        def told(more: int) -> None:
            nonlocal done, shown
            done += more
            if time.monotonic() - shown > EVERY:
                shown = time.monotonic()
                bar.update(task, completed=done)

        yield told
