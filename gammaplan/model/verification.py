"""The rules by which a target keeps or refuses drafted tokens, sampled for many rounds at once."""

import numpy as np

from gammaplan.model.arrays import ArrayLike
from gammaplan.model.drawing import draw, draw_excess, excess, residual_weights
from gammaplan.model.rounds import Rounds, Verified
from gammaplan.model.rules import Lenience, Typical


def verify_chain(
    p: ArrayLike,
    q: ArrayLike,
    drafted: ArrayLike,
    *,
    rng: np.random.Generator,
    lengths: ArrayLike | None = None,
    lenience: float = 1.0,
) -> Verified:
    """The standard rule, token by token: what is emitted is distributed as `p`.

    Parameters
    ----------
    p : array_like of float, shape ``(..., gamma + 1, vocabulary)``
        The target's probabilities after the context and each drafted token.
    q : array_like of float, shape ``(..., gamma, vocabulary)``
        The probabilities from which the drafted tokens were drawn.
    drafted : array_like of int, shape ``(..., gamma)``
        The drafted tokens.
    rng : numpy.random.Generator
        Where the uniforms come from.
    lengths : array_like of int, optional
        How many tokens of each draft are verified, broadcast against the
        rounds; what lies behind them is ignored. Default all. [0 to gamma]
    lenience : float, optional
        ``l`` in (0, 1]: `q` counts as ``l * q``. Below 1 more is accepted, and
        a token may be emitted up to ``1 / l`` times as often as `p` says.

    Returns
    -------
    Verified
        `accepted` and `token` of each round, of the shape that the leading
        dimensions broadcast to; ints for a single round.

    Raises
    ------
    DomainError
        If the shapes do not fit, a row is no distribution, or a drafted token
        is none that `q` could have drawn.

    Notes
    -----
    Position i is kept with probability ``min(1, p_i(x_i) / q_i(x_i))``. The
    first refusal ends the round, and a token of ``(p_i - q_i)+``, normalised,
    takes its place; a whole draft is followed by a token of ``p_{gamma+1}``
    [1]_. The probability of keeping a token is ``sum_x min(p(x), q(x))``. For a
    draft that takes the most probable token, `q` is 1 there and 0 elsewhere.

    References
    ----------
    .. [1] Y. Leviathan, M. Kalman and Y. Matias, "Fast inference from
       transformers via speculative decoding," ICML, 2023. arXiv:2211.17192.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = [[0.7, 0.3]] * 3, [[0.4, 0.6]] * 2
    >>> drafted = rng.choice(2, size=(100_000, 2), p=q[0])
    >>> accepted, token = verify_chain(p, q, drafted, rng=rng)
    >>> print(round(accepted.mean(), 2))  # 0.7 + 0.7 ** 2
    1.19
    >>> first = np.where(accepted > 0, drafted[:, 0], token)
    >>> print(round((first == 0).mean(), 2))
    0.7
    """
    rounds = Rounds(p, drafted, q=q, lengths=lengths)
    assert rounds.q is not None
    claimed = Lenience(lenience).lenience * rounds.q
    kept = rng.random(rounds.drafted.shape) * rounds.taken(claimed) < rounds.taken(rounds.p)
    accepted = rounds.unbroken(kept)
    u = rng.random(accepted.shape)
    token = np.empty_like(accepted)
    for i, chosen, whole in rounds.ends(accepted):
        target = rounds.rows(rounds.p, i, chosen)
        if not whole:
            target = residual_weights(target, rounds.rows(claimed, i, chosen))
        token[chosen] = draw(target, u[chosen])
    return rounds.verified(accepted, token)


