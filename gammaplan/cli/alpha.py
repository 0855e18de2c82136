"""gammaplan alpha: the acceptance probability from the distributions of target and draft."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import rowoptions as r
from gammaplan.cli import samplers as s
from gammaplan.cli import values
from gammaplan.cli.flags import AS_TABLE, OutputFlags, grouped
from gammaplan.cli.values import Numbers
from gammaplan.data.samplers import DEFAULT_ORDER

if TYPE_CHECKING:
    from gammaplan.model.rules import Rule

DEFAULT_LENIENCE, DEFAULT_LEVEL = 0.5, 0.95


@grouped
def alpha(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="Logits (positions, vocab): .npy, .npz or .safetensors, FILE:NAME for one array "
            "of several, or a quoted pattern such as 'target-*.npy' for shards.",
            show_default=False,
        ),
    ] = None,
    draft: Annotated[
        str | None,
        typer.Argument(
            metavar="[DRAFT]",
            help="The draft's, at the same positions; without it the arrays target and draft of "
            "one file.",
            show_default=False,
        ),
    ] = None,
    logits: r.LogitFlags = r.NO_LOGITS,
    sequences: Annotated[
        str | None,
        typer.Option(
            "--sequences",
            metavar="FILE",
            help="One whole number a position: the sequence it belongs to.",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            parser=values.count,
            help="Processes that measure files; an .npz is read by one.",
            show_default="1",
            rich_help_panel=r.ROWS,
        ),
    ] = None,
    samplers: r.SamplerFlags = r.AS_THEY_ARE,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            help="α by every acceptance rule, and what the lossy ones distort.",
            rich_help_panel=o.MODEL,
        ),
    ] = False,
    lenience: r.Lenience = None,
    gamma: o.GammaInUse = None,
    level: Annotated[
        float | None,
        typer.Option(
            "--level",
            metavar="SHARE",
            parser=values.fraction,
            help="Confidence of the interval.",
            show_default="95%",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have logits of target and draft: α, and what temperature and truncation do to it.

    α is the overlap of the two distributions that tokens are drawn from, after
    temperature, top-k, top-p and min-p. Lists make a sweep.

        gammaplan alpha --target-logits 2,0 --draft-logits 1.5,0 --temperature 0,0.5,1

        gammaplan alpha --target-logits 3,2,1 --draft-logits 3,1,2 --top-k 2 --rules
    """
    from gammaplan.arrays.measuring import Question
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.overlapping import Wanted, of_files, of_lists

    out = Output.of(*output)
    files = (target, draft)
    lists = logits[:2]
    of_target, of_draft, order = samplers.target, samplers.draft, samplers.order
    _one_source(files, lists, of_files=bool(sequences or workers or logits.of_files))
    if lenience is not None and not rules:
        raise typer.BadParameter("--lenience needs --rules beside it")
    wanted = Wanted(_level(level), gamma)
    question = Question(
        s.settings(of_target, of_draft, order or DEFAULT_ORDER),
        _every_rule(lenience) if rules else (),
        logits.kind,
    )
    account = Cases([])
    for name, value in (("target", target), ("draft", draft), ("vocab", logits.vocab)):
        account.note_option(name, value)
    for name, row in zip(("target_logits", "draft_logits"), lists, strict=True):
        account.note_option(name, None if row is None else [_listed(x) for x in row])
    for name, some in of_target._asdict().items():
        account.note_option(name, None if some is None else list(some), [s.OFF[name]])
    for name, some in of_draft._asdict().items():
        account.note_option(f"draft_{name}", None if some is None else list(some))
    account.note_option("kind", None if logits.kind == "logits" else logits.kind, "logits")
    account.note_option("order", order, DEFAULT_ORDER)
    account.note_option("sequences", sequences)
    account.note_option("rules", rules or None, default=False)
    account.note_option("lenience", lenience, DEFAULT_LENIENCE if rules else None)
    account.note_option("gamma", gamma)
    account.note_option("level", level, DEFAULT_LEVEL)
    if logits.target_logits is not None and logits.draft_logits is not None:
        found = of_lists(logits.target_logits, logits.draft_logits, question, wanted)
    else:
        both = (str(target), draft)
        found = of_files(
            both, question, wanted, vocab=logits.vocab, sequences=sequences, workers=workers
        )
    show(
        "alpha",
        inputs=account.inputs,
        sources=account.sources,
        result=found.result,
        findings=found.findings,
        out=out,
        render=_render,
    )


def _one_source(
    files: tuple[str | None, ...], lists: tuple[Numbers | None, ...], *, of_files: bool
) -> None:
    """Refuse a command line that has logits from nowhere, from two places, or of one side."""
    if lists == (None, None):
        if files[0] is None:
            raise typer.BadParameter(
                "logits are missing; give two files, or --target-logits with --draft-logits"
            )
        return
    if files[0] is not None or of_files:
        raise typer.BadParameter(
            "--target-logits and --draft-logits stand for files and their options; "
            "give the ones or the others"
        )
    if None in lists:
        there, missing = ("--target-logits", "--draft-logits")
        if lists[0] is None:
            there, missing = missing, there
        raise typer.BadParameter(f"{there} needs {missing} beside it")


def _level(share: float | None) -> float:
    if share is not None and not 0 < share < 1:
        raise typer.BadParameter(f"--level must be a fraction in (0, 1), got {share:g}")
    return DEFAULT_LEVEL if share is None else share


def _every_rule(lenience: float | None) -> "tuple[Rule, ...]":
    from gammaplan.model.rules import RULES, Lenience

    chosen = RULES if lenience is None else {**RULES, "lenience": Lenience(lenience)}
    return tuple(chosen.values())


def _listed(logit: float) -> float | str:
    """A logit as an input that JSON can hold."""
    return logit if logit > -float("inf") else "-inf"


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.alpha import print_alpha

    return print_alpha
