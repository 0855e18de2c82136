"""The generators agree with themselves: same seed, same bytes, and counts that add up."""

from __future__ import annotations

import codecs
import gzip
import random
import re
from collections.abc import Iterator

import pytest

from . import ALL, Sample, Truth

SEEDS = range(6)
CODES = frozenset(
    {
        "censored_by_stop",
        "counter_reset",
        "cumulative_log",
        "double_family",
        "duplicate_rank",
        "few_drafts",
        "gamma_unknown",
        "gauge_only",
        "ignored_drafts",
        "includes_prefill",
        "interval_average_only",
        "length_excludes_bonus",
        "lifetime_vs_request",
        "macro_average",
        "mixed_gamma",
        "multi_series",
        "nan_rate",
        "no_spec_data",
        "not_speculative",
        "rate_includes_bonus",
        "replay_inflation",
        "rounding_only",
        "snapshot_double_count",
        "tree_draft",
        "truncated_line",
        "unconditional_positions",
        "variable_draft_length",
        "zero_accepted",
        "zero_drafts",
    }
)
FIRST_CUT = "vllm.v1_log_first_record_cut"
VLLM = re.compile(r"Accepted: (\d+) tokens, Drafted: (\d+) tokens")
VLLM_RATE = re.compile(r"raft acceptance rate: ([\d.]+)%")
LLAMA = re.compile(r"= ([\d.]+) \( *(\d+) accepted / *(\d+) generated\)")
PROGRAM = re.compile(r"n_drafted *= (\d+).*n_accept *= (\d+)\s+accept *= ([\d.]+)%", re.DOTALL)

every_generator = pytest.mark.parametrize("name", ALL)


def made(name: str) -> Iterator[Sample]:
    """Samples of one generator from a few seeds."""
    for seed in SEEDS:
        yield ALL[name](random.Random(seed))


def text_of(sample: Sample) -> str:
    """The text of a sample without compression, BOM and carriage returns."""
    data = gzip.decompress(sample.data) if sample.data[:2] == b"\x1f\x8b" else sample.data
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig").replace("\r\n", "\n")


def whole_lines(sample: Sample) -> list[str]:
    """The lines of a sample without the one that is cut, first or last."""
    lines = text_of(sample).split("\n")
    if not sample.dropped:
        return lines
    return lines[1:] if sample.name == FIRST_CUT else lines[:-1]


def truths(sample: Sample) -> list[Truth]:
    """The truth of every group, and the total."""
    found = [truth for _, truth in sample.groups]
    return found if sample.total is None else [*found, sample.total]


def accepted_of(sample: Sample) -> int | None:
    """Accepted tokens of all groups."""
    shown = [truth.accepted for _, truth in sample.groups if truth.accepted is not None]
    return sum(shown) if shown else None


@every_generator
def test_same_seed_same_sample(name: str) -> None:
    for seed, sample in zip(SEEDS, made(name), strict=True):
        assert ALL[name](random.Random(seed)) == sample


@every_generator
def test_seeds_differ(name: str) -> None:
    assert len({sample.data for sample in made(name)}) > 1


@every_generator
def test_names_engines_and_codes(name: str) -> None:
    for sample in made(name):
        assert sample.name == name
        assert name.startswith(f"{sample.engine}.")
        assert sample.codes <= CODES
        assert ("truncated_line" in sample.codes) == bool(sample.dropped)


@every_generator
def test_counts_add_up(name: str) -> None:
    for sample in made(name):
        for truth in truths(sample):
            check_sums(truth)
            check_rejections(truth)


def check_sums(truth: Truth) -> None:
    """A and D are the sums of their positions, which never rise."""
    if truth.accepted is not None and truth.drafted is not None:
        assert 0 <= truth.accepted <= truth.drafted
    for total, steps in (
        (truth.accepted, truth.accepted_at_least),
        (truth.drafted, truth.drafted_at_least),
    ):
        if total is not None and steps is not None:
            assert sum(steps) == total
            assert list(steps) == sorted(steps, reverse=True)
    if truth.rounds and truth.accepted is not None:
        assert truth.mean_length == pytest.approx(1 + truth.accepted / truth.rounds)


def check_rejections(truth: Truth) -> None:
    """F and R share the rounds, and A/D stays below the alpha of the same rounds."""
    if truth.full_accepts is not None and truth.rejections is not None:
        assert truth.full_accepts + truth.rejections == truth.rounds
    if truth.rejections is not None and truth.drafted and truth.accepted:
        assert truth.accepted / truth.drafted <= truth.accepted / (
            truth.accepted + truth.rejections
        )


@every_generator
def test_a_cut_sample_ends_without_a_newline(name: str) -> None:
    for sample in made(name):
        if sample.dropped and name != FIRST_CUT:
            assert not text_of(sample).endswith("\n")


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("vllm.v1_log_")])
def test_vllm_windows_print_their_truth(name: str) -> None:
    for sample in made(name):
        accepted = drafted = 0
        for line in whole_lines(sample):
            if not (counts := VLLM.search(line)):
                continue
            a, d = map(int, counts.groups())
            accepted, drafted = accepted + a, drafted + d
            if rate := VLLM_RATE.search(line):
                assert float(rate[1]) == pytest.approx(100 * a / d, abs=0.0501)
        if sample.groups:
            assert accepted == accepted_of(sample)
            assert drafted == sum(truth.drafted or 0 for _, truth in sample.groups)


@pytest.mark.parametrize(
    "name", [name for name in ALL if name.startswith(("llama.cpp.log_", "llama.cpp.ik_log"))]
)
def test_llama_requests_print_their_truth(name: str) -> None:
    for sample in made(name):
        accepted = 0
        for ratio, a, d in LLAMA.findall("\n".join(whole_lines(sample))):
            accepted += int(a)
            assert float(ratio) == pytest.approx(int(a) / int(d), abs=5.1e-6)
        if "replay_inflation" not in sample.codes:
            assert accepted == accepted_of(sample)


@pytest.mark.parametrize(
    "name",
    ["llama.cpp.speculative_2023", "llama.cpp.speculative_simple", "llama.cpp.lookup"],
)
def test_llama_programs_print_their_truth(name: str) -> None:
    for sample in made(name):
        found = PROGRAM.search(text_of(sample))
        assert found
        assert sample.total
        assert (int(found[1]), int(found[2])) == (sample.total.drafted, sample.total.accepted)
        assert float(found[3]) == pytest.approx(100 * int(found[2]) / int(found[1]), abs=5.1e-4)
