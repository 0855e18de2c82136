"""Reading on and on: gains between readings, and memory that stays the same."""

import numpy as np
import pytest

from gammaplan.engines.files import Asked, Input
from gammaplan.engines.following import MOST_GROUPS, Endpoints
from gammaplan.engines.groups import Collected, Group
from gammaplan.engines.recent import MOST, Recent
from gammaplan.engines.series import Gains, Raw
from gammaplan.errors import InputError
from gammaplan.model.estimate import Counts
from gammaplan.report.watching import sparkline

from ..servers import in_turn, page, serving
from .engine import Engine, page_of

LABELS = {"__name__": "drafts_total", "instance": "a:1"}


def gained(rounds: int, model: str = "m") -> list[Input]:
    group = Group({"model_name": model}, Counts.full(rounds, [rounds // 2]), records=1)
    return [Input("server", "vllm", "counters", Collected(groups={(model,): group}))]


def rounds(recent: Recent) -> int:
    return sum(g.total.rounds or 0 for one in recent.inputs() for g in one.said.groups.values())


def test_a_window_adds_up_what_is_in_it():
    recent = Recent(60.0)
    for second in range(0, 120, 10):
        recent.add(second, gained(10))
        recent.forget(second)
    assert rounds(recent) == 60


def test_a_window_of_any_number_of_readings_has_as_many_slices():
    recent = Recent(60.0)
    for step in range(8_000):
        recent.add(step / 40, gained(1))
        recent.forget(step / 40)
    assert len(recent._slices) <= MOST + 1
    assert rounds(recent) == pytest.approx(2400, rel=1 / MOST)


def test_a_window_forgets_all_when_nothing_comes():
    recent = Recent(60.0)
    recent.add(0.0, gained(10))
    recent.forget(61.0)
    assert recent.inputs() == []


def raw(*values: float, start: float = 0.0, **labels: str) -> Raw:
    times = start + np.arange(len(values), dtype=float)
    return Raw(LABELS | labels, np.column_stack([times, values]))


def test_series_that_are_settled_count_anew_from_their_latest_sample():
    gains = Gains()
    gains.add([raw(10, 30)])
    gains.settle(-1.0)
    gains.add([raw(35, 50, start=2.0)])
    assert [s.value for s in gains.samples()] == [20]


def test_a_restart_is_told_in_the_stretch_that_has_it():
    gains = Gains()
    gains.add([raw(10, 30, 5)])
    assert [f.code for f in gains.findings()] == ["counter_reset"]
    gains.settle(-1.0)
    gains.add([raw(9, start=3.0)])
    assert gains.findings() == []
    assert [s.value for s in gains.samples()] == [4]


def test_series_that_ended_long_ago_are_forgotten():
    gains = Gains()
    for process in range(100):
        gains.add([raw(1, 2, start=10.0 * process, instance=str(process))])
        gains.settle(10.0 * process - 50.0)
    assert len(gains.samples()) <= 6


def test_the_first_reading_of_a_page_is_where_counting_starts():
    with Engine({"m": (2, 0.8)}).running() as engine:
        pages = Endpoints([engine.url], asked=Asked())
        assert pages.read() == []
        (one,) = pages.read()
    assert [g.total.rounds for g in one.said.groups.values()] == [400]


def test_a_page_that_cannot_be_read_changes_nothing():
    first, later = page_of({"m": [400, 200]}), page_of({"m": [900, 500]})
    with serving(in_turn(page(first), page("", 503), page(later))) as url:
        pages = Endpoints([url], asked=Asked())
        pages.read()
        with pytest.raises(InputError, match="503"):
            pages.read()
        (one,) = pages.read()
    assert [g.total.rounds for g in one.said.groups.values()] == [500]


def test_so_many_groups_are_followed_and_what_is_left_out_is_told():
    rows = {f"m{i}": [400, 200] for i in range(MOST_GROUPS + 20)}
    more = {name: [800, 400] for name in rows}
    with serving(in_turn(page(page_of(rows)), page(page_of(more)))) as url:
        pages = Endpoints([url], asked=Asked())
        pages.read()
        (one,) = pages.read()
    assert len(one.said.groups) == MOST_GROUPS
    assert "many_groups" in {f.code for f in one.said.findings}


def test_a_trend_rises_with_alpha_and_has_gaps_where_it_was_unknown():
    assert sparkline([0.2, 0.4, None, 0.6, 0.8], 20) == "▁▃ ▆█"


def test_a_trend_of_noise_is_nearly_flat():
    ticks = sparkline([0.800, 0.805, 0.801, 0.804], 20)
    assert len(set(ticks)) <= 2


def test_a_trend_is_as_wide_as_its_room():
    assert len(sparkline([0.5] * 100, 7)) == 7
