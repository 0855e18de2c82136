"""The JSON contract: every document against its schema, and the keys that stay."""

import json

import jsonschema
import pytest

pytestmark = pytest.mark.golden

ENVELOPE = {"schema", "generator", "inputs", "sources", "result", "warnings"}
OPTIMUM = {
    "gamma",
    "speedup",
    "expected_tokens",
    "gamma_continuous",
    "speedup_continuous",
    "band",
    "ceiling",
    "share_of_ceiling",
    "unbounded",
    "break_even",
    "c_range",
    "helps",
    "acceptance",
    "costs",
}
RESULT = {
    "tokens": {"rows", "ceiling", "acceptance"},
    "table": {"rows", "optimum", "acceptance", "costs"},
    "optimum": OPTIMUM,
    "ceiling": {"ceiling", "speedup", "share_of_ceiling"},
    "sweep": {"rows"},
    "simulate": {
        "rounds",
        "seed",
        "expected_tokens",
        "measured_tokens",
        "standard_error",
        "rules",
    },
    "convert": {
        "alpha",
        "alpha_other",
        "gamma",
        "mean_length",
        "accepted_per_round",
        "pooled_rate",
        "survival",
        "hazards",
        "bounds",
        "gamma_by_c",
        "engines",
        "acceptance",
    },
}
ROW = {
    "simulate": {"accepted", "rounds", "share", "expected_share"},
    "tokens": {"gamma", "expected_tokens", "accepted_per_round", "pooled_rate"},
    "table": {
        "gamma",
        "expected_tokens",
        "round_cost",
        "speedup",
        "relative",
        "in_band",
        "best",
    },
    "sweep": {
        "alpha",
        "c",
        "gamma",
        "speedup",
        "gamma_continuous",
        "band_low",
        "band_high",
        "ceiling",
    },
}
ACCEPTANCE = {
    "model",
    "parameters",
    "alpha",
    "survival",
    "observed_to",
    "beyond",
    "counts",
    "interval",
    "bounds",
}
COST = {
    "batch",
    "context",
    "kind",
    "c",
    "overhead",
    "verify_slope",
    "table",
    "source",
    "worst_residual",
}
EDGES = [
    "--alpha 0.8 --c 0.1",
    "--alpha 0.3 --c 0.5",
    "--alpha 0.8 --c 0",
    "--alpha 0 --c 0",
    "--alpha 0 --c 0.1",
    "--alpha 1 --c 0",
    "--alpha 1 --c 0.5",
    "--alpha 1 --c 1",
    "--alpha 1 --c 2",
    "--alpha 0.8 --c 3",
    "--alpha 5e-324 --c 5e-324",
    "--alpha 0.9999999999999999 --c 1e300",
    "--alpha 0.55 --c 0.2 --overhead 0.4",
    "--alpha 0.5 --c 0.1 --overhead 1e300 --verify-slope 1e300",
    "--alpha 1 --c 1e-300 --overhead 0.4",
]
FIGURES = [
    "--alpha 0.8",
    "--alpha 0 --gamma 4",
    "--alpha 1 --gamma 4",
    "--alpha 0.8 --gamma 0",
    "--mean-length 4.739 --gamma 6",
    "--mean-length 2.5",
    "--mean-length 1 --gamma 3",
    "--accepted-per-round 3 --gamma 3",
    "--pooled-rate 0.8 --gamma 5",
    "--pooled-rate 0.8",
    "--pooled-rate 0",
    "--pooled-rate 1 --gamma 3",
    "--pooled-rate 0.8 --gamma 5 --drafted-per-round 3",
    "--survival 0.917,0.837,0.648,0.538,0.451,0.348",
    "--alpha 0.3 --gamma 1000",
    "--alpha 5e-324 --gamma 2",
    "--survival 0,0",
    "--survival 1,1,1",
    "--hazards 0.9,0,0.5",
    "--histogram 39,1,0,3",
    "--histogram 9,0,0",
    "--histogram 0,0,7",
]
COMMANDS = [
    *(f"{command} {edge}" for command in ("optimum", "table", "ceiling") for edge in EDGES),
    *(f"convert {figure}" for figure in FIGURES),
    "optimum --alpha 0.8 --c 0.1 --gamma 0",
    "optimum --alpha 0.8 --c 0.1 --gamma 4 --max-gamma 5",
    "optimum --alpha 0.8 --speed-ratio 10",
    "optimum --alpha 1 --c 1e-300 --tolerance 0",
    "optimum --alpha 0.5 --c 1e300 --gamma 9007199254740992",
    "optimum --alpha 0.8 --draft-ms 1.8 --target-ms 14.1",
    "table --alpha 0.8 --c 0.1 --gamma 0..3",
    "table --alpha 1 --c 0 --gamma 1000000",
    "tokens --alpha 0.8 --gamma 0,4",
    "tokens --alpha 1",
    "ceiling --alpha 0.8",
    "ceiling",
    "tokens",
    "table",
    "optimum",
    "sweep",
    "sweep --alpha 0,0.5,1 --c 0,0.5,1,2",
    "alpha --target-logits 2,0 --draft-logits 1.5,0 --temperature 0,0.5,1",
    "alpha --target-logits 1000,-inf,0 --draft-logits 1,2,3 --top-p 0.5 --draft-top-p 0.9 -g 5",
    "alpha --target-logits 3,2,1 --draft-logits 3,1,2 --top-k 2 --rules --order llama.cpp",
    "simulate --rounds 100",
    "simulate --alpha 0 --gamma 3 --rounds 1",
    "simulate --alpha 5e-324 --gamma 100 --rounds 10",
    "simulate --target-logits 2,0,-inf --draft-logits 1,0,3 --rounds 50",
    "simulate --target-logits 2,0 --draft-logits 1,0 --temperature 0,1 --gamma 0 --rounds 9",
]


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@pytest.fixture
def document(cli):
    def run(args, input=None):
        result = cli([*args.split(), "--json"], input=input)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout, parse_constant=refuse_constant)

    return run


