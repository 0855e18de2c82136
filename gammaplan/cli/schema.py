"""gammaplan schema: the JSON Schema of a command's document."""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer

RESULTS = {
    "tokens": "answers.TokensResult",
    "table": "answers.TableResult",
    "optimum": "answers.OptimumResult",
    "ceiling": "answers.CeilingResult",
    "sweep": "answers.SweepResult",
    "convert": "figures.ConvertResult",
    "fit": "figures.FitResult",
    "watch": "watch.WatchResult",
    "cost": "planning.CostResult",
    "plan": "planning.PlanResult",
    "alpha": "alpha.AlphaResult",
    "explain": "planning.ExplainResult",
    "tree": "tree.TreeResult",
    "adapt": "adapt.AdaptResult",
    "simulate": "simulate.SimulateResult",
}
GROUPED = ("tokens", "table", "optimum", "ceiling", "plan", "cost", "explain", "simulate")


def _known(text: str) -> str:
    from gammaplan.cli.values import refuse

    if text not in RESULTS:
        raise refuse(f"one of {', '.join(RESULTS)}", text)
    return text


def schema(
    command: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMMAND]",
            parser=_known,
            help="The command whose document is described; without it they are listed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """The JSON Schema of a command's document.

    Generated from the types that the documents are checked against.

        gammaplan schema optimum

        gammaplan schema
    """
    from gammaplan.documents.writing import to_json

    if command is None:
        sys.stdout.write("".join(f"gammaplan.{name}/1\n" for name in RESULTS))
        return
    sys.stdout.write(to_json(document_schema(command)) + "\n")


def result_type(command: str) -> Any:  # Any: each command has a type of its own
    """The type that a command's `result` is checked against."""
    module, name = RESULTS[command].split(".")
    return getattr(import_module(f"gammaplan.shapes.{module}"), name)


def document_schema(command: str) -> dict[str, object]:
    """The schema of the whole document; several answers stand in `result.groups[]`."""
    import msgspec

    from gammaplan.shapes import parts

    (one, findings, value), components = msgspec.json.schema_components(
        [result_type(command), list[parts.FindingShape], dict[str, parts.Value]],
        ref_template="#/$defs/{name}",
    )
    grouped = {
        "type": "object",
        "properties": {"groups": {"type": "array", "items": one}},
        "required": ["groups"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"gammaplan.{command}/1",
        "type": "object",
        "properties": {
            "schema": {"const": f"gammaplan.{command}/1"},
            "generator": {"type": "string"},
            "inputs": value,
            "sources": {"type": "object", "additionalProperties": {"type": "string"}},
            "result": {"anyOf": [one, grouped]} if command in GROUPED else one,
            "warnings": findings,
        },
        "required": ["schema", "generator", "inputs", "sources", "result", "warnings"],
        "$defs": components,
    }
