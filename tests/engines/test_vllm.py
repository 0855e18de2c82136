"""vLLM's wordings, counters and responses: each version, what is cut, and what contradicts."""

import io
import json
from functools import reduce
from operator import add

import pytest

from gammaplan.engines.base import Batch, Dropped, Record, Sample
from gammaplan.engines.lines import Blocks
from gammaplan.engines.vllm import counters, log, reader, reports, requests, v0
from gammaplan.errors import Finding
from gammaplan.model.estimate import Counts

FULL = Counts.full(242, [225, 206, 172])
NEWEST = (
    "SpecDecoding metrics: Mean acceptance length: 3.49, Accepted throughput: 60.29 tokens/s, "
    "Drafted throughput: 72.59 tokens/s, Accepted: 603 tokens, Drafted: 726 tokens, "
    "Per-position acceptance rate: 0.930, 0.851, 0.711, Avg Draft acceptance rate: 83.1%"
)
OLDER = (
    "SpecDecoding metrics: Draft acceptance rate: 83.1%, Mean acceptance length: {}, "
    "Accepted: 603 tokens, Drafted: 726 tokens, Per-position acceptance rate: 0.930, 0.851, 0.711"
)
FIRST = (
    "SpecDecoding metrics: Draft acceptance rate: 83.1%, Accepted: 603 tokens, Drafted: 726 tokens"
)
HEAD = "(APIServer pid=1) INFO 06-01 10:10:41 [metrics.py:101] "
CONFIG = (
    "INFO speculative_config=SpeculativeConfig(method='eagle3', model='x', num_spec_tokens=3{})"
)


def blocks(text):
    """The text as the readers get it."""
    return iter(Blocks(io.BufferedReader(io.BytesIO(text.encode()))))


def counted(items):
    """The sum of the counts of all records."""
    found = [item.counts for item in items if isinstance(item, Record | Batch)]
    return reduce(add, found) if found else None


def codes(items):
    """The codes of all findings."""
    return {item.code for item in items if isinstance(item, Finding)}


def lost(items):
    """How many records were dropped."""
    return sum(isinstance(item, Dropped) for item in items)


both = pytest.mark.parametrize("read", [log.read, log.read_fast])


@both
@pytest.mark.parametrize(
    ("line", "found"),
    [
        (NEWEST, set()),
        (OLDER.format("3.49"), set()),
        (OLDER.format("2.49"), {"length_excludes_bonus"}),
    ],
)
@pytest.mark.parametrize("head", [HEAD, "", "llm-1 | " + HEAD, f"\x1b[36m{HEAD}\x1b[0m"])
def test_every_wording_gives_the_same_counts(read, line, found, head):
    items = list(read(blocks(f"{head}{line}\n")))
    assert counted(items) == FULL
    assert codes(items) == found
    assert lost(items) == 0


@both
def test_windows_are_summed(read):
    items = list(read(blocks(f"{HEAD}{NEWEST}\nnoise\n" * 50)))
    total = counted(items)
    assert (total.rounds, total.accepted, total.rejections) == (50 * 242, 50 * 603, 50 * 70)


@both
def test_the_first_wording_has_neither_rounds_nor_positions(read):
    assert counted(read(blocks(f"{FIRST}\n"))) == Counts(drafted=726, accepted=603)


@both
def test_the_start_up_line_tells_the_longest_draft(read):
    text = f"{CONFIG.format('')}\n{FIRST}\n"
    assert counted(read(blocks(text))) == Counts(drafted=726, accepted=603, gamma=3)


@both
def test_the_start_up_line_of_one_container_says_nothing_of_another(read):
    text = f"a-1 | {CONFIG.format('')}\nb-1 | {FIRST}\n"
    (record,) = [item for item in read(blocks(text)) if isinstance(item, Record)]
    assert (record.counts.gamma, record.group) == (None, {"container": "b-1"})


