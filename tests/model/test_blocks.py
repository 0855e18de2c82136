"""What block verification keeps, against every draft weighed one by one and published figures."""

import itertools
from math import prod

import numpy as np
import pytest

from gammaplan.model.blocks import block_kept

P, Q = [1 / 3, 2 / 3], [2 / 3, 1 / 3]


def rows(seed, gamma, vocabulary, zeros=0):
    rng = np.random.default_rng(seed)
    p, q = (rng.dirichlet(np.ones(vocabulary), size=gamma) for _ in range(2))
    p[:, :zeros], q[:, vocabulary - zeros :] = 0, 0
    p /= p.sum(axis=-1, keepdims=True)
    q /= q.sum(axis=-1, keepdims=True)
    return p, q


def weighed(p, q):
    """E[r_i], from every draft."""
    kept = np.zeros(len(p))
    for draft in itertools.product(*(np.flatnonzero(row) for row in q)):
        ratios = [p[i, x] / q[i, x] for i, x in enumerate(draft)]
        running = itertools.accumulate(ratios, lambda r, ratio: min(1, r * ratio), initial=1)
        kept += prod(q[i, x] for i, x in enumerate(draft)) * np.array(list(running)[1:])
    return kept


def test_the_published_example_keeps_11_ninths():
    assert block_kept(np.array([P] * 2), np.array([Q] * 2)).sum() == pytest.approx(11 / 9, 1e-15)


@pytest.mark.parametrize("gamma", [1, 2, 4])
@pytest.mark.parametrize("zeros", [0, 1, 3])
def test_it_is_the_mean_over_every_draft(gamma, zeros):
    p, q = rows(gamma, gamma, 5, zeros)
    np.testing.assert_allclose(block_kept(p, q), weighed(p, q), rtol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_no_position_adds_less_than_token_by_token(seed):
    p, q = rows(seed, 3, 40)
    assert (block_kept(p, q) >= np.cumprod(np.minimum(p, q).sum(axis=-1)) - 1e-15).all()


def test_one_draft_after_another_that_is_the_target_is_kept_whole():
    p, _ = rows(0, 6, 300)
    np.testing.assert_allclose(block_kept(p, p), 1, rtol=1e-14)


def test_nothing_is_drafted_and_nothing_kept():
    assert block_kept(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)


def test_two_positions_of_any_vocabulary_are_exact_and_longer_drafts_may_be_refused():
    p, q = rows(1, 3, 2_000)
    assert block_kept(p[:2], q[:2]) is not None
    assert block_kept(p, q) is None
