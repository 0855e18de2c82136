"""TGI: how many drafted tokens each step of a request gained, the prefill step among them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gammaplan.data.findings import finding
from gammaplan.engines.base import ExpositionFormat, Item, Labels, Record, Sample, Word
from gammaplan.engines.values import whole_number
from gammaplan.model.estimate import Counts

NAME = "tgi"
ALIASES = ("text-generation-inference",)
WORDS = (
    Word("tgi_request_skipped_tokens", "accepted_per_round", "its mean, less the prefill steps"),
)
PROOFS = ("tgi_request_skipped_tokens",)
FAMILIES = (*PROOFS, "tgi_request_count")
LONGEST = 4_096  # drafted tokens that a bucket may stand for
_INDEXES = ("le", "quantile")


@dataclass
class Server:
    """The figures of one process."""

    buckets: dict[int, int] = field(default_factory=dict)
    uneven: bool = False  # buckets that are no draft lengths
    steps: int | None = None
    accepted: int | None = None
    requests: int | None = None


def read(samples: Sequence[Sample]) -> Iterator[Item]:
    """A record for each server; the servers of one model add up."""
    servers: dict[tuple[tuple[str, str], ...], Server] = {}
    for sample in samples:
        labels = sorted((k, v) for k, v in sample.labels.items() if k not in _INDEXES)
        yield from _kept(servers.setdefault(tuple(labels), Server()), sample)
    told = {key: s for key, s in servers.items() if s.steps is not None}
    if len(told) > 1:
        yield finding("multi_series", kind="servers", names=f"{len(told)} of them, added up")
    for key, server in told.items():
        yield from _record(server, dict(key), servers.get((), Server()).requests)


def _kept(server: Server, sample: Sample) -> Iterator[Item]:
    family, _, kind = sample.name.partition("tgi_request_skipped_tokens")
    if not kind and not family:  # a quantile
        return
    count = whole_number(sample.value)
    if count is None:
        yield finding("bad_sample", name=sample.name, value=f"{sample.value:g}")
    elif sample.name.endswith("tgi_request_count"):
        server.requests = count
    elif kind == "_sum":
        server.accepted = count
    elif kind == "_count":
        server.steps = count
    elif kind == "_bucket" and sample.labels.get("le", "").strip("+") not in {"Inf", "inf"}:
        edge = _whole(sample.labels.get("le", ""))
        server.uneven |= edge is None
        if edge is not None:
            server.buckets[edge] = count


def _whole(text: str) -> int | None:
    try:
        edge = whole_number(float(text))
    except (ValueError, OverflowError):
        return None
    return edge if edge is not None and edge <= LONGEST else None


def _record(server: Server, labels: Labels, requests: int | None) -> Iterator[Item]:
    """The steps less the prefill of each request, which gained no drafted token."""
    model = labels.pop("model_name", labels.pop("model_id", ""))
    group: Labels = {"model_name": model} if model else {}
    part: Labels = {"server": "/".join(labels.values())} if labels else {}
    steps, accepted = server.steps or 0, server.accepted
    prefills = server.requests if server.requests is not None else requests
    if prefills is None:
        yield finding("impossible", what="steps without tgi_request_count, so with their prefills")
        yield Record(Counts(accepted=accepted), group, part=part, unusable=True)
        return
    if accepted is None or steps <= prefills or not (accepted or _lengths(server)):
        yield finding("zero_drafts", records="a server")
        return
    yield finding("includes_prefill")
    counts: Counts | str = Counts(steps - prefills, None, accepted)
    if _lengths(server):
        counts = _histogram(server.buckets, steps, prefills)
        if isinstance(counts, Counts) and counts.accepted != accepted:
            counts = f"{accepted} accepted tokens, and {counts.accepted} by the buckets"
    if isinstance(counts, str):
        yield finding("impossible", what=counts)
        yield Record(Counts(steps - prefills), group, part=part, unusable=True)
    else:
        yield Record(counts, group, part=part)


def _lengths(server: Server) -> bool:
    """Whether the buckets are 0, 1, ..., the draft length."""
    return (
        len(server.buckets) > 1
        and not server.uneven
        and max(server.buckets) + 1 == len(server.buckets)
    )


def _histogram(buckets: Mapping[int, int], steps: int, prefills: int) -> Counts | str:
    """Counts from the steps that gained at most 0, 1, ... tokens."""
    at_most = [buckets[i] for i in range(len(buckets))]
    if any(b < a for a, b in pairwise(at_most)) or at_most[-1] != steps:
        return "the buckets do not add up"
    if at_most[0] < prefills:
        return f"{prefills} requests, and {at_most[0]} steps without a drafted token"
    rounds = steps - prefills
    return Counts.full(rounds, [steps - n for n in at_most[:-1]])


FORMATS = (ExpositionFormat("tgi-prom", PROOFS, FAMILIES, read),)
