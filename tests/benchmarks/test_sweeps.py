"""The planner's score on public sweeps, in sample: the whole table is in docs/validation."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def sweeps_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import sweeps

        yield sweeps


def test_one_run_with_its_method(sweeps_module):
    from gammaplan.model.calibration import DEFAULT

    s = sweeps_module
    found = s.read_sweeps(s.SWEEPS)
    line = s.score(found, "one", s.ours(lambda _: DEFAULT, known=True))
    regret, error, by_source = (part.split("/") for part in line.split("|")[1:])
    assert float(regret[1]) < 2.1
    assert float(error[1]) < 8.0
    assert float(by_source[0]) < 2.7


def test_every_case_is_answered_and_counted(sweeps_module):
    s = sweeps_module
    found = s.read_sweeps(s.SWEEPS)
    counts = [len({c.sweep.sweep_id for c in s.cases(found, setup)}) for setup in s.SETUPS]
    assert counts == [90, 84, 83]
