"""`timings` of llama-server's responses, and ik_llama.cpp's `draft_by_depth`."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeGuard

from gammaplan.data.findings import finding
from gammaplan.engines.base import Dropped, Item, Labels, Record
from gammaplan.engines.values import whole_number
from gammaplan.model.consistency import contradiction
from gammaplan.model.estimate import Counts

MOST_HELD = 20_000  # requests kept before their records are made
MOST_OPEN = 4_096  # streams that may be interleaved
MOST_NODES = 512  # values looked through for the timings of one response
MOST_DEPTHS = 4_096
FOREIGN = ("draft_rounds", "draft_kind")  # mlx-vlm's timings
Json = dict[str, Any]  # Any: parsed JSON


def claims(value: Any) -> bool:
    """A response, or a chunk of one, with llama-server's timings."""
    return _timings(value) is not None


def claims_depths(value: Any) -> bool:
    """A response of ik_llama.cpp that tells drafted and accepted tokens by depth."""
    timings = _timings(value)
    return timings is not None and isinstance(timings.get("draft_by_depth"), list)


def _timings(value: Any) -> Json | None:
    """The timings in a response, however it is wrapped; the outermost where there are several."""
    waiting = deque([value])
    for _ in range(MOST_NODES):
        if not waiting:
            return None
        node = waiting.popleft()
        if isinstance(node, dict):
            for own in (node.get("timings"), node):
                if _is_timings(own):
                    return own
            waiting.extend(list(node.values())[:64])
        elif isinstance(node, list):
            waiting.extend(node[:64])
    return None


def _is_timings(value: Any) -> TypeGuard[Json]:
    if not isinstance(value, dict) or any(key in value for key in FOREIGN):
        return False
    if "predicted_n" in value and ("prompt_n" in value or "predicted_ms" in value):
        return True
    return "draft_n" in value and "draft_n_accepted" in value and "depth" not in value


@dataclass
class _Stream:
    """A response in chunks: figures that run up, and the rounds their differences tell."""

    name: str
    group: Labels
    tokens: int = 1
    drafted: int = 0
    accepted: int = 0
    events: int = 0
    told: bool = True  # every difference was one round
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    depths: tuple[tuple[int, int], ...] | None = None

    def add(self, tokens: int | None, drafted: int, accepted: int) -> None:
        """One more event; a round that several events report is counted once."""
        step, gained = drafted - self.drafted, accepted - self.accepted
        if step > 0 and 0 <= gained <= step:
            pair = (step, gained)
            self.pairs[pair] = self.pairs.get(pair, 0) + 1
            self.told &= tokens is None or tokens - self.tokens - gained <= 1
        elif step or gained:
            self.told = False
        self.events += 1
        self.tokens = self.tokens if tokens is None else tokens
        self.drafted, self.accepted = drafted, accepted


def read(values: Iterator[Any]) -> Iterator[Item]:
    """A record a request; the rounds of a stream one by one where every chunk has timings."""
    reader = _Reader()
    for value in values:
        if isinstance(value, Dropped):
            yield value
            continue
        timings = _timings(value)
        if timings is not None:
            yield from reader.take(value, timings)
        if len(reader.done) >= MOST_HELD:
            yield from reader.flush(final=False)
    yield from reader.flush(final=True)


@dataclass
class _Reader:
    open: dict[str, _Stream] = field(default_factory=dict)
    done: list[_Stream] = field(default_factory=list)
    seen: int = 0
    empty: int = 0
    uniform: int | None = None  # the one length of all drafts told so far; 0 for several
    cumulative: bool = False

    def take(self, value: Any, timings: Json) -> Iterator[Item]:
        """One response or chunk."""
        self.seen += 1
        figures = _figures(timings)
        key = _name(value)
        if isinstance(figures, str):
            yield Dropped(f"the timings of response {key or self.seen}: {figures}")
            return
        tokens, drafted, accepted, depths = figures
        chunk, last = _chunk(value)
        stream = self.open.get(key)
        if stream is not None and (drafted < stream.drafted or (tokens or 0) < stream.tokens):
            self._close(key)
            stream = None
        if stream is None:
            stream = _Stream(key or f"{self.seen}", _group(value))
            if chunk:
                if len(self.open) >= MOST_OPEN:
                    self._close(next(iter(self.open)))
                self.open[key] = stream
            else:
                stream.told = False
        stream.add(tokens, drafted, accepted)
        stream.depths = depths or stream.depths
        if not chunk and stream is not self.open.get(key):
            self.done.append(stream)
        elif last or not chunk:
            self._close(key)

    def _close(self, key: str) -> None:
        self.done.append(self.open.pop(key))

    def flush(self, *, final: bool) -> Iterator[Item]:
        """The records of the streams that ended; of all of them if it is `final`."""
        if final:
            for key in list(self.open):
                self._close(key)
        streams, self.done = self.done, []
        self._learn(streams)
        deepest = max((len(s.depths) for s in streams if s.depths), default=0)
        for stream in streams:
            yield from self._record(stream, deepest)
        if final and self.cumulative:
            yield finding("cumulative_log")
        if final and self.empty:
            yield finding("zero_drafts", records=f"{self.empty} response{'s' * (self.empty > 1)}")

    def _learn(self, streams: list[_Stream]) -> None:
        lengths = {d for s in streams if s.told and s.drafted for d, _ in s.pairs}
        if self.uniform:
            lengths.add(self.uniform)
        if lengths and self.uniform != 0:
            self.uniform = lengths.pop() if len(lengths) == 1 else 0

    def _record(self, stream: _Stream, deepest: int) -> Iterator[Item]:
        drafted, accepted = stream.drafted, stream.accepted
        self.cumulative |= stream.events > 1 and drafted > 0
        if not drafted:
            self.empty += 1
            counts = Counts(0, 0, 0)
        elif stream.depths is not None:
            found = _by_depth(stream, stream.depths, deepest)
            if isinstance(found, str):
                yield Dropped(f"response {stream.name}: {found}")
                return
            counts = found
            if counts.rejections is None:
                mean = f"{drafted / (counts.rounds or 1):.2f}"
                yield finding("variable_draft_length", mean=mean, gamma=counts.gamma)
        elif stream.told:
            counts = Counts.from_pairs(stream.pairs)
            if not self.uniform:
                mean = f"{drafted / (counts.rounds or 1):.2f}"
                yield finding("variable_draft_length", mean=mean, gamma=counts.gamma)
                counts = replace(counts, gamma=None)
        else:
            yield finding(
                "variable_draft_length", mean="an unknown number", gamma="an unknown longest"
            )
            counts = Counts(drafted=drafted, accepted=accepted)
        yield Record(counts, stream.group, "request", stream.name)