@pytest.fixture
def validated(cli, document):
    def run(args, input=None):
        found = document(args, input)
        schema = json.loads(cli(f"schema {args.split()[0]}").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(found)
        return found

    return run


@pytest.mark.parametrize("args", COMMANDS)
def test_the_document_satisfies_its_schema(validated, args):
    assert validated(args).keys() == ENVELOPE


@pytest.mark.parametrize("args", COMMANDS)
def test_every_input_has_its_source(document, args):
    found = document(args)
    assert found["inputs"].keys() == found["sources"].keys()


@pytest.mark.parametrize("command", RESULT)
def test_the_result_has_the_keys_of_the_contract(document, command):
    figure = " --mean-length 4.739 --gamma 6" if command == "convert" else ""
    assert document(command + figure)["result"].keys() >= RESULT[command]


@pytest.mark.parametrize("command", ROW)
def test_the_rows_have_exactly_the_keys_of_the_contract(document, command):
    assert document(command)["result"]["rows"][0].keys() == ROW[command]


def test_the_table_carries_the_whole_optimum(document):
    args = " --alpha 0.8 --c 0.1"
    assert document("table" + args)["result"]["optimum"] == document("optimum" + args)["result"]


def test_the_parts_of_an_optimum(document):
    result = document("optimum --alpha 0.8 --c 0.1")["result"]
    assert result["band"].keys() >= {"tolerance", "low", "high", "plain", "gaps"}
    assert result["break_even"].keys() >= {"alpha", "c", "gamma"}
    assert result["c_range"].keys() == {"low", "high"}
    assert all(h.keys() >= {"change", "gamma", "speedup", "gain"} for h in result["helps"])


def test_the_acceptance_of_a_document(document):
    assert document("optimum")["result"]["acceptance"].keys() == ACCEPTANCE


def test_the_costs_of_a_document(document):
    assert [cost.keys() for cost in document("optimum")["result"]["costs"]] == [COST]


def test_convert_without_gamma_has_a_row_for_each_of_1_to_8(document):
    result = document("convert --pooled-rate 0.8")["result"]
    assert result["alpha"] is None
    assert [row["gamma"] for row in result["rows"]] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(row.keys() == {"gamma", "alpha", "mean_length"} for row in result["rows"])


def test_the_schema_and_the_generator_name_themselves(document):
    found = document("optimum")
    assert found["schema"] == "gammaplan.optimum/1"
    assert found["generator"].startswith("gammaplan ")


def test_a_json_document_is_all_of_stdout_and_ends_in_one_newline(cli):
    stdout = cli("optimum --alpha 0.8 --c 0.1 --json").stdout
    assert stdout.startswith("{\n")
    assert stdout.endswith("}\n")
    assert not stdout.endswith("\n\n")


def test_json_has_full_precision(document):
    result = document("optimum --alpha 0.8 --c 0.1")["result"]
    assert result["speedup"] == pytest.approx(2.46964, rel=1e-14)
    assert len(repr(result["gamma_continuous"])) > 15


def test_an_unbounded_optimum_has_no_gamma_and_the_supremum_as_its_speedup(document):
    found = document("optimum --alpha 0.8 --c 0")
    result = found["result"]
    assert (result["gamma"], result["gamma_continuous"], result["band"]["high"]) == (None,) * 3
    assert result["unbounded"] is True
    assert result["speedup"] == pytest.approx(5, rel=1e-15)
    assert [w["code"] for w in found["warnings"]] == ["unbounded"]


def test_an_infinite_supremum_is_null(document):
    result = document("optimum --alpha 1 --c 0")["result"]
    assert (result["speedup"], result["ceiling"]) == (None, None)
    assert (result["band"]["low"], result["band"]["high"]) == (None, None)


def test_at_the_boundary_the_continuous_optimum_is_0(document):
    result = document("optimum --alpha 0.1 --c 0.5")["result"]
    assert (result["gamma"], result["gamma_continuous"], result["speedup"]) == (0, 0, 1)


def test_the_pooled_rate_is_null_at_gamma_0(document):
    rows = document("tokens --alpha 0.8 --gamma 0,1")["result"]["rows"]
    assert [row["pooled_rate"] for row in rows] == [None, pytest.approx(0.8)]


def test_ceiling_needs_no_cost(document):
    result = document("ceiling --alpha 0.8")["result"]
    assert result["ceiling"] == pytest.approx(5)
    assert (result["speedup"], result["share_of_ceiling"]) == (None, None)


def test_inputs_have_defaults_filled_in(document):
    found = document("optimum --alpha 0.8 --c 0.1")
    assert found["inputs"] == {
        "alpha": 0.8,
        "c": 0.1,
        "overhead": 0.0,
        "verify_slope": 0.0,
        "gamma": None,
        "max_gamma": None,
        "tolerance": 0.03,
    }
    assert found["sources"]["alpha"] == "flag"
    assert found["sources"]["tolerance"] == "default"


def test_the_worked_example_has_default_as_its_source(document):
    found = document("optimum")
    assert (found["inputs"]["alpha"], found["inputs"]["c"]) == (0.8, 0.1)
    assert (found["sources"]["alpha"], found["sources"]["c"]) == ("default", "default")
    assert [w["code"] for w in found["warnings"]] == ["worked_example"]


def test_a_cost_ratio_of_1_or_more_looks_inverse(document):
    found = document("optimum --alpha 0.8 --c 10")
    assert [(w["code"], w["level"]) for w in found["warnings"]] == [("looks_inverse", "warning")]
    assert "--speed-ratio" in found["warnings"][0]["message"]


def test_gamma_by_c_ends_at_the_last_measured_position_without_a_low_end(document):
    rows = document("convert --survival 0.930,0.845,0.683")["result"]["gamma_by_c"]
    assert [row["gamma"] for row in rows] == [0, 1, 2, 3]
    assert rows[-1]["c_low"] is None
    assert [round(row["c_low"], 3) for row in rows[:-1]] == [0.930, 0.779, 0.485]


def test_gamma_by_c_has_the_boundaries_of_the_optimum(document):
    rows = document("convert --alpha 0.8 --gamma 5")["result"]["gamma_by_c"]
    for row in rows[1:-1]:
        middle = (row["c_low"] + row["c_high"]) / 2
        result = document(f"optimum --alpha 0.8 --c {middle!r}")["result"]
        assert result["gamma"] == row["gamma"]
        assert result["c_range"] == pytest.approx({"low": row["c_low"], "high": row["c_high"]})


def test_schema_without_a_command_lists_the_documents(cli):
    listed = set(cli("schema").stdout.split())
    assert listed >= {f"gammaplan.{name}/1" for name in RESULT}


@pytest.mark.parametrize("command", RESULT)
def test_schemas_name_their_version(cli, command):
    schema = json.loads(cli(f"schema {command}").stdout)
    assert schema["properties"]["schema"] == {"const": f"gammaplan.{command}/1"}
