"""Every option of commands that read rows of target and draft, once."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gammaplan.cli import samplers, values
from gammaplan.cli.values import Lengths, Numbers

if TYPE_CHECKING:
    from gammaplan.model.overlap import Kind

ROWS, SAMPLING, DRAFT = "Target and draft", "How tokens are drawn", "The draft, where it differs"

TargetLogits = Annotated[
    Numbers | None,
    typer.Option(
        "--target-logits",
        metavar="LIST",
        parser=samplers.logit_list,
        help="Logits of one position, instead of a file: 2,0.",
        rich_help_panel=ROWS,
    ),
]
DraftLogits = Annotated[
    Numbers | None,
    typer.Option(
        "--draft-logits",
        metavar="LIST",
        parser=samplers.logit_list,
        help="The draft's logits there.",
        rich_help_panel=ROWS,
    ),
]
Probs = Annotated[
    bool,
    typer.Option("--probs", help="The files hold probabilities.", rich_help_panel=ROWS),
]
LogProbs = Annotated[
    bool,
    typer.Option("--logprobs", help="They hold log-probabilities.", rich_help_panel=ROWS),
]
Vocab = Annotated[
    int | None,
    typer.Option(
        "--vocab",
        metavar="N",
        parser=values.count,
        help="Keep the first N columns, where one side is padded.",
        rich_help_panel=ROWS,
    ),
]
Temperature = Annotated[
    Numbers | None,
    typer.Option(
        "--temperature",
        "-t",
        metavar="LIST",
        parser=samplers.temperatures,
        help="0 takes the largest logit; 0,0.5,1 or 0..1.5:0.1 sweeps.",
        show_default="1",
        rich_help_panel=SAMPLING,
    ),
]
TopK = Annotated[
    Lengths | None,
    typer.Option(
        "--top-k",
        metavar="LIST",
        parser=samplers.counts,
        help="Keep the k largest; 0 is off.",
        show_default="0",
        rich_help_panel=SAMPLING,
    ),
]
TopP = Annotated[
    Numbers | None,
    typer.Option(
        "--top-p",
        metavar="LIST",
        parser=samplers.masses,
        help="Keep the largest that make up this mass; 1 is off.",
        show_default="1",
        rich_help_panel=SAMPLING,
    ),
]
MinP = Annotated[
    Numbers | None,
    typer.Option(
        "--min-p",
        metavar="LIST",
        parser=samplers.shares,
        help="Keep at least this share of the largest probability; 0 is off.",
        show_default="0",
        rich_help_panel=SAMPLING,
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="ENGINE",
        parser=samplers.order,
        help="In which order: transformers, vllm, sglang, llama.cpp, mlx-lm, or the four "
        "steps with commas.",
        show_default="transformers",
        rich_help_panel=SAMPLING,
    ),
]
DraftTemperature = Annotated[
    Numbers | None,
    typer.Option(
        "--draft-temperature",
        metavar="LIST",
        parser=samplers.temperatures,
        help="The draft's temperature; each of the following is the target's without it.",
        rich_help_panel=DRAFT,
    ),
]
DraftTopK = Annotated[
    Lengths | None,
    typer.Option(
        "--draft-top-k",
        metavar="LIST",
        parser=samplers.counts,
        help="Its top-k.",
        rich_help_panel=DRAFT,
    ),
]
DraftTopP = Annotated[
    Numbers | None,
    typer.Option(
        "--draft-top-p",
        metavar="LIST",
        parser=samplers.masses,
        help="Its top-p.",
        rich_help_panel=DRAFT,
    ),
]
DraftMinP = Annotated[
    Numbers | None,
    typer.Option(
        "--draft-min-p",
        metavar="LIST",
        parser=samplers.shares,
        help="Its min-p.",
        rich_help_panel=DRAFT,
    ),
]
Lenience = Annotated[
    float | None,
    typer.Option(
        "--lenience",
        metavar="L",
        parser=samplers.lenience,
        help="The rule lenience accepts with probability min(1, p/(L q)).",
        show_default="0.5",
        rich_help_panel=SAMPLING,
    ),
]


class LogitFlags(NamedTuple):
    """The options that give logits of one position, and say what files hold."""

    target_logits: TargetLogits = None
    draft_logits: DraftLogits = None
    probs: Probs = False
    logprobs: LogProbs = False
    vocab: Vocab = None

    @property
    def kind(self) -> "Kind":
        """What the files hold."""
        if self.probs and self.logprobs:
            raise typer.BadParameter("--probs and --logprobs contradict; give one")
        return "probs" if self.probs else "logprobs" if self.logprobs else "logits"

    @property
    def of_files(self) -> bool:
        """Whether any of those that are about files was given."""
        return bool(self.probs or self.logprobs or self.vocab)


class SamplerFlags(NamedTuple):
    """The options that say how target and draft draw tokens."""

    temperature: Temperature = None
    top_k: TopK = None
    top_p: TopP = None
    min_p: MinP = None
    order: Order = None
    draft_temperature: DraftTemperature = None
    draft_top_k: DraftTopK = None
    draft_top_p: DraftTopP = None
    draft_min_p: DraftMinP = None

    @property
    def target(self) -> samplers.Lists:
        """Those of the target."""
        return samplers.Lists(self.temperature, self.top_k, self.top_p, self.min_p)

    @property
    def draft(self) -> samplers.Lists:
        """Those of the draft, where it differs."""
        return samplers.Lists(
            self.draft_temperature, self.draft_top_k, self.draft_top_p, self.draft_min_p
        )


NO_LOGITS, AS_THEY_ARE = LogitFlags(), SamplerFlags()
