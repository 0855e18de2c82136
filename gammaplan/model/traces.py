"""Recorded rounds as streams of outcomes; what no round tried is drawn from its neighbourhood."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Booleans
from gammaplan.model.stops import Calibrated
from gammaplan.model.streams import Ints, Singles, Small, Streams

NEAR = 32  # positions on either side from which an unrecorded outcome is drawn
TRIES = 8
BLOCK = 2**21  # tokens replayed at a time
CELLS = 20  # of the confidence, where its worth is counted
WINDOW, WINDOWS = 64, 8_192  # drafts on which the floor of the product is tuned


class Part(NamedTuple):
    """Consecutive rounds of one request.

    `confidence` has a value for every drafted token of every round, or is None.
    """

    request: int
    drafted: Small
    accepted: Small
    confidence: Singles | None

    @property
    def tokens(self) -> int:
        """Emitted tokens, one of the target's own in every round."""
        return int(self.accepted.sum(dtype=np.int64)) + len(self.accepted)


def recorded(
    parts: Callable[[], Iterable[Part]], *, seed: int = 0
) -> Callable[[], Iterator[Streams]]:
    """The streams that these parts tell of, some at a time; the same whenever it is called.

    Notes
    -----
    A round of d drafted and a accepted tokens tells the outcome of its first a
    positions, and of the next one where a < d. After a whole draft the outcome
    of the position that the target wrote itself is not known. It is drawn: the
    outcome (and the confidence) of a recorded position at most 32 away, outside
    the round itself, whose acceptance is what put it there.
    """

    def blocks() -> Iterator[Streams]:
        rng = np.random.default_rng(seed)
        waiting: list[Part] = []
        size = 0
        for part in parts():
            waiting.append(part)
            size += part.tokens
            if size >= BLOCK:
                yield _streams(waiting, rng)
                waiting, size = [], 0
        if waiting:
            yield _streams(waiting, rng)

    return blocks


def _streams(parts: list[Part], rng: np.random.Generator) -> Streams:
    tokens = np.array([part.tokens for part in parts])
    rounds = np.array([len(part.drafted) for part in parts])
    request = np.array([part.request for part in parts])
    drafted = np.concatenate([part.drafted for part in parts]).astype(np.int64)
    accepted = np.concatenate([part.accepted for part in parts]).astype(np.int64)
    ends = np.cumsum(tokens + 1) - 1
    before = np.repeat(np.arange(len(parts)), rounds)  # one closing position each
    last = np.cumsum(accepted + 1) - 1 + before  # the position that the target wrote
    outcome = np.ones(int(ends[-1]) + 1, dtype=np.bool_)
    outcome[last] = outcome[ends] = False
    score = None
    if parts[0].confidence is not None:
        score = np.zeros(len(outcome), dtype=np.float32)
        values = np.concatenate([part.confidence for part in parts if part.confidence is not None])
        shown = np.minimum(accepted + 1, drafted)
        within = np.arange(int(shown.sum())) - np.repeat(np.cumsum(shown) - shown, shown)
        first = np.repeat(np.cumsum(drafted) - drafted, shown)
        score[np.repeat(last - accepted, shown) + within] = values[first + within]
    unknown = accepted == drafted
    modelled = np.zeros(len(outcome), dtype=np.bool_)
    modelled[last[unknown]] = True
    closing = np.zeros(len(outcome), dtype=np.bool_)
    closing[ends] = True
    chosen = _neighbours(
        last[unknown],
        last[unknown] - accepted[unknown],
        (ends - tokens, ends),
        before[unknown],
        ~modelled & ~closing,
        rng,
    )
    if chosen is not None:
        outcome[last[unknown]] = outcome[chosen]
        if score is not None:
            score[last[unknown]] = score[chosen]
    if score is not None:
        score[ends] = score[ends - 1]
    return Streams(outcome, tokens, request=request, score=score, modelled=modelled)


def _neighbours(
    at: Ints,
    start: Ints,
    limits: tuple[Ints, Ints],
    stream: Ints,
    known: Booleans,
    rng: np.random.Generator,
) -> Ints | None:
    """For each position a recorded one near it, outside its round; None where none is recorded."""
    every = np.flatnonzero(known)
    if not len(every):
        return None
    first, end = (limit[stream] for limit in limits)
    chosen = rng.choice(every, len(at))  # for those that find no neighbour
    open_ = np.arange(len(at))
    for _ in range(TRIES):
        step = rng.integers(1, NEAR + 1, len(open_))
        near = np.where(rng.random(len(open_)) < 0.5, at[open_] + step, start[open_] - step)
        inside = (near >= first[open_]) & (near < end[open_])
        found = inside & known[np.where(inside, near, 0)]
        chosen[open_[found]] = near[found]
        open_ = open_[~found]
    return chosen


class Scores(NamedTuple):
    """What the confidences of a trace are worth, and drafts of them to tune a rule on."""

    worth: Calibrated
    drafts: Singles


def calibrated(blocks: Callable[[], Iterable[Streams]]) -> Scores:
    """The acceptance of recorded tokens by their confidence, in 20 equal cells.

    Each cell has one token more, accepted as often as the confidence says.
    """
    seen, kept = np.zeros(CELLS), np.zeros(CELLS)
    drafts: Singles | None = None
    for streams in blocks():
        assert streams.score is not None
        known = np.ones(len(streams.score), dtype=np.bool_)
        known[streams.ends] = False
        if streams.modelled is not None:
            known &= ~streams.modelled
        cell = np.minimum((streams.score[known] * CELLS).astype(np.int64), CELLS - 1)
        seen += np.bincount(cell, minlength=CELLS)
        kept += np.bincount(cell, streams.accepted[known], CELLS)
        if drafts is None:
            drafts = _windows(streams.score)
    middle = (np.arange(CELLS) + 0.5) / CELLS
    assert drafts is not None
    return Scores(Calibrated(tuple(((kept + middle) / (seen + 1)).tolist())), drafts)


def _windows(score: Singles) -> Singles:
    """Drafts of up to 64 tokens, cut from scores; shape ``(drafts, tokens)``."""
    width = min(WINDOW, len(score))
    count = min(WINDOWS, len(score) // width)
    return score[: count * width].reshape(count, width)
