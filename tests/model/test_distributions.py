"""Acceptance from distributions: its laws, rule by rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gammaplan as gp
from gammaplan.model.rules import RULES, Lenience, Typical, distortion

LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
LOSSY = [name for name, rule in RULES.items() if not rule.lossless]


@st.composite
def pairs(draw):
    """Two distributions over 2 to 40 tokens, some of them without some of the tokens."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    logits = rng.normal(0, draw(st.floats(0.1, 5)), (2, draw(st.integers(2, 40))))
    return gp.transform(logits, top_p=draw(st.sampled_from([1.0, 0.9, 0.5])))


@given(pairs())
def test_alpha_is_one_minus_total_variation(pair):
    p, q = pair
    assert_allclose(gp.alpha_from_distributions(p, q), 1 - np.abs(p - q).sum() / 2, atol=1e-15)


@given(pairs())
def test_alpha_is_symmetric_and_one_for_equal_distributions(pair):
    p, q = pair
    assert gp.alpha_from_distributions(p, q) == gp.alpha_from_distributions(q, p)
    assert gp.alpha_from_distributions(p, p) == pytest.approx(1, abs=1e-15)


def test_alpha_is_zero_where_the_supports_are_disjoint():
    assert gp.alpha_from_distributions([1.0, 0.0], [0.0, 1.0]) == 0


@given(pairs())
def test_the_residual_is_normalised_by_the_probability_of_a_refusal(pair):
    p, q = pair
    refused = 1 - gp.alpha_from_distributions(p, q)
    assert_allclose(gp.residual(p, q) * refused, np.maximum(p - q, 0), atol=1e-14)


def test_the_residual_of_equal_distributions_is_the_target():
    assert_array_equal(gp.residual([0.3, 0.7], [0.3, 0.7]), [0.3, 0.7])


@given(pairs(), st.sampled_from(LOSSLESS))
def test_a_lossless_rule_emits_the_target(pair, name):
    p, q = pair
    assert distortion(RULES[name], p, q) < 1e-14


@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_rule_does_not(name):
    p, q = gp.transform([2.0, 1.0, 0.0]), gp.transform([1.0, 2.0, 0.5])
    assert distortion(RULES[name], p, q) > 0.01


@given(pairs())
def test_no_rule_that_draws_from_q_and_is_lossless_beats_the_residual_one(pair):
    p, q = pair
    best = gp.alpha_from_distributions(p, q)
    assert gp.alpha_from_distributions(p, q, rule="exact_match") <= best + 1e-15


@given(pairs(), st.floats(0.01, 1))
def test_lenience_raises_alpha_and_bounds_what_is_emitted(pair, lenience):
    p, q = pair
    rule = Lenience(lenience)
    accepted = rule.accepted(p, q)
    assert accepted.sum() >= gp.alpha_from_distributions(p, q) - 1e-15
    rest = rule.replacement(p, q)
    emitted = accepted + (1 - accepted.sum()) * rest / (rest.sum() or 1)
    assert (emitted <= p / lenience + 1e-14).all()


def test_the_greedy_draft_is_accepted_with_the_target_probability_of_its_argmax():
    p, q = [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]
    assert gp.alpha_from_distributions(p, q, rule="greedy_draft") == 0.3


def test_typical_acceptance_has_the_threshold_of_its_source():
    p, q = np.array([0.6, 0.35, 0.05]), np.array([0.2, 0.3, 0.5])
    entropy = -(p * np.log(p)).sum()
    assert min(0.3, 0.09 * np.exp(-entropy)) < 0.05
    assert gp.alpha_from_distributions(p, q, rule="typical") == pytest.approx(1)
    assert gp.alpha_from_distributions(p, q, rule=Typical(0.3, 1.0)) == pytest.approx(0.5)


def test_alpha_of_the_toy_pair_is_not_monotone_in_temperature():
    def alpha(t):
        p, q = (gp.transform(x, temperature=t) for x in ([2.0, 0.0], [1.5, 0.0]))
        return gp.alpha_from_distributions(p, q)

    assert [round(alpha(t), 3) for t in (0, 0.5, 1, 1.13, 100)] == [1, 0.971, 0.937, 0.936, 0.999]


def test_arrays_broadcast_and_scalars_come_back_as_scalars():
    p, q = gp.transform(np.zeros((4, 1, 3))), gp.transform(np.ones((2, 3)))
    assert gp.alpha_from_distributions(p, q).shape == (4, 2)
    assert type(gp.alpha_from_distributions([1.0], [1.0])) is float


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0], "p and q must have one vocabulary, got 2 and 1"),
        ([0.5, 0.6], [1.0, 0.0], "p must sum to 1, and is off by 0.1"),
        ([1.0, 0.0], [1.5, -0.5], "q must hold probabilities, got -0.5"),
        ([1.0, np.nan], [1.0, 0.0], "p must hold probabilities, got nan"),
        (1.0, [1.0], r"p must have shape \(..., vocab\), got \(\)"),
    ],
)
def test_what_is_no_distribution_is_named(p, q, message):
    with pytest.raises(gp.DomainError, match=message):
        gp.alpha_from_distributions(p, q)


def test_an_unknown_rule_is_named():
    with pytest.raises(gp.DomainError, match=r"rule must be one of residual, block, .*, got best"):
        gp.alpha_from_distributions([1.0], [1.0], rule="best")
