"""gammaplan alpha: the acceptance probability from the distributions of target and draft."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import samplers as s
from gammaplan.cli import values
from gammaplan.cli.values import Lengths, Numbers
from gammaplan.data.samplers import DEFAULT_ORDER

if TYPE_CHECKING:
    from gammaplan.model.rules import Rule

DEFAULT_LENIENCE, DEFAULT_LEVEL = 0.5, 0.95
ROWS, SAMPLING, DRAFT = "Target and draft", "How tokens are drawn", "The draft, where it differs"


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
    target_logits: Annotated[
        Numbers | None,
        typer.Option(
            "--target-logits",
            metavar="LIST",
            parser=s.logit_list,
            help="Logits of one position, instead of a file: 2,0.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    draft_logits: Annotated[
        Numbers | None,
        typer.Option(
            "--draft-logits",
            metavar="LIST",
            parser=s.logit_list,
            help="The draft's logits there.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    probs: Annotated[
        bool,
        typer.Option("--probs", help="The files hold probabilities.", rich_help_panel=ROWS),
    ] = False,
    logprobs: Annotated[
        bool,
        typer.Option("--logprobs", help="They hold log-probabilities.", rich_help_panel=ROWS),
    ] = False,
    vocab: Annotated[
        int | None,
        typer.Option(
            "--vocab",
            metavar="N",
            parser=values.count,
            help="Keep the first N columns, where one side is padded.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    sequences: Annotated[
        str | None,
        typer.Option(
            "--sequences",
            metavar="FILE",
            help="One whole number a position: the sequence it belongs to.",
            rich_help_panel=ROWS,
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
            rich_help_panel=ROWS,
        ),
    ] = None,
    temperature: Annotated[
        Numbers | None,
        typer.Option(
            "--temperature",
            "-t",
            metavar="LIST",
            parser=s.temperatures,
            help="0 takes the largest logit; 0,0.5,1 or 0..1.5:0.1 sweeps.",
            show_default="1",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    top_k: Annotated[
        Lengths | None,
        typer.Option(
            "--top-k",
            metavar="LIST",
            parser=s.counts,
            help="Keep the k largest; 0 is off.",
            show_default="0",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    top_p: Annotated[
        Numbers | None,
        typer.Option(
            "--top-p",
            metavar="LIST",
            parser=s.masses,
            help="Keep the largest that make up this mass; 1 is off.",
            show_default="1",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    min_p: Annotated[
        Numbers | None,
        typer.Option(
            "--min-p",
            metavar="LIST",
            parser=s.shares,
            help="Keep at least this share of the largest probability; 0 is off.",
            show_default="0",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            metavar="ENGINE",
            parser=s.order,
            help="In which order: transformers, vllm, sglang, llama.cpp, mlx-lm, or the four "
            "steps with commas.",
            show_default="transformers",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    draft_temperature: Annotated[
        Numbers | None,
        typer.Option(
            "--draft-temperature",
            metavar="LIST",
            parser=s.temperatures,
            help="The draft's temperature; each of the following is the target's without it.",
            rich_help_panel=DRAFT,
        ),
    ] = None,
    draft_top_k: Annotated[
        Lengths | None,
        typer.Option(
            "--draft-top-k",
            metavar="LIST",
            parser=s.counts,
            help="Its top-k.",
            rich_help_panel=DRAFT,
        ),
    ] = None,
    draft_top_p: Annotated[
        Numbers | None,
        typer.Option(
            "--draft-top-p",
            metavar="LIST",
            parser=s.masses,
            help="Its top-p.",
            rich_help_panel=DRAFT,
        ),
    ] = None,
    draft_min_p: Annotated[
        Numbers | None,
        typer.Option(
            "--draft-min-p",
            metavar="LIST",
            parser=s.shares,
            help="Its min-p.",
            rich_help_panel=DRAFT,
        ),
    ] = None,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            help="α by every acceptance rule, and what the lossy ones distort.",
            rich_help_panel=o.MODEL,
        ),
    ] = False,
    lenience: Annotated[
        float | None,
        typer.Option(
            "--lenience",
            metavar="L",
            parser=values.fraction,
            help="With --rules: accept with probability min(1, p/(L q)).",
            show_default="0.5",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
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
    format: o.Format = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    strict: o.Strict = False,
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

    out = Output.of(format, json, quiet, strict)
    files = (target, draft)
    lists = (target_logits, draft_logits)
    _one_source(files, lists, of_files=bool(sequences or vocab or probs or logprobs or workers))
    if probs and logprobs:
        raise typer.BadParameter("--probs and --logprobs contradict; give one")
    if lenience is not None and not rules:
        raise typer.BadParameter("--lenience needs --rules beside it")
    wanted = Wanted(_level(level), gamma)
    of_target = s.Lists(temperature, top_k, top_p, min_p)
    of_draft = s.Lists(draft_temperature, draft_top_k, draft_top_p, draft_min_p)
    question = Question(
        s.settings(of_target, of_draft, order or DEFAULT_ORDER),
        _every_rule(lenience) if rules else (),
        "probs" if probs else "logprobs" if logprobs else "logits",
    )
    account = Cases([])
    for name, value in (("target", target), ("draft", draft), ("vocab", vocab)):
        account.note_option(name, value)
    for name, row in zip(("target_logits", "draft_logits"), lists, strict=True):
        account.note_option(name, None if row is None else [_listed(x) for x in row])
    for name, some in of_target._asdict().items():
        account.note_option(name, None if some is None else list(some), [s.OFF[name]])
    for name, some in of_draft._asdict().items():
        account.note_option(f"draft_{name}", None if some is None else list(some))
    account.note_option("kind", question.kind if probs or logprobs else None, "logits")
    account.note_option("order", order, DEFAULT_ORDER)
    account.note_option("sequences", sequences)
    account.note_option("rules", rules or None, default=False)
    account.note_option("lenience", lenience, DEFAULT_LENIENCE if rules else None)
    account.note_option("gamma", gamma)
    account.note_option("level", level, DEFAULT_LEVEL)
    if target_logits is not None and draft_logits is not None:
        found = of_lists(target_logits, draft_logits, question, wanted)
    else:
        found = of_files(files, question, wanted, vocab=vocab, sequences=sequences, workers=workers)
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
