"""The most that any policy can reach that sees the past only, where the text has two regimes."""

from typing import NamedTuple

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.processes import Regimes

BELIEFS = 201  # grid of the probability that the next token is in the good state
DEEPEST = 40  # longer drafts are not considered
STEPS = 50


def best_causal(process: Regimes, round_cost: Floats) -> float:
    """The largest speedup of a policy that knows the process but not the state.

    Parameters
    ----------
    process : Regimes
        Both states and how long they last.
    round_cost : ndarray of float, shape ``(longest + 1,)``
        Cost of a round by its length. [target passes]

    Returns
    -------
    float
        What the best rule over beliefs reaches in the long run; no policy
        without confidence passes it.

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
    >>> print(round(best_causal(Regimes(0.9, 0.4, 100), 1 + 0.1 * np.arange(20)), 2))
    1.83
    """
    costs = round_cost[: DEEPEST + 1]
    choices = [_choice(process, gamma) for gamma in range(len(costs))]
    tokens = np.stack([c.tokens for c in choices])
    moves = np.stack([c.moves for c in choices])
    pick = np.zeros(BELIEFS, dtype=np.int64)
    rows, ratio = np.arange(BELIEFS), 0.0
    for _ in range(STEPS):
        system = np.zeros((BELIEFS + 1, BELIEFS + 1))
        system[:-1, :-1] = np.eye(BELIEFS) - moves[pick, rows]
        system[:-1, -1] = costs[pick]
        system[-1, 0] = 1.0
        *worth, ratio = np.linalg.solve(system, np.append(tokens[pick, rows], 0.0))
        values = tokens - ratio * costs[:, None] + moves @ np.asarray(worth)
        better = values.argmax(axis=0)
        gained = values[better, rows] - values[pick, rows]
        if gained.max() < 1e-10:
            break
        pick = np.where(gained > 1e-10, better, pick)
    return float(ratio)


class _Choice(NamedTuple):
    """A length at every belief: tokens of the round, and where the belief goes."""

    tokens: Floats
    moves: Floats


def _choice(process: Regimes, gamma: int) -> _Choice:
    alpha = np.array([process.good, process.bad])
    turn = np.array([[1 - 1 / process.dwell, 1 / process.dwell]] * 2)
    turn[1] = turn[1, ::-1]
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
