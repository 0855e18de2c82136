"""Fit the priors of the calibration on public sweeps and write ``gammaplan/data/priors.py``.

    python benchmarks/fit_priors.py [--output FILE]

Empirical Bayes by EM: each sweep's (a, d, k, p) is a draw from a normal distribution whose mean is
that of its family of methods; a source (repository) votes once however many sweeps it has; a
family's mean is shrunk towards the common one as if ``SHRINK`` further sources had shown the common
one; errors are Student-t, so that cliffs do not widen the priors. The ``width`` of the intervals
comes from lengths of sources that were left out of the fit (five folds).
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
from sweep_cases import SETUPS, SWEEPS, Sweep, cases, read_specbundle, read_sweeps

from gammaplan import calibrate
from gammaplan.model.arrays import Floats
from gammaplan.model.posterior import Observed, Prior, Priors, family, posterior

SHRINK = 2.0  # sources
STUDENT = 4.0  # degrees of freedom of the errors
WEAK = 3.0  # sources' worth of a weak prior on the standard deviations, at WEAK_SD
WEAK_SD = np.array([0.8, 0.2, 0.7, 0.2])
START = np.array([1.5, 0.3, -0.8, 0.8])
ITERATIONS = 20
FAMILY_NAMES = ("mtp", "eagle", "block", "draft-model")


def _arrays(sweeps: Sequence[Sweep]) -> Observed:
    n = max(p.gamma for s in sweeps for p in s.points)
    speed, speed_weight, length, length_weight = np.zeros((4, len(sweeps), n))
    for row, sweep in enumerate(sweeps):
        for p in sweep.points:
            speed[row, p.gamma - 1], speed_weight[row, p.gamma - 1] = np.log(p.speedup), 1
            if p.tokens is not None:
                length[row, p.gamma - 1] = np.log(max(p.tokens, 1.001))
                length_weight[row, p.gamma - 1] = 1
    drafted = np.tile(np.arange(1.0, n + 1), (len(sweeps), 1))
    return Observed(
        speed, speed_weight, length, length_weight, drafted, np.full(speed.shape, np.nan)
    )


def _em(sweeps: Sequence[Sweep], names: Sequence[str]) -> tuple[Floats, Floats, float, float]:
    """Means (common, then one offset a family), standard deviations, and the two noises."""
    counts = Counter(s.source for s in sweeps)
    vote = np.array([1 / counts[s.source] for s in sweeps])
    design = np.array([[1.0] + [float(family(s.method) == name) for name in names] for s in sweeps])
    shrink = SHRINK * np.eye(design.shape[1])
    shrink[0, 0] = 0
    seen = _arrays(sweeps)
    means = np.zeros((design.shape[1], 4))
    means[0] = START
    sd, noise, length_noise = WEAK_SD, 0.05, 0.03
    trust, length_trust = seen.speed_weight, seen.length_weight
    normal = design.T @ (vote[:, None] * design) + shrink
    for _ in range(ITERATIONS):
        weighted = seen._replace(
            speed_weight=trust / noise**2, length_weight=length_trust / length_noise**2
        )
        prior_mean = design @ means
        fit = posterior(weighted, prior_mean, np.tile(1 / sd**2, (len(sweeps), 1)), steps=12)
        means = np.linalg.solve(normal, design.T @ (vote[:, None] * fit.theta))
        off = fit.theta - design @ means
        spread = np.diagonal(fit.covariance, axis1=1, axis2=2)
        sd = np.sqrt(
            ((vote[:, None] * (off**2 + spread)).sum(0) + WEAK * WEAK_SD**2) / (vote.sum() + WEAK)
        )
        by_speed = fit.tokens_slope - fit.cost_slope
        miss = (seen.speed - fit.tokens + fit.cost) ** 2 + np.einsum(
            "ngi,nij,ngj->ng", by_speed, fit.covariance, by_speed
        )
        short = (seen.length - fit.tokens) ** 2 + np.einsum(
            "ngi,nij,ngj->ng", fit.tokens_slope, fit.covariance, fit.tokens_slope
        )
        noise = _scale(vote, trust, miss, seen.speed_weight)
        length_noise = _scale(vote, length_trust, short, seen.length_weight)
        trust = seen.speed_weight * (STUDENT + 1) / (STUDENT + miss / noise**2)
        length_trust = seen.length_weight * (STUDENT + 1) / (STUDENT + short / length_noise**2)
    return means, sd, noise, length_noise


def _scale(vote: Floats, trust: Floats, square: Floats, seen: Floats) -> float:
    return float(np.sqrt((vote @ (trust * square)).sum() / (vote @ seen).sum()))


def fit_means(sweeps: Sequence[Sweep]) -> Priors:
    """Priors of unit width: one for unknown methods, one a family."""

    def prior(mean: Floats, sd: Floats, noise: float, length_noise: float) -> Prior:
        a, d, k, p = (round(float(x), 4) for x in mean)
        sa, sd_, sk, sp = (round(float(x), 4) for x in sd)
        return Prior((a, d, k, p), (sa, sd_, sk, sp), round(noise, 4), round(length_noise, 4))

    common, sd, noise, length_noise = _em(sweeps, ())
    unknown = prior(common[0], sd, noise, length_noise)
    means, sd, noise, length_noise = _em(sweeps, FAMILY_NAMES)
    families = {
        name: prior(means[0] + means[i], sd, noise, length_noise)
        for i, name in enumerate(FAMILY_NAMES, start=1)
    }
    return Priors(unknown, families)


def fit(sweeps: Sequence[Sweep], extra: Sequence[Sweep], *, folds: int = 5) -> Priors:
    """Priors with the interval's width, fitted on sources left out in turn."""
    sources = sorted({s.source for s in sweeps})
    held = []
    for fold in range(folds):
        out = set(sources[fold::folds])
        inside = fit_means([*(s for s in sweeps if s.source not in out), *extra])
        held += _held_out([s for s in sweeps if s.source in out], inside)
    return replace(fit_means([*sweeps, *extra]), width=_width(np.array(held)))


