"""Pairs are measured in memory that neither their length nor the number of samplers sets."""

import tracemalloc

import numpy as np

from gammaplan.arrays.measuring import Question, measured
from gammaplan.arrays.pairs import open_pair
from gammaplan.model.overlap import Drawn
from gammaplan.model.sampling import Sampler

from .files import saved


def test_what_is_found_at_narrow_rows_does_not_pile_up(tmp_path):
    saved(tmp_path, t=np.ones((140_000, 2), "<f4"), d=np.zeros((140_000, 2), "<f4"))
    pair = open_pair(str(tmp_path / "t.npy"), str(tmp_path / "d.npy"))
    samplers = [Sampler(temperature=1 + i / 40) for i in range(40)]
    question = Question(tuple(Drawn(s, s) for s in samplers))
    tracemalloc.start()
    positions = sum(len(found[0]["alpha"]) for found in measured(pair, question))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert positions == 140_000
    assert peak < 30e6  # what is found at all positions takes 300e6
