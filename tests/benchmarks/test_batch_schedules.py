"""The table of schedules on public sweeps in docs/validation.md is what the script prints."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        import batch_schedules

        yield batch_schedules


def test_the_page_has_the_table_that_the_script_prints(script):
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert "\n".join(script.lines()) in page


def test_what_the_page_says_of_the_crossovers(script):
    sweeps, left_out = script.read()
    assert (len(sweeps), left_out) == (12, 6)
    crossed = [s for s in sweeps if ".." in s.crossover()]
    inside = []
    for sweep in crossed:
        low, high = map(int, sweep.crossover().split(".."))
        at = int(sweep.predicted_crossover().split("..")[0])
        inside.append(low <= at < high)
    assert (len(crossed), sum(inside)) == (8, 7)
    assert all(
        s.predicted_crossover().split()[0] == s.crossover().split()[0]
        for s in sweeps
        if s not in crossed
    )


def test_a_hidden_batch_does_not_tell_the_prediction(script):
    (sweep, *_), _ = script.read()
    batches = sorted(sweep.speedups)
    hidden = batches[1]
    before = sweep.predicted(hidden, [batches[0], batches[-1]])
    sweep.speedups[hidden] *= 2
    assert sweep.predicted(hidden, [batches[0], batches[-1]]) == before
