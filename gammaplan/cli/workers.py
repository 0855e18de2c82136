"""Worker processes of the commands that read many files or large ones."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def pool(processes: int) -> ProcessPoolExecutor:
    """So many workers, forked only where that is safe: from a process of one thread."""
    threads = Path("/proc/self/task")  # of Linux alone
    alone = threads.is_dir() and len([*threads.iterdir()]) == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    return ProcessPoolExecutor(processes, context)