def _held_out(sweeps: Sequence[Sweep], priors: Priors, most: int = 8) -> list[tuple[float, float]]:
    """|ln error| / spread and weight, at the lengths that the runs of a case do not show."""
    rows = []
    for setup in SETUPS:
        by_sweep = defaultdict(list)
        for case in cases(sweeps, setup):
            by_sweep[case.sweep.sweep_id].append(case)
        for group in by_sweep.values():
            chosen = group[:: -(-len(group) // most)]
            for case in chosen:
                ratios = case.ratios(calibrate(case.runs, priors=priors))
                rows += [(abs(x), 1 / len(chosen) / len(ratios)) for x in ratios]
    return rows


def _width(held: Floats) -> float:
    """Find the stretch at which 80 % intervals hold 80 % of the held-out lengths, sweeps equal."""
    ratio, weight = held[np.argsort(held[:, 0])].T
    at = float(np.interp(0.8, np.cumsum(weight) / weight.sum(), ratio))
    return round(at / NormalDist().inv_cdf(0.9), 3)


def write(priors: Priors, path: Path, sweeps: Sequence[Sweep], extra: Sequence[Sweep]) -> None:
    """Write the priors as a Python table with its provenance."""
    sources = len({s.source for s in [*sweeps, *extra]})

    def row(prior: Prior, indent: str) -> list[str]:
        figures = (prior.mean, prior.sd, prior.speed_noise, prior.length_noise, prior.run_noise)
        return [f"{indent}    {figure}," for figure in figures]

    lines = [
        '"""Priors of the calibration: written by ``benchmarks/fit_priors.py``, not by hand.',
        "",
        f"Fitted on {len(sweeps)} public sweeps of draft lengths "
        f"(``tests/data/sweeps/length_sweeps.csv``) and {len(extra)}",
        f"EAGLE-3 chains of SpecBundle: {sources} sources, one vote a source. "
        "Each row is ``(mean, sd, speed_noise,",
        "length_noise, run_noise)``; mean and sd are of (a, d, k, p) in ``model/posterior.py``.",
        '"""',
        "",
        "from typing import TypeAlias",
        "",
        "Four: TypeAlias = tuple[float, float, float, float]",
        "Row: TypeAlias = tuple[Four, Four, float, float, float]",
        "",
        f"WIDTH = {priors.width}  # stretches the spread of a prediction; "
        "fitted on lengths of sources left out",
        "UNKNOWN: Row = (",
        *row(priors.unknown, ""),
        ")",
        "METHODS: dict[str, Row] = {",
    ]
    for name, prior in priors.methods.items():
        lines += [f'    "{name}": (', *row(prior, "    "), "    ),"]
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def main() -> None:
    """Fit on everything and write the table."""
    parser = argparse.ArgumentParser(description="Fit the priors of the calibration")
    parser.add_argument("--sweeps", type=Path, default=SWEEPS)
    home = Path(__file__).parents[1] / "gammaplan" / "data" / "priors.py"
    parser.add_argument("--output", type=Path, default=home)
    arguments = parser.parse_args()
    sweeps, extra = read_sweeps(arguments.sweeps), read_specbundle(arguments.sweeps)
    write(fit(sweeps, extra), arguments.output, sweeps, extra)


if __name__ == "__main__":
    main()
