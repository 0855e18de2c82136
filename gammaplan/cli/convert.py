"""gammaplan convert: what a reported acceptance figure means."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gammaplan.cli import options as o
from gammaplan.cli import values
from gammaplan.cli.flags import AS_TABLE, OutputFlags, grouped
from gammaplan.cli.values import Lengths, Numbers

if TYPE_CHECKING:
    from gammaplan.errors import Finding
    from gammaplan.model.reported import Reported
    from gammaplan.shapes.figures import ConvertResult

ROWS = range(1, 9)  # the draft lengths shown where the one in use is not known
DIFFER = 0.005  # two estimates of alpha further apart than this are both shown
VARY = 0.02  # hazards further apart than this are not called constant
FIGURE = "The reported figure (one of)"


def _figure(flag: str, metavar: str, parser: Any, help: str) -> Any:  # Any: typer's own
    return typer.Option(flag, metavar=metavar, parser=parser, help=help, rich_help_panel=FIGURE)


@grouped
def convert(
    alpha: Annotated[float | None, _figure("--alpha", "P", values.fraction, "α itself.")] = None,
    mean_length: Annotated[
        float | None,
        _figure("--mean-length", "X", values.number, "Tokens per round with the bonus token."),
    ] = None,
    accepted_per_round: Annotated[
        float | None,
        _figure("--accepted-per-round", "X", values.number, "The same without the bonus token."),
    ] = None,
    pooled_rate: Annotated[
        float | None,
        _figure(
            "--pooled-rate",
            "P",
            values.fraction,
            "Accepted ÷ drafted: what engines print as acceptance rate.",
        ),
    ] = None,
    survival: Annotated[
        Numbers | None,
        _figure(
            "--survival",
            "LIST",
            values.fractions,
            "Share of rounds that accepted 1, 2, … tokens: vLLM's per-position rates.",
        ),
    ] = None,
    hazards: Annotated[
        Numbers | None,
        _figure("--hazards", "LIST", values.fractions, "Acceptance given all before it were."),
    ] = None,
    histogram: Annotated[
        Lengths | None,
        _figure("--histogram", "LIST", values.count_list, "Rounds with exactly 0, 1, … accepted."),
    ] = None,
    gamma: Annotated[
        int | None,
        typer.Option(
            "--gamma",
            "-g",
            metavar="N",
            parser=values.listed_length,
            help="The draft length that the figure was measured at.",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    drafted_per_round: Annotated[
        float | None,
        typer.Option(
            "--drafted-per-round",
            metavar="X",
            parser=values.positive,
            help="Mean drafted tokens per round, where drafts stop early.",
            show_default="--gamma",
            rich_help_panel=o.MODEL,
        ),
    ] = None,
    output: OutputFlags = AS_TABLE,
) -> None:
    """Know one reported figure: α and what every engine calls it.

    What engines print as acceptance rate is accepted ÷ drafted tokens, and
    that is not α: at α 0.8 and γ 4 it is 0.59.

        gammaplan convert --pooled-rate 0.59 --gamma 4

        gammaplan convert --survival 0.917,0.837,0.648,0.538,0.451,0.348
    """
    from gammaplan.cli.evidence import Cases
    from gammaplan.cli.output import Output, show
    from gammaplan.errors import DomainError

    out = Output.of(*output)
    figures = {
        "alpha": alpha,
        "mean_length": mean_length,
        "accepted_per_round": accepted_per_round,
        "pooled_rate": pooled_rate,
        "survival": survival,
        "hazards": hazards,
        "histogram": histogram,
    }
    given = [name for name, value in figures.items() if value is not None]
    if len(given) != 1:
        ways = ", ".join(_flag(name) for name in figures)
        were = " and ".join(map(_flag, given)) or "none"
        raise typer.BadParameter(f"one reported figure is needed, of {ways}; got {were}")
    name = given[0]
    value = figures[name]
    account = Cases([])
    account.note(name, list(value) if isinstance(value, tuple) else value, "flag")
    account.note_option("gamma", gamma)
    account.note_option("drafted_per_round", drafted_per_round)
    try:
        found = _reported(name, value, gamma, drafted_per_round)
    except DomainError as error:
        raise typer.BadParameter(f"{_flag(name)}: {error}") from None
    result = convert_result(found)
    account.findings += _findings(found, name)
    show(
        "convert",
        inputs=account.inputs,
        sources=account.sources,
        result=result,
        findings=account.findings,
        out=out,
        render=_render,
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _reported(
    name: str, value: Any, gamma: int | None, drafted: float | None
) -> "Reported":  # Any: the value of whichever option was given
    from gammaplan.model import reported as r
    from gammaplan.model.estimate import Counts
    from gammaplan.model.positions import PerPosition

    if name in ("alpha", "histogram") and drafted is not None:
        raise typer.BadParameter(f"--drafted-per-round says nothing beside {_flag(name)}")
    match name:
        case "alpha":
            return r.from_alpha(value, gamma)
        case "mean_length":
            return r.from_accepted(value - 1, gamma, drafted)
        case "accepted_per_round":
            return r.from_accepted(value, gamma, drafted)
        case "pooled_rate":
            return r.from_pooled_rate(value, gamma, drafted)
        case "survival":
            return r.from_positions(PerPosition.from_survival(value), gamma, drafted)
        case "hazards":
            return r.from_positions(PerPosition(tuple(value)), gamma, drafted)
        case _:
            return r.from_counts(Counts.from_histogram(value), gamma)


def convert_result(found: "Reported") -> "ConvertResult":
    """Every figure that the reported one implies, in our words and in the engines'."""
    from gammaplan.documents.writing import acceptance_shape
    from gammaplan.engines.base import words
    from gammaplan.model.reported import gamma_by_c

    law, gamma = found.acceptance, found.gamma
    positions = range(1, (gamma or 0) + 1)
    survival = law.survival(positions).tolist() if law and gamma else []
    hazards = _hazards(found, survival)
    other = found.alpha_by_length
    differs = other is not None and found.alpha is not None and abs(other - found.alpha) > DIFFER
    figures = {
        "mean_length": found.mean_length,
        "accepted_per_round": found.accepted_per_round,
        "pooled_rate": found.pooled_rate,
        "survival": survival or None,
        "hazards": hazards or None,
        "rate_with_bonus": found.mean_length / (gamma + 1) if found.mean_length and gamma else None,
    }
    shape = acceptance_shape(law, counts=found.counts) if law else None
    if shape and found.bounds:
        shape["bounds"] = {"low": found.bounds[0], "high": found.bounds[1]}
    result: ConvertResult = {
        "alpha": found.alpha,
        "alpha_other": other if differs else None,
        "gamma": gamma,
        "mean_length": found.mean_length,
        "accepted_per_round": found.accepted_per_round,
        "pooled_rate": found.pooled_rate,
        "survival": survival,
        "hazards": hazards,
        "bounds": {"low": found.bounds[0], "high": found.bounds[1]} if found.bounds else None,
        "gamma_by_c": [
            {"gamma": length, "c_low": low, "c_high": high}
            for length, low, high in (gamma_by_c(law, gamma) if law and gamma else [])
        ],
        "engines": {
            name: {word.label: figures[word.quantity] for word in engine}
            for name, engine in words()
        },
        "acceptance": shape,
    }
    if gamma is None:
        result["rows"] = [_row(found, length) for length in ROWS]
    return result


