"""optimal_gamma on a million random pairs, against scans, a root finder and Lambert's W."""

from collections.abc import Callable
from math import exp

import numpy as np
from measure import call, extra_memory, ratio, report
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import lambertw

from gammaplan import optimal_gamma

Floats = NDArray[np.float64]
PAIRS = 10**6
LONGEST = 64
BLOCK = 8_192  # pairs; the fastest for the rivals, whose blocks are 65 columns wide
SAMPLE = 2_000


def argmax(alpha: Floats, c: Floats) -> Floats:
    """The best of gamma = 0..64, from the whole matrix of speedups."""
    gamma = np.arange(LONGEST + 1.0)
    tokens = (1 - alpha[:, None] ** (gamma + 1)) / (1 - alpha[:, None])
    return np.asarray(np.argmax(tokens / (1 + c[:, None] * gamma), axis=1), dtype=np.float64)


def scan(alpha: Floats, c: Floats) -> Floats:
    """The best of gamma = 0..64, keeping the best so far; powers by multiplication."""
    power, tokens, cost = alpha.copy(), np.ones_like(alpha), np.ones_like(alpha)
    best, speed, gamma = np.ones_like(alpha), np.empty_like(alpha), np.zeros_like(alpha)
    for k in range(1, LONGEST + 1):
        tokens += power
        power *= alpha
        cost += c
        np.divide(tokens, cost, out=speed)
        np.copyto(gamma, k, where=speed > best)
        np.maximum(best, speed, out=best)
    return gamma


def counting_scan(alpha: Floats, c: Floats) -> Floats:
    """How many of S(1) > S(0), S(2) > S(1), … hold: S has one peak; no division at all."""
    power, tokens, cost = alpha.copy(), np.ones_like(alpha), np.ones_like(alpha)
    gain, price, gamma = np.empty_like(alpha), np.empty_like(alpha), np.zeros_like(alpha)
    for _ in range(LONGEST):
        np.multiply(power, cost, out=gain)
        np.multiply(c, tokens, out=price)
        rises = gain > price
        if not rises.any():
            break
        gamma += rises
        tokens += power
        power *= alpha
        cost += c
    return gamma


def lambert(alpha: Floats, c: Floats) -> Floats:
    """The stationary point by Lambert's W, then the better of its two neighbours."""
    rate = -np.log(alpha)
    t = -lambertw(-np.exp(-1 - rate * (1 - c) / c), -1).real
    return better_neighbour(alpha, c, np.log(t) / rate - 1)


def better_neighbour(alpha: Floats, c: Floats, gamma: Floats) -> Floats:
    low = np.maximum(np.floor(gamma), 0)
    power = alpha ** (low + 1)
    rises = power * (1 - alpha) * (1 + c * low) > c * (1 - power)
    return np.where(alpha > c, low + rises, 0)


def in_blocks(rival: Callable[[Floats, Floats], Floats], alpha: Floats, c: Floats) -> Floats:
    starts = range(0, alpha.size, BLOCK)
    return np.concatenate([rival(alpha[i : i + BLOCK], c[i : i + BLOCK]) for i in starts])


def roots(rates: list[float], costs: list[float], ends: list[float]) -> list[float]:
    """The stationary points by brentq, one pair at a time, each between 0 and a bound."""

    def slope(gamma: float, rate: float, c: float) -> float:
        return exp(-rate * (gamma + 1)) * (rate * (c * gamma + 1) + c) - c

    return [
        brentq(slope, 0.0, end, args=(rate, c))
        for rate, c, end in zip(rates, costs, ends, strict=True)
    ]


def main() -> None:
    rng = np.random.default_rng(0)
    alpha, c = rng.uniform(0.01, 0.999, PAIRS), 10 ** rng.uniform(-3, 0, PAIRS)
    best = optimal_gamma(alpha, c)
    assert isinstance(best, np.ndarray)
    ours = call(lambda: optimal_gamma(alpha, c))
    within = np.minimum(best, LONGEST)  # one peak: of 0..64 the last is best where 64 is too short

    assert np.array_equal(argmax(alpha, c), within)
    whole = ratio(call(lambda: argmax(alpha, c)), ours, pairs=15)
    report("argmax over 0..64, one full broadcast / ours", whole, at_least=15)
    blocks = {
        "argmax over 0..64, in blocks": argmax,
        "scan that keeps the best, in blocks": scan,
        "scan that counts the rises, in blocks": counting_scan,
    }
    for what, rival in blocks.items():
        assert np.array_equal(in_blocks(rival, alpha, c), within), what
        report(f"{what} / ours", ratio(call(lambda r=rival: in_blocks(r, alpha, c)), ours))

    fits = -np.log(alpha) * (1 - c) / c < 700  # exp underflows beyond
    some_alpha, some_c = alpha[fits], c[fits]
    assert np.array_equal(in_blocks(lambert, some_alpha, some_c), best[fits])
    closed = call(lambda: in_blocks(lambert, some_alpha, some_c), each=some_alpha.size)
    ours_each = call(lambda: optimal_gamma(alpha, c), each=PAIRS)
    report("Lambert's W, in blocks, a pair / ours, a pair", ratio(closed, ours_each))

    rate = -np.log(alpha)
    inside = np.flatnonzero(alpha * rate > c * (1 - alpha))[:SAMPLE]
    u = (rate * (1 - c) / c)[inside]
    rates, costs = rate[inside].tolist(), c[inside].tolist()
    ends = (np.log1p(u + np.sqrt(2 * u)) / rate[inside]).tolist()
    found = np.array(roots(rates, costs, ends))
    assert np.array_equal(better_neighbour(alpha[inside], c[inside], found), best[inside])
    brent = call(lambda: roots(rates, costs, ends), each=SAMPLE)
    report("brentq, a pair / ours, a pair", ratio(brent, ours_each), at_least=400)

    inputs = alpha.nbytes + c.nbytes
    extra = extra_memory(lambda: optimal_gamma(alpha, c)) / inputs
    verdict = "met" if extra < 2 else "missed"
    print(f"{'peak extra memory / inputs':<58} {extra:8.3g}  target < 2: {verdict}")


if __name__ == "__main__":
    main()
