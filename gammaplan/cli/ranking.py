"""The ranks of a command line: given, or of recursive rejection over rows of target and draft."""

from collections.abc import Sequence
from typing import NamedTuple

import typer

from gammaplan.cli import samplers as s
from gammaplan.cli.evidence import Cases
from gammaplan.cli.rankfiles import Found, read_ranks
from gammaplan.cli.rowoptions import NO_LOGITS, LogitFlags
from gammaplan.data.samplers import DEFAULT_ORDER

DEFAULT_CHILDREN, MOST_CHILDREN = 4, 64


class Rows(NamedTuple):
    """The options that name rows of target and draft."""

    target: str | None
    draft: str | None
    logits: LogitFlags

    @property
    def any(self) -> bool:
        """Whether any of them was given."""
        return (self.target, self.draft, self.logits) != (None, None, NO_LOGITS)


class Drawing(NamedTuple):
    """The options that say how children are drawn from rows."""

    samplers: tuple[s.Lists, s.Lists]
    order: str | None
    children: int | None
    replacement: bool
    seed: int | None

    @property
    def any(self) -> bool:
        """Whether any of them was given."""
        single = (self.order, self.children, self.seed, *self.samplers[0], *self.samplers[1])
        return self.replacement or any(x is not None for x in single)


def ranked(
    account: Cases, ranks: str | None, pick: Sequence[str], rows: Rows, drawing: Drawing
) -> Found:
    """The ranks, noted in `account`.

    Raises
    ------
    InputError
        If a file cannot be read, or a row is no distribution.
    """
    if ranks is None:
        return _of_rows(account, rows, drawing, pick)
    if rows.any or drawing.any:
        raise typer.BadParameter(
            "--ranks stand for rows of target and draft, and for how children are drawn from them; "
            "give the ones or the others"
        )
    account.note("ranks", ranks, "flag")
    return read_ranks(ranks, pick)


def _of_rows(account: Cases, rows: Rows, drawing: Drawing, pick: Sequence[str]) -> Found:
    if rows.target is None and rows.logits.target_logits is None:
        raise typer.BadParameter(
            "ranks are missing; give --ranks, P(the first, the second, … child is the accepted "
            "one), as a list or a file, or the rows that they follow from, --target with --draft "
            "or --target-logits with --draft-logits"
        )
    if rows.draft is not None and rows.target is None:
        raise typer.BadParameter("--draft needs --target beside it")
    from gammaplan.cli.rankrows import Children, ranks_of_rows
    from gammaplan.cli.simulated_rows import Source

    children = DEFAULT_CHILDREN if drawing.children is None else drawing.children
    if children > MOST_CHILDREN:
        raise typer.BadParameter(f"--children must be at most {MOST_CHILDREN}, got {children:,}")
    settings = s.settings(*drawing.samplers, drawing.order or DEFAULT_ORDER)
    if len(settings) > 1:
        raise typer.BadParameter(
            f"a tree is planned for one setting of the samplers, and these span {len(settings)}"
        )
    source = Source.of(
        [path for path in (rows.target, rows.draft) if path is not None],
        rows.logits,
    )
    source.note(account)
    for lists, side in zip(drawing.samplers, ("", "draft_"), strict=True):
        for name, some in lists._asdict().items():
            default = None if side else s.OFF[name]
            account.note_option(side + name, None if some is None else some[0], default)
    account.note_option("order", drawing.order, DEFAULT_ORDER)
    account.note_option("children", drawing.children, DEFAULT_CHILDREN)
    account.note_option("replacement", drawing.replacement or None, default=False)
    account.note_option("seed", drawing.seed, 0)
    how = Children(children, drawing.replacement, drawing.seed or 0)
    ranks, found = ranks_of_rows(source, settings[0], how)
    account.findings += found
    return Found([ranks], picks=tuple(pick))