def _hazards(found: "Reported", survival: list[float]) -> list[float | None]:
    if found.counts is not None:
        return list(found.counts.hazards or ())
    if found.measured is not None:
        before = [1.0, *survival]
        hazards = found.measured.hazards
        return [h if s > 0 else None for h, s in zip(hazards, before, strict=False)]
    return [found.alpha] * len(survival)


def _row(found: "Reported", length: int) -> Any:  # Any: a ConvertRow
    """What the same figure means if the draft length was `length`."""
    from gammaplan.errors import DomainError
    from gammaplan.model import reported as r

    try:
        if found.accepted_per_round is not None:
            at = r.from_accepted(found.accepted_per_round, length, found.drafted_per_round)
        elif found.alpha is not None:
            at = r.from_alpha(found.alpha, length)
        else:
            assert found.bounds is not None
            at = r.from_pooled_rate(found.bounds[0], length, None)
    except DomainError:  # no draft of this length gives the figure
        return {"gamma": length, "alpha": None, "mean_length": None}
    return {"gamma": length, "alpha": at.alpha, "mean_length": at.mean_length}


def _findings(found: "Reported", name: str) -> "list[Finding]":
    from gammaplan.data.findings import finding

    findings = []
    gamma = found.gamma
    if name == "pooled_rate" and gamma and found.drafted_per_round == gamma and found.bounds:
        findings.append(finding("full_drafts_assumed", gamma=gamma, low=f"{found.bounds[0]:.4g}"))
    if found.drafted_per_round and gamma and found.drafted_per_round < gamma and found.bounds:
        low, high = (f"{bound:.4f}" for bound in found.bounds)
        code = "alpha_unknown" if found.alpha is None else "nearly_full_drafts"
        findings.append(finding(code, low=low, high=high))
    hazards = found.measured.hazards if found.measured else ()
    if hazards and max(hazards) - min(hazards) > VARY:
        shown = " ".join(f"{h:.3f}" for h in hazards)
        findings.append(finding("hazards_vary", hazards=shown))
    other = found.alpha_by_length
    if other is not None and found.alpha is not None and abs(other - found.alpha) > DIFFER:
        findings.append(
            finding("alpha_from_length_differs", other=f"{other:.4f}", alpha=f"{found.alpha:.4f}")
        )
    return findings


def _render() -> Any:  # Any: a function of the terminal report, loaded when needed
    from functools import partial

    from gammaplan.engines.base import words
    from gammaplan.report.convert import print_convert

    return partial(print_convert, engines=dict(words()))
