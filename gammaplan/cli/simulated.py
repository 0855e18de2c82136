"""What simulate plays: rounds of a law of acceptance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import typer

from gammaplan.cli.evidence import Case, Cases
from gammaplan.cli.progress import bar_of_rounds
from gammaplan.data.findings import finding
from gammaplan.errors import Finding

if TYPE_CHECKING:
    from gammaplan.shapes.simulate import SimulateResult

DEFAULT_GAMMA, DEFAULT_ROUNDS, DEFAULT_SEED = 6, 100_000, 0
MOST_TOKENS = 10**11  # verified tokens of a law: some minutes
WORTH_A_BAR = 3 * 10**8  # verified tokens of a law: about a second


class Asked(NamedTuple):
    """How much to play; None where the command line does not say."""

    gamma: int | None
    rounds: int | None
    seed: int | None

    def note(self, cases: Cases) -> tuple[int, int]:
        """Account for the rounds and the seed, and give them."""
        cases.note_option("rounds", self.rounds, DEFAULT_ROUNDS)
        cases.note_option("seed", self.seed, DEFAULT_SEED)
        seed = DEFAULT_SEED if self.seed is None else self.seed
        return self.rounds or DEFAULT_ROUNDS, seed


def law_results(cases: Cases, asked: Asked) -> "list[SimulateResult]":
    """Rounds of every case of the evidence, one after the other from one seed."""
    cases.note_gamma(asked.gamma)
    if cases.inputs["gamma"] is None and not any(case.gamma for case in cases.cases):
        cases.note("gamma", DEFAULT_GAMMA, "default")
    rounds, seed = asked.note(cases)
    rng = np.random.default_rng(seed)
    played: list[SimulateResult] = []
    for case in cases.cases:
        length = case.gamma if asked.gamma is None else asked.gamma
        length = DEFAULT_GAMMA if length is None else length
        cases.findings += _extrapolated(case, length)
        played.append(_law_played(case, length, rounds, seed, rng))
    if len(played) > 1:
        for case, part in zip(cases.cases, played, strict=True):
            part["labels"] = dict(case.labels)
    return played


def _law_played(
    case: Case, gamma: int, rounds: int, seed: int, rng: np.random.Generator
) -> "SimulateResult":
    from gammaplan.model.simulation import simulate_drafts

    law = case.acceptance
    survival = law.survival(np.arange(gamma + 1))
    verified = rounds * max(1.0, float(survival[:-1].sum()))
    if verified > MOST_TOKENS:
        raise too_many(rounds, int(rounds * MOST_TOKENS / verified), MOST_TOKENS)
    hazards = np.divide(survival[1:], survival[:-1], out=np.zeros(gamma), where=survival[:-1] > 0)
    with bar_of_rounds(rounds, worth=verified > WORTH_A_BAR) as told:
        tally = simulate_drafts(hazards.tolist(), rounds, rng=rng, told=told)
    shares = np.append(survival[:-1] - survival[1:], survival[-1]).tolist()
    return {
        "rounds": rounds,
        "seed": seed,
        "gamma": gamma,
        "expected_tokens": float(law.expected_tokens(gamma)),
        "measured_tokens": tally.mean_tokens,
        "standard_error": tally.standard_error,
        "rows": [
            {"accepted": k, "rounds": n, "share": n / rounds, "expected_share": share}
            for k, (n, share) in enumerate(zip(tally.by_accepted, shares, strict=True))
        ],
        "rules": [],
        "windows": None,
        "acceptance": case.acceptance_shape,
    }


def too_many(rounds: int, most: int, tokens: int) -> typer.BadParameter:
    """The error for more rounds than anybody waits for."""
    return typer.BadParameter(
        f"--rounds must be at most {most:,} here ({tokens:,} tokens are drawn in some minutes), "
        f"got {rounds:,}"
    )


def _extrapolated(case: Case, gamma: int) -> list[Finding]:
    measured, beyond = case.acceptance.observed_to, case.acceptance_shape["beyond"]
    if measured is None or gamma <= measured:
        return []
    tail = "the last" if beyond is None else f"{beyond:.4g}"
    return [finding("extrapolated", gamma=gamma, observed_to=measured, beyond=tail)]


def failed_rules(results: "Sequence[SimulateResult]") -> list[str]:
    """Why --require-lossless fails; nothing where every rule is exact and passed its test."""
    rules = [rule for result in results for rule in result["rules"]]
    lossy = [r["name"] for r in rules if not r["exact"] or r["lossless"] is False]
    untested = [r["name"] for r in rules if r["exact"] and r["lossless"] is None]
    failed = []
    if lossy:
        failed.append(f"--require-lossless: lossy: {', '.join(dict.fromkeys(lossy))}")
    if untested:
        untold = ", ".join(dict.fromkeys(untested))
        failed.append(f"--require-lossless: too few rounds to test {untold}")
    return failed
