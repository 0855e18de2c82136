"""Pairs of files measured block by block, here or mapped over an executor; results in order."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from gammaplan.arrays.pairs import Pair
from gammaplan.errors import InputError
from gammaplan.model.overlap import (
    BadRow,
    Drawn,
    Kind,
    Measures,
    Workspace,
    joined,
    overlaps,
    peaked,
)
from gammaplan.model.rules import Rule
from gammaplan.model.sampling import steps_of

CHUNK = 2**23  # elements measured by one task
FOUND = 2**16  # positions of a stretch times samplers: what is found at each is held for a while
AHEAD = 4  # tasks that wait for each worker


@dataclass(frozen=True)
class Question:
    """What is asked of every position."""

    drawn: tuple[Drawn, ...]
    rules: tuple[Rule, ...] = ()
    kind: Kind = "logits"

    @property
    def order(self) -> tuple[str, ...]:
        """The steps of the samplers, first to last."""
        return steps_of(self.drawn[0].target.order)


def measured(
    pair: Pair, question: Question, *, executor: Executor | None = None, workers: int = 1
) -> Iterator[list[Measures]]:
    """What is found at the positions of a pair, in order: for each sampler pair a stretch of them.

    Parameters
    ----------
    pair : Pair
        Target and draft.
    question : Question
        Samplers, rules, and what the numbers are.
    executor : Executor, optional
        Measures stretches side by side; without it they are measured here.
    workers : int
        How many tasks the executor works on at once.

    Raises
    ------
    InputError
        At the first row that is no distribution, or that cannot be read.
    """
    if executor is None:
        yield from _stretches(pair, question, 0, pair.positions)
        return
    step = _sizes(pair, question).stretch
    waiting: deque[Future[list[Measures]]] = deque()
    for start in range(0, pair.positions, step):
        stop = min(start + step, pair.positions)
        waiting.append(executor.submit(partial(_stretch, pair, question, start, stop)))
        if len(waiting) > AHEAD * workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class _Sizes(NamedTuple):
    """Rows of a block, and of a stretch of blocks."""

    block: int
    stretch: int


def _sizes(pair: Pair, question: Question) -> _Sizes:
    """Sizes that bound the memory, by the width of the rows and by how often each is measured."""
    most = max(1, FOUND // len(question.drawn))
    block = min(pair.block_rows, most)
    return _Sizes(block, max(1, min(CHUNK // pair.vocab, most) // block) * block)


def _stretch(pair: Pair, question: Question, start: int, stop: int) -> list[Measures]:
    return next(_stretches(pair, question, start, stop))


def _stretches(pair: Pair, question: Question, start: int, stop: int) -> Iterator[list[Measures]]:
    """Blocks measured and put together to stretches."""
    size, step = _sizes(pair, question)
    work = Workspace((size, pair.vocab), pair.precision)
    found: list[list[Measures]] = []
    gathered = 0
    for first, target, draft in pair.blocks(start, stop, size):
        for rows, block in ((pair.target, target), (pair.draft, draft)):
            try:
                peaked(block, question.kind, rows.element)
            except BadRow as bad:
                raise InputError(f"{rows.where(first + bad.row)} {bad.what}") from None
        found.append(overlaps(target, draft, question.drawn, question.rules, work))
        gathered += len(target)
        if gathered >= step:
            yield [joined(parts) for parts in zip(*found, strict=True)]
            found, gathered = [], 0
    if found:
        yield [joined(parts) for parts in zip(*found, strict=True)]
