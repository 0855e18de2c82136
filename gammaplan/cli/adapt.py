"""gammaplan adapt: what an adaptive draft length would gain over the best fixed one."""

from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values
from gammaplan.cli import varying as v
from gammaplan.cli.flags import AS_TABLE, NO_COST, CostFlags, OutputFlags, grouped

if TYPE_CHECKING:
    from gammaplan.cli.adapting import Setting
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.tracing import Trace
    from gammaplan.documents.evidence import Document
    from gammaplan.shapes.adapt import AdaptResult

LEAST_GAIN = 0.02
IN_MEMORY = 2**24  # bytes of a trace; a larger one goes to the disk
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
MaxGamma = Annotated[
    int | None,
    typer.Option(
        "--max-gamma",
        metavar="N",
        parser=values.length,
        help="The longest draft to consider, at most 255.",
        show_default="128, or what the cost knows",
        rich_help_panel=o.MODEL,
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


@grouped
def adapt(
    files: Files = None,
    alpha: o.Alpha = None,
    gamma: GammaRecorded = None,
    max_gamma: MaxGamma = None,
    pick: o.Pick = None,
    spread: v.Spread = None,
    regimes: v.Regimes = None,
    dwell: v.Dwell = None,
    token_spread: v.TokenSpread = None,
    quality: v.Quality = None,
    requests: v.Requests = None,
    tokens: v.Tokens = None,
    seed: v.Seed = None,
    cost: CostFlags = NO_COST,
    least_gain: LeastGain = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Have a trace, or an idea how α varies: whether an adaptive length is worth it.

    Every policy meets the same outcomes; the best fixed length, chosen in
    hindsight, is what it has to beat.

        gammaplan adapt rounds.jsonl --c 0.1

        gammaplan adapt --regimes 0.9,0.4 --dwell 100 --c 0.1

        gammaplan adapt --alpha 0.8 --token-spread 0.28 --quality 0.5 --c 0.1
    """
    from gammaplan.cli.output import Output, show

    out = Output.of(*output)
    varying: dict[str, Any] = {  # Any: numbers and lists
        "--spread": spread,
        "--regimes": regimes,
        "--dwell": dwell,
        "--token-spread": token_spread,
        "--quality": quality,
    }
    size = {"--requests": requests, "--tokens": tokens}
    with SpooledTemporaryFile(IN_MEMORY) as spool:
        trace, documents = _read(files or [], spool, gamma)
        if trace:
            _only_the_trace({"--alpha": alpha} | varying | size)
        elif gamma is not None:
            raise typer.BadParameter("--gamma is the draft length of a trace, and there is none")
        cases = _cases(documents, alpha, regimes, cost, pick, trace)
        cases.note_option("seed", seed, v.SEED)
        cases.note_option("max_gamma", max_gamma)
        cases.note_option("least_gain", least_gain, LEAST_GAIN)
        first = v.SEED if seed is None else seed
        setting = _traced(cases, trace, first) if trace else _assumed(cases, varying, size, first)
        result = _compared(cases, setting, max_gamma, least_gain, trace)
    show(
        "adapt",
        inputs=cases.inputs,
        sources=cases.sources,
        result=result,
        findings=cases.findings,
        out=out,
        render=_render,
    )


def _read(
    files: list[str], spool: IO[bytes], gamma: int | None
) -> "tuple[Trace | None, list[Document]]":
    """The rounds of all traces, and the documents among the files; each is opened once."""
    if files.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once, and was named twice")
    documents: list[Document] = []
    if not files:
        return None, documents
    from gammaplan.cli.inputs import document_in, opened
    from gammaplan.cli.tracing import Recorder, is_trace

    recorder, traces = Recorder(spool, gamma), 0
    for path in files:
        with opened(path) as stream:
            if is_trace(stream):
                recorder.read(stream, path)
                traces += 1
            else:
                documents.append(document_in(stream, path))
    return recorder.finish() if traces else None, documents


def _compared(
    cases: "Cases",
    setting: "Setting",
    max_gamma: int | None,
    least_gain: float | None,
    trace: "Trace | None",
) -> "AdaptResult":
    from gammaplan.cli.adapting import comparison

    case = cases.cases[0]
    assert case.cost_shape is not None  # gather_from() saw to it
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
    return result


def _only_the_trace(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{option} is for assumed outcomes, and a trace was given")


def _cases(
    documents: "list[Document]",
    alpha: float | None,
    regimes: values.Numbers | None,
    cost: "CostFlags",
    pick: list[str] | None,
    trace: "Trace | None",
) -> "Cases":
    """The one cost, and the acceptance that outcomes are drawn around."""
    from gammaplan.cli.evidence import gather_from
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
        documents,
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
    process = v.process(alpha, varying)
    for option, value in varying.items():
        cases.note_option(
            option[2:].replace("-", "_"), list(value) if isinstance(value, tuple) else value
        )
    cases.note_option("requests", size["--requests"], v.REQUESTS)
    cases.note_option("tokens", size["--tokens"], v.TOKENS)
    defaults = {"--requests": v.REQUESTS, "--tokens": v.TOKENS}
    counts = {n: defaults[n] if given is None else given for n, given in size.items()}
    for name, value in counts.items():
        if not value:
            raise typer.BadParameter(f"{name} must be a whole number of at least 1, got 0")
    if counts["--requests"] * counts["--tokens"] > MOST_TOKENS:
        raise typer.BadParameter(f"--requests times --tokens must be at most {MOST_TOKENS:,}")
    return assumed(
        process, alpha, requests=counts["--requests"], tokens=counts["--tokens"], seed=seed
    )


def _note_trace(cases: "Cases", result: "AdaptResult") -> None:
    from gammaplan.data.findings import finding

    shares = [p["modelled"] for p in result["policies"]]
    most = max(result["best_fixed"]["modelled"], *shares)
    if most:
        cases.findings.append(finding("outcomes_modelled", share=f"{100 * most:.0f} %"))
    if result["clusters"] < FEW_CLUSTERS:
        which = f"{result['clusters']} part(s) of {result['requests']} request(s)"
        cases.findings.append(finding("few_clusters", clusters=which))


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from gammaplan.report.adapt import print_adapt

    return print_adapt
