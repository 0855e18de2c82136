"""Help that answers: what each command is for, and examples that run."""

import shlex

import pytest

from gammaplan.cli.app import COMMANDS

CALCULATOR = ("table", "optimum", "tokens", "ceiling", "sweep", "convert", "schema")


def examples(help_text):
    text = help_text.replace("\n  --", " --")  # a long example goes on in the next line
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line.startswith("gammaplan ")]


def test_the_root_help_lists_every_command_with_its_purpose(cli):
    text = " ".join(cli("--help").stdout.split())
    for name, purpose in COMMANDS.items():
        assert name in text
        assert purpose.split(":")[0] in text


@pytest.mark.parametrize("command", CALCULATOR)
def test_the_first_line_of_a_help_says_who_it_is_for(cli, command):
    text = " ".join(cli([command, "--help"]).stdout.split())
    assert COMMANDS[command] in text


@pytest.mark.parametrize("command", CALCULATOR)
def test_a_help_has_two_examples(cli, command):
    assert len(examples(cli([command, "--help"]).stdout)) == 2


@pytest.mark.parametrize("command", CALCULATOR)
def test_the_examples_of_a_help_run(cli, command):
    for example in examples(cli([command, "--help"]).stdout):
        stdout = None
        for part in example.split(" | "):
            result = cli(shlex.split(part)[1:], input=stdout)
            assert result.exit_code == 0, result.stderr
            stdout = result.stdout
        assert stdout


@pytest.mark.parametrize("command", CALCULATOR[:-1])
def test_every_option_of_a_help_has_a_text(cli, command):
    text = cli([command, "--help"]).stdout
    assert "--json" in text
    assert "--format" in text
    assert "--strict" in text


@pytest.mark.parametrize("command", ["table", "optimum"])
def test_the_help_of_a_command_with_a_cost_names_every_way_to_give_it(cli, command):
    text = cli([command, "--help"]).stdout
    for option in ("--c", "--speed-ratio", "--draft-ms", "--target-ms", "--overhead"):
        assert option in text
