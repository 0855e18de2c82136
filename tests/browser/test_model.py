"""The page's formulas give what Python's give, to the last digits."""

import math

import numpy as np
import pytest

import gammaplan as gp
from gammaplan.model.decision import decide

CLOSE = {"rel_tol": 1e-9}
ALPHAS = [0, 1e-9, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999, 1 - 1e-6, 1 - 1e-12, 1]
SLOPES = [0, 1e-6, 0.001, 0.02, 0.1, 0.3, 0.8, 1, 2]
OVERHEADS = [0, 0.2, 1.5]
DECIDED = """
    const [law, cost, limit] = arguments;
    const found = decide(law.p === undefined ? law.hazards ? perPosition(law.hazards, law.beyond)
      : geometric(law.alpha) : documentLaw({ model: "beta_geometric", parameters: law }, 1),
      cost.table ? tableCost(cost.table) : linearCost(cost.slope, cost.overhead), limit, 0.03);
    const text = (v) => (v === null ? "nan" : String(v).replace("Infinity", "inf"));
    const { gamma, speedup, tokens, cost: passes, ceiling, band } = found;
    return [gamma, speedup, tokens, passes, ceiling, band.low, band.high].map(text)
      .concat(band.plain)"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    from gammaplan.report.page.filling import filled

    empty = {"parts": [], "findings": [], "origin": "", "made": ""}  # stops after its functions
    path = tmp_path_factory.mktemp("model") / "page.html"
    path.write_text(filled(empty), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def decided(page, law, cost, limit=None):
    *figures, plain = page.execute_script(DECIDED, law, cost, limit)
    return [float(v) for v in figures], plain


def expected(law, cost, limit=None):
    found = decide(law, cost, max_gamma=limit)
    figures = (found.gamma, found.speedup, found.expected_tokens, found.round_cost, found.ceiling)
    return [*map(float, figures), found.band.low, found.band.high], found.band.plain


def assert_same(found, wanted):
    assert found[1] == wanted[1]
    for ours, theirs in zip(found[0], wanted[0], strict=True):
        assert math.isclose(ours, theirs, **CLOSE) or (math.isnan(ours) and math.isnan(theirs))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_alpha_is_decided_as_in_python(page, alpha):
    for slope in SLOPES:
        for overhead in OVERHEADS:
            wanted = expected(gp.Geometric(alpha), gp.LinearCost(slope, overhead))
            cost = {"slope": slope, "overhead": overhead}
            assert_same(decided(page, {"alpha": alpha}, cost), wanted)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_longest_draft_is_kept_as_in_python(page, limit):
    wanted = expected(gp.Geometric(0.9), gp.LinearCost(0.01, 0.1), limit)
    assert_same(decided(page, {"alpha": 0.9}, {"slope": 0.01, "overhead": 0.1}, limit), wanted)


@pytest.mark.parametrize("beyond", [0, 0.4, 0.99, 1])
@pytest.mark.parametrize("slope", [0, 1e-4, 0.05, 0.4, 1])
def test_positions_are_decided_as_in_python(page, beyond, slope):
    hazards = [0.9, 0.8, 0.7, 0.75]
    law = {"hazards": hazards, "beyond": beyond}
    for overhead in OVERHEADS:
        wanted = expected(gp.PerPosition(tuple(hazards), beyond), gp.LinearCost(slope, overhead))
        assert_same(decided(page, law, {"slope": slope, "overhead": overhead}), wanted)


@pytest.mark.parametrize(("p", "q"), [(2.8, 1.2), (0.5, 3), (30, 1)])
def test_a_mixture_is_decided_as_in_python(page, p, q):
    wanted = expected(gp.BetaGeometric(p, q), gp.LinearCost(0.05, 0.1))
    assert_same(decided(page, {"p": p, "q": q}, {"slope": 0.05, "overhead": 0.1}), wanted)


def test_a_table_of_costs_is_decided_as_in_python(page):
    gammas, costs = (2, 3, 5, 9, 16), (1.2, 1.25, 1.9, 1.95, 3.5)
    table = [{"gamma": g, "round_cost": t} for g, t in zip(gammas, costs, strict=True)]
    wanted = expected(gp.Geometric(0.85), gp.TableCost(gammas, costs))
    assert_same(decided(page, {"alpha": 0.85}, {"table": table}), wanted)


def test_random_pairs_have_the_best_length_of_python(page):
    rng = np.random.default_rng(7)
    alpha, c = rng.uniform(0.01, 0.9999, 4000), 10 ** rng.uniform(-4, 0, 4000)
    script = "return arguments[0].map(([a, c]) => optimalGamma(a, c))"
    found = page.execute_script(script, np.stack([alpha, c], 1).tolist())
    assert found == gp.optimal_gamma(alpha, c).tolist()


def test_the_stationary_length_is_that_of_python(page):
    rng = np.random.default_rng(8)
    alpha, c = rng.uniform(0.01, 0.9999, 400), 10 ** rng.uniform(-4, 0, 400)
    script = "return arguments[0].map(([a, c]) => stationaryGamma(a, c))"
    found = page.execute_script(script, np.stack([alpha, c], 1).tolist())
    np.testing.assert_allclose(found, gp.stationary_gamma(alpha, c), rtol=1e-9, atol=1e-12)
