"""How far target and draft overlap at many positions: one block of rows, measured in place."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gammaplan.errors import GammaplanError
from gammaplan.model.arrays import Booleans, Floats
from gammaplan.model.rules import Rule, distortion
from gammaplan.model.sampling import Reals, Sampler, weights

Kind: TypeAlias = Literal["logits", "probs", "logprobs"]
TOLERANCE = {2: 2e-2, 4: 1e-4, 8: 1e-6}  # how far from 1 a sum may be, by bytes of an element


class Drawn(NamedTuple):
    """How the target draws its tokens, and how the draft does."""

    target: Sampler
    draft: Sampler


Measures: TypeAlias = dict[str, Floats]  # a figure by its name, shape (positions,)


class BadRow(GammaplanError):
    """A row that is no distribution: where it is and what was required."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"row {row}: {what}")
        self.row, self.what = row, what


class Workspace:
    """The memory that measuring blocks of one size takes, used again for every block."""

    def __init__(self, shape: tuple[int, int], precision: type) -> None:
        self.target: Reals = np.empty(shape, precision)
        self.draft: Reals = np.empty(shape, precision)
        self.scratch: Reals = np.empty(shape, precision)
        self.in_target: Booleans = np.empty(shape, bool)
        self.in_draft: Booleans = np.empty(shape, bool)


def peaked(block: Reals, kind: Kind, element: int = 8) -> Reals:
    """Rows as logits whose largest is 0, in place.

    Parameters
    ----------
    block : ndarray of float32 or float64, shape ``(rows, vocab)``
        Logits, probabilities or log-probabilities.
    kind : str
        Which of them.
    element : int
        Bytes of an element in the file: how exactly probabilities must sum to 1.

    Raises
    ------
    BadRow
        At the first row that has NaN or +inf, no finite logit, a negative
        probability, or probabilities that do not sum to 1.
    """
    if kind == "probs":
        _check_probabilities(block, TOLERANCE[element])
        with np.errstate(divide="ignore"):
            np.log(block, out=block)
    top = block.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.flatnonzero(~np.isfinite(top))[0])
        raise BadRow(
            row,
            "must have no NaN, no +inf and a finite value, got "
            + ("only -inf" if top[row, 0] == -np.inf else f"{top[row, 0]:g}"),
        )
    if kind == "logprobs":
        total = np.exp(block, dtype=np.float64).sum(axis=-1)
        _check_sums(total, TOLERANCE[element], "exp of the log-probabilities")
    block -= top
    return block


def _check_probabilities(block: Reals, tolerance: float) -> None:
    low = block.min(axis=-1)
    if not (low >= 0).all():  # NaN fails too
        row = int(np.flatnonzero(~(low >= 0))[0])
        raise BadRow(row, f"must hold probabilities, got {low[row]:g}")
    _check_sums(block.sum(axis=-1, dtype=np.float64), tolerance, "probabilities")


def _check_sums(total: Floats, tolerance: float, what: str) -> None:
    off = np.abs(total - 1)
    if not (off <= tolerance).all():
        row = int(np.flatnonzero(~(off <= tolerance))[0])
        raise BadRow(row, f"{what} must sum to 1, got {total[row]:.6g} ({total[row] - 1:+.3g})")


def overlaps(
    target: Reals, draft: Reals, drawn: Sequence[Drawn], rules: Sequence[Rule], work: Workspace
) -> list[Measures]:
    """What each pair of samplers makes of a block.

    Parameters
    ----------
    target, draft : ndarray of float32 or float64, shape ``(rows, vocab)``
        Logits, the largest of each row 0 (`peaked`).
    drawn : sequence of Drawn
        The samplers of target and draft.
    rules : sequence of Rule
        Rules whose alpha is wanted beside the residual one.
    work : Workspace
        Memory for at least as many rows.

    Returns
    -------
    list of dict of str to ndarray of float64, shape ``(rows,)``
        For each of `drawn`: ``alpha = sum(min(p, q))``; ``argmax``, 1 where both
        have the same first argmax; ``greedy_draft``, p at the draft's argmax;
        ``draft_outside`` and ``target_outside``, the mass of one where the other
        has no support; ``target_support`` and ``draft_support``, tokens that can
        be drawn; and by the name of each rule its alpha, with ``distortion_`` in
        front the total variation between what a lossy rule emits and p.
    """
    best = target.argmax(axis=-1), draft.argmax(axis=-1)
    return [_overlap(target, draft, best, one, rules, work) for one in drawn]


def _overlap(
    target: Reals,
    draft: Reals,
    best: tuple[NDArray[np.intp], NDArray[np.intp]],
    drawn: Drawn,
    rules: Sequence[Rule],
    work: Workspace,
) -> Measures:
    rows = len(target)
    p, in_p = work.target[:rows], work.in_target[:rows]
    q, in_q = work.draft[:rows], work.in_draft[:rows]
    scratch = work.scratch[:rows]
    weights(target, drawn.target, p, in_p, scratch[0])
    weights(draft, drawn.draft, q, in_q, scratch[0])
    p_mass, q_mass = p.sum(axis=-1), q.sum(axis=-1)
    found: dict[str, NDArray[Any]] = {  # Any: cast below
        "argmax": best[0] == best[1],
        "greedy_draft": p[np.arange(rows), best[1]] / p_mass,
        "target_support": np.count_nonzero(in_p, axis=-1),
        "draft_support": np.count_nonzero(in_q, axis=-1),
    }
    found |= dict.fromkeys(("draft_outside", "target_outside"), np.zeros(rows))
    if min(found["target_support"].min(), found["draft_support"].min()) < target.shape[-1]:
        found["draft_outside"] = _outside(q, in_p, scratch) / q_mass
        found["target_outside"] = _outside(p, in_q, scratch) / p_mass
    if rules:
        p /= p_mass[:, None]
        q /= q_mass[:, None]
        p_mass = np.ones_like(p_mass)
        for rule in rules:
            found[rule.name] = rule.accepted(p, q).sum(axis=-1)
            if not rule.lossless:
                found[f"distortion_{rule.name}"] = distortion(rule, p, q)
    else:
        q *= (p_mass / q_mass)[:, None]
    found["alpha"] = np.minimum(np.minimum(p, q, out=scratch).sum(axis=-1) / p_mass, 1)
    return {name: figure.astype(np.float64) for name, figure in found.items()}


def _outside(mass: Reals, inside: Booleans, scratch: Reals) -> Reals:
    """The mass of each row where `inside`, which is turned round, is false."""
    np.logical_not(inside, out=inside)
    return np.asarray(np.multiply(mass, inside, out=scratch).sum(axis=-1))


def joined(parts: Sequence[Measures]) -> Measures:
    """Measures of consecutive positions, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
