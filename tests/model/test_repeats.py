"""What repeated runs say of the noise of a run: they can raise it, and leave the lengths' own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan import DomainError, Run, calibrate, speedup_interval
from gammaplan.model.calibration import DEFAULT, own_variance
from gammaplan.model.repeats import Repeats, repeats, run_noise

SPEEDS = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=5)
PUBLISHED = DEFAULT.unknown.run_noise


def noise(runs):
    """The noise that a calibration took for these runs."""
    return next(a for a in calibrate(runs).assumptions if a.name == "run_noise")


@given(st.lists(SPEEDS, max_size=5), st.floats(0.01, 100))
def test_repeats_are_the_variance_within_groups_in_any_unit(groups, unit):
    found = repeats(groups)
    squares = [np.var(np.log(g)) * len(g) for g in groups]
    count = sum(len(g) - 1 for g in groups)
    assert found.number == count
    assert found.square * count == pytest.approx(sum(squares), abs=1e-12)
    again = repeats([[unit * speed for speed in g] for g in groups])
    assert again.square == pytest.approx(found.square, abs=1e-12)


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan, math.inf])
def test_a_speed_that_cannot_be_is_refused(speed):
    with pytest.raises(DomainError, match="speeds must be above 0 and finite"):
        repeats([(50.0, speed)])


def test_nothing_repeated_is_the_published_noise():
    assert run_noise(0.02, Repeats(), Repeats()) == 0.02
    told = noise([Run(3, 1.3), Run(6, 1.2)])
    assert (told.value, told.source) == (PUBLISHED, "published runs")


def test_the_noise_is_of_both_speeds():
    seen = run_noise(0.02, Repeats(0.01, 4), Repeats(0.0025, 2))
    assert seen == pytest.approx(math.sqrt((0.02**2 + (6 + 2) * 0.0125) / (6 + 1)))


@given(st.floats(0, 1), st.integers(0, 50), st.floats(0, 1), st.integers(0, 50))
def test_repeats_never_lower_it(square, count, plain, plains):
    assert run_noise(0.02, Repeats(square, count), Repeats(plain, plains)) >= 0.02


def test_many_repeats_are_believed():
    rng = np.random.default_rng(5)
    runs = [Run(g, math.exp(rng.normal(0.2, 0.1))) for g in (3, 6) for _ in range(200)]
    assert noise(runs).value == pytest.approx(0.1, rel=0.1)
    assert noise(runs).source == "repeated runs"


def test_plain_runs_that_differ_count_once_and_widen_the_interval():
    steady = [Run(3, 1.3), Run(6, 1.25)]
    plain = repeats([(50.0, 40.0, 60.0)])
    shaken = [Run(3, 1.3, baseline_repeats=plain), Run(6, 1.25, baseline_repeats=plain)]
    assert noise(shaken).value == pytest.approx(run_noise(PUBLISHED, Repeats(), plain))
    low, high = speedup_interval(calibrate(steady), range(1, 9))
    wide_low, wide_high = speedup_interval(calibrate(shaken), range(1, 9))
    assert (wide_high / wide_low > 1.1 * high / low).all()


@given(st.floats(0.02, 1))
def test_what_belongs_to_a_length_is_not_the_noise_of_a_run(seen):
    prior = DEFAULT.unknown
    assert own_variance(prior.with_noise(seen)) == pytest.approx(own_variance(prior), abs=1e-15)
    assert prior.with_noise(prior.run_noise) == prior
