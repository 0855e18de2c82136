"""A large log read in shards says what it says when it is read whole."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from gammaplan.engines import shards
from gammaplan.engines.files import collect_files, collect_shards
from gammaplan.engines.reading import Wanted

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
LOG = SAMPLES / "vllm" / "v1_log_k3_three_windows.log"
CUT = b"(APIServer pid=1) SpecDecoding metrics: Mean acceptance length: 3.4\n"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(shards, "LARGE", 4_000)


def in_shards(path: Path, most: int):
    cuts = shards.spans(str(path), wanted=Wanted(), most=most)
    with ThreadPoolExecutor(most) as pool:
        return cuts, collect_shards(str(path), cuts, pool)


def totals(found):
    groups = found.said.groups.values()
    return [replace(g.total, tried=g.total.at_risk) for g in groups]


@pytest.mark.parametrize("most", [2, 3, 5])
def test_shards_add_up_to_the_whole(small, tmp_path, most):
    path = tmp_path / "vllm.log"
    path.write_bytes(LOG.read_bytes() * 20)
    cuts, shared = in_shards(path, most)
    [whole] = collect_files([str(path)])
    assert len(cuts) == most
    assert totals(shared) == totals(whole)
    assert (shared.engine, shared.format) == (whole.engine, whole.format)


def test_shards_begin_and_end_with_lines(small, tmp_path):
    path = tmp_path / "vllm.log"
    path.write_bytes(LOG.read_bytes() * 20)
    cuts, _ = in_shards(path, 4)
    data = path.read_bytes()
    assert cuts[0][0] == 0
    assert cuts[-1][1] == len(data)
    assert all(data[start - 1 : start] == b"\n" for start, _ in cuts[1:])
    assert all(stop == start for (_, stop), (start, _) in pairwise(cuts))


def test_a_damaged_record_in_a_later_shard_is_named_by_its_line(small, tmp_path):
    path = tmp_path / "vllm.log"
    path.write_bytes(LOG.read_bytes() * 20 + CUT)
    line = path.read_bytes().count(b"\n")
    _, shared = in_shards(path, 3)
    [lost] = [f for f in shared.said.findings if f.code == "truncated_line"]
    assert shared.said.lost == 1
    assert f"vllm.log:{line}: " in lost.message


def test_a_small_a_compressed_and_a_stateful_log_are_read_whole(small, tmp_path):
    packed, console = tmp_path / "vllm.log.gz", tmp_path / "llama.log"
    packed.write_bytes(gzip.compress(LOG.read_bytes() * 400, 0))
    console.write_bytes((SAMPLES / "llamacpp" / "server_mean_len_trace.log").read_bytes() * 20)
    for path in (LOG.with_name("v1_log_nightly_order.log"), packed, console):
        assert shards.spans(str(path), wanted=Wanted(), most=2) == []
