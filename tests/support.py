"""What several test modules need: the golden files, exact arithmetic, and ways to compare."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a file of tests/data, as text."""
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def column(table: list[dict[str, str]], name: str) -> np.ndarray:
    """One column as numbers; NaN where the cell is empty."""
    return np.array([float(row[name]) if row[name] else math.nan for row in table])


def exact_tokens(alpha: float, gamma: int) -> Fraction:
    """1 + alpha + ... + alpha**gamma of the exact value of a double."""
    total = Fraction(0)
    for _ in range(gamma + 1):
        total = total * Fraction(alpha) + 1
    return total


def exact_speedup(
    alpha: float, c: float, gamma: int, *, overhead: float = 0.0, verify_slope: float = 0.0
) -> Fraction:
    """The speedup of the exact values of these doubles."""
    if gamma == 0:
        return Fraction(1)
    slope = Fraction(c) + Fraction(verify_slope)
    return exact_tokens(alpha, gamma) / (1 + Fraction(overhead) + slope * gamma)
