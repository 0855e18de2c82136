"""Worker processes of the commands that read many files or large ones."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """So many workers, forked only where that is safe: from a process of one thread.

    An interrupt ends the tasks that run and those that wait.
    """
    threads = Path("/proc/self/task")  # of Linux alone
    alone = threads.is_dir() and len([*threads.iterdir()]) == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    with _Pool(processes, context, initializer=_watch) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise


class _Pool(ProcessPoolExecutor):
    """Workers that an interrupt ends in their tasks only.

    A terminal sends it to every process. A worker that it ended while it waited
    would print where, and can leave the pool hanging.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(_run, fn, *args, **kwargs)


class _Worker:
    """What the one task at a time of a worker process is in."""

    busy = False
    interrupted = False


def _watch() -> None:
    signal.signal(signal.SIGINT, _interrupt)


def _interrupt(*_: object) -> None:
    _Worker.interrupted = True
    if _Worker.busy:
        raise KeyboardInterrupt


def _run(task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    if _Worker.interrupted:
        raise KeyboardInterrupt
    _Worker.busy = True
    try:
        return task(*args, **kwargs)
    finally:
        _Worker.busy = False
