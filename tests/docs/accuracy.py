"""The worst relative error on each golden file, as docs/validation.md states it.

``python -m tests.docs.accuracy`` prints the table anew.
"""

import json
from typing import NamedTuple

import numpy as np

import gammaplan as gp
from gammaplan.model.optimum import cost_threshold

from ..support import column, rows


class Line(NamedTuple):
    """One quantity of one golden file: how many values, the worst error, the error allowed."""

    file: str
    quantity: str
    values: int
    worst: float
    allowed: float


def line(file: str, quantity: str, found: object, golden: object, allowed: float) -> Line:
    """Compare where there is a finite golden value; none may be off where it is infinite."""
    ours, truth = (np.asarray(x, dtype=float).ravel() for x in (found, golden))
    known = np.isfinite(truth)
    error = np.abs(ours[known] - truth[known]) / np.where(truth[known] == 0, 1, truth[known])
    return Line(file, quantity, int(known.sum()), float(error.max()), allowed)


def table() -> list[Line]:
    """A line for every quantity."""
    return [*_curve(), *_optimum(), *_chain(), *_fit(), *_alpha()]


def _curve() -> list[Line]:
    golden = rows("golden/curve")
    a, c, n = (column(golden, name) for name in ("alpha", "c", "gamma"))
    tokens, speed = column(golden, "expected_tokens"), column(golden, "speedup")
    return [
        line("curve", "`expected_tokens`", gp.expected_tokens(a, n), tokens, 1e-14),
        line("curve", "`speedup`", gp.speedup(a, c, n), speed, 1e-14),
    ]


def _optimum() -> list[Line]:
    golden = rows("golden/optimum")
    a, c = column(golden, "alpha"), column(golden, "c")
    best, real = gp.optimal_gamma(a, c), gp.stationary_gamma(a, c)
    low, high = column(golden, "c_low"), column(golden, "c_high")
    inside = ~np.isnan(low)
    switch = cost_threshold(a[inside], best[inside])
    risen = inside & (best > 0)
    before = cost_threshold(a[risen], best[risen] - 1)
    root = column(golden, "gamma_cont")
    at_best, at_root = column(golden, "speedup_at_int"), column(golden, "speedup_at_cont")
    return [
        line("optimum", "best `gamma`", best, column(golden, "gamma_int"), 0),
        line("optimum", "`speedup` there", gp.speedup(a, c, best), at_best, 1e-14),
        line("optimum", "`gamma_continuous`", real, root, 1e-12),
        line("optimum", "`speedup` there (real)", gp.speedup(a, c, real), at_root, 1e-14),
        line("optimum", "`ceiling`", gp.ceiling(a), column(golden, "ceiling"), 1e-14),
        line("optimum", "`c_range` low", switch, low[inside], 1e-13),
        line("optimum", "`c_range` high", before, high[risen], 1e-13),
    ]


def _chain() -> list[Line]:
    tokens, speeds, found_tokens, found_speeds = [], [], [], []
    for row in rows("golden/chain"):
        law = gp.PerPosition(tuple(json.loads(row["hazards"])))
        cost = gp.LinearCost(*(float(row[k]) for k in ("c", "overhead", "verify_slope")))
        curve = gp.curve(law, cost, range(law.observed_to + 1))
        tokens += [float(x) for x in json.loads(row["expected_tokens"])]
        speeds += [float(x) for x in json.loads(row["speedup"])]
        found_tokens += curve.expected_tokens.tolist()
        found_speeds += curve.speedup.tolist()
    return [
        line("chain", "`expected_tokens`", found_tokens, tokens, 1e-14),
        line("chain", "`speedup`", found_speeds, speeds, 1e-14),
    ]


def _fit() -> list[Line]:
    golden = rows("golden/fit")
    counts = [gp.Counts.from_histogram(json.loads(row["counts"])) for row in golden]
    means, gammas = column(golden, "mean_tokens"), column(golden, "gamma")
    by_length = gp.alpha_from_mean_length(means, gammas)
    return [
        line("fit", "`alpha`", [x.alpha for x in counts], column(golden, "alpha_mle"), 1e-14),
        line("fit", "`alpha` by length", by_length, column(golden, "alpha_from_mean"), 1e-14),
        line("fit", "`mean_length`", [x.mean_length for x in counts], means, 1e-14),
    ]


def _alpha() -> list[Line]:
    golden = rows("golden/alpha")
    found = []
    for row in golden:
        settings = {k: float(row[k]) for k in ("temperature", "top_p", "min_p")}
        p, q = (
            gp.transform(json.loads(row[side]), top_k=int(row["top_k"]), **settings)
            for side in ("target_logits", "draft_logits")
        )
        lost = ((q * (p == 0)).sum(), (p * (q == 0)).sum())
        found.append((gp.alpha_from_distributions(p, q), *lost))
    names = ("alpha", "draft_mass_outside_target", "target_mass_outside_draft")
    columns = zip(names, np.array(found).T, strict=True)
    return [line("alpha", f"`{n}`", ours, column(golden, n), 1e-12) for n, ours in columns]


if __name__ == "__main__":
    for file, quantity, values, worst, allowed in table():
        allowance = f"{allowed:.0e}" if allowed else "exact"
        shown = f"{worst:.1e}" if worst else "0"
        print(f"| `{file}.csv` | {quantity} | {values:,} | {shown} | {allowance} |")  # noqa: T201
