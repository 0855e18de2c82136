"""From two sets of rows to the result of `alpha`: measured, summed up, with its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import typer

from gammaplan.cli.samplers import labels
from gammaplan.data.findings import finding
from gammaplan.documents.writing import acceptance_shape, finite, interval_shape
from gammaplan.errors import Finding
from gammaplan.model.acceptance import Geometric, expected_tokens
from gammaplan.model.overlap import Workspace, overlaps, peaked
from gammaplan.model.renewal import Rounds
from gammaplan.model.rules import RULES, Rule
from gammaplan.model.summary import Summary

if TYPE_CHECKING:
    from gammaplan.arrays.measuring import Question
    from gammaplan.arrays.pairs import Pair
    from gammaplan.model.arrays import Booleans, Floats
    from gammaplan.model.overlap import Drawn, Measures
    from gammaplan.shapes.alpha import AlphaResult, AlphaRow, RuleShape

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
BARS = 10
LENGTHS = (1, 2, 4, 8)  # draft lengths whose tokens per round are shown
APART = 0.03  # relative difference of tokens per round that is worth a finding
LOST = 0.01  # mass outside the other's support that is worth a finding
FREE = {"residual": "alpha", "block": "alpha", "greedy_draft": "greedy_draft", "argmax": "argmax"}
FEWEST_SEQUENCES, FEWEST_BLOCKS = 3, 10


class Wanted(NamedTuple):
    """What is asked of all positions together."""

    level: float
    gamma: int | None


class Measured(NamedTuple):
    """The result of `alpha`, and what its reader should know."""

    result: AlphaResult
    findings: list[Finding]


def of_lists(
    target: Sequence[float], draft: Sequence[float], question: Question, wanted: Wanted
) -> Measured:
    """Alpha at the one position whose logits were given."""
    if len(target) != len(draft):
        raise typer.BadParameter(
            f"--target-logits and --draft-logits must have one vocabulary, got {len(target)} and "
            f"{len(draft)}"
        )
    sides = [peaked(np.asarray([row], np.float64), question.kind) for row in (target, draft)]
    work = Workspace((1, len(target)), np.float64)
    found = overlaps(sides[0], sides[1], question.drawn, question.rules, work)
    return _summed_up(iter([found]), question, wanted, vocab=len(target))


def of_files(
    files: tuple[str, str | None],
    question: Question,
    wanted: Wanted,
    *,
    vocab: int | None,
    sequences: str | None,
    workers: int | None,
) -> Measured:
    """Alpha over the positions of two files, by several processes where that was asked for."""
    from gammaplan.arrays.measuring import measured
    from gammaplan.arrays.pairs import open_pair
    from gammaplan.arrays.sequences import Sequences

    pair = open_pair(*files, vocab=vocab)
    with ExitStack() as stack:
        starts = None
        if sequences is not None:
            starts = stack.enter_context(Sequences(sequences, pair.positions)).starts
        progress = stack.enter_context(_progress(pair))
        executor, most = None, workers or 1
        if most > 1 and pair.seekable:
            from gammaplan.cli.workers import pool

            executor = stack.enter_context(pool(most))
        stretches = measured(pair, question, executor=executor, workers=most)
        told = _told(stretches, progress, others=executor is not None)
        found = _summed_up(told, question, wanted, vocab=pair.vocab, starts=starts)
    guessed = [finding("bfloat16_assumed", name=name) for name in pair.guessed]
    return found._replace(findings=guessed + found.findings)


@contextmanager
def _progress(pair: Pair) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes read, where a person waits long enough to want one."""
    from gammaplan.cli.progress import bar_over, worth_a_bar

    parts = pair.target.parts + pair.draft.parts
    paths = sorted({part.path for part in parts})
    if not worth_a_bar(paths):
        yield lambda positions: None
        return
    each = pair.target.parts[0].row_bytes + pair.draft.parts[0].row_bytes
    with bar_over(paths) as told:
        yield lambda positions: told("rows", positions * each)


def _told(
    stretches: Iterable[list[Measures]], progress: Callable[[int], None], *, others: bool
) -> Iterator[list[Measures]]:
    """The stretches; where others measure them, what the interval needs is loaded meanwhile."""
    done = 0
    for found in stretches:
        if others and not done:
            import_module("scipy.special")
        done += len(found[0]["alpha"])
        progress(done)
        yield found


