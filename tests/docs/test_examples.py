"""Every example of README.md and docs/ runs and prints what is shown."""

import doctest
import json
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from gammaplan.cli.app import COMMANDS

from .examples import PAGES, Block, blocks, run, steps

BLOCKS = [block for page in PAGES for block in blocks(page)]
SET_UP = "python3 -m venv "  # run by .ci/run, which starts from nothing
PROGRAM = re.compile(r"(^|[|;&] *)gammaplan ")
LANGUAGES = {"sh", "console", "python", "json", "text", "yaml"}  # yaml: tests/live


def of(*languages: str) -> pytest.MarkDecorator:
    chosen = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", chosen, ids=[block.name for block in chosen])


@pytest.mark.parametrize("block", BLOCKS, ids=[block.name for block in BLOCKS])
def test_a_block_has_a_language_that_is_checked(block: Block):
    assert block.language in LANGUAGES


@of("sh", "console")
def test_a_shell_example_prints_what_is_shown(block: Block, tmp_path):
    if "| jq " in block.text and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    found = list(steps(block))
    set_up = all(step.command.startswith(SET_UP) for step in found)
    assert set_up or "gammaplan " in block.text, "an example that cannot be checked"
    assert found, "a shell example without a command"
    for step in found:
        if step.command.startswith(SET_UP):
            continue
        printed = run(step.command, where=tmp_path)
        assert step.output in (None, printed)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_python_examples_of_a_page_hold_one_after_the_other(page: Path):
    names: dict[str, object] = {}
    report: list[str] = []
    for block in blocks(page):
        if block.language == "python":
            found = doctest.DocTestParser().get_examples(block.text, block.name)
            assert found, f"{block.name}: a python example without >>>"
            test = doctest.DocTest(found, names, block.name, block.name, 0, block.text)
            doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
            names = test.globs
    assert not report, "".join(report)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_a_help_page_run(command: str, tmp_path):
    function = getattr(import_module(f"gammaplan.cli.{command}"), command)
    examples = re.findall(r"^ {8}(gammaplan .*)$", function.__doc__, re.MULTILINE)
    assert len(examples) >= 2
    for example in examples:
        if not re.search(r"\.(log|prom|jsonl?)\b|https?://", example):  # the reader's own
            run(example, where=tmp_path)


@of("json")
def test_a_json_example_is_json(block: Block):
    json.loads(block.text)


def test_the_readme_sets_up_with_two_commands():
    commands = [
        s.command
        for block in blocks(PAGES[0])
        if block.language == "sh"
        for s in steps(block)
        if s.command.startswith(SET_UP)
    ]
    assert commands == [
        "python3 -m venv .venv && .venv/bin/pip install -q . "
        "&& .venv/bin/gammaplan table --alpha 0.8 --c 0.1",
        "python3 -m venv .venv-test && .venv-test/bin/pip install -q -e '.[test]' "
        "&& .venv-test/bin/python -m pytest -q -n auto --dist loadfile",
    ]


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
