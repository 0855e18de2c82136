"""llama.cpp and ik_llama.cpp: what each sample and each hard case yields."""

import codecs
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gammaplan.data.findings import FINDINGS
from gammaplan.engines.base import Dropped, Item, Record, Sample
from gammaplan.engines.lines import Blocks
from gammaplan.engines.llamacpp import console, log, metrics, timings
from gammaplan.engines.prometheus import samples
from gammaplan.engines.values import values
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

DATA = Path(__file__).parents[1] / "data" / "samples"


def items_of(name: str) -> list[Item]:
    data = (DATA / name).read_bytes()
    wide = data.startswith(codecs.BOM_UTF16_LE)
    stream = io.BytesIO(data.decode("utf-16").encode() if wide else data)
    if name.endswith(".prom"):
        return list(metrics.read(list(samples(Blocks(stream), metrics.FAMILIES))))  # type: ignore[arg-type]
    if name.endswith(".json") or "timings" in name:
        return list(timings.read(values(stream)))
    reader = console.read if "speculative" in name else log.read
    return list(reader(iter(Blocks(stream))))


def logged(text: str | bytes) -> list[Item]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(log.read(iter(Blocks(io.BytesIO(data)))))


def ran(text: str) -> list[Item]:
    return list(console.read(iter(Blocks(io.BytesIO(text.encode())))))


def answered(*rows: Any) -> list[Item]:
    return list(timings.read(iter(rows)))


def scraped(text: str) -> list[Item]:
    found = samples(Blocks(io.BytesIO(text.encode())), metrics.FAMILIES)
    return list(metrics.read([s for s in found if isinstance(s, Sample)]))


def records(items: list[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record) and item.counts.drafted != 0]


def codes_of(items: list[Item]) -> set[str]:
    return {item.code for item in items if isinstance(item, Finding)}


def lost(items: list[Item]) -> int:
    return sum(isinstance(item, Dropped) for item in items)


