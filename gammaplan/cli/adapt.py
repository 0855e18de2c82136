"""gammaplan adapt: what an adaptive draft length would gain over the best fixed one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values

if TYPE_CHECKING:
    from gammaplan.cli.adapting import Setting
    from gammaplan.cli.evidence import Cases, CostFlags
    from gammaplan.cli.tracing import Trace
    from gammaplan.model.processes import Process
    from gammaplan.shapes.adapt import AdaptResult

PROCESS = "Assumed variation"
LEAST_GAIN, REQUESTS, TOKENS, SEED = 0.02, 1_000, 1_000, 0
MOST_TOKENS = 10**9
FEW_CLUSTERS = 10

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Traces of rounds, and evidence that knows acceptance or cost; - is stdin.",
        show_default=False,
    ),
]
Spread = Annotated[
    float | None,
    typer.Option(
        "--spread",
        metavar="SD",
        parser=values.non_negative,
        help="How α differs between requests: the standard deviation of a Beta around it.",
        rich_help_panel=PROCESS,
    ),
]
RegimesOption = Annotated[
    values.Numbers | None,
    typer.Option(
        "--regimes",
        metavar="A,B",
        parser=values.fractions,
        help="Two states of the text and α in each, instead of --alpha.",
        rich_help_panel=PROCESS,
    ),
]
Dwell = Annotated[
    float | None,
    typer.Option(
        "--dwell",
        metavar="TOKENS",
        parser=values.positive,
        help="How long a state lasts on average, with --regimes.",
        rich_help_panel=PROCESS,
    ),
]
TokenSpread = Annotated[
    float | None,
    typer.Option(
        "--token-spread",
        metavar="SD",
        parser=values.positive,
        help="How acceptance differs from token to token, for drafts that show a confidence.",
        rich_help_panel=PROCESS,
    ),
]
Quality = Annotated[
    float | None,
    typer.Option(
        "--quality",
        metavar="SHARE",
        parser=values.fraction,
        help="Share of tokens whose confidence is their acceptance, with --token-spread.",
        show_default="1",
        rich_help_panel=PROCESS,
    ),
]
Requests = Annotated[
    int | None,
    typer.Option(
        "--requests",
        metavar="N",
        parser=values.length,
        help="How many requests are drawn.",
        show_default=f"{REQUESTS:,}",
        rich_help_panel=PROCESS,
    ),
]
TokensOption = Annotated[
    int | None,
    typer.Option(
        "--tokens",
        metavar="N",
        parser=values.length,
        help="Tokens of each request.",
        show_default=f"{TOKENS:,}",
        rich_help_panel=PROCESS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        parser=values.length,
        help="Where the drawn outcomes start.",
        show_default=str(SEED),
        rich_help_panel=PROCESS,
    ),
]
GammaRecorded = Annotated[
    int | None,
    typer.Option(
        "--gamma",
        "-g",
        metavar="N",
        parser=values.length,
        help="The draft length of a trace that does not tell it (Spec-Bench).",
        rich_help_panel=o.MODEL,
    ),
]
LeastGain = Annotated[
    float | None,
    typer.Option(
        "--least-gain",
        metavar="SHARE",
        parser=values.fraction,
        help="What a policy must gain to be worth it: 0.02 or 2%.",
        show_default="2%",
        rich_help_panel=o.OUTPUT,
    ),
]


def adapt(
    files: Files = None,
    alpha: o.Alpha = None,
    gamma: GammaRecorded = None,
    max_gamma: o.MaxGamma = None,
    pick: o.Pick = None,
    spread: Spread = None,
    regimes: RegimesOption = None,
    dwell: Dwell = None,
    token_spread: TokenSpread = None,
    quality: Quality = None,
    requests: Requests = None,
    tokens: TokensOption = None,
    seed: Seed = None,
    c: o.C = None,
    speed_ratio: o.SpeedRatio = None,
    draft_ms: o.DraftMs = None,
    target_ms: o.TargetMs = None,
    overhead: o.Overhead = None,
    verify_slope: o.VerifySlope = None,
    least_gain: LeastGain = None,
    format: o.Format = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    strict: o.Strict = False,
) -> None:
    """Have a trace, or an idea how α varies: whether an adaptive length is worth it.

    Every policy meets the same outcomes; the best fixed length, chosen in
    hindsight, is what it has to beat.

        gammaplan adapt rounds.jsonl --c 0.1

        gammaplan adapt --regimes 0.9,0.4 --dwell 100 --c 0.1

        gammaplan adapt --alpha 0.8 --token-spread 0.28 --quality 0.5 --c 0.1
    """
    from gammaplan.cli.evidence import CostFlags
    from gammaplan.cli.output import Output, show

    out = Output.of(format, json, quiet, strict)
    cost = CostFlags(c, speed_ratio, draft_ms, target_ms, overhead, verify_slope)
    varying: dict[str, Any] = {  # Any: numbers and lists
        "--spread": spread,
        "--regimes": regimes,
        "--dwell": dwell,
        "--token-spread": token_spread,
        "--quality": quality,
    }
    size = {"--requests": requests, "--tokens": tokens}
    traces, others = _sorted(files or [])
    trace = None
    if traces:
        from gammaplan.cli.tracing import read_traces

        _only_the_trace({"--alpha": alpha} | varying | size)
        trace = read_traces(traces, gamma)
    elif gamma is not None:
        raise typer.BadParameter("--gamma is the draft length of a trace, and there is none")
    cases = _cases(others, alpha, regimes, cost, pick, trace)
    cases.note_option("seed", seed, SEED)
    cases.note_option("max_gamma", max_gamma)
    cases.note_option("least_gain", least_gain, LEAST_GAIN)
    if trace:
        setting = _traced(cases, trace, SEED if seed is None else seed)
    else:
        setting = _assumed(cases, varying, size, SEED if seed is None else seed)
    from gammaplan.cli.adapting import comparison

    case = cases.cases[0]
    assert case.cost_shape is not None
    result = comparison(
        setting,
        case.cost,
        case.cost_shape,
        max_gamma=max_gamma,
        least_gain=LEAST_GAIN if least_gain is None else least_gain,
        dropped=trace.dropped if trace else 0,
    )
    if trace:
        _note_trace(cases, result)
    show(
        "adapt",
        inputs=cases.inputs,
        sources=cases.sources,
        result=result,
        findings=cases.findings,
        out=out,
        render=_render,
    )


def _sorted(files: list[str]) -> tuple[list[str], list[str]]:
    """Traces, and what else was named."""
    if files.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once, and was named twice")
    traces: list[str] = []
    others: list[str] = []
    for path in files:
        from gammaplan.cli.tracing import is_trace
        from gammaplan.engines.lines import open_stream

        stream = open_stream(path)
        (traces if is_trace(stream) else others).append(path)
        if path != "-":
            stream.close()
    return traces, others


def _only_the_trace(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{option} is for assumed outcomes, and a trace was given")


def _cases(
    files: list[str],
    alpha: float | None,
    regimes: values.Numbers | None,
    cost: "CostFlags",
    pick: list[str] | None,
    trace: "Trace | None",
) -> "Cases":
    """The one cost, and the acceptance that outcomes are drawn around."""
    from gammaplan.cli.evidence import gather_from
    from gammaplan.cli.inputs import read_documents
    from gammaplan.documents.evidence import Evidence
    from gammaplan.documents.writing import acceptance_shape
    from gammaplan.model.acceptance import Geometric

    law = None
    if regimes is not None:
        if alpha is not None:
            raise typer.BadParameter("--regimes brings α in each state; leave out --alpha")
        if len(regimes) != 2:
            raise typer.BadParameter(f"--regimes must be two fractions, got {len(regimes)}")
        law = Geometric(sum(regimes) / 2)
    elif trace is not None:
        law = Geometric(trace.accepted / max(trace.accepted + trace.refused, 1))
    shape = acceptance_shape(law) if law else None
    cases = gather_from(
        read_documents(files) if files else [],
        alpha=alpha,
        cost=cost,
        pick=pick,
        law=Evidence("flag", {}, acceptance=law, acceptance_shape=shape) if law else None,
    )
    if len(cases.cases) > 1:
        raise typer.BadParameter(
            f"the evidence holds {len(cases.cases)} answers; choose one with --pick KEY=VALUE"
        )
    return cases


def _traced(cases: "Cases", trace: "Trace", seed: int) -> "Setting":
    from gammaplan.cli.adapting import traced
    from gammaplan.data.findings import finding

    cases.note("rounds", trace.rounds, "flag")
    if trace.dropped:
        more = trace.dropped - len(trace.reasons)
        what = "; ".join(trace.reasons) + (f"; and {more} more" if more else "")
        lost = f"{trace.dropped} round(s)"
        cases.findings.append(finding("truncated_line", lost=lost, what=what))
    if trace.split:
        cases.findings.append(finding("trace_in_parts", parts=trace.split))
    return traced(trace, seed)


def _assumed(
    cases: "Cases", varying: dict[str, Any], size: dict[str, int | None], seed: int
) -> "Setting":
    from gammaplan.cli.adapting import assumed
    from gammaplan.data.findings import finding

    case = cases.cases[0]
    alpha = case.acceptance.alpha
    if alpha is None:
        raise typer.BadParameter("the evidence has no single α to vary; give --alpha")
    if case.acceptance.model != "geometric":
        cases.findings.append(finding("one_alpha_assumed", alpha=f"{alpha:.4g}"))
    process = _process(alpha, varying)
    for option, value in varying.items():
        cases.note_option(
            option[2:].replace("-", "_"), list(value) if isinstance(value, tuple) else value
        )
    cases.note_option("requests", size["--requests"], REQUESTS)
    cases.note_option("tokens", size["--tokens"], TOKENS)
    counts = {name: REQUESTS if v is None else v for name, v in size.items()}
    for name, value in counts.items():
        if not value:
            raise typer.BadParameter(f"{name} must be a whole number of at least 1, got 0")
    if counts["--requests"] * counts["--tokens"] > MOST_TOKENS:
        raise typer.BadParameter(f"--requests times --tokens must be at most {MOST_TOKENS:,}")
    return assumed(
        process, alpha, requests=counts["--requests"], tokens=counts["--tokens"], seed=seed
    )


def _process(alpha: float, varying: dict[str, Any]) -> "Process":
    from gammaplan.model.processes import Regimes, Requests, Tokens

    kinds = [o for o in ("--spread", "--regimes", "--token-spread") if varying[o] is not None]
    if len(kinds) > 1:
        raise typer.BadParameter(f"{' and '.join(kinds)} exclude each other; give one")
    for option, with_ in (("--dwell", "--regimes"), ("--quality", "--token-spread")):
        if varying[option] is not None and varying[with_] is None:
            raise typer.BadParameter(f"{option} needs {with_} beside it")
    if varying["--regimes"] is not None:
        if varying["--dwell"] is None:
            raise typer.BadParameter("--regimes needs --dwell beside it")
        good, bad = varying["--regimes"]
        return Regimes(good, bad, varying["--dwell"])
    if varying["--token-spread"] is not None:
        quality = varying["--quality"]
        return Tokens(alpha, varying["--token-spread"], 1.0 if quality is None else quality)
    return Requests(alpha, varying["--spread"] or 0.0)


def _note_trace(cases: "Cases", result: "AdaptResult") -> None:
    from gammaplan.data.findings import finding

    most = max(p["modelled"] for p in result["policies"])
    if most:
        cases.findings.append(finding("outcomes_modelled", share=f"{100 * most:.0f} %"))
    if result["clusters"] < FEW_CLUSTERS:
        which = f"{result['clusters']} part(s) of {result['requests']} request(s)"
        cases.findings.append(finding("few_clusters", clusters=which))


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.adapt import print_adapt

    return print_adapt