def verify_block(
    p: ArrayLike,
    q: ArrayLike,
    drafted: ArrayLike,
    *,
    rng: np.random.Generator,
    lengths: ArrayLike | None = None,
) -> Verified:
    """Block verification: the draft is judged whole, and at least as much is kept.

    Parameters
    ----------
    p, q, drafted, rng, lengths
        As for `verify_chain`.

    Returns
    -------
    Verified
        As for `verify_chain`.

    Raises
    ------
    DomainError
        As for `verify_chain`.

    Notes
    -----
    With ``r_0 = 1`` and ``r_i = min(1, r_{i-1} * p_i(x_i) / q_i(x_i))`` the
    longest i whose own uniform is below ``h_i`` is kept [1]_,

    ``h_i = e_i / (e_i + 1 - r_i)``, ``e_i = sum_x (r_i p_{i+1}(x) - q_{i+1}(x))+``

    and ``h_gamma = r_gamma``; a token of ``(r_i p_{i+1} - q_{i+1})+``,
    normalised, follows. Together with what is drawn from the target
    afterwards, whole sequences are distributed as the target's.

    References
    ----------
    .. [1] Z. Sun et al., "Block verification accelerates speculative
       decoding," 2024. arXiv:2403.10444.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = [[1/3, 2/3]] * 3, [[2/3, 1/3]] * 2
    >>> drafted = rng.choice(2, size=(100_000, 2), p=q[0])
    >>> print(round(verify_chain(p, q, drafted, rng=rng).accepted.mean(), 2))  # 10 / 9
    1.11
    >>> print(round(verify_block(p, q, drafted, rng=rng).accepted.mean(), 2))  # 11 / 9
    1.22
    """
    rounds = Rounds(p, drafted, q=q, lengths=lengths)
    assert rounds.q is not None
    u = rng.random(rounds.drafted.shape)
    target, draft = rounds.taken(rounds.p), rounds.taken(rounds.q)
    ratio = np.divide(target, draft, out=np.zeros_like(target), where=draft > 0)
    accepted = np.zeros(rounds.count, dtype=np.int64)
    running, scale = np.ones(rounds.count), np.ones(rounds.count)
    everyone = np.arange(rounds.count)
    for i in range(1, rounds.gamma + 1):
        running = np.minimum(1, running * ratio[:, i - 1])
        keep = running.copy()
        if i < rounds.gamma:
            target, draft = (rounds.rows(of, i, everyone) for of in (rounds.p, rounds.q))
            over = excess(target, draft, running)
            under = over + 1 - running
            early = np.divide(over, under, out=np.ones_like(over), where=under > 0)
            keep = np.where(rounds.lengths == i, running, early)
        keeps = (u[:, i - 1] < keep) & (rounds.lengths >= i)
        accepted = np.where(keeps, i, accepted)
        scale = np.where(keeps, running, scale)
    u = rng.random(rounds.count)
    token = np.empty_like(accepted)
    for i, chosen, whole in rounds.ends(accepted):
        target = rounds.rows(rounds.p, i, chosen)
        if whole:
            token[chosen] = draw(target, u[chosen])
        else:
            draft = rounds.rows(rounds.q, i, chosen)
            token[chosen] = draw_excess(target, draft, scale[chosen], u[chosen])
    return rounds.verified(accepted, token)


def verify_match(
    p: ArrayLike,
    drafted: ArrayLike,
    *,
    rng: np.random.Generator,
    lengths: ArrayLike | None = None,
) -> Verified:
    """Exact match: a draft is kept while it agrees with the target's own draws.

    Parameters
    ----------
    p, drafted, rng, lengths
        As for `verify_chain`; how the draft was drawn does not matter.

    Returns
    -------
    Verified
        As for `verify_chain`.

    Raises
    ------
    DomainError
        If the shapes do not fit or a row is no distribution.

    Notes
    -----
    What is emitted is what the target drew, so its law is `p` whatever the
    draft. A token of `q` is kept with probability ``sum_x p(x) q(x)``, never
    more than `verify_chain` keeps.

    Examples
    --------
    >>> verify_match([[0.0, 1.0], [1.0, 0.0]], [1], rng=np.random.default_rng(0))
    Verified(accepted=1, token=0)
    """
    rounds = Rounds(p, drafted, lengths=lengths)
    everyone = np.arange(rounds.count)
    own = np.stack(
        [
            draw(rounds.rows(rounds.p, i, everyone), rng.random(rounds.count))
            for i in range(rounds.gamma + 1)
        ],
        axis=-1,
    )
    accepted = rounds.unbroken(own[:, :-1] == rounds.drafted)
    return rounds.verified(accepted, own[everyone, accepted])


def verify_typical(
    p: ArrayLike,
    drafted: ArrayLike,
    *,
    rng: np.random.Generator,
    lengths: ArrayLike | None = None,
    epsilon: float = Typical.epsilon,
    delta: float = Typical.delta,
) -> Verified:
    """Typical acceptance: tokens that are probable enough are kept. Not lossless.

    Parameters
    ----------
    p, drafted, rng, lengths
        As for `verify_chain`.
    epsilon, delta : float, optional
        The thresholds, below. [0 to 1]

    Returns
    -------
    Verified
        As for `verify_chain`.

    Raises
    ------
    DomainError
        If the shapes do not fit or a row is no distribution.

    Notes
    -----
    ``x`` is kept if ``p(x) >= min(epsilon, delta * exp(-H(p)))``, H the entropy
    in nats [1]_. The token that follows is drawn from `p`.

    References
    ----------
    .. [1] T. Cai et al., "Medusa: simple LLM inference acceleration framework
       with multiple decoding heads," 2024. arXiv:2401.10774.

    Examples
    --------
    >>> verify_typical([[0.9, 0.1], [1, 0]], [0], rng=np.random.default_rng(0))
    Verified(accepted=1, token=0)
    """
    rounds = Rounds(p, drafted, lengths=lengths)
    typical = Typical(epsilon, delta).accepted(rounds.p[:, :-1], np.ones(1))
    accepted = rounds.unbroken(rounds.taken(typical) > 0)
    u = rng.random(accepted.shape)
    token = np.empty_like(accepted)
    for i, chosen, _ in rounds.ends(accepted):
        token[chosen] = draw(rounds.rows(rounds.p, i, chosen), u[chosen])
    return rounds.verified(accepted, token)
