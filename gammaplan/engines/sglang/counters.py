"""The metrics page: counters of finished requests, and gauges of the last interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gammaplan.data.findings import finding
from gammaplan.engines.base import Item, Labels, Record, Sample
from gammaplan.engines.sglang.rates import Fit, Printed
from gammaplan.engines.values import whole_number
from gammaplan.model.estimate import Counts

PROOFS = ("sglang:spec_", "sglang_spec_")
_COUNTERS = {
    "spec_verify_calls": "rounds",
    "generation_tokens": "tokens",
    "num_requests": "requests",
}
_GAUGES = ("spec_accept_length", "spec_accept_rate", "spec_num_steps", "spec_num_draft_tokens")
FAMILIES = tuple(f"sglang{mark}{name}" for mark in ":_" for name in (*_COUNTERS, *_GAUGES))
SETTINGS = tuple(f"sglang{m}spec_{n}" for m in ":_" for n in ("num_steps", "num_draft_tokens"))
_RANKS = {"tp_rank", "pp_rank", "moe_ep_rank", "ep_rank", "attn_tp_rank", "pid"}
_PLACES = ("instance", "pod", "engine_type")
MOST_GAMMA = 4_096


@dataclass
class Server:
    """The figures of one process."""

    counters: dict[str, int] = field(default_factory=dict)
    gauges: dict[str, dict[str, float]] = field(default_factory=dict)  # by data-parallel rank

    def one(self, name: str) -> int | None:
        """A setting that is the same for all ranks."""
        values = {whole_number(v) for v in self.gauges.get(name, {}).values()}
        return values.pop() if len(values) == 1 else None


def read(samples: Sequence[Sample]) -> Iterator[Item]:
    """A record for each server; gauges only where the version has no counters."""
    servers: dict[tuple[str, str], Server] = {}
    seen: set[tuple[object, ...]] = set()
    repeated = gauges = False
    for sample in samples:
        name = _plain(sample.name)
        if name not in _COUNTERS and name not in _GAUGES:
            continue
        labels = {k: v for k, v in sample.labels.items() if k not in _RANKS}
        mark = (name, *sorted(labels.items()))
        if mark in seen:
            repeated = True
            continue
        seen.add(mark)
        place = "/".join(labels[k] for k in _PLACES if labels.get(k))
        server = servers.setdefault((labels.get("model_name", ""), place), Server())
        gauges |= name in _GAUGES
        yield from _kept(server, name, sample, labels)
    if repeated:
        yield finding("duplicate_rank")
    if gauges:
        yield finding("gauge_only")
    yield from _records(servers)


def _plain(name: str) -> str:
    """The family of a sample, without the engine's prefix and the counters' suffix."""
    if not name.startswith(("sglang:", "sglang_")):
        return ""
    return name[len("sglang:") :].removesuffix("_total")


def _kept(server: Server, name: str, sample: Sample, labels: Mapping[str, str]) -> Iterator[Item]:
    if name in _GAUGES:
        server.gauges.setdefault(name, {})[labels.get("dp_rank", "")] = sample.value
        return
    count = whole_number(sample.value)
    if count is None:
        yield finding("bad_sample", name=sample.name, value=f"{sample.value:g}")
        return
    key = _COUNTERS[name]
    server.counters[key] = server.counters.get(key, 0) + count


def _records(servers: Mapping[tuple[str, str], Server]) -> Iterator[Item]:
    several: dict[str, int] = {}
    for (model, place), server in servers.items():
        for item in _record(server, model, place):
            if isinstance(item, Record):
                several[model] = several.get(model, 0) + 1
            yield item
    if any(count > 1 for count in several.values()):
        count = sum(several.values())
        yield finding("multi_series", kind="engines", names=f"{count} of them, added up")


def _record(server: Server, model: str, place: str) -> Iterator[Item]:
    group: Labels = {"model_name": model} if model else {}
    part: Labels = {"engine": place} if "/" in place else {}
    counts = server.counters
    rounds, tokens, requests = (counts.get(k) for k in ("rounds", "tokens", "requests"))
    if rounds == 0 and tokens is not None:
        yield finding("zero_drafts", records=f"the server of {model or 'one model'}")
    elif rounds is None or tokens is None or requests is None:
        yield from _averages(server, group, part)
    else:
        yield from _counted(server, (rounds, tokens - requests - rounds), group, part)


def _counted(
    server: Server, totals: tuple[int, int], group: Labels, part: Labels
) -> Iterator[Item]:
    rounds, accepted = totals
    gamma, tree = _shape(server, 1 + accepted / rounds)
    if accepted < 0:
        what = f"fewer generated tokens than requests and verify calls, by {-accepted}"
        yield finding("impossible", what=what)
        yield Record(Counts(rounds), group, part=part, unusable=True)
    elif tree:
        yield finding("tree_draft")
        yield Record(Counts(rounds, None, accepted, gamma=gamma), group, part=part, tree=True)
    elif gamma is None or accepted > rounds * gamma:
        if gamma is not None:
            what = f"{accepted} accepted tokens in {rounds} drafts of now {gamma}: steps vary"
            yield finding("impossible", what=what)
        yield Record(Counts(rounds, None, accepted), group, part=part)
    elif accepted == 0:
        yield Record(Counts.full(rounds, [0] * gamma), group, part=part)
    else:
        drafted = (rounds,) * gamma
        counts = Counts(rounds, rounds * gamma, accepted, None, drafted, gamma=gamma)
        yield Record(counts, group, part=part)


def _shape(server: Server, length: float) -> tuple[int | None, bool]:
    """The draft length that is set now, and whether drafts are trees.

    A window of draft tokens beyond steps + 1 is a tree, or a block whose drafter takes one
    step: no tree accepts more than its steps.
    """
    steps, window = server.one("spec_num_steps"), server.one("spec_num_draft_tokens")
    chain = window - 1 if window is not None and 1 < window <= MOST_GAMMA else None
    if steps is None or not 0 < steps <= MOST_GAMMA:
        return chain, False
    if chain is None or chain <= steps:
        return steps, False
    if length > steps + 1:
        return chain, False
    return steps, True


def _averages(server: Server, group: Labels, part: Labels) -> Iterator[Item]:
    """The gauges of the last interval, a record for each data-parallel rank."""
    for rank, length in sorted(server.gauges.get("spec_accept_length", {}).items()):
        if length == 0:
            yield finding("zero_drafts", records="the last interval")
            continue
        if not 1 <= length <= MOST_GAMMA:
            yield finding("bad_sample", name="sglang:spec_accept_length", value=f"{length:g}")
            continue
        gamma, tree = _shape(server, length)
        rate = server.gauges.get("spec_accept_rate", {}).get(rank)
        if rate is not None and 0 < rate <= 1 and not tree:
            fit = Fit().narrowed(_exact(length), _exact(rate))
            gamma = gamma or fit.gamma
            if fit.definition is False and gamma in fit.lengths(strict=False):
                yield finding("rate_includes_bonus")
        if tree:
            yield finding("tree_draft")
        yield finding("interval_average_only")
        labels = {**part, "rank": f"DP{rank}"} if rank else part
        counts = Counts(gamma=gamma)
        yield Record(counts, group, part=labels, average=(length, 1.0), tree=tree)


def _exact(value: float) -> Printed:
    """A figure of full precision, or rounded to few digits."""
    digits = len(repr(value).partition(".")[2])
    return Printed(value, 0.5 * 10.0**-digits if digits == 2 else 1e-6)