def _summed_up(
    stretches: Iterator[list[Measures]],
    question: Question,
    wanted: Wanted,
    *,
    vocab: int,
    starts: Callable[[int], Booleans] | None = None,
) -> Measured:
    """The result over all positions; `starts` says which of the next ones start a sequence."""
    lengths = tuple(sorted({*LENGTHS, *([wanted.gamma] if wanted.gamma else [])}))
    rounds = Rounds(len(question.drawn), lengths)
    sums = [Summary(clustered=starts is not None) for _ in question.drawn]
    sequences = 0
    for found in stretches:
        count = len(found[0]["alpha"])
        first = np.zeros(count, bool) if starts is None else starts(count)
        sequences += int(np.count_nonzero(first))
        for one, measures in zip(sums, found, strict=True):
            one.add(measures, first)
        rounds.add(np.stack([measures["alpha"] for measures in found]), first)
    rows = [
        _row(drawn, one, question.rules, by_sequence, lengths, wanted.level)
        for drawn, one, by_sequence in zip(
            question.drawn, sums, rounds.expected_tokens(), strict=True
        )
    ]
    for row, drawn in zip(rows, question.drawn, strict=True):
        row["labels"] = labels(drawn, question.drawn)
    single = rows[0] if len(rows) == 1 else None
    result: AlphaResult = {
        "rows": rows,
        "order": list(question.order),
        "positions": sums[0].count,
        "vocab": vocab,
        "sequences": None if starts is None else sequences,
        "alpha": single["alpha"] if single else None,
        "acceptance": single["acceptance"] if single else None,
    }
    return Measured(result, list(_findings(result)))


def _row(
    drawn: Drawn,
    found: Summary,
    rules: Sequence[Rule],
    by_sequence: Floats,
    lengths: Sequence[int],
    level: float,
) -> AlphaRow:
    target, draft = drawn
    alpha = found.mean("alpha")
    interval = found.interval(level)
    law = acceptance_shape(Geometric(alpha))
    law["interval"] = interval_shape(interval) if interval else None
    return {
        "labels": {},
        "temperature": target.temperature,
        "top_k": target.top_k,
        "top_p": target.top_p,
        "min_p": target.min_p,
        "draft_temperature": draft.temperature,
        "draft_top_k": draft.top_k,
        "draft_top_p": draft.top_p,
        "draft_min_p": draft.min_p,
        "alpha": alpha,
        "interval": law["interval"],
        "tv": 1 - alpha,
        "argmax_agreement": found.mean("argmax"),
        "draft_mass_outside_target": found.mean("draft_outside"),
        "target_mass_outside_draft": found.mean("target_outside"),
        "target_support": found.mean("target_support"),
        "draft_support": found.mean("draft_support"),
        "positions": found.count,
        "quantiles": [{"share": share, "alpha": found.quantile(share)} for share in SHARES],
        "histogram": found.histogram(BARS),
        "worst": [{"position": at, "alpha": value} for value, at in found.worst],
        "expected_tokens": [
            {
                "gamma": length,
                "by_mean": float(expected_tokens(alpha, length)),
                "by_sequence": finite(float(real)),
            }
            for length, real in zip(lengths, by_sequence, strict=True)
        ],
        "rules": dict(_rules(found, rules)),
        "acceptance": law,
    }


def _rules(found: Summary, asked: Sequence[Rule]) -> Iterator[tuple[str, RuleShape]]:
    """Alpha by rule: those that cost nothing, and those that were asked for."""
    wanted = {rule.name: rule for rule in asked} or {name: RULES[name] for name in FREE}
    for name, rule in wanted.items():
        lost = f"distortion_{name}"
        yield (
            name,
            {
                "alpha": min(1.0, found.mean(name if name in found.sums else FREE[name])),
                "lossless": rule.lossless,
                "distortion": found.mean(lost) if lost in found.sums else None,
            },
        )


def _findings(result: AlphaResult) -> Iterator[Finding]:
    rows = result["rows"]
    drawn = [row for row in rows if row["temperature"] or row["draft_temperature"]] or rows[:1]
    lost = max(drawn, key=lambda row: row["draft_mass_outside_target"])
    if lost["draft_temperature"] and lost["draft_mass_outside_target"] >= LOST:
        yield finding(
            "support_mismatch",
            mass=f"{100 * lost['draft_mass_outside_target']:.1f} %",
            where=_where(rows, lost),
            alpha=f"{1 - lost['draft_mass_outside_target']:.4g}",
        )
    clusters = result["sequences"]
    if clusters is not None and clusters < FEWEST_SEQUENCES:
        yield finding("few_clusters", clusters=f"{clusters} sequences")
    elif clusters is None and 1 < result["positions"] < FEWEST_BLOCKS:
        yield finding("few_clusters", clusters=f"{result['positions']} positions")
    apart = [
        (abs(t["by_sequence"] / t["by_mean"] - 1), row, t)
        for row in rows
        for t in row["expected_tokens"]
        if t["by_sequence"] is not None
    ]
    worst = max(apart, key=lambda a: a[0], default=None)
    if worst and worst[0] > APART:
        yield finding(
            "sequence_matters",
            where=_where(rows, worst[1]),
            gamma=worst[2]["gamma"],
            real=f"{worst[2]['by_sequence']:.3f}",
            mean=f"{worst[2]['by_mean']:.3f}",
        )


def _where(rows: Sequence[AlphaRow], row: AlphaRow) -> str:
    """Which row of several is meant, at the end of a clause."""
    if len(rows) == 1:
        return ""
    varied = {
        name: value
        for name, value in row["labels"].items()
        if isinstance(value, int | float) and any(r["labels"].get(name) != value for r in rows)
    }
    return " at " + ", ".join(f"{k.replace('_', ' ')} {v:g}" for k, v in varied.items())
