"""Score the calibration on public sweeps, out of source and in sample.

    python benchmarks/sweeps.py [--sweeps DIR]

Prints, in percent, the table of the sweeps' README for its reference predictors and for
``predict_speedup``, with runs alone and with the method known; then the coverage of the 80 %
prediction intervals. Out of source: priors and interval width fitted without the scored source.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median

import numpy as np
from fit_priors import fit
from sweep_cases import SETUPS, SWEEPS, Case, Sweep, cases, read_specbundle, read_sweeps

from gammaplan import Calibration, Run, calibrate, predict_speedup, speedup_interval
from gammaplan.model.posterior import Priors

Predictor = Callable[[Case, Sequence[int]], Sequence[float]]


def tokens(alpha: float, gamma: int, fall: float) -> float:
    """Tokens per round where the rate falls by the share ``fall`` per position."""
    total = survival = 1.0
    for i in range(gamma):
        survival *= min(1.0, alpha * (1 - fall) ** i)
        total += survival
    return total


def alpha_of(run: Run, fall: float) -> float:
    """First-position rate whose tokens are the run's."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        short = tokens(middle, run.gamma, fall) < (run.tokens() or 1.0)
        low, high = (middle, high) if short else (low, middle)
    return high


def keep(case: Case, gammas: Sequence[int]) -> list[float]:
    """Keep the length tried; elsewhere the same speed, a hair less."""
    run = case.runs[0]
    return [run.speedup * (1 if g == run.gamma else 1 - 1e-12) for g in gammas]


def through_one(fall: float, power: float) -> Predictor:
    """1 + c gamma^power through the run."""

    def predict(case: Case, gammas: Sequence[int]) -> list[float]:
        run = case.runs[0]
        alpha = alpha_of(run, fall)
        c = (tokens(alpha, run.gamma, fall) / run.speedup - 1) / run.gamma**power
        return [tokens(alpha, g, fall) / (1 + c * g**power) for g in gammas]

    return predict


def through_two(fall: float, pull: float) -> Predictor:
    """t0 + t1 gamma through both runs; ``pull``: weight of t0 = 1.1 against 5 % relative errors."""

    def predict(case: Case, gammas: Sequence[int]) -> list[float]:
        alpha = alpha_of(case.runs[0], fall)
        rows, values = [[pull, 0.0]], [1.1 * pull]
        for run in case.runs:
            cost = tokens(alpha, run.gamma, fall) / run.speedup
            rows.append([20 / cost, 20 * run.gamma / cost])
            values.append(20.0)
        t0, t1 = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
        return [tokens(alpha, g, fall) / max(t0 + t1 * g, 1e-9) for g in gammas]

    return predict


def ours(priors: Callable[[Sweep], Priors], known: bool) -> Predictor:
    """``predict_speedup``, with runs alone or with engine and method."""

    def predict(case: Case, gammas: Sequence[int]) -> Sequence[float]:
        fitted = _calibrate(case, priors, known)
        return [float(x) for x in np.atleast_1d(predict_speedup(fitted, gammas))]

    return predict


def _calibrate(case: Case, priors: Callable[[Sweep], Priors], known: bool) -> Calibration:
    return calibrate(
        case.runs,
        engine=case.sweep.engine if known else None,
        method=case.sweep.method if known else None,
        priors=priors(case.sweep),
    )


