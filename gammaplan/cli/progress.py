"""A progress bar over the bytes of large inputs, on a terminal's stderr."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

WORTH = 512 * 2**20  # bytes that take about a second to read


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
