"""What block verification keeps, in expectation and without playing it."""

import numpy as np

from gammaplan.model.arrays import Floats
from gammaplan.model.drawing import excess

MOST = 2**17  # values of r_i that are followed side by side


def block_kept(p: Floats, q: Floats) -> Floats | None:
    """``E[r_i]`` for each drafted position: their sum is what a round keeps.

    Parameters
    ----------
    p, q : ndarray of float, shape ``(gamma, vocabulary)``
        Target and draft at the drafted positions, whatever was drafted before.

    Returns
    -------
    ndarray of float64, shape ``(gamma,)``, or None
        None where the drafts have too many values of r to follow them all; two
        positions of any vocabulary never have.

    Notes
    -----
    ``r_0 = 1`` and ``r_i = min(1, r_{i-1} * p_i(x_i) / q_i(x_i))`` over drafts
    ``x`` of q [1]_. The law of ``r_{i-1}`` is followed value by value, equal ones
    together, and ``E[r_i | r] = sum_x min(q_i(x), r p_i(x)) = r - sum_x (r p_i(x)
    - q_i(x))+``.

    References
    ----------
    .. [1] Z. Sun et al., "Block verification accelerates speculative
       decoding," 2024. arXiv:2403.10444.

    Examples
    --------
    >>> block_kept(np.array([[1/3, 2/3]] * 2), np.array([[2/3, 1/3]] * 2)).sum() * 9
    np.float64(11.0)
    """
    kept: Floats = np.zeros(len(p))
    values: Floats = np.ones(1)
    shares: Floats = np.ones(1)
    for i, (target, draft) in enumerate(zip(p, q, strict=True)):
        kept[i] = shares @ (values - excess(target[None], draft[None], values))
        if i + 1 == len(p):
            break
        drawn = draft > 0
        ratios, which = np.unique(target[drawn] / draft[drawn], return_inverse=True)
        if len(values) * len(ratios) > MOST:
            return None
        weights = np.bincount(which.ravel(), draft[drawn])
        reached = np.minimum(1, np.multiply.outer(values, ratios)).ravel()
        values, where = np.unique(reached, return_inverse=True)
        spread = np.multiply.outer(shares, weights).ravel()
        shares = np.asarray(np.bincount(where.ravel(), spread), np.float64)
    return kept
