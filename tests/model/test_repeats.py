"""What repeated runs say of the noise of a run: they can raise it, and leave the lengths' own."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan import DomainError, Run, calibrate, speedup_interval
from gammaplan.model.calibration import DEFAULT
from gammaplan.model.repeats import ALONE, Repeats, noise, repeats

SPEEDS = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=5)
PUBLISHED = DEFAULT.unknown.run_noise


def assumed(runs):
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
    for plain in (None, ALONE):
        assert noise(0.02, ALONE, plain) == (0.02, 0.0)
    told = assumed([Run(3, 1.3), Run(6, 1.2)])
    assert (told.value, told.source) == (PUBLISHED, "published runs")


def test_runs_with_baselines_of_their_own_have_both_noises_in_them():
    seen = noise(0.02, Repeats(0.01, 4))
    assert seen.run**2 == pytest.approx((0.02**2 + (4 + 2) * 0.01) / (4 + 1))
    assert seen.shared == 0


def test_each_side_is_corrected_by_its_own_repeats_and_the_mean_of_the_plain_is_shared():
    runs, plain = Repeats(0.01, 1), Repeats(0.0025, 9)
    own = noise(0.02, runs).run ** 2 - 0.02**2
    base = noise(0.02, plain).run ** 2 - 0.02**2
    seen = noise(0.02, runs, plain)
    assert seen.run**2 == pytest.approx(0.02**2 + own + base)
    assert seen.shared**2 == pytest.approx(base / 10)


def test_what_was_not_repeated_is_taken_to_differ_as_the_other_does():
    seen = Repeats(0.01, 4)
    both, runs, plain = noise(0.02, seen, seen), noise(0.02, seen, ALONE), noise(0.02, ALONE, seen)
    assert runs.run == pytest.approx(both.run)
    assert plain == pytest.approx(both)
    assert runs.shared == pytest.approx(both.shared * 5**0.5)  # measured once, not five times


@given(st.floats(0, 1), st.integers(0, 50), st.floats(0, 1), st.integers(0, 50), st.booleans())
def test_repeats_never_lower_it(square, count, plain, plains, own):
    shared = None if own else Repeats(plain, plains)
    assert noise(0.02, Repeats(square, count), shared).run >= 0.02


def test_many_repeats_are_believed():
    rng = np.random.default_rng(5)
    runs = [Run(g, math.exp(rng.normal(0.2, 0.1))) for g in (3, 6) for _ in range(200)]
    assert assumed(runs).value == pytest.approx(0.1, rel=0.1)
    assert assumed(runs).source == "repeated runs"


def test_plain_runs_that_differ_widen_the_interval_however_they_are_given():
    steady = [Run(3, 1.3), Run(6, 1.25)]
    speeds = (50.0, 40.0, 60.0)
    shaken = [replace(run, baseline_repeats=repeats([speeds])) for run in steady]
    once = repeats([speeds])
    shared = [replace(run, baseline_repeats=once) for run in steady]
    assert assumed(shaken).value == assumed(shared).value
    assert assumed(shaken).value == pytest.approx(noise(PUBLISHED, ALONE, once).run)
    low, high = speedup_interval(calibrate(steady), range(1, 9))
    wide_low, wide_high = speedup_interval(calibrate(shaken), range(1, 9))
    assert (wide_high / wide_low > 1.1 * high / low).all()


@given(st.floats(0.02, 1))
def test_what_belongs_to_a_length_is_not_the_noise_of_a_run(seen):
    prior = DEFAULT.unknown
    assert prior.with_noise(seen).own_variance == pytest.approx(prior.own_variance, abs=1e-15)
    assert prior.with_noise(prior.run_noise) == prior
