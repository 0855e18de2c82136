"""The result of a job: accepted and rejected draft tokens, and what it generated."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Record
from gammaplan.engines.responses import answers
from gammaplan.engines.values import whole_number
from gammaplan.engines.walk import parts
from gammaplan.model.estimate import Counts

DEFAULT = 4  # num_draft_tokens of both generators
SLACK = 3  # steps that are no round: the first token, and the last one, which may be cut
MOST_HELD = 20_000  # jobs from which the draft length is taken
_ACCEPTED, _REJECTED = "accepted_draft_tokens", "rejected_draft_tokens"


class Job(NamedTuple):
    """A finished job."""

    name: str
    drafted: int
    accepted: int
    tokens: int | None


def _is_result(node: Mapping[str, Any]) -> bool:
    return _ACCEPTED in node and _REJECTED in node


def claims(value: Any) -> bool:  # Any: parsed JSON
    """A result with both counts, or one of a job without a draft model."""
    if isinstance(value, dict) and {"stage", "eos", "new_tokens"} <= value.keys():
        return True
    return next(parts(value, _is_result), None) is not None


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a job; tokens after a stop inside a draft are in neither count."""
    held: list[Job] = []
    gamma: int | None = None
    seen = empty = 0
    for answer in answers(values, _is_result):
        if isinstance(answer, Dropped):
            yield answer
            continue
        seen += 1
        job = _job(answer.figures, answer.name)
        if isinstance(job, Dropped):
            yield job
        elif not job.drafted:
            empty += 1
        else:
            held.append(job)
        if len(held) >= MOST_HELD:
            gamma = _length(held) if gamma is None else gamma
            yield from _records(held, gamma)
            held = []
    gamma = _length(held) if gamma is None else gamma
    yield from _records(held, gamma)
    if empty or not seen:
        yield finding("zero_drafts", records=f"{empty or 'every'} job{'s' * (empty > 1)}")


def _job(node: Mapping[str, Any], name: str) -> Job | Dropped:
    accepted, rejected = whole_number(node[_ACCEPTED]), whole_number(node[_REJECTED])
    if accepted is None or rejected is None:
        return Dropped(f"job {name}: its counts are cut or no whole numbers")
    return Job(name, accepted + rejected, accepted, whole_number(node.get("new_tokens")))


def _length(jobs: list[Job]) -> int:
    """The default draft length where every job has the steps that it would take; else 0."""
    for job in jobs:
        rounds = -(-job.drafted // DEFAULT)
        if job.tokens is None or not 0 <= job.tokens - job.accepted - rounds <= SLACK:
            return 0
    return DEFAULT if jobs else 0


def _records(jobs: list[Job], gamma: int) -> Iterator[Item]:
    if not jobs:
        return
    yield finding("censored_by_stop")
    if gamma:
        why = "the generators' default, which the steps of every job fit"
        yield finding("gamma_assumed", gamma=gamma, why=why)
    for job in jobs:
        counts = Counts(drafted=job.drafted, accepted=job.accepted, gamma=gamma or None)
        yield Record(counts, {}, "request", job.name, assumed=bool(gamma))
