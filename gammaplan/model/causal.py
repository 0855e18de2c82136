"""The most that any policy can reach that sees the past only, where the text has two regimes."""

from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.processes import Regimes
from gammaplan.model.streams import Ints

BELIEFS = 101  # grid of the probability that the next token is in the good state
DEEPEST = 40  # longer drafts are not considered
STEPS, SETTLED = 50, 1e-10


class Causal(NamedTuple):
    """In the long run: the best rule of the past, and the best fixed length."""

    speedup: float
    fixed: float

    @property
    def gain(self) -> float:
        """How much faster the rule is."""
        return self.speedup / self.fixed - 1


def best_causal(process: Regimes, round_cost: Floats) -> Causal:
    """The largest speedup of a policy that knows the process but not the state.

    Parameters
    ----------
    process : Regimes
        Both states and how long they last.
    round_cost : ndarray of float, shape ``(longest + 1,)``
        Cost of a round by its length. [target passes]

    Returns
    -------
    Causal
        What the best rule over beliefs reaches in the long run, which no policy
        without confidence passes, and what the best fixed length does.

    Notes
    -----
    All that the past tells is the probability b that the next token is in the
    good state. The rule is found by Howard's iteration for the ratio of tokens
    to time: with a length for each b on a grid, ``h + rho T = E[tokens] + P h``
    gives the ratio rho and the worth h of each belief; each belief then takes
    the length with the largest ``E[tokens] - rho T + P h`` [1]_. Between grid
    points h is taken as linear, which, h being convex, never understates it.

    References
    ----------
    .. [1] R. A. Howard, Dynamic Programming and Markov Processes, MIT Press,
       1960; W. S. Jewell, "Markov-renewal programming," Operations Research
       11, 1963.

    Examples
    --------
    >>> found = best_causal(Regimes(0.9, 0.4, 100), 1 + 0.1 * np.arange(20))
    >>> print(f"{found.speedup:.2f} {found.fixed:.2f} {found.gain:.3f}")
    1.83 1.70 0.080
    """
    costs = round_cost[: DEEPEST + 1]
    choices = [_choice(process, gamma) for gamma in range(len(costs))]
    tokens = np.stack([c.tokens for c in choices])
    moves = np.stack([c.moves for c in choices])
    rows = np.arange(BELIEFS)

    def followed(pick: Ints) -> tuple[float, Floats]:
        """The ratio and the worth of each belief under a rule."""
        system = np.zeros((BELIEFS + 1, BELIEFS + 1))
        system[:-1, :-1] = np.eye(BELIEFS) - moves[pick, rows]
        system[:-1, -1] = costs[pick]
        system[-1, 0] = 1.0
        solved = np.linalg.solve(system, np.append(tokens[pick, rows], 0.0))
        return float(solved[-1]), solved[:-1]

    fixed = fixed_in_regimes(process, costs)
    pick = np.full(BELIEFS, int(np.argmax(fixed)))
    for _ in range(STEPS):
        ratio, worth = followed(pick)
        values = tokens - ratio * costs[:, None] + moves @ worth
        better = values.argmax(axis=0)
        gained = values[better, rows] - values[pick, rows]
        if gained.max() < SETTLED:
            break
        pick = np.where(gained > SETTLED, better, pick)
    return Causal(ratio, float(fixed.max()))


def fixed_in_regimes(process: Regimes, round_cost: Floats) -> Floats:
    """The speedup of every fixed length in the long run; shape of `round_cost`.

    Notes
    -----
    With acceptance ``D = diag(good, bad)``, turns P and ``M = D P`` a round
    moves the state by ``K = sum over k < gamma of M**k (I - D) P + M**gamma P``
    and emits ``sum over k <= gamma of mu M**k 1`` tokens, mu being the state in
    which rounds start, ``mu = mu K``.
    """
    alpha, turn = _law(process)
    accepted, refused = alpha[:, None] * turn, (1 - alpha)[:, None] * turn
    power, ended, tokens = np.eye(2), np.zeros((2, 2)), np.zeros(2)
    speedups = []
    for cost in round_cost:
        tokens = tokens + power.sum(axis=1)
        moved = ended + power @ turn
        start = np.array([moved[1, 0], moved[0, 1]])
        start = start / start.sum() if start.any() else np.array([0.5, 0.5])
        speedups.append(float(start @ tokens) / cost)
        ended = ended + power @ refused
        power = power @ accepted
    return np.asarray(speedups)


def _law(process: Regimes) -> tuple[Floats, Floats]:
    """Acceptance in either state, and the probabilities of going from one to the other."""
    leave = 1 / process.dwell
    return np.array([process.good, process.bad]), np.array([[1 - leave, leave], [leave, 1 - leave]])


class _Choice(NamedTuple):
    """A length at every belief: tokens of the round, and where the belief goes."""

    tokens: Floats
    moves: Floats


def _choice(process: Regimes, gamma: int) -> _Choice:
    alpha, turn = _law(process)
    good = np.linspace(0, 1, BELIEFS)
    state = np.stack([good, 1 - good], axis=1)  # joint with: all so far were accepted
    moves = np.zeros((BELIEFS, BELIEFS))
    tokens = np.zeros(BELIEFS)
    for _ in range(gamma):
        tokens += state.sum(axis=1)
        _move(moves, (state * (1 - alpha)) @ turn)
        state = (state * alpha) @ turn
    tokens += state.sum(axis=1)
    _move(moves, state @ turn)  # the bonus token says nothing of its state
    return _Choice(tokens, moves)


def _move(moves: Floats, state: Floats) -> None:
    """Add the probability of one outcome to the two beliefs next to the one that it leads to."""
    weight = state.sum(axis=1)
    belief = np.divide(state[:, 0], weight, out=np.zeros_like(weight), where=weight > 0)
    at = np.minimum((belief * (BELIEFS - 1)).astype(np.int64), BELIEFS - 2)
    share = belief * (BELIEFS - 1) - at
    rows = np.arange(BELIEFS)
    moves[rows, at] += weight * (1 - share)
    moves[rows, at + 1] += weight * share
