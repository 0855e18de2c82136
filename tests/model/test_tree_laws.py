"""Laws of draft trees: what holds whatever the ranks, the bounds and the cost."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gammaplan.errors import DomainError
from gammaplan.model.passes import PassTimes
from gammaplan.model.recurrence import Recurrence
from gammaplan.model.tree import Ranks, Tree, growth, optimal_tree
from gammaplan.model.treecost import TreeCost
from gammaplan.model.treeplan import Bounds, best_chain, best_trees, tree_of
from gammaplan.model.treeshapes import balanced, by_steps, chain, greedy

shares = st.floats(0, 1, allow_subnormal=False)
budgets = st.integers(0, 24)
some = st.none() | st.integers(1, 5)


@st.composite
def vectors(draw, *, falling=False):
    raw = np.array(draw(st.lists(shares, min_size=1, max_size=4)))
    ranks = raw / max(raw.sum(), 1.0)
    return (np.sort(ranks)[::-1] if falling else ranks).tolist()


@st.composite
def levels(draw):
    rows, width = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    raw = np.array(draw(st.lists(shares, min_size=rows * width, max_size=rows * width)))
    raw = raw.reshape(rows, width)
    return raw / np.maximum(raw.sum(axis=1, keepdims=True), 1.0)


def every_tree(nodes):
    """The numbers of children, breadth first, of every tree of so many nodes."""
    for children in product(range(nodes + 1), repeat=nodes + 1):
        if sum(children) == nodes and all(sum(children[: i + 1]) > i for i in range(nodes)):
            yield Tree.from_children(children)


@given(vectors(), budgets)
def test_more_nodes_never_lower_the_tokens(ranks, budget):
    assert (np.diff(growth(ranks, budget)) >= -1e-12).all()


@given(vectors(), budgets)
def test_a_tree_is_never_below_the_chain_of_as_many_nodes(ranks, budget):
    tree = optimal_tree(ranks, budget)
    assert tree.expected_tokens(ranks) >= chain(budget).expected_tokens(ranks) * (1 - 1e-12)


@given(vectors(), budgets, some, some)
def test_tokens_stay_below_the_bound_of_their_width(ranks, budget, depth, width):
    tree = optimal_tree(ranks, budget, max_depth=depth, max_width=width)
    total = sum(ranks[: tree.width])
    bound = budget + 1 if total >= 1 else min(budget + 1, 1 / (1 - total))
    assert tree.expected_tokens(ranks) <= bound * (1 + 1e-9)


@given(vectors(), budgets, some, some)
def test_a_tree_keeps_its_bounds_and_has_the_largest_size_within_them(ranks, budget, depth, width):
    tree = optimal_tree(ranks, budget, max_depth=depth, max_width=width)
    known = Ranks.of(ranks, max_depth=depth, max_width=width)
    assert tree.depth <= known.depth
    assert tree.width <= known.rows.shape[1]
    assert tree.nodes == known.most_nodes(budget)


@given(vectors(), st.integers(0, 5), some)
def test_no_tree_has_more_tokens(ranks, budget, depth):
    found = optimal_tree(ranks, budget, max_depth=depth)
    if found.nodes < budget:
        return
    fits = [
        tree.expected_tokens(ranks)
        for tree in every_tree(budget)
        if tree.width <= len(ranks) and tree.depth <= (depth or budget)
    ]
    assert found.expected_tokens(ranks) == pytest.approx(max(fits), rel=1e-12)


@given(levels(), budgets)
def test_with_ranks_by_level_both_methods_agree(ranks, budget):
    ranks = np.sort(ranks, axis=1)[:, ::-1]
    known = Ranks.of(ranks)
    nodes = known.most_nodes(budget)
    depth = min(known.depth, nodes)
    slow = Tree.from_children(Recurrence(known.rows, depth, nodes).children())
    fast = optimal_tree(ranks, budget)
    assert fast.expected_tokens(ranks) == pytest.approx(slow.expected_tokens(ranks), rel=1e-12)


@given(levels(), budgets)
def test_tokens_are_the_sum_of_path_probabilities(ranks, budget):
    tree = optimal_tree(ranks, budget)
    assert growth(ranks, budget)[-1] == pytest.approx(tree.path_probabilities(ranks).sum())


@given(vectors(), budgets)
def test_children_rebuild_the_tree(ranks, budget):
    tree = optimal_tree(ranks, budget)
    assert Tree.from_children(tree.children) == tree


@given(vectors(), st.integers(1, 16), some, st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.2))
def test_no_depth_is_faster_than_the_one_chosen(ranks, budget, width, c, overhead, slope):
    cost, bounds = TreeCost(c, overhead, slope), Bounds(None, width)
    for found in best_trees(ranks, cost, range(budget + 1), bounds):
        for depth in range(1, found.nodes + 1):
            tree = optimal_tree(ranks, found.nodes, max_depth=depth, max_width=width)
            passes = float(cost.round_cost(depth, found.nodes))
            if tree.nodes == found.nodes:
                assert tree.expected_tokens(ranks) / passes <= found.speedup * (1 + 1e-9)


@given(vectors(), st.integers(1, 16), st.floats(0, 1))
def test_the_figures_of_a_size_are_those_of_its_tree(ranks, budget, c):
    found = best_trees(ranks, TreeCost(c), [budget])[0]
    tree = tree_of(ranks, found)
    assert tree.nodes == found.nodes
    assert tree.depth <= found.depth
    assert tree.expected_tokens(ranks) == pytest.approx(found.expected_tokens, rel=1e-12)


@given(st.floats(0.01, 0.98), st.floats(0.001, 1), st.floats(0, 0.5), st.floats(0, 0.2))
def test_a_tree_of_one_child_a_node_is_the_chain(alpha, c, overhead, slope):
    cost = TreeCost(c, overhead, slope)
    best = best_chain([alpha], cost)
    assert best is not None
    sized = best_trees([alpha], cost, range(int(best.gamma) + 3))
    assert max(one.speedup for one in sized) == pytest.approx(best.speedup, rel=1e-9)


@given(vectors(), st.integers(1, 20), st.integers(1, 4))
def test_no_rule_beats_the_best_tree(ranks, nodes, width):
    best = optimal_tree(ranks, nodes).expected_tokens(ranks) * (1 + 1e-12)
    width = min(width, len(ranks))
    made = [chain(nodes), balanced(nodes, width), greedy(ranks, nodes)]
    made += [tree for _, tree in by_steps(Ranks.of(ranks), nodes, width)]
    for tree in made:
        assert tree.nodes == nodes
        assert tree.expected_tokens(ranks) <= best


@given(vectors(falling=True), budgets)
def test_greedy_is_the_best_tree_where_ranks_fall(ranks, nodes):
    assert greedy(ranks, nodes) == optimal_tree(ranks, nodes)


@given(vectors(), st.integers(1, 20), st.integers(1, 4))
def test_trees_by_steps_keep_their_steps_and_width(ranks, nodes, width):
    for steps, tree in by_steps(Ranks.of(ranks), nodes, width):
        assert tree.depth <= steps
        assert tree.width <= width
        assert Tree.from_children(tree.children) == tree
        if width > 1:  # each step drafts from the `width` best nodes of a level
            for level in range(tree.depth):
                grown = [c for c, at in zip(tree.children, tree.levels, strict=True) if at == level]
                assert sum(c > 0 for c in grown) <= width


@pytest.mark.parametrize(
    ("ranks", "kwargs", "said"),
    [
        ([], {}, "at least one rank"),
        ([[]], {}, "at least one rank"),
        ([0.5, -0.1], {}, "must be in [0, 1], got -0.1 to 0.5"),
        ([0.5, float("nan")], {}, "must be in [0, 1]"),
        ([0.9, 0.2], {}, "must sum to at most 1: one child is accepted, got 1.1"),
        ([0.5, 0.5 + 2e-9], {}, "must sum to at most 1"),
        ([0.5], {"max_depth": 0}, "max_depth must be at least 1, got 0"),
        ([0.5], {"max_width": 0}, "max_width must be at least 1, got 0"),
        ([[0.5], [0.4]], {"max_depth": 3}, "a vector for each of max_depth 3 levels, got 2"),
    ],
)
def test_ranks_that_cannot_be_are_refused(ranks, kwargs, said):
    with pytest.raises(DomainError, match=said.replace("[", r"\[")):
        optimal_tree(ranks, 3, **kwargs)


@pytest.mark.parametrize(
    ("ranks", "budget", "said"),
    [
        ([0.5], -1, "budget must be 0 to 1,000,000 nodes, got -1"),
        ([0.5], 10**9, "budget must be 0 to 1,000,000 nodes, got 1,000,000,000"),
        ([0.2, 0.3], 10**6, "0 to 4,096 nodes, where a rank exceeds its elder sibling's"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(ranks, budget, said):
    with pytest.raises(DomainError, match=said):
        optimal_tree(ranks, budget)


def test_a_sum_that_rounding_lifts_above_one_is_taken():
    assert optimal_tree([0.5, 0.5 + 5e-10], 2).nodes == 2


def test_timed_passes_must_have_the_plain_one():
    with pytest.raises(DomainError, match="must start with that over 1 token, got 2"):
        TreeCost(0.1, passes=PassTimes((2, 4), (1.0, 2.0)))


def test_timed_passes_and_a_slope_contradict():
    with pytest.raises(DomainError, match="contradict"):
        TreeCost(0.1, verify_slope=0.1, passes=PassTimes((1, 4), (1.0, 2.0)))
