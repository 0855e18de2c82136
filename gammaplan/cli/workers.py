"""Worker processes of the commands that read many files or large ones."""

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def pool(processes: int) -> ProcessPoolExecutor:
    """So many workers, forked only where that is safe: from a process of one thread.

    A terminal interrupts all of them at once; they end without a word.
    """
    threads = Path("/proc/self/task")  # of Linux alone
    alone = threads.is_dir() and len([*threads.iterdir()]) == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    silent = (signal.SIGINT, signal.SIG_DFL)
    return ProcessPoolExecutor(processes, context, initializer=signal.signal, initargs=silent)
