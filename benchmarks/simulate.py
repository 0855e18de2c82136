"""simulate against drawing as many uniforms: what playing a round costs beyond its randomness."""

import numpy as np
from measure import call, extra_memory, ratio, report

from gammaplan.model.playing import plays, simulate_rules
from gammaplan.model.simulation import BLOCK, simulate_drafts

ALPHA, GAMMA, ROUNDS = 0.8, 6, 10**7
VOCABULARY, PLAYED = 32_000, 100_000


def uniforms(count: int, rng: np.random.Generator) -> None:
    """So many uniforms, in blocks that stay in the cache: the fastest way that numpy has."""
    block = np.empty(BLOCK)
    for start in range(0, count, BLOCK):
        rng.random(out=block[: min(BLOCK, count - start)])


def main() -> None:
    rng = np.random.default_rng(0)
    hazards = [ALPHA] * GAMMA
    tally = simulate_drafts(hazards, ROUNDS, rng=rng)
    verified = sum(n * min(k + 1, GAMMA) for k, n in enumerate(tally.by_accepted))
    ours = call(lambda: simulate_drafts(hazards, ROUNDS, rng=rng))
    blocks = call(lambda: uniforms(verified, rng))
    report("ours / as many uniforms, in blocks", ratio(ours, blocks), at_most=2)
    whole = call(lambda: rng.random(verified))
    report("ours / as many uniforms, one array", ratio(ours, whole, pairs=15), at_most=2)
    every = call(lambda: uniforms(GAMMA * ROUNDS, rng))
    report("ours / a uniform for every drafted token", ratio(ours, every, pairs=15))

    few, many = (
        extra_memory(lambda n=n: simulate_drafts(hazards, n, rng=rng)) for n in (10**5, 10**7)
    )
    verdict = "met" if many < 1.1 * few else "missed"
    print(f"{'peak memory, 10^7 rounds / 10^5':<58} {many / few:8.3g}  target < 1.1: {verdict}")

    p = rng.dirichlet(np.full(VOCABULARY, 0.1), size=GAMMA + 1)
    q = 0.8 * p[:-1] + 0.2 * rng.dirichlet(np.full(VOCABULARY, 0.1), size=GAMMA)
    one = call(lambda: rng.random(PLAYED * (4 * GAMMA + 3)))
    for name in ("residual", "block"):
        chosen = {name: plays()[name]}
        played = call(lambda c=chosen: simulate_rules(c, [(p, q)], [PLAYED], rng=rng))
        what = f"{name} over rows of {VOCABULARY:,} tokens / its uniforms"
        report(what, ratio(played, one, pairs=7))


if __name__ == "__main__":
    main()