@both
@pytest.mark.parametrize(
    ("setting", "code"),
    [
        (", rejection_sample_method='synthetic'", "synthetic_acceptance"),
        (", rejection_sample_method='fly'", "lossy_acceptance"),
        (", rejection_sample_method='standard'", None),
        ("", None),
    ],
)
def test_settings_that_change_what_acceptance_means_are_findings(read, setting, code):
    items = list(read(blocks(f"{CONFIG.format(setting)}\n{NEWEST}\n")))
    assert codes(items) == ({code} if code else set())


@both
def test_short_drafts_leave_refusals_open(read):
    line = (
        "SpecDecoding metrics: Mean acceptance length: 2.38, Accepted throughput: 5.10 tokens/s, "
        "Drafted throughput: 14.30 tokens/s, Accepted: 51 tokens, Drafted: 143 tokens, "
        "Per-position acceptance rate: 0.568, 0.378, 0.243, 0.135, 0.054, "
        "Avg Draft acceptance rate: 35.7%"
    )
    assert counted(read(blocks(f"{line}\n"))) == Counts(37, 143, 51, (21, 14, 9, 5, 2), gamma=5)


@both
def test_a_rate_of_nothing_is_said_and_counts_for_nothing(read):
    line = NEWEST.replace("603", "0").replace("726", "0").replace("83.1%", "nan%")
    line = line.replace("0.930, 0.851, 0.711", "nan, nan, nan").replace("3.49", "1.00")
    items = list(read(blocks(f"{line}\n{NEWEST}\n")))
    assert codes(items) == {"nan_rate"}
    assert counted(i for i in items if not (isinstance(i, Record) and not i.counts.drafted)) == FULL


@both
def test_a_record_cut_anywhere_is_dropped_or_whole(read):
    line = HEAD + NEWEST
    for stop in range(len(HEAD) + 30, len(line)):
        items = list(read(blocks(f"{line}\n{line[:stop]}")))
        assert lost(items) == 1, line[:stop]
        assert counted(items) == FULL


@both
@pytest.mark.parametrize(
    ("old", "new"),
    [("Accepted: 603", "Accepted: 803"), ("0.851", "0.951"), ("length: 3.49", "length: 3.29")],
)
def test_figures_that_contradict_each_other_are_dropped(read, old, new):
    items = list(read(blocks(f"{NEWEST.replace(old, new)}\n{NEWEST}\n")))
    assert lost(items) == 1
    assert counted(items) == FULL


@both
@pytest.mark.parametrize(
    "line",
    [
        "GET /?q=SpecDecoding metrics: HTTP",
        "SpecDecoding metrics: ",
        "DiffusionDecoding metrics: x",
    ],
)
def test_other_lines_give_no_counts(read, line):
    assert counted(read(blocks(f"{line}\n"))) is None


def test_windows_are_named_by_their_time():
    (record,) = log.read(blocks(f"{HEAD}{NEWEST}\n"))
    assert (record.name, record.unit) == ("06-01 10:10:41", "window")


# V0


def v0_line(gamma, drafted, emitted):
    """A line of running totals."""
    return (
        "Speculative metrics: Draft acceptance rate: 0.700, System efficiency: 0.600, Number of "
        f"speculative tokens: {gamma}, Number of accepted tokens: 999, Number of draft tokens: "
        f"{drafted}, Number of emitted tokens: {emitted}.\n"
    )


def test_the_last_running_total_is_used():
    items = list(v0.read_log(blocks(v0_line(4, 400, 250) + v0_line(4, 800, 500))))
    assert counted(items) == Counts(200, 800, 300, gamma=4)
    assert codes(items) == {"cumulative_log", "unconditional_positions"}


def test_what_a_process_had_before_its_restart_counts():
    items = list(v0.read_log(blocks(v0_line(4, 800, 500) + v0_line(4, 400, 250))))
    assert counted(items) == Counts(300, 1200, 450, gamma=4)
    assert "counter_reset" in codes(items)


