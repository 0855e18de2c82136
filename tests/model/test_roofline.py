"""The roofline: its laws, the examples of long context and of experts, and the devices."""

import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gammaplan as gp
from gammaplan.data.devices import DEVICES, ROWS
from gammaplan.data.formats import QUANTS
from gammaplan.documents.configs import read_config
from gammaplan.errors import DomainError
from gammaplan.model.architecture import (
    Experts,
    ModelShape,
    eagle_head,
    medusa_heads,
    mtp_head,
)
from gammaplan.model.cost_tables import TableCost
from gammaplan.model.roofline import (
    Machine,
    Precision,
    calibrated,
    overhead_ms,
    pass_over,
    room,
    turn,
)
from tests.support import DATA, rows

WIDE = Precision(2, 2, 2, 2)
H100 = Machine(3.35e12, 989.4e12, 989.4e12, 80e9)


def stored(name: str) -> ModelShape:
    with (DATA / "configs" / f"{name}.json").open("rb") as stream:
        return read_config(stream, name).shape


LLAMA, QWEN_MOE = stored("llama-3.1-8b-instruct"), stored("qwen3-vl-235b-a22b-thinking")
MIXTRAL, DEEPSEEK = stored("mixtral-8x7b-instruct-v0.1"), stored("deepseek-v3")


def best(alpha, target, draft, machine, *, batch, context, draft_context=None):
    """The best length and its speedup, drafts made token after token."""
    lengths = np.arange(1, 33)
    plain = pass_over(target, machine, WIDE, 1, batch=batch, context=context).ms
    seen = context if draft_context is None else draft_context
    drafted = pass_over(draft, machine, WIDE, 1, batch=batch, context=seen).ms
    verified = pass_over(target, machine, WIDE, lengths + 1, batch=batch, context=context).ms
    costs = (lengths * drafted + verified) / plain
    found = gp.decide(gp.Geometric(alpha), TableCost(lengths.tolist(), costs.tolist()))
    return found.gamma, found.speedup


@pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-32b", "phi-4", "gemma-2-9b-it"])
def test_memory_bound_at_batch_1_a_dense_pass_takes_as_long_for_more_tokens(name):
    passed = pass_over(stored(name), H100, WIDE, np.arange(1, 17), batch=1, context=4096)
    assert passed.ms / passed.ms[0] == pytest.approx(1.0, abs=1e-12)


@given(
    efficiency=st.floats(0.05, 1.0),
    n=st.integers(1, 64),
    context=st.integers(0, 8192),
)
def test_v_is_1_whatever_the_efficiency_while_memory_bound(efficiency, n, context):
    machine = Machine(3.35e12, 989.4e12, 989.4e12, 80e9, efficiency=efficiency)
    passed = pass_over(LLAMA, machine, WIDE, [1, n], batch=1, context=context)
    if (passed.attention.compute <= passed.attention.memory).all():
        assert passed.ms[1] == passed.ms[0]


@given(st.integers(1, 2000), st.integers(1, 400), st.integers(0, 60_000))
def test_a_pass_never_gets_faster_with_tokens_batch_or_context(batch, n, context):
    def ms(b, t, c):
        return float(pass_over(QWEN_MOE, H100, WIDE, t, batch=b, context=c).ms)

    here = ms(batch, n, context)
    assert ms(batch, n + 1, context) >= here
    assert ms(batch + 1, n, context) >= here
    assert ms(batch, n, context + 1) >= here


