"""Logs and metrics pages of a real llama-server: both are read to the counts of the page itself.

tests/data/live is written by `python -m benchmarks.live --publish`, its README says how.
"""

import json
from pathlib import Path

import pytest

import gammaplan as gp

DATA = Path(__file__).parents[1] / "data" / "live"
TRUTH = json.loads((DATA / "truth.json").read_text(encoding="utf-8"))


def counts_of(name: str) -> dict[str, object]:
    counts = gp.read_reports(DATA / name).counts
    assert counts is not None
    return {
        "rounds": counts.rounds,
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "accepted_at_least": list(counts.accepted_at_least or ()),
    }


@pytest.mark.parametrize("server", TRUTH)
@pytest.mark.parametrize("kind", ["log", "prom"])
def test_what_a_real_server_says_is_read_to_the_token(server, kind):
    assert counts_of(f"{server}.{kind}") == TRUTH[server]


def test_there_are_drafts_by_a_model_and_by_lookup():
    assert {name.partition("-")[0] for name in TRUTH} >= {"ngram", "q2_k"}
    assert all(told["drafted"] > 0 for told in TRUTH.values())
