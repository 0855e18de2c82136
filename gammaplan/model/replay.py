"""One policy over streams of outcomes: rounds side by side, a step for all streams at a time."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from gammaplan.errors import GammaplanError
from gammaplan.model.arrays import Floats
from gammaplan.model.hindsight import fixed_times
from gammaplan.model.policies import Fixed, Past, Policy
from gammaplan.model.stops import Stop
from gammaplan.model.streams import Ints, Small, Streams

SHOWN = 60  # rounds of the first stream whose lengths are kept
Array = np.ndarray[Any, np.dtype[Any]]


class PolicyError(GammaplanError):
    """A policy that failed or answered what is no draft length; the message names it."""


class Replayed(NamedTuple):
    """What a policy took for each stream.

    `time` is in target passes; `modelled` counts those of `rounds` that turned on
    an outcome which was not recorded (where all is known they are not counted);
    `lengths` are the drafts of the first rounds of the first stream.
    """

    time: Floats
    rounds: int
    modelled: int
    lengths: tuple[int, ...]


def replay(streams: Streams, policy: Policy | Stop, round_cost: Floats) -> Replayed:
    """Step a policy through every stream to its end.

    Parameters
    ----------
    streams : Streams
        What would be accepted.
    policy : Policy or Stop
        Who decides; a copy of it is asked, so it may be used again.
    round_cost : ndarray of float, shape ``(longest + 1,)``
        Cost of a round by its length, up to the longest that is allowed.

    Raises
    ------
    PolicyError
        If the policy raises, or what it returns is no whole number from 0 to
        the longest length for each stream.
    """
    longest = len(round_cost) - 1
    if isinstance(policy, Fixed) and streams.modelled is None:
        _checked(np.array([policy.gamma]), policy, 1, longest)
        shown = (policy.gamma,) * SHOWN
        return Replayed(fixed_times(streams, policy.gamma, round_cost), 1, 0, shown)
    cost = round_cost
    ask: Callable[[Array, Past], Small]
    if isinstance(policy, Stop):
        ask = _Looked(policy, streams, longest)
        if policy.drops:  # the token that ended the draft was drafted too
            cost = np.append(round_cost[1:], round_cost[-1])
    else:
        ask = _Asked(deepcopy(policy), longest)
    ahead, ends = streams.ahead, streams.ends
    made_up: Ints | None = None
    if streams.modelled is not None:
        made_up = np.cumsum(streams.modelled) - streams.modelled  # before each position
    pos = streams.starts.copy()
    time = np.zeros(len(streams))
    drafted = accepted = np.zeros(len(streams), dtype=np.uint8)
    rounds = modelled = index = 0
    lengths: list[int] = []
    while going := int(np.count_nonzero(live := pos < ends)):
        drafted = ask(pos, Past(index, drafted, accepted, longest))
        accepted = np.minimum(ahead.take(pos), drafted)
        if index < SHOWN and live[0]:
            lengths.append(int(drafted[0]))
        if made_up is not None:
            rounds += going
            judged = np.minimum(pos + accepted + (accepted < drafted), ends)
            modelled += int(np.count_nonzero(made_up[judged] > made_up[pos]))
        took = cost.take(drafted)
        if going < len(streams):
            took *= live
        time += took
        pos += accepted
        pos += 1
        np.minimum(pos, ends, out=pos)
        index += 1
    return Replayed(time, max(rounds, 1), modelled, tuple(lengths))


class _Asked:
    """A policy of the past."""

    def __init__(self, policy: Policy, longest: int) -> None:
        self._policy, self._longest = policy, longest

    def __call__(self, pos: Array, past: Past) -> Small:
        try:
            given = np.asarray(self._policy.lengths(past))
        except Exception as error:
            raise _blamed(self._policy, past.round, error) from error
        return _checked(given, self._policy, past.streams, self._longest)


class _Looked:
    """A stop rule: what it wants from every position on, looked up where rounds start."""

    def __init__(self, stop: Stop, streams: Streams, longest: int) -> None:
        if streams.score is None:
            raise PolicyError(f"policy {named(stop)} needs confidences, and there are none")
        try:
            given = np.asarray(stop.wants(streams.score, longest))
        except Exception as error:
            raise _blamed(stop, 0, error) from error
        self._want = _checked(given, stop, len(streams.score), longest)

    def __call__(self, pos: Array, past: Past) -> Small:
        return self._want.take(pos)


def named(policy: object) -> str:
    """How messages name a policy: its own `name`, else its class."""
    return str(getattr(policy, "name", type(policy).__name__))


def _blamed(policy: object, index: int, error: Exception) -> PolicyError:
    """What a policy raised, as an error that names it."""
    kind = type(error).__name__
    return PolicyError(f"policy {named(policy)} failed in round {index + 1}: {kind}: {error}")


def _checked(given: Array, policy: object, count: int, longest: int) -> Small:
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise PolicyError(
            f"policy {named(policy)} must return {count} whole numbers, "
            f"got {given.dtype} of shape {given.shape}"
        )
    unsigned = given.view(given.dtype.str.replace("i", "u"))
    if unsigned.max() > longest:  # a negative length is a large one there
        low, high = int(given.min()), int(given.max())
        raise PolicyError(
            f"policy {named(policy)} must return lengths from 0 to {longest}, "
            f"got {low if low < 0 else high}"
        )
    return given.astype(np.uint8, copy=False)
