"""Stretches of rows, as tokens are drawn from them."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp
from gammaplan.arrays.pairs import open_pair
from gammaplan.arrays.windows import ELEMENTS, MOST, window_starts, windows
from gammaplan.errors import InputError
from gammaplan.model.overlap import Drawn
from gammaplan.model.sampling import Sampler

PLAIN = Drawn(Sampler(), Sampler())


@pytest.fixture
def logits():
    rng = np.random.default_rng(0)
    return rng.normal(size=(9, 6)), rng.normal(size=(9, 6))


@pytest.fixture
def saved(tmp_path, logits):
    for name, rows in zip(("target", "draft"), logits, strict=True):
        np.save(tmp_path / f"{name}.npy", rows)
    return open_pair(str(tmp_path / "target.npy"), str(tmp_path / "draft.npy"))


def test_a_window_is_the_rows_as_they_are_drawn_from(saved, logits):
    drawn = Drawn(Sampler(0.5), Sampler(1.0, top_k=2))
    p, q = list(windows(saved, [0, 4], 3, drawn, "logits"))[1]
    assert_allclose(p, gp.transform(logits[0][4:7], temperature=0.5), rtol=1e-12)
    assert_allclose(q, gp.transform(logits[1][4:6], top_k=2), rtol=1e-12)


def test_rows_are_repeated_where_there_are_too_few(saved):
    ((p, q),) = windows(saved, [0], 12, PLAIN, "logits")
    assert_array_equal(p[9:], p[:3])
    assert_array_equal(q[9:], q[:2])


def test_a_bad_row_is_named(tmp_path, logits):
    logits[1][5] = np.nan
    for name, rows in zip(("target", "draft"), logits, strict=True):
        np.save(tmp_path / f"{name}.npy", rows)
    pair = open_pair(str(tmp_path / "target.npy"), str(tmp_path / "draft.npy"))
    with pytest.raises(InputError, match=r"draft\.npy: row 5 must have no NaN"):
        list(windows(pair, [0, 4], 3, PLAIN, "logits"))


@pytest.mark.parametrize("positions", [1, 7, 100, 10**6])
@pytest.mark.parametrize("rows", [1, 7, 50])
@pytest.mark.parametrize("vocab", [2, 128_000])
def test_windows_lie_apart_within_the_rows_and_are_not_too_many(positions, rows, vocab):
    starts = window_starts(positions, rows, vocab)
    assert starts[0] == 0
    assert len(starts) <= MOST
    assert len(starts) * rows * vocab <= ELEMENTS or len(starts) == 1
    assert all(after - before >= rows for before, after in itertools.pairwise(starts))
    assert starts[-1] + rows <= positions or len(starts) == 1