@pytest.mark.parametrize("figures", [(4, 401, 250), (4, 400, 50), (4, 400, 900)])
def test_totals_that_no_rounds_give_are_dropped(figures):
    items = list(v0.read_log(blocks(v0_line(*figures))))
    assert (lost(items), counted(items)) == (1, None)


# Counters


def scraped(rounds, drafted, accepted, positions=(), **labels):
    """The samples of one engine."""
    names = ("drafts", "draft_tokens", "accepted_tokens")
    found = [
        Sample(f"vllm:spec_decode_num_{name}_total", labels, float(value))
        for name, value in zip(names, (rounds, drafted, accepted), strict=True)
    ]
    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    at = enumerate(positions)
    return found + [Sample(name, {**labels, "position": str(i)}, float(c)) for i, c in at]


def test_counters_of_full_drafts_are_all_that_there_is_to_know():
    assert counted(counters.read(scraped(242, 726, 603, (225, 206, 172)))) == FULL


def test_counters_of_short_drafts_leave_refusals_open():
    found = counted(counters.read(scraped(242, 700, 603, (225, 206, 172))))
    assert (found.rejections, found.gamma) == (None, 3)


def test_an_engine_that_drafted_nothing_contributes_nothing():
    items = list(counters.read(scraped(0, 0, 0, (0, 0, 0), engine="3")))
    assert (codes(items), counted(items)) == ({"zero_drafts"}, None)


@pytest.mark.parametrize(
    "figures",
    [(242, 726, 800, ()), (242, 800, 603, (225, 206, 172)), (242, 726, 603, (206, 225, 172))],
)
def test_counters_that_contradict_each_other_are_unusable(figures):
    items = list(counters.read(scraped(*figures)))
    assert codes(items) == {"impossible"}
    assert all(item.unusable for item in items if isinstance(item, Record))


def test_the_metric_reader_gives_the_same_counts():
    text = (
        "vllm:spec_decode_num_drafts (counter) = 242\n"
        "vllm:spec_decode_num_draft_tokens (counter) = 726\n"
        "vllm:spec_decode_num_accepted_tokens (counter) = 603\n"
        "vllm:spec_decode_num_accepted_tokens_per_pos (vector) = [225, 206, 172]\n"
    )
    assert counted(reader.read(blocks(text))) == FULL
    broken = text.replace("[225, 206, 172]", "[225, 206, x]")
    items = list(reader.read(blocks(broken)))
    assert "bad_sample" in codes(items)
    assert counted(items).accepted == 603


# Responses and reports


def response(**block):
    """A response that carries the metrics."""
    return {"id": "a", "model": "m", "metrics": {"speculative_decoding": block}}


SUMMARY = {
    "num_spec_steps": 43,
    "num_draft_tokens": 129,
    "num_accepted_draft_tokens": 10,
    "num_spec_tokens": 3,
    "acceptance_histogram": [39, 1, 0, 3],
}


def test_a_summary_is_its_histogram():
    assert counted(requests.read(iter([response(**SUMMARY)]))) == Counts.from_histogram(
        [39, 1, 0, 3]
    )


def test_details_tell_rounds_of_varying_length_apart():
    steps = {"per_step_drafted": [3, 2, 0, 1], "per_step_accepted": [3, 1, 0, 1]}
    found = counted(requests.read(iter([response(**SUMMARY, **steps)])))
    assert found == Counts.from_rounds([3, 2, 1], [3, 1, 1], 3)


def test_a_short_histogram_has_the_configured_length():
    block = {**SUMMARY, "acceptance_histogram": [40, 3], "num_spec_tokens": 3}
    assert counted(requests.read(iter([response(**block)]))) == Counts.full(43, [3, 0, 0])


