"""Draft trees: golden values, the two methods against each other, and their laws."""

import json

import pytest

from gammaplan.model.recurrence import Recurrence
from gammaplan.model.tree import Ranks, Tree, growth, optimal_tree
from tests.support import rows

ROWS = rows("golden/tree")


@pytest.mark.golden
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_best_tree_has_the_golden_value_by_either_method(row):
    ranks, budget = json.loads(row["acceptance"]), int(row["budget"])
    depth = int(row["max_depth"]) if row["max_depth"] else None
    known = Ranks.of(ranks, max_depth=depth)
    by_recurrence = Recurrence(known.rows, known.depth, known.most_nodes(budget)).children()
    for tree in (optimal_tree(ranks, budget, max_depth=depth), Tree.from_children(by_recurrence)):
        assert tree.nodes == budget
        assert depth is None or tree.depth <= depth
        assert tree.expected_tokens(ranks) == pytest.approx(
            float(row["expected_tokens"]), rel=1e-12
        )
    assert growth(ranks, budget, max_depth=depth)[-1] == pytest.approx(
        float(row["expected_tokens"]), rel=1e-12
    )