def _figures(
    timings: Json,
) -> tuple[int | None, int, int, tuple[tuple[int, int], ...] | None] | str:
    """Generated, drafted and accepted tokens, and these by depth, or why they cannot be used."""
    tokens = whole_number(timings.get("predicted_n"))
    depths = _depths(timings.get("draft_by_depth"))
    if isinstance(depths, str):
        return depths
    if "draft_n" not in timings and "draft_n_accepted" not in timings:
        if depths is None:
            return tokens, 0, 0, None
        return tokens, sum(d for d, _ in depths), sum(c for _, c in depths), depths
    drafted = whole_number(timings.get("draft_n"))
    accepted = whole_number(timings.get("draft_n_accepted"))
    if drafted is None or accepted is None:
        return "draft_n and draft_n_accepted are not both whole numbers"
    wrong = contradiction(accepted=accepted, drafted=drafted)
    return wrong or (tokens, drafted, accepted, depths)


def _depths(value: Any) -> tuple[tuple[int, int], ...] | str | None:
    """Drafted and accepted by depth, in order of depth."""
    if not isinstance(value, list) or not value:
        return None
    found = {}
    for row in value[:MOST_DEPTHS]:
        figures = row if isinstance(row, dict) else {}
        depth, drafted, accepted = (
            whole_number(figures.get(key)) for key in ("depth", "draft_n", "draft_n_accepted")
        )
        if depth is None or drafted is None or accepted is None:
            return "a depth is cut"
        found[depth] = (drafted, accepted)
    low = min(found)
    if low > 1 or sorted(found) != list(range(low, low + len(value))):
        return "its depths are not consecutive"
    return tuple(found[depth] for depth in sorted(found))


def _by_depth(stream: _Stream, depths: tuple[tuple[int, int], ...], deepest: int) -> Counts | str:
    drafted, accepted = [d for d, _ in depths], [c for _, c in depths]
    if (sum(drafted), sum(accepted)) != (stream.drafted, stream.accepted):
        return "its depths do not add up to its tokens"
    earlier = [drafted[0], *accepted]
    if any(b > a for a, b in pairwise(drafted)) or any(
        c > min(d, e) for c, d, e in zip(accepted, drafted, earlier, strict=False)
    ):
        return "a depth has more tokens than the one before it"
    fill = [0] * (deepest - len(depths))
    drafted, accepted = drafted + fill, accepted + fill
    if drafted[-1] == drafted[0]:
        return Counts.full(drafted[0], accepted)
    return Counts(
        drafted[0],
        stream.drafted,
        stream.accepted,
        tuple(accepted),
        tuple(drafted),
        gamma=len(drafted),
    )


def _name(value: Any) -> str:
    """What a response calls itself; "" where it has no name."""
    if not isinstance(value, dict):
        return ""
    for key in ("id", "id_slot", "request_id"):
        name = value.get(key)
        if isinstance(name, str | int) and not isinstance(name, bool):
            return str(name)[:200]
    return ""


def _group(value: Any) -> Labels:
    model = value.get("model") if isinstance(value, dict) else None
    return {"model_name": model} if isinstance(model, str) and model else {}


def _chunk(value: Any) -> tuple[bool, bool]:
    """Whether a value is part of a stream, and whether it is the last part."""
    if not isinstance(value, dict):
        return False, True
    choices = value.get("choices")
    choices = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    if any("delta" in c for c in choices) or str(value.get("object", "")).endswith(".chunk"):
        return True, any(c.get("finish_reason") for c in choices)
    return value.get("stop") is False, value.get("stop") is not False