ONE: dict[str, tuple[Counts, set[str]]] = {
    "llamacpp/metrics_low_precision.prom": (
        Counts.full(1481020, (1120344, 801227, 560118)),
        {"rounding_only"},
    ),
    "llamacpp/server_checkpoint_replay.log": (
        Counts(182, 182, drafted_at_least=(182,), gamma=1),
        {"replay_inflation"},
    ),
    "llamacpp/server_inline_positions.log": (
        Counts(87, 259, 167, (70, 55, 42), gamma=3),
        {"variable_draft_length"},
    ),
    "llamacpp/server_mean_len_trace.log": (
        Counts.full(301, (228, 171, 117)),
        {"lifetime_vs_request"},
    ),
    "llamacpp/server_ngram_mod.log": (
        Counts(29, 1825, 1698),
        {"zero_drafts", "variable_draft_length"},
    ),
    "llamacpp/server_old_rate.log": (
        Counts(drafted=347, accepted=65),
        {"variable_draft_length"},
    ),
    "llamacpp/speculative_2023.txt": (Counts(82, 132, 47), {"variable_draft_length"}),
    "llamacpp/speculative_simple_powershell.txt": (
        Counts(89, 402, 171),
        {"variable_draft_length"},
    ),
    "llamacpp/timings.json": (Counts(drafted=347, accepted=65), {"variable_draft_length"}),
    "llamacpp/timings_stream.txt": (
        Counts.from_rounds([3] * 5, [2, 3, 1, 3, 0]),
        {"cumulative_log"},
    ),
    "ik_llama/timings_by_depth.json": (
        Counts(112, 319, 187, (86, 61, 40), (112, 107, 100), gamma=3),
        {"variable_draft_length"},
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_sample(name: str) -> None:
    items = items_of(name)
    counts, found = ONE[name]
    (record,) = records(items)
    assert record.counts == counts
    assert record.unusable == ("replay_inflation" in found)
    assert found <= codes_of(items)
    assert not lost(items)


def test_two_kinds_are_groups() -> None:
    items = items_of("llamacpp/server_two_slots_two_types.log")
    own = [record for record in records(items) if not record.repeated]
    found = {record.group["type"]: record.counts for record in own}
    assert found == {
        "draft-mtp": Counts(796, 1585, 1252, (694, 558), gamma=2),
        "ngram-mod": Counts(4, 256, 47),
    }
    assert {"lifetime_vs_request", "variable_draft_length"} <= codes_of(items)


def line(accepted: object, drafted: object, more: str = "", task: int = 7, slot: int = 0) -> str:
    """A request line with the rate that the counts have."""
    ok = isinstance(accepted, int) and isinstance(drafted, int) and drafted > 0
    rate = f"{accepted / drafted:.5f}" if ok else "0.50000"  # type: ignore[operator]
    head = f"slot print_timing: id {slot:2d} | task {task} | "
    return (
        f"{head}draft acceptance = {rate} ({accepted:5} accepted / {drafted:5} generated){more}\n"
    )


def totals(n: int, d: int, a: int, first: int, kind: str = "draft-mtp") -> str:
    return (
        f"statistics {kind}: #calls(b,g,a) = 1 {n} {n}, #gen drafts = {n}, #acc drafts = {first}, "
        f"#gen tokens = {d}, #acc tokens = {a}, dur(b,g,a) = 0.1, 0.2, 0.3 ms\n"
    )


@pytest.mark.parametrize(
    "bad",
    [
        line(9, 8),
        line(-3, 8),
        line("9" * 40, "9" * 41),
        line(4, 8).replace("0.50000", "0.70000"),
        line(4, 8, ", mean len =  2.00, acceptance rate per position = (0.100, 0.900)"),
        line(4, 8, ", mean acceptance length =  9.00, acceptance rate per position = (0.5, 0.5)"),
        line(4, 8)[20:].replace("draft acceptance = ", ""),
        line(4, 8).rstrip(")\n"),
        line(4, 8, ", mean len =  2.00, acceptance rate per position = (0.50").rstrip("\n"),
        totals(5, 4, 4, 4),
        totals(5, 10, 11, 4),
        totals(5, 10, 8, 6),
        totals(5, 10, 8, 4)[: totals(5, 10, 8, 4).index("8,") + 1],
    ],
)
def test_a_contradiction_or_a_cut_is_dropped(bad: str) -> None:
    items = logged(line(3, 9, task=1) + bad)
    assert lost(items) == 1
    assert [r.counts.drafted for r in records(items)] == [9]


def test_statistics_complete_each_request() -> None:
    text = line(5, 9, task=1) + totals(3, 9, 5, 3) + line(6, 12, task=2) + totals(7, 21, 11, 6)
    found = {r.name: r.counts for r in records(logged(text))}
    every = {"1": (3, 9, 5), "2": (4, 12, 6)}
    assert {k: (c.rounds, c.drafted, c.accepted) for k, c in found.items()} == every
    assert {c.gamma for c in found.values()} == {3}
    assert "lifetime_vs_request" not in codes_of(logged(text))


def test_two_requests_with_one_total() -> None:
    items = logged(line(5, 9, task=1) + line(6, 12, task=2, slot=1) + totals(7, 21, 11, 6))
    (record,) = records(items)
    assert (record.counts.rounds, record.counts.drafted, record.counts.accepted) == (7, 21, 11)


def test_a_restart_begins_totals_anew() -> None:
    text = line(5, 9, task=1) + totals(3, 9, 5, 3) + line(2, 6, task=1) + totals(2, 6, 2, 1)
    assert [r.counts.rounds for r in records(logged(text))] == [3, 2]


def test_full_drafts_of_two_tell_every_position() -> None:
    (record,) = records(logged(line(5, 8) + totals(4, 8, 5, 3)))
    assert record.counts == Counts.full(4, (3, 2))


def test_positions_of_interleaved_slots_find_their_requests() -> None:
    trace = "slot print_timing: id  {} | task {} |      acc per pos = ({})\n"
    text = line(6, 8, ", mean len =  2.50", task=1, slot=0)
    text += line(3, 12, ", mean len =  1.50", task=2, slot=1)
    text += trace.format(0, 1, "0.750, 0.750") + trace.format(1, 2, "0.333, 0.167")
    found = {r.name: r.counts for r in records(logged(text))}
    assert found == {"1": Counts.full(4, (3, 3)), "2": Counts.full(6, (2, 1))}


def test_settings_tell_the_longest_draft_and_faked_acceptance() -> None:
    head = "cmd: llama-server -m m.gguf --spec-type draft-mtp --spec-draft-n-max 4"
    (record,) = records(logged(f"{head}\n" + line(3, 10)))
    assert record.counts == Counts(drafted=10, accepted=3, gamma=4)
    items = logged(f"{head} --spec-synth-len 3.5\n" + line(3, 10))
    assert "synthetic_acceptance" in codes_of(items)
    assert all(r.unusable for r in records(items))


def test_requests_without_drafts() -> None:
    plain = "slot print_timing: id  0 | task 1 | \n      total time =    9.0 ms /   3 tokens\n"
    assert codes_of(logged(plain)) == {"no_spec_data"}
    assert "zero_drafts" in codes_of(logged(plain + line(3, 9, task=2)))
    assert "zero_drafts" in codes_of(logged("llama-server --spec-type draft-mtp\n" + plain))


def test_ports_are_labels_where_there_are_several() -> None:
    text = "[50001] " + line(3, 10) + "[50002] " + line(4, 10)
    assert [r.group for r in records(logged(text))] == [{"port": "50001"}, {"port": "50002"}]


def test_many_requests_are_read_in_bounded_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_HELD", 100)
    text, n, a = "", 0, 0
    for task in range(1000):
        n, a = n + 5, a + 6
        text += line(6, 15, task=task) + totals(n, 3 * n, a, n // 2)
    found = records(logged(text))
    assert len(found) == 1000
    assert sum((r.counts for r in found[1:]), found[0].counts).rounds == 5000


@pytest.mark.parametrize("rate", ["nan%", "-nan%", "-nan(ind)%"])
def test_nothing_drafted_prints_nan(rate: str) -> None:
    figures = f"n_draft   = 16\nn_predict = 9\nn_drafted = 0\nn_accept  = 0\naccept    = {rate}\n"
    items = ran(figures)
    assert {"nan_rate", "zero_drafts"} <= codes_of(items)
    assert not records(items)


def test_programs_run_twice_cut_or_with_trees() -> None:
    run = "n_draft   = 4\nn_predict = 30\nn_drafted = 40\nn_accept  = 20\naccept    = 50.000%\n"
    assert [r.counts.drafted for r in records(ran(run + run))] == [40, 40]
    assert lost(ran(run + run[: run.index("20\n") + 1])) == 1
    assert lost(ran(run.replace("= 20", "= 50"))) == 1
    items = ran("+ ./llama-speculative -m a -md b -np 4\n" + run)
    assert "tree_draft" in codes_of(items)
    assert all(r.tree for r in records(items))


def response(d: object, a: object, **more: object) -> dict[str, object]:
    own = {"predicted_n": 10, "prompt_n": 1, "draft_n": d, "draft_n_accepted": a}
    return {"id": "x", "timings": {**own, **more}}


@pytest.mark.parametrize(
    "row",
    [
        response(3, 4),
        response(-3, 1),
        response("3", 1),
        response(float("nan"), 1),
        response(10**30, 1),
        response(3, 1, draft_by_depth=[{"depth": 1, "draft_n": 2, "draft_n_accepted": 1}]),
        response(3, 1, draft_by_depth=[{"depth": 2, "draft_n": 3, "draft_n_accepted": 1}]),
        response(3, 1, draft_by_depth=[7]),
    ],
)
def test_a_damaged_response_is_dropped(row: dict[str, object]) -> None:
    items = answered(row)
    assert lost(items) == 1
    assert not records(items)


def chunk(tokens: int, d: int, a: int, key: str = "s") -> dict[str, object]:
    row = response(d, a, predicted_n=tokens)
    return row | {"id": key, "choices": [{"index": 0, "delta": {}, "finish_reason": None}]}


def test_streams_may_be_interleaved_and_lack_chunks() -> None:
    rows = [chunk(3, 3, 1, "p"), chunk(2, 2, 0, "q"), chunk(4, 6, 1, "p"), chunk(5, 4, 2, "q")]
    found = {r.name: r.counts for r in records(answered(*rows))}
    assert found["p"].accepted_at_least == (1, 0, 0)
    assert found["q"].accepted_at_least == (1, 1)
    (only,) = records(answered(chunk(200, 90, 60)))
    assert only.counts == Counts(drafted=90, accepted=60)


def exposition(n: object, d: object, a: object, *positions: object) -> str:
    name = "llamacpp:spec_decode_num_"
    rows = [f"{name}drafts_total {n}", f"{name}draft_tokens_total {d}"]
    rows.append(f"{name}accepted_tokens_total {a}")
    for i, c in enumerate(positions):
        rows.append(f'{name}accepted_tokens_per_pos_total{{position="{i}"}} {c}')
    return "\n".join(rows) + "\n"


def test_counters() -> None:
    (record,) = records(scraped(exposition(10, 30, 12, 7, 4, 1)))
    assert record.counts == Counts.full(10, (7, 4, 1))
    (record,) = records(scraped(exposition(10, 29, 12, 7, 4, 1)))
    assert record.counts == Counts(10, 29, 12, (7, 4, 1), gamma=3)
    assert "zero_drafts" in codes_of(scraped(exposition(0, 0, 0)))


@pytest.mark.parametrize(
    "text",
    [exposition(10, 30, 12, 1, 4, 7), exposition(10, 30, 31), exposition(10, 30, 9, 7, 4, 1)],
)
def test_counters_that_contradict_each_other_are_not_used(text: str) -> None:
    items = scraped(text)
    assert "impossible" in codes_of(items)
    assert all(r.unusable for r in records(items))


def damaged() -> Iterator[bytes]:
    rng = random.Random(1)
    for path in sorted(DATA.glob("llamacpp/*")):
        data = path.read_bytes()
        for _ in range(40):
            piece = bytearray(data[: rng.randrange(len(data))])
            for _ in range(rng.randrange(4)):
                if piece:
                    piece[rng.randrange(len(piece))] = rng.randrange(256)
            yield bytes(piece)


def test_damage_never_raises() -> None:
    for data in damaged():
        for reader in (log.read, console.read):
            list(reader(iter(Blocks(io.BytesIO(data)))))
        list(timings.read(values(io.BufferedReader(io.BytesIO(data)))))  # type: ignore[arg-type]
        scraped(data.decode("utf-8", "replace"))
    assert not answered(7, None, [], {"timings": 3}, json.loads('{"timings": {}}'))
    assert "replay_inflation" in FINDINGS
