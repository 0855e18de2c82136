"""benchmarks/live: predictions come first, and what is made of the records is what they say."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield


@pytest.fixture
def order():
    from benchmarks.live import order

    return order


def predicted(folder, written="2026-11-30T10:00:00+00:00", **more):
    document = {"written": written, "configurations": [], **more}
    (folder / "predictions.json").write_text(json.dumps(document), encoding="utf-8")


def record(order, folder, started="2026-11-30T11:00:00+00:00", **more):
    order.append(
        folder / "measurements.jsonl",
        {"started": started, "predictions": order.seal(folder), **more},
    )


def test_nothing_is_measured_without_predictions(order, tmp_path):
    with pytest.raises(order.OutOfOrder, match=r"no predictions\.json"):
        order.may_measure(tmp_path)
    predicted(tmp_path)
    assert order.may_measure(tmp_path) == order.seal(tmp_path)


def test_nothing_is_predicted_once_something_was_measured(order, tmp_path):
    order.may_predict(tmp_path)
    predicted(tmp_path)
    record(order, tmp_path)
    with pytest.raises(order.OutOfOrder, match="measurements exist"):
        order.may_predict(tmp_path)
    (tmp_path / "predictions.json").unlink()
    with pytest.raises(order.OutOfOrder, match="measurements exist"):
        order.may_predict(tmp_path)


def test_predictions_are_made_once_and_from_a_closed_calibration(order, tmp_path):
    order.may_calibrate(tmp_path)
    predicted(tmp_path)
    with pytest.raises(order.OutOfOrder, match="not made again"):
        order.may_predict(tmp_path)
    with pytest.raises(order.OutOfOrder, match="no calibration is added"):
        order.may_calibrate(tmp_path)


def test_predictions_that_were_changed_after_a_measurement_are_refused(order, tmp_path):
    predicted(tmp_path)
    record(order, tmp_path)
    order.checked(tmp_path)
    predicted(tmp_path, note="better")
    for step in (order.may_measure, order.checked):
        with pytest.raises(order.OutOfOrder, match="other predictions"):
            step(tmp_path)


@pytest.mark.parametrize("started", ["2026-11-30T09:59:59+00:00", "2026-11-30T10:00:00+00:00"])
def test_measurements_from_before_the_predictions_are_not_compared(order, tmp_path, started):
    predicted(tmp_path)
    record(order, tmp_path)
    record(order, tmp_path, started=started)
    with pytest.raises(order.OutOfOrder, match="1 measurements began before"):
        order.checked(tmp_path)


def test_nothing_measured_is_nothing_to_compare(order, tmp_path):
    predicted(tmp_path)
    with pytest.raises(order.OutOfOrder, match="nothing was measured"):
        order.checked(tmp_path)


def test_the_steps_themselves_keep_the_order(order, tmp_path):
    from benchmarks.live.calibrate import calibrate, time_passes
    from benchmarks.live.compare import compare
    from benchmarks.live.design import SMALL
    from benchmarks.live.measure import measure
    from benchmarks.live.predict import predict

    for step in (lambda: measure(tmp_path, SMALL, tmp_path), lambda: compare(SMALL, tmp_path)):
        with pytest.raises(order.OutOfOrder):
            step()
    predicted(tmp_path)
    for step in (
        lambda: predict(SMALL, tmp_path),
        lambda: calibrate(tmp_path, SMALL, tmp_path),
        lambda: time_passes(tmp_path, SMALL, tmp_path),
    ):
        with pytest.raises(order.OutOfOrder):
            step()


def test_a_record_cut_off_by_an_interrupt_is_dropped(order, tmp_path):
    file = tmp_path / "records.jsonl"
    order.append(file, {"n": 1})
    with file.open("a", encoding="utf-8") as out:
        out.write('{"n": 2, "te')
    assert order.lines(file) == [{"n": 1}]
    order.append(file, {"n": 3})
    assert order.lines(file) == [{"n": 1}, {"n": 3}]


def test_every_round_of_a_workload_has_every_way_once_and_the_plain_one_for_each_draft():
    from benchmarks.live.design import FULL, Way

    turns = Counter(FULL.turns())
    assert {n for (_, _, way), n in turns.items() if way.gamma} == {1}
    for draft in FULL.used():
        for cell in FULL.cells(draft):
            others = [d for d in FULL.used() if d.plain == draft.plain and cell in FULL.cells(d)]
            for turn in range(FULL.rounds):
                lengths = {
                    way.gamma
                    for t, c, way in turns
                    if (t, c, way.draft) == (turn, cell, draft.name)
                }
                assert lengths == set(range(1, 9))
                assert turns[turn, cell, draft.plain] == len(others)
    assert not any(way.draft.endswith("f32") and cell.temperature for _, cell, way in turns)
    assert Way("plain-f16", 0) in FULL.ways()


def test_the_calibration_sees_two_lengths_and_no_others():
    from benchmarks.live.design import FULL

    known = Counter(FULL.known())
    assert {way.gamma for _, _, way in known} == {0, *FULL.revealed}
    assert {n for (_, _, way), n in known.items() if way.gamma} == {1}


@pytest.mark.parametrize("step", ["known", "turns"])
def test_every_draft_runs_next_to_its_own_plain_target(step):
    from benchmarks.live.design import FULL

    plain = {d.name: d.plain for d in FULL.used()}
    groups = {}
    for turn, cell, way in getattr(FULL, step)():
        groups.setdefault((turn, cell), []).append(way)
    for ways in groups.values():
        for at, way in enumerate(ways):  # the order of a round is a ring, cut anywhere
            if way.gamma:
                back = at
                while ways[back].gamma:
                    assert ways[back].draft == way.draft
                    back -= 1
                assert ways[back] == plain[way.draft]


def test_no_round_begins_like_the_one_before():
    from benchmarks.live.design import FULL

    first = {}
    for turn, cell, way in FULL.turns():
        if way.gamma:  # a plain one comes before each draft
            first.setdefault((turn, cell), way)
    for cell in FULL.cells():
        assert len({first[turn, cell] for turn in range(FULL.rounds)}) == FULL.rounds


def test_the_full_run_is_planned_to_end_in_time():
    from benchmarks.live.__main__ import BUILD
    from benchmarks.live.design import FULL

    assert sum(FULL.minutes().values()) + BUILD < 36


def timings(tps, tokens=128, accepted=0, drafted=0):
    told = {"predicted_n": tokens, "predicted_ms": 1e3 * (tokens - 1) / tps}
    told["predicted_per_second"] = tps
    return told | {"draft_n": drafted, "draft_n_accepted": accepted}


def test_a_speedup_is_over_the_plain_requests_of_its_own_round():
    from benchmarks.live.compare import speedups
    from benchmarks.live.design import Cell, Way

    cell = Cell("code", 0.0)
    rows = [("plain", 0, 0, 50), ("plain", 0, 0, 150), ("plain", 0, 1, 50), ("q4_1", 3, 0, 150)]
    rows += [("q4_1", 3, 1, 50)]
    measured = [
        {"draft": d, "gamma": g, "cell": cell.name, "turn": t, "timings": timings(tps)}
        for d, g, t, tps in rows
    ]
    assert speedups(measured, cell, Way("q4_1", 3), Way("plain", 0)) == [1.5, 1.0]


def test_misses_of_a_lookup_are_in_its_run():
    from benchmarks.live.predict import run_rows

    plain = [{"turn": 0, "timings": timings(50)}]
    records = [{"turn": 0, "timings": timings(100, tokens=101, accepted=20, drafted=60)}]
    counts = {"rounds": 40, "drafted": 60, "accepted": 20}  # of 80 passes
    found = {"counts": counts, "survival": [0.4, 0.1]}
    (row,) = run_rows(records, plain, 2, found, misses=True)
    assert row["mean_length"] == pytest.approx(100 / 80)
    assert row["drafted_per_round"] == pytest.approx(60 / 80)
    assert row["survival"] == "0.2/0.05"
    full = {"counts": {"rounds": 40, "drafted": 80, "accepted": 20}, "survival": [0.4, 0.1]}
    (row,) = run_rows(records, plain, 2, full)
    assert row["mean_length"] == 1.5
    assert "drafted_per_round" not in row


def test_every_repeat_is_a_row_with_the_plain_speed_of_its_round():
    from benchmarks.live.predict import run_rows

    plain = [{"turn": t, "timings": timings(tps)} for t, tps in ((0, 50), (0, 70), (1, 40))]
    records = [{"turn": t, "timings": timings(tps)} for t, tps in ((0, 90), (1, 60), (2, 80))]
    fit = {"counts": {"rounds": 10, "drafted": 30, "accepted": 20}, "survival": []}
    rows = run_rows(records, plain, 3, fit)
    assert [(r["baseline_tps"], r["spec_tps"]) for r in rows] == [(60, 90), (40, 60)]
    assert {(r["gamma"], r["mean_length"]) for r in rows} == {(3, 3.0)}


def test_timed_passes_make_a_cost_with_the_drafts_own_reading(tmp_path):
    from benchmarks.live.design import DRAFTS
    from benchmarks.live.predict import _cost

    timed = [(1, 10), (2, 20), (1, 30), (2, 40), (1, 14), (2, 24)]  # sizes and ms, three times
    rows = [
        json.dumps({"pp": 16, "pl": size, "t_tg": ms / 1e3 * 32, "tg": 32}) for size, ms in timed
    ]
    (tmp_path / "batched-target-f16.jsonl").write_text("\n".join([*rows, ""]), encoding="utf-8")
    reading = [{"n_prompt": size, "n_gen": 0, "avg_ns": 5e6 * size} for size in (1, 2)]
    (tmp_path / "bench-draft-q2_k.json").write_text(json.dumps(reading), encoding="utf-8")
    q2_k, ngram = (next(d for d in DRAFTS if d.name == name) for name in ("q2_k", "ngram"))
    for draft, ms in ((ngram, 24), (q2_k, 5 + 24 + 10)):
        file = _cost(tmp_path, draft, "passes", tmp_path / f"{draft.name}.json")
        (cost,) = json.loads(Path(file).read_text("utf-8"))["result"]["costs"]
        assert cost["table"] == [{"gamma": 1, "round_cost": pytest.approx(ms / 14)}]


def plan(gamma, **speedups):
    rows = [{"gamma": 0, "speedup": 1.0, "low": 1.0, "high": 1.0}]
    rows += [
        {"gamma": int(g[1:]), "speedup": s, "low": 0.9 * s, "high": 1.1 * s}
        for g, s in speedups.items()
    ]
    return {"gamma": gamma, "rows": rows}


def test_a_plan_is_scored_on_the_lengths_that_it_was_not_shown():
    from benchmarks.live.compare import _score

    true = {0: 1.0, 1: 1.2, 2: 1.25, 3: 1.0}
    score = _score(plan(1, g1=1.25, g2=1.0, g3=1.0), true, 2, (3,))
    assert score["regret"] == pytest.approx(1.25 / 1.2 - 1)
    assert score["errors"] == pytest.approx({1: 1.25 / 1.2 - 1, 2: -0.2})
    assert (score["held"], score["ranged"]) == (1, 2)
    assert _score(plan(0, g1=0.8), true, 2, ())["regret"] == 0.25


def test_a_repetition_tells_how_far_the_calibration_was_off():
    from benchmarks.live.repeat import repeats

    rows = ((3, 50.0, 40.0), (3, 50.0, 90.0), (6, 50.0, 40.0))
    runs = [{"gamma": g, "baseline_tps": base, "spec_tps": own} for g, base, own in rows]
    found = repeats(runs, {0: 1.0, 1: 1.1, 3: 1.0, 6: 1.0})
    assert [r["gamma"] for r in found] == [3, 6]
    assert [r["calibrated"] for r in found] == pytest.approx([1.2, 0.8])
    assert [r["off"] for r in found] == pytest.approx([0.2, -0.2])


def test_a_plan_wrong_by_the_drift_alone_is_right_without_it():
    from benchmarks.live.compare import _score
    from benchmarks.live.repeat import without_drift

    true = {0: 1.0, 1: 1.0, 2: 1.25, 3: 1.0}
    told = plan(2, g1=1.5, g2=1.875, g3=1.5)
    assert _score(told, true, 2, (3,))["held"] == 0
    score = _score(without_drift(told, [{"gamma": 3, "off": 0.5}]), true, 2, (3,))
    assert score["errors"] == pytest.approx({1: 0.0, 2: 0.0})
    assert score["held"] == score["ranged"] == 2
    two = [{"gamma": 1, "off": 0.25}, {"gamma": 3, "off": 0.8}]  # 1.5 as the geometric mean
    assert without_drift(told, two)["rows"][2]["speedup"] == pytest.approx(1.25)
    assert without_drift(told, two)["rows"][0] == told["rows"][0]
    assert without_drift(told, []) is told


def test_an_error_is_of_the_tokens_or_of_the_cost():
    from benchmarks.live.repeat import parts

    told = {"rows": [{"gamma": 1, "expected_tokens": 2.0, "round_cost": 1.5}]}
    points = [{"gamma": 1, "tokens_per_pass": 1.6, "speedup": 0.8}, {"gamma": 3}]
    points[1] |= {"tokens_per_pass": 1.0, "speedup": 1.0}
    found = parts(told, points, [1])
    assert found == {"tokens": {1: pytest.approx(0.25)}, "cost": {1: pytest.approx(-0.25)}}


def test_the_counts_of_a_page_are_read_by_eye():
    from benchmarks.live.publish import counted

    page = (ROOT / "tests/data/samples/llamacpp/metrics_low_precision.prom").read_text("utf-8")
    with pytest.raises(KeyError):  # totals of that page are rounded: no truth
        counted(page)
    names = {"num_drafts": 4, "num_draft_tokens": 8, "num_accepted_tokens": 5}
    text = "".join(f"llamacpp:spec_decode_{name}_total {n}\n" for name, n in names.items())
    for position, n in enumerate((3, 2)):
        at = f'{{position="{position}"}}'
        text += f"llamacpp:spec_decode_num_accepted_tokens_per_pos_total{at} {n}\n"
    assert counted(text) == {
        "rounds": 4,
        "drafted": 8,
        "accepted": 5,
        "accepted_at_least": [3, 2],
    }


def test_an_interrupted_measurement_is_gone_on_with(order, tmp_path, monkeypatch):
    from benchmarks.live import measure as step
    from benchmarks.live.design import SMALL

    asked = []

    class Stopping:
        def __init__(self, after):
            self.after = after

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def ask(self, way, cell, tokens, seed, more):
            if not self.after:
                raise KeyboardInterrupt
            self.after -= 1
            asked.append((more["turn"], cell.name, *way))
            record(order, tmp_path, draft=way.draft, gamma=way.gamma, cell=cell.name, **more)

    predicted(tmp_path)
    monkeypatch.setattr(step, "session", lambda *_: Stopping(4))
    with pytest.raises(KeyboardInterrupt):
        step.measure(tmp_path, SMALL, tmp_path)
    monkeypatch.setattr(step, "session", lambda *_: Stopping(-1))
    measured = step.measure(tmp_path, SMALL, tmp_path)
    assert asked == [(turn, cell.name, *way) for turn, cell, way in SMALL.turns()]
    assert len(measured) == SMALL.requests()["measure"]


def test_the_worst_regret_stands_first_and_every_way_has_its_line():
    from benchmarks.live.compare import _score, summary
    from benchmarks.live.predict import FROM

    true = {0: 1.0, 1: 1.2, 2: 1.25}
    rows = []
    for cell, gamma in (("code-t0", 2), ("list-t0", 0), ("prose-t0", 1)):
        score = _score(plan(gamma, g1=1.2, g2=1.25), true, 2, ())
        score |= {"shown": (), "undrifted": score, "tokens": {1: 0.1}, "cost": {1: -0.2}}
        plans = dict.fromkeys(FROM, score) | {"one": score | {"shown": (3,)}}
        row = {"draft": "q", "cell": cell, "best": 2, "speedup": 1.25, "plans": plans}
        off = 0.3 if cell == "code-t0" else -0.04
        rows.append(row | {"repeats": [{"gamma": 3, "off": off}], "drift": 0.2})
    told = list(summary({"configurations": rows}))
    assert [line.split(" | ")[1] for line in told[2:5]] == ["list-t0", "prose-t0", "code-t0"]
    assert "γ 0, regret 25.0, error 0.0" in told[2]
    assert told[2].endswith("| -4.0 | +20.0 |")
    by_way = [line for line in told if line.split(":")[0].strip("| ") in FROM]
    assert [line.split(":")[0].strip("| ") for line in by_way] == list(FROM)
    means = "| 4.2 / 9.7 / 25.0 | 0.0 / 0.0 | 10.0 / 10.0 | 20.0 / 20.0 | 6 of 6 |"
    assert all(line.endswith(means) for line in by_way)
    assert told[-3:] == [
        "| the calibration, repeated | 4.0 / 12.7 | – |",
        "| one, drift taken out | 0.0 / 0.0 | 6 of 6 |",
        "| one, where the repetition was off by less than 5 % (2 of 3) | 0.0 / 0.0 | 4 of 4 |",
    ]


@pytest.fixture
def live(monkeypatch, tmp_path, capsys):
    """The command, in a folder of its own, where a build would be noticed."""
    from benchmarks.live import __main__ as command

    monkeypatch.setenv("GAMMAPLAN_LIVE", str(tmp_path))
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)

    def build(_):
        raise AssertionError("a build was begun")

    monkeypatch.setattr(command.engine, "build", build)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["live", *words])
        return command.main(), capsys.readouterr().err

    return call


def old_run(folder, setup):
    (folder / "runs/1").mkdir(parents=True)
    (folder / "runs/1/run.json").write_text(json.dumps({"setup": setup}), encoding="utf-8")


@pytest.mark.parametrize("number", ["99", "-1", "abc", ".."])
def test_a_run_that_is_not_there_is_refused_before_the_build(live, number):
    code, said = live(f"--run={number}")
    assert code == 1
    assert said.startswith(f"Error: there is no run {number} in ")


def test_a_run_of_another_size_or_design_is_refused_before_the_build(live, tmp_path):
    from benchmarks.live.design import FULL, SMALL

    old_run(tmp_path, FULL.as_json() | {"calibrations": 2})
    assert live("--run", "1") == (1, "Error: run 1 is of another design; begin a new one\n")
    assert live("--run", "1", "--small") == (1, "Error: run 1 is a full one\n")
    (tmp_path / "runs/1/run.json").write_text(json.dumps({"setup": SMALL.as_json()}))
    with pytest.raises(AssertionError, match="a build was begun"):
        live("--run", "1", "--small")


@pytest.mark.parametrize("name", ["../../x", "a/b", ".", ""])
def test_results_have_a_name_of_one_folder(live, tmp_path, name):
    from benchmarks.live.publish import publish

    with pytest.raises(RuntimeError, match="one folder"):
        publish(tmp_path, name)


def test_a_program_that_fails_is_named_in_one_line(live, monkeypatch):
    from benchmarks.live import __main__ as command

    def build(_):
        words = [sys.executable, "-c", "import sys; sys.exit('no such package')", "-q", "more"]
        subprocess.run(words, check=True, capture_output=True)

    monkeypatch.setattr(command.engine, "build", build)
    code, said = live()
    assert code == 1
    assert said.splitlines()[-1].endswith("-q … ended with 1: no such package")