def score(sweeps: Sequence[Sweep], setup: str, predict: Predictor) -> str:
    """One row: regret median / mean / max, error median / mean, regret mean by source."""
    by_sweep = defaultdict(list)
    for case in cases(sweeps, setup):
        points = case.sweep.points
        gammas = [p.gamma for p in points]
        predicted = dict(zip(gammas, predict(case, gammas), strict=True))
        true = {0: 1.0} | {p.gamma: p.speedup for p in points}
        chosen = max(true, key=lambda g: ((predicted | {0: 1.0})[g], -g))
        regret = 1 - true[chosen] / max(true.values())
        error = mean(abs(predicted[p.gamma] / p.speedup - 1) for p in case.hidden())
        by_sweep[case.sweep].append((100 * regret, 100 * error))
    rows = {sweep: (mean(r for r, _ in v), mean(e for _, e in v)) for sweep, v in by_sweep.items()}
    by_source = defaultdict(list)
    for sweep, row in rows.items():
        by_source[sweep.source].append(row)
    regrets, errors = zip(*rows.values(), strict=True)
    mean_error = mean(errors) if mean(errors) < 1000 else float("inf")
    return (
        f"{setup:8} {len(rows):3} | {median(regrets):4.2f} / {mean(regrets):4.2f} / "
        f"{max(regrets):4.1f} | {median(errors):4.1f} / {mean_error:5.2f}   | "
        f"{mean(mean(r for r, _ in v) for v in by_source.values()):4.2f}"
    )


def coverage(
    sweeps: Sequence[Sweep], setup: str, priors: Callable[[Sweep], Priors], known: bool
) -> str:
    """Share of hidden lengths in the 80 % interval (sweeps equal, and plain), median width."""
    inside, widths = defaultdict(list), []
    for case in cases(sweeps, setup):
        sweep = case.sweep
        hidden = case.hidden()
        fitted = _calibrate(case, priors, known)
        low, high = speedup_interval(fitted, [p.gamma for p in hidden])
        held = [bool(a <= p.speedup <= b) for p, a, b in zip(hidden, low, high, strict=True)]
        inside[sweep].append((mean(held), held))
        widths += [float(b / a - 1) for a, b in zip(low, high, strict=True)]
    equal = mean(mean(share for share, _ in v) for v in inside.values())
    plain = mean(x for v in inside.values() for _, held in v for x in held)
    return f"{setup:8} | {100 * equal:4.1f} | {100 * plain:4.1f} | {100 * median(widths):4.1f}"


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Score the calibration on public sweeps")
    parser.add_argument("--sweeps", type=Path, default=SWEEPS)
    arguments = parser.parse_args()
    sweeps, extra = read_sweeps(arguments.sweeps), read_specbundle(arguments.sweeps)
    inside = fit(sweeps, extra)
    outside = {
        source: fit([s for s in sweeps if s.source != source], extra)
        for source in sorted({s.source for s in sweeps})
    }
    print(f"{'predictor':31} set-up     n | regret med / mean / max | error med / mean | by source")
    references: list[tuple[str, tuple[str, ...], Predictor]] = [
        ("keep the length tried", ("one",), keep),
        ("constant alpha, 1 + c gamma", ("one",), through_one(0.0, 1.0)),
        ("fall 3.5 %, 1 + c gamma^0.9", ("one",), through_one(0.035, 0.9)),
        ("line through both", ("two",), through_two(0.0, 0.0)),
        ("line, t0 1.1 +- 0.1, fall 1.5 %", ("two", "two-acc"), through_two(0.015, 10.0)),
    ]
    for name, setups, predictor in references:
        for setup in setups:
            print(f"{name:31} {score(sweeps, setup, predictor)}")
    choices: list[tuple[str, Callable[[Sweep], Priors]]] = [
        ("out of source", lambda sweep: outside[sweep.source]),
        ("in sample", lambda _: inside),
    ]
    for label, priors in choices:
        for known in (False, True):
            name = f"{label}, {'engine, method' if known else 'runs alone'}"
            for setup in SETUPS:
                print(f"{name:31} {score(sweeps, setup, ours(priors, known))}")
    print(f"\n{'80 % intervals':31} set-up   | held, sweeps equal | held, plain | median width")
    for label, priors in choices:
        for known in (False, True):
            name = f"{label}, {'method' if known else 'runs alone'}"
            for setup in SETUPS:
                print(f"{name:31} {coverage(sweeps, setup, priors, known)}")
    widths = sorted(p.width for p in outside.values())
    print(
        f"\ninterval width factor: in sample {inside.width}, left out {widths[0]} .. {widths[-1]}"
    )


if __name__ == "__main__":
    main()