@pytest.mark.parametrize(
    "change",
    [
        {"acceptance_histogram": [39, 1]},
        {"acceptance_histogram": "x"},
        {"num_draft_tokens": 5},
        {"num_draft_tokens": None},
        {"num_spec_tokens": 2},
        {"per_step_drafted": [1], "per_step_accepted": [1, 2]},
        {"per_step_drafted": [1], "per_step_accepted": [2]},
    ],
)
def test_a_response_that_contradicts_itself_is_dropped(change):
    items = list(requests.read(iter([response(**{**SUMMARY, **change}), response(**SUMMARY)])))
    assert lost(items) == 1
    assert counted(items).rounds == 43


@pytest.mark.parametrize("value", [{}, {"metrics": None}, {"metrics": {}}, [], None, "x", 5])
def test_responses_without_metrics_are_passed_over(value):
    assert not requests.claims(value)
    assert list(requests.read(iter([value]))) == []


def test_a_benchmark_is_its_totals_and_positions():
    text = (
        "---------------Speculative Decoding---------------\n"
        "Acceptance rate (%):                     83.06\n"
        "Acceptance length:                       3.49\n"
        "Drafts:                                  242\n"
        "Draft tokens:                            726\n"
        "Accepted tokens:                         603\n"
        "Per-position acceptance (%):\n"
        "  Position 0:                            92.98\n"
        "  Position 1:                            85.12\n"
        "  Position 2:                            71.07\n"
    )
    assert counted(reports.read_bench_text(blocks(text))) == FULL
    assert counted(reports.read_bench_text(blocks(text + text))) == FULL + FULL
    assert lost(list(reports.read_bench_text(blocks(text[: text.index("Draft tokens")])))) == 1


def test_a_result_file_is_the_same():
    value = {
        "spec_decode_num_drafts": 242,
        "spec_decode_draft_tokens": 726,
        "spec_decode_accepted_tokens": 603,
        "spec_decode_per_position_acceptance_rates": [225 / 242, 206 / 242, 172 / 242],
    }
    assert counted(reports.read_bench_json(iter([json.loads(json.dumps(value))]))) == FULL
    assert lost(list(reports.read_bench_json(iter([{"spec_decode_num_drafts": 3}])))) == 1


def test_rows_of_a_batch_hold_their_responses():
    block = {"acceptance_histogram": [1, 0, 2], "num_spec_steps": 3, "num_draft_tokens": 6}
    block |= {"num_accepted_draft_tokens": 4, "num_spec_tokens": 2}
    body = {"id": "a", "model": "m", "metrics": {"speculative_decoding": block}}
    row = {"id": "batch-1", "response": {"status_code": 200, "body": body}, "error": None}
    failed = {"id": "batch-2", "response": None, "error": "aborted"}
    assert requests.claims(row)
    assert not requests.claims(failed)
    rows, plain = ([*requests.read(iter(values))] for values in ([row, failed], [body]))
    assert rows == plain
    assert rows[-1].counts.accepted == 4


@both
@pytest.mark.parametrize("between", [" ", " " + HEAD, HEAD])
def test_windows_that_share_a_line_are_all_read(read, between):
    items = list(read(blocks(f"{HEAD}{NEWEST}{between}{NEWEST}\n{HEAD}{NEWEST}\n")))
    assert counted(items) == FULL + FULL + FULL
    assert lost(items) == 0


@both
@pytest.mark.parametrize("stop", range(30, len(NEWEST) - 6, 7))
def test_a_window_that_another_one_cuts_off_is_dropped_and_never_mixed_with_it(read, stop):
    items = list(read(blocks(f"{HEAD}{NEWEST[:stop]}{HEAD}{NEWEST}\n")))
    assert counted(items) == FULL
    assert lost(items) == 1


def test_windows_that_share_a_line_have_their_own_times():
    other = HEAD.replace("10:10:41", "10:10:51")
    items = list(log.read(blocks(f"{HEAD}{NEWEST} {other}{NEWEST}\n")))
    assert [item.name for item in items] == ["06-01 10:10:41", "06-01 10:10:51"]
