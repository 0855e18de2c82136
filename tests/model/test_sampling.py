"""Samplers: golden values, and the cut that selection finds against a full sort."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp
from gammaplan.data.samplers import ORDERS, STEPS
from gammaplan.model.overlap import Drawn, Workspace, overlaps, peaked
from gammaplan.model.sampling import SHORT, Sampler, steps_of, weights

from ..support import rows

ALPHA = rows("golden/alpha")
by_row = pytest.mark.parametrize("row", ALPHA, ids=[f"alpha {row['id']}" for row in ALPHA])


def sampler_of(row) -> Sampler:
    t, k, p, share = (row[name] for name in ("temperature", "top_k", "top_p", "min_p"))
    return Sampler(float(t), int(k), float(p), float(share))


def sides(row) -> list[list[float]]:
    return [json.loads(row["target_logits"]), json.loads(row["draft_logits"])]


@pytest.mark.golden
@by_row
def test_alpha_is_the_golden_one(row):
    s = sampler_of(row)
    p, q = (
        gp.transform(x, temperature=s.temperature, top_k=s.top_k, top_p=s.top_p, min_p=s.min_p)
        for x in sides(row)
    )
    assert_allclose(gp.alpha_from_distributions(p, q), float(row["alpha"]), rtol=1e-12)


@pytest.mark.golden
@by_row
def test_measured_figures_are_the_golden_ones(row):
    drawn = Drawn(sampler_of(row), sampler_of(row))
    target, draft = (peaked(np.array([x]), "logits") for x in sides(row))
    found = overlaps(target, draft, [drawn], (), Workspace(target.shape, np.float64))[0]
    assert_allclose(found["alpha"], float(row["alpha"]), rtol=1e-12)
    assert_allclose(1 - found["alpha"], float(row["tv"]), rtol=1e-12, atol=1e-15)
    assert found["target_support"] == int(row["support_target"])
    assert found["draft_support"] == int(row["support_draft"])
    for ours, golden in (
        ("draft_outside", "draft_mass_outside_target"),
        ("target_outside", "target_mass_outside_draft"),
    ):
        assert_allclose(found[ours], float(row[golden]), rtol=1e-12)


def by_sorting(logits: np.ndarray, sampler: Sampler) -> np.ndarray:
    """The support, by sorting the row and cutting it step by step."""
    order = np.argsort(-logits, kind="stable")
    x, kept, heat = logits[order].astype(float), np.ones(len(logits), bool), 1.0
    for step in steps_of(sampler.order):
        mass = np.exp(x / heat) * kept
        if step == "temperature":
            heat = sampler.temperature
        elif step == "top_k" and 0 < sampler.top_k < kept.sum():
            kept &= x >= x[kept][sampler.top_k - 1]
        elif step == "top_p" and sampler.top_p < 1:
            kept &= np.cumsum(mass) - mass < sampler.top_p * mass.sum()
        elif step == "min_p" and sampler.min_p:
            kept &= x >= heat * np.log(sampler.min_p)
    inside = np.zeros(len(logits), bool)
    inside[order[kept]] = True
    return inside


@given(
    st.sampled_from([5, 300, SHORT + 1, 3 * SHORT]),
    st.sampled_from([np.float32, np.float64]),
    st.floats(0.2, 6),
    st.booleans(),
    st.integers(0, 10**6),
    st.sampled_from([0.3, 1.0, 2.0]),
    st.sampled_from([0, 1, 7, 40, 600, 3000]),
    st.sampled_from([1.0, 0.1, 0.5, 0.95, 0.999]),
    st.sampled_from([0.0, 0.02, 0.3]),
    st.sampled_from(list(ORDERS)),
)
def test_the_support_is_that_of_sorting(
    vocab, dtype, spread, tied, seed, temperature, top_k, top_p, min_p, order
):
    x = np.random.default_rng(seed).normal(0, spread, vocab)
    x = (np.round(x * 4) / 4 if tied else x).astype(dtype)
    x -= x.max()
    sampler = Sampler(temperature, top_k, top_p, min_p, order)
    out, inside = np.empty((1, vocab), dtype), np.empty((1, vocab), bool)
    weights(x[None], sampler, out, inside)
    expected = by_sorting(x, sampler)
    differing = np.flatnonzero(inside[0] != expected)
    edge = top_p < 1 and dtype is np.float32  # rounding may move the end of a nucleus by a token
    assert len(differing) <= (1 if edge else 0)


def test_a_repeated_logit_at_the_end_of_a_nucleus_keeps_its_first_tokens():
    p = gp.transform([0.0, 1.0, 1.0, 1.0, 1.0], top_p=0.4)
    assert_array_equal(p > 0, [False, True, True, False, False])


def test_top_k_keeps_tokens_that_are_tied_with_the_last():
    assert_array_equal(gp.transform([3.0, 2.0, 2.0, 1.0], top_k=2) > 0, [1, 1, 1, 0])


def test_temperature_zero_takes_the_first_largest():
    assert_array_equal(gp.transform([1.0, 3.0, 3.0], temperature=0), [0, 1, 0])


def test_masked_tokens_have_no_mass_and_no_support():
    assert_array_equal(gp.transform([0.0, -np.inf, 0.0]), [0.5, 0, 0.5])


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e300])
def test_any_temperature_gives_a_distribution(temperature):
    assert gp.transform([2.0, 1.0, -3.0], temperature=temperature).sum() == pytest.approx(1)


def test_engines_that_put_temperature_last_cut_before_it():
    logits, settings = [2.0, 1.0, 0.0], {"temperature": 3.0, "top_p": 0.6}
    first = gp.transform(logits, order="vllm", **settings)
    last = gp.transform(logits, order="llama.cpp", **settings)
    assert np.count_nonzero(first) == 2
    assert np.count_nonzero(last) == 1


def test_min_p_before_top_p_leaves_top_p_less_to_count():
    logits, settings = np.log([0.5, 0.3, 0.12, 0.08]), {"top_p": 0.85, "min_p": 0.2}
    assert np.count_nonzero(gp.transform(logits, order="vllm", **settings)) == 2
    assert np.count_nonzero(gp.transform(logits, order="transformers", **settings)) == 3


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_names_every_step_once_and_its_source(order):
    assert sorted(ORDERS[order].steps) == sorted(STEPS)
    assert ":" in ORDERS[order].source


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1}, "temperature must be at least 0, got -1"),
        ({"temperature": float("nan")}, "temperature must be at least 0, got nan"),
        ({"top_k": -1}, r"top_k must be a whole number of at least 0 \(0 is off\), got -1"),
        ({"top_p": 0}, r"top_p must be in \(0, 1\] \(1 is off\), got 0"),
        ({"top_p": 1.5}, r"top_p must be in \(0, 1\] \(1 is off\), got 1.5"),
        ({"min_p": 2}, r"min_p must be in \[0, 1\] \(0 is off\), got 2"),
        ({"order": "ollama"}, "order must be one of transformers, .*, got ollama"),
        ({"order": ("top_k", "top_p")}, "order must name temperature, top_k, top_p, min_p once"),
    ],
)
def test_a_setting_out_of_its_domain_is_named(settings, message):
    with pytest.raises(gp.DomainError, match=message):
        gp.transform([1.0, 0.0], **settings)


@pytest.mark.parametrize("row", [[np.nan, 0], [np.inf, 0], [-np.inf, -np.inf]])
def test_a_row_without_a_distribution_is_named(row):
    with pytest.raises(gp.DomainError, match="as the largest of row 1"):
        gp.transform([[0.0, 1.0], row])