@pytest.mark.parametrize("alpha", [0.5, 0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-32b", "phi-4"])
def test_more_batch_never_raises_gamma_for_a_dense_model_at_short_context(alpha, name):
    target = stored(name)
    head = eagle_head(target, inputs=3, vocabulary=32_000)
    lengths = [
        best(alpha, target, head, H100, batch=batch, context=1)[0]
        for batch in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]


@pytest.mark.parametrize("alpha", [0.6, 0.75, 0.9])
@pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-32b", "phi-4"])
def test_with_some_context_it_raises_gamma_by_one_at_most(alpha, name):
    """The cache makes the target's pass dearer, so that a draft pass is a smaller part of it."""
    target = stored(name)
    head = eagle_head(target, inputs=3, vocabulary=32_000)
    lengths = [
        best(alpha, target, head, H100, batch=batch, context=256)[0]
        for batch in (1, 2, 4, 8, 16, 32, 64, 128, 256)
    ]
    assert all(after <= before + 1 for before, after in pairwise(lengths))
    assert max(lengths) <= lengths[0] + 1


def test_at_long_context_gamma_rises_with_the_batch_as_magicdec_measured():
    target, eight = LLAMA, Machine(2.039e12, 312e12, 312e12, 80e9, devices=8)
    found = [
        best(0.81, target, target, eight, batch=batch, context=32_000, draft_context=512)
        for batch in (32, 64, 128)
    ]
    lengths, speedups = zip(*found, strict=True)
    assert lengths[0] < lengths[-1]
    assert list(lengths) == sorted(lengths)
    assert list(speedups) == sorted(speedups)


def test_of_a_mixture_gamma_and_speedup_rise_with_the_batch_once_all_experts_are_read():
    eight = Machine(3.35e12, 989.4e12, 989.4e12, 80e9, devices=8)
    found = [
        best(0.8, QWEN_MOE, mtp_head(QWEN_MOE), eight, batch=batch, context=2048)
        for batch in (4, 16, 64)
    ]
    assert found[0][0] < found[-1][0]
    assert found[0][1] < found[1][1] < found[2][1]


def test_of_hy3_the_speedup_rises_with_concurrency_as_angelslim_measured():
    """MTP-3 on GSM8K, 3.30 tokens a round: 1.72 times at 4 requests, 2.53 times at 64."""
    target, eight = stored("hy3"), Machine(4e12, 148e12, 148e12, 96e9, devices=8)
    head, speedups = mtp_head(target), []
    for batch in (4, 8, 16, 32, 64):
        plain, verified, drafted = (
            float(pass_over(shape, eight, WIDE, n, batch=batch, context=2048).ms)
            for shape, n in ((target, 1), (target, 4), (head, 1))
        )
        speedups.append(3.30 * plain / (verified + 3 * drafted))
    assert speedups == sorted(speedups)
    assert speedups[-1] > 1.5 * speedups[0]


def test_fully_compute_bound_verification_costs_gamma_plus_1_and_never_pays():
    slow = Machine(1e15, 1e12, 1e12, 80e9, efficiency=1.0)
    passed = pass_over(LLAMA, slow, WIDE, [1, 5], batch=64, context=0)
    assert (passed.ms - passed.overhead)[1] / (passed.ms - passed.overhead)[0] == pytest.approx(5)


def test_experts_read_are_those_of_the_formula():
    assert Experts(128, 8, 1.0).read([1, 16]) == pytest.approx([8, 82.4], abs=0.05)
    assert Experts(8, 2, 1.0).read(1) == pytest.approx(2)
    assert Experts(8, 8, 1.0).read([1, 9]) == pytest.approx([8, 8])


def test_at_one_token_a_mixture_reads_its_active_parameters():
    passed = pass_over(MIXTRAL, H100, WIDE, 1, batch=1, context=0)
    read = (passed.weights.memory + passed.experts.memory) * H100.bandwidth * 0.7 / 1e3
    assert read == pytest.approx(2 * MIXTRAL.active)


def test_the_weights_turn_where_both_times_are_equal():
    at = turn(LLAMA, H100, WIDE).weights
    passed = pass_over(LLAMA, H100, WIDE, at, batch=1, context=0)
    assert passed.weights.memory == pytest.approx(passed.weights.compute)
    assert at == pytest.approx(H100.flops / H100.bandwidth)
    half = Precision(1, 1, 1, 2)
    assert turn(LLAMA, H100, half).weights == pytest.approx(at / 2)


def test_experts_turn_later_by_the_share_of_tokens_that_they_see():
    found = turn(MIXTRAL, H100, WIDE)
    assert found.experts == pytest.approx(4 * found.weights)


def test_devices_split_weights_and_heads_but_no_latent():
    two, four = (Machine(3.35e12, 989.4e12, 989.4e12, 80e9, devices=n) for n in (2, 4))
    for shape, cache in ((LLAMA, 2), (DEEPSEEK, 1)):
        a, b = (pass_over(shape, m, WIDE, 1, batch=8, context=4096) for m in (two, four))
        assert a.weights.memory == pytest.approx(2 * b.weights.memory)
        assert a.attention.memory == pytest.approx(cache * b.attention.memory)
    assert overhead_ms(LLAMA, 2) > overhead_ms(LLAMA, 1)


@pytest.mark.parametrize(
    ("devices", "fits"), [(1, True), (8, True), (16, True), (3, False), (64, False)]
)
def test_heads_must_be_divided(devices, fits):
    assert LLAMA.splits(devices) is fits


def test_a_sliding_window_bounds_what_is_read():
    gemma = stored("gemma-3-27b-it")
    near, far = (
        pass_over(gemma, H100, WIDE, 1, context=c).attention.memory for c in (1024, 65_536)
    )
    assert far / near < 64 / 4  # 10 of 62 layers grow


def test_memory_that_is_held_is_weights_and_cache():
    held = room([(LLAMA, WIDE)], H100, batch=2, context=1000)
    assert held.weights == pytest.approx(2 * LLAMA.parameters)
    assert held.cache == pytest.approx(2 * 1000 * 131_072)
    assert held.fits
    assert not room([(LLAMA, WIDE)], H100, batch=512, context=4096).fits


def test_a_pass_of_llama_is_the_sum_worked_out_by_hand():
    layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14_336 + 2 * 4096
    weights = 2 * (32 * layer + 4096 * 128_256)  # the embedding is looked up, not read
    cached = (
        8 * 4096 * 2 * 32 * 8 * 128 * 2
    )  # sequences, tokens, K and V, layers, heads, size, bytes
    passed = pass_over(LLAMA, H100, WIDE, 5, batch=8, context=4096)
    assert passed.weights.memory == pytest.approx(1e3 * weights / (0.7 * 3.35e12))
    assert passed.weights.compute == pytest.approx(1e3 * weights * 40 / (0.7 * 989.4e12))
    assert passed.attention.memory == pytest.approx(1e3 * cached / (0.7 * 3.35e12))
    operations = 40 * 4096 * 32 * 4 * 32 * 128  # tokens, cached, layers, 4 a number, heads, size
    assert passed.attention.compute == pytest.approx(1e3 * operations / (0.7 * 989.4e12))
    assert passed.overhead == pytest.approx(0.1 + 32 * 0.01)


def test_experts_read_by_eight_tokens_are_the_expectation_worked_out_by_hand():
    read = 8 * (1 - 0.75**8) * 32 * 3 * 4096 * 14_336 * 2
    passed = pass_over(MIXTRAL, H100, WIDE, 8, batch=1, context=1)
    assert passed.experts.memory == pytest.approx(1e3 * read / (0.7 * 3.35e12))
    assert passed.experts.compute == pytest.approx(
        1e3 * 2 * 8 * 2 * 32 * 3 * 4096 * 14_336 / (0.7 * 989.4e12)
    )


def test_an_output_projection_that_is_borrowed_takes_no_memory_again():
    head = mtp_head(DEEPSEEK)
    held = room([(head, WIDE)], H100, batch=1, context=1)
    assert held.weights == pytest.approx(2 * (head.linear + head.routed))
    read = pass_over(head, H100, WIDE, 1, context=1).weights.memory
    assert read == pytest.approx(1e3 * 2 * (head.linear + head.head) / (0.7 * 3.35e12))


def test_calibration_meets_the_measured_pass():
    machine = calibrated(LLAMA, H100, WIDE, ms=9.0, batch=1, context=4096)
    passed = pass_over(LLAMA, machine, WIDE, 1, batch=1, context=4096)
    assert float(passed.ms) == pytest.approx(9.0)
    assert 0.5 < machine.efficiency < 0.6


@pytest.mark.parametrize("ms", [0.1, 0.42, 2.0])
def test_a_pass_faster_than_the_stated_speeds_is_refused(ms):
    with pytest.raises(DomainError, match="a plain pass cannot take"):
        calibrated(LLAMA, H100, WIDE, ms=ms, batch=1, context=4096)


def test_an_eagle_head_is_about_as_large_as_the_published():
    head = eagle_head(LLAMA, inputs=3, vocabulary=32_000)
    assert head.parameters == pytest.approx(0.4e9, rel=0.05)
    assert head.depth == 1


def test_the_mtp_module_of_deepseek_v3_has_the_published_size():
    head = mtp_head(DEEPSEEK)
    assert head.linear + head.routed == pytest.approx(11.5e9, rel=0.01)  # README_WEIGHTS.md: 11.5B


def test_medusa_heads_are_read_whole():
    heads = medusa_heads(LLAMA, 4)
    assert heads.parameters == 4 * (4096**2 + 4096 * 128_256)
    assert float(pass_over(heads, H100, WIDE, 1, context=0).ms) > 0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_device_has_its_vendors_source_and_date(row):
    assert row.vendor in ("NVIDIA", "AMD", "Apple")
    assert row.source.startswith(row.vendor)
    assert datetime.date(2017, 1, 1) < datetime.date.fromisoformat(row.date)
    assert row.bandwidth > 5e10
    assert row.memory > 4e9
    assert all(speed > 1e12 for speed in row.flops.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_dense_speeds_of_a_device_double_as_formats_halve(row):
    wide = row.flops.get("fp16")
    for format_, times in (("fp8", 2), ("int8", 2), ("fp4", 4)):
        if wide and format_ in row.flops:
            ratio = row.flops[format_] / wide
            doubled = (
                2 if row.name in ("rtx-3090", "rtx-4090", "rtx-5090") else 1
            )  # 32-bit sums cost
            assert ratio in (
                pytest.approx(times, rel=0.02),
                pytest.approx(times * doubled, rel=0.02),
            )


def test_device_names_are_unique_and_of_data_centres_desks_and_laps():
    assert len(DEVICES) == len(ROWS)
    assert {"h100-sxm", "a100-sxm", "rtx-4090", "mi300x", "rx-7900-xtx", "m4-max"} <= set(DEVICES)


@pytest.mark.parametrize("quant", QUANTS)
def test_a_narrow_format_is_narrower_than_16_bits(quant):
    assert 4 <= QUANTS[quant].bits < 16


def test_published_rows_are_those_of_the_reference():
    assert len(rows("published/magicdec_optimal_length")) == 19


@pytest.mark.parametrize("name", ["bandwidth", "flops", "memory"])
def test_a_machine_of_nothing_is_refused(name):
    values = {"bandwidth": 1e12, "flops": 1e12, "attention_flops": 1e12, "memory": 1e9}
    with pytest.raises(DomainError, match=f"{name} must be above 0"):
        Machine(**values | {name: 0.0})
