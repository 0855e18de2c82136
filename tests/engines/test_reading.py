"""What kind of input it is, whose, and how it is read in one pass."""

import gc
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from gammaplan.engines import times
from gammaplan.engines.base import Dropped, engines, words
from gammaplan.engines.files import Asked, collect_files, together
from gammaplan.engines.reading import Wanted, read

from ..support import DATA

SAMPLES = DATA / "samples"
LOG = SAMPLES / "vllm" / "v1_log_k3_three_windows.log"


@pytest.fixture
def write(tmp_path):
    """`write(b"...")`: the path of a file."""

    def save(data, name="x"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    return save


def total(*inputs):
    """The counts of all that was read."""
    found = list(together(inputs).groups.values())
    assert len(found) == 1
    return found[0].total


def test_every_format_has_a_name_of_its_own_engine():
    assert {e.NAME for e in engines()} >= {"llama.cpp", "plain", "sglang", "tensorrt-llm", "vllm"}
    for engine in engines():
        assert engine.FORMATS
    assert {name for name, _ in words()} >= {"vllm", "sglang", "llama.cpp", "tensorrt-llm"}


@pytest.mark.parametrize("text", ["", "\n", "no\n" * 99, "[1, 2]\n", '{"a": 1}\n', "a 1\nb 2\n"])
def test_what_nobody_claims_is_nobodys(write, text):
    reading = read(write(text))
    assert (reading.engine, reading.format) == (None, None)
    assert [item.code for item in reading.items] == ["no_spec_data"]


def test_a_record_far_down_a_log_is_found(write):
    noise = b"INFO nothing to see here\n" * 100_000
    (found,) = collect_files([write(noise + LOG.read_bytes() + noise)])
    assert total(found).rounds == 766


def test_settings_before_the_first_record_are_kept(write):
    noise = b"INFO nothing to see here\n" * 40_000
    start = b"INFO speculative_config=SpeculativeConfig(method='x', num_spec_tokens=4)\n"
    mark = b"SpecDecoding metrics: Draft acceptance rate: 50.0%, "
    record = mark + b"Accepted: 6 tokens, Drafted: 12 tokens\n"
    (found,) = collect_files([write(start + noise + record)])
    assert total(found).gamma == 4


def test_the_end_of_a_record_at_the_start_is_dropped(write):
    record = next(row for row in LOG.read_bytes().splitlines() if b"SpecDecoding" in row)
    (found,) = collect_files([write(record[-90:] + b"\n" + LOG.read_bytes())])
    assert found.said.lost == 1
    assert found.said.dropped == [Dropped("the end of a record, without its start", 0)]
    assert total(found).rounds == 766


def test_a_forced_format_is_the_only_one_tried(write):
    path = write(LOG.read_bytes())
    for form, engine in (("vllm-v1-log", "vllm"), ("vllm-v0-log", None)):
        reading = read(path, wanted=Wanted("vllm", form))
        assert reading.engine == engine
        assert list(reading.items)


@pytest.mark.parametrize("detail", [True, False])
def test_names_of_windows_cost_no_counts(detail):
    asked = Asked(by="window") if detail else Asked()
    (found,) = collect_files([str(LOG)], asked=asked)
    assert total(found).rounds == 766
    assert bool(found.said.listed) == detail


def test_files_may_be_mapped_over_any_executor(write):
    paths = [write(LOG.read_bytes(), f"{name}.log") for name in "abc"]
    with ThreadPoolExecutor(2) as executor:
        mapped = collect_files(paths, executor=executor)
    assert [i.said.groups.keys() for i in mapped] == [
        i.said.groups.keys() for i in collect_files(paths)
    ]


@pytest.mark.parametrize("name", ["vllm/v1_log_k3_three_windows.log", "vllm/metrics_k7.prom"])
def test_files_are_closed_when_they_were_read_or_given_up(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(read(str(SAMPLES / name)).items)
        items = read(str(SAMPLES / name)).items
        next(items)
        del items
        gc.collect()


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("06-01 10:10:41", (None, (6, 1), (10, 10, 41))),
        ("2026-06-01 10:10", (2026, (6, 1), (10, 10, 0))),
        ("2026-06-01T10:10:41.5Z", (2026, (6, 1), (10, 10, 41))),
        ("2026-06-01", (2026, (6, 1), (0, 0, 0))),
        ("10:10", (None, None, (10, 10, 0))),
        ("soon", None),
    ],
)
def test_times_as_logs_print_them(text, when):
    assert times.parse(text) == when


@pytest.mark.parametrize(
    ("time", "since", "until", "inside"),
    [
        ("06-01 10:00:00", "06-01 10:00", None, True),
        ("06-01 10:00:00", None, "06-01 10:00", False),
        ("06-01 10:00:00", "2026-05-31", None, True),
        ("2026-06-01 10:00:00", "2025-12-31 23:00", "2026-06-02", True),
        ("06-01 10:00:00", "11:00", None, False),
        ("window 3", "11:00", None, None),
    ],
)
def test_times_are_compared_as_far_as_both_sides_say(time, since, until, inside):
    limits = [None if text is None else times.parse(text) for text in (since, until)]
    assert times.within(time, *limits) is inside
