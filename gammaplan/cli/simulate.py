"""gammaplan simulate: rounds played out, against the formula or the target's distribution."""

import re
from typing import Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import rowoptions as r
from gammaplan.cli import samplers as s
from gammaplan.cli import values
from gammaplan.cli.flags import AS_TABLE, NO_COST, OutputFlags, grouped

ARRAY = re.compile(r"\.(npy|npz|safetensors)(:[^/]*)?$")
RULES = ("residual", "block", "greedy_draft", "exact_match", "lenience", "typical", "argmax")
PLAY = "Simulation"


@grouped
def simulate(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Evidence that knows acceptance; or two arrays (positions, vocab), the target's "
            "logits and the draft's: .npy, .npz or .safetensors.",
            show_default=False,
        ),
    ] = None,
    alpha: o.Alpha = None,
    gamma: Annotated[
        int | None,
        typer.Option(
            "--gamma",
            "-g",
            metavar="N",
            parser=values.listed_length,
            help="Drafted tokens per round.",
            show_default="that of the evidence, else 6",
            rich_help_panel=PLAY,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            parser=values.count,
            help="How many rounds to play.",
            show_default="100000",
            rich_help_panel=PLAY,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            parser=values.length,
            help="Where the random numbers start; the same seed plays the same rounds.",
            show_default="0",
            rich_help_panel=PLAY,
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="NAME",
            parser=values.choice(*RULES),
            help=f"Over arrays, play this rule only: {', '.join(RULES)}. May be repeated.",
            rich_help_panel=PLAY,
        ),
    ] = None,
    pick: o.Pick = None,
    logits: r.LogitFlags = r.NO_LOGITS,
    samplers: r.SamplerFlags = r.AS_THEY_ARE,
    lenience: r.Lenience = None,
    require_lossless: Annotated[
        bool,
        typer.Option(
            "--require-lossless",
            help="Exit 3 unless every rule that is played is exact and passes its test.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = False,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know α, or have logits: rounds played out, and whether a rule is lossless.

    With α, every verified token draws a random number of its own, and tokens
    per round stand beside the formula with their standard error. With logits
    of target and draft, every rule of verification is played, and a test says
    whether what it emits has the target's distribution.

        gammaplan simulate --alpha 0.8 --gamma 6 --rounds 100000

        gammaplan simulate --target-logits 2,0 --draft-logits 1.5,0 --gamma 4
    """
    from gammaplan.cli.evidence import Cases, gather
    from gammaplan.cli.output import Output, show
    from gammaplan.cli.simulated import Asked, failed_rules, law_results
    from gammaplan.data.samplers import DEFAULT_ORDER

    out = Output.of(*output)
    asked = Asked(gamma, rounds, seed)
    of_target, of_draft, order = samplers.target, samplers.draft, samplers.order
    arrays = [name for name in files or [] if ARRAY.search(name)]
    if arrays or logits.target_logits or logits.draft_logits:
        from gammaplan.cli.simulated_rows import Source, rows_results

        _refuse({"--alpha": alpha, "--pick": pick}, "is for evidence, not for rows of logits")
        source = Source.of(files or [], logits)
        cases = Cases([])
        for name, some in of_target._asdict().items():
            cases.note_option(name, some and list(some), [s.OFF[name]])
        for name, some in of_draft._asdict().items():
            cases.note_option(f"draft_{name}", some and list(some))
        cases.note_option("order", order, DEFAULT_ORDER)
        drawn = s.settings(of_target, of_draft, order or DEFAULT_ORDER)
        results = rows_results(cases, source, drawn, asked, rule, lenience)
    else:
        _refuse(
            {**_named("--", of_target), **_named("--draft-", of_draft), "--rule": rule}
            | {"--lenience": lenience, "--order": order, "--vocab": logits.vocab}
            | {"--probs": logits.probs, "--logprobs": logits.logprobs}
            | {"--require-lossless": require_lossless},
            "needs rows of target and draft; give two arrays (.npy, .npz or .safetensors), or "
            "--target-logits with --draft-logits",
        )
        cases = gather(files, alpha=alpha, cost=NO_COST, pick=pick, cost_needed=False)
        results = law_results(cases, asked)
    gates = failed_rules(results) if require_lossless else []
    show(
        "simulate",
        inputs=cases.inputs,
        sources=cases.sources,
        result=results[0] if len(results) == 1 else {"groups": results},
        findings=cases.findings,
        out=out,
        render=_render,
        failed_gates=gates,
    )


def _named(prefix: str, lists: s.Lists) -> dict[str, object]:
    return {prefix + name.replace("_", "-"): value for name, value in lists._asdict().items()}


def _refuse(options: dict[str, object], why: str) -> None:
    if given := [name for name, value in options.items() if value not in (None, False)]:
        raise typer.BadParameter(f"{given[0]} {why}")


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.simulate import print_simulation

    return print_simulation
