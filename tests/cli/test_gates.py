"""Exit code 3: the document is printed in full, and a gate failed."""

import json

import pytest

GOOD = "optimum --alpha 0.8 --c 0.1"


@pytest.mark.parametrize(
    "gate",
    [
        "--require-speedup 2.46",
        "--require-gamma-in-band 4",
        "--require-gamma-in-band 8",
        "--strict",
    ],
)
@pytest.mark.parametrize("command", ["optimum", "table"])
def test_a_gate_that_holds_is_exit_code_0(cli, command, gate):
    assert cli(f"{command} --alpha 0.8 --c 0.1 {gate}").exit_code == 0


@pytest.mark.parametrize(
    "gate",
    ["--require-speedup 2.48", "--require-gamma-in-band 3", "--require-gamma-in-band 0"],
)
@pytest.mark.parametrize("command", ["optimum", "table"])
def test_a_gate_that_fails_is_exit_code_3_and_one_line(cli, command, gate):
    result = cli(f"{command} --alpha 0.8 --c 0.1 {gate}")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"Failed: {gate}")
    assert result.stderr.count("\n") == 1


def test_the_document_of_a_failed_gate_is_complete(cli):
    result = cli(f"{GOOD} --require-speedup 3 --json")
    assert json.loads(result.stdout)["result"]["gamma"] == 6


@pytest.mark.parametrize("command", ["optimum", "table", "ceiling"])
def test_strict_fails_on_a_warning(cli, command):
    result = cli(f"{command} --alpha 0.8 --c 10 --strict")
    assert result.exit_code == 3
    assert "Failed: --strict: looks_inverse" in result.stderr


def test_strict_fails_on_a_refusal(cli):
    result = cli("convert --pooled-rate 0.8 --gamma 5 --drafted-per-round 3 --strict")
    assert result.exit_code == 3
    assert "alpha_unknown" in result.stderr


def test_strict_passes_notes(cli):
    assert cli("optimum --strict").exit_code == 0


def test_a_warning_without_strict_is_exit_code_0(cli):
    assert cli("optimum --alpha 0.8 --c 10").exit_code == 0


def test_plain_decoding_within_the_tolerance_is_in_the_band(cli):
    args = "optimum --alpha 0.55 --c 0.2 --overhead 0.4 --require-gamma-in-band"
    assert [cli(f"{args} {gamma}").exit_code for gamma in (0, 1, 2, 3)] == [0, 3, 0, 0]


def test_a_supremum_satisfies_the_speedup_it_approaches(cli):
    assert cli("optimum --alpha 1 --c 0 --require-speedup 1e9").exit_code == 0


def test_quiet_silences_findings_not_gates(cli):
    result = cli("optimum --alpha 0.8 --c 10 --quiet --strict")
    assert result.stderr == "Failed: --strict: looks_inverse\n"
