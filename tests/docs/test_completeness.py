"""What there is, is documented: commands, options, findings, JSON keys, words, exit codes."""

import re
from typing import get_args, get_type_hints

import pytest

import gammaplan
from gammaplan.cli.app import COMMANDS
from gammaplan.cli.schema import RESULTS, result_type
from gammaplan.data.findings import FINDINGS
from gammaplan.shapes.answers import OptimumResult
from gammaplan.shapes.parts import AcceptanceShape, CostShape

from .examples import PAGES, ROOT

TEXT = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_its_help_in_cli(command):
    assert f"\n## {command}\n" in TEXT["cli.md"]
    assert f"Usage: gammaplan {command} " in TEXT["cli.md"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_named_outside_its_help(command):
    pages = "".join(text for name, text in TEXT.items() if name != "cli.md")
    assert re.search(rf"gammaplan {command}\b|`{command}`", pages)


@pytest.mark.parametrize("code", FINDINGS)
def test_a_finding_is_in_the_table_with_its_level(code):
    assert re.search(rf"^\| `{code}` \| {FINDINGS[code][0]} \|", TEXT["json.md"], re.MULTILINE)


@pytest.mark.parametrize("command", RESULTS)
def test_every_key_of_a_document_is_explained(command):
    section = re.search(rf"^### {command}\n(.*?)(?=^##|\Z)", TEXT["json.md"], re.M | re.S)
    assert section, f"docs/json.md has no section {command}"
    unnamed = keys(result_type(command)) - names(section[1]) - SHARED
    assert not unnamed


@pytest.mark.parametrize("name", gammaplan.__all__)
def test_a_public_name_is_in_the_documentation(name):
    assert any(f"`{name}" in text or f"gp.{name}" in text for text in TEXT.values())


@pytest.mark.parametrize("word", ["gamma", "speedup", "expected_tokens", "round_cost", "ceiling"])
def test_a_word_is_defined_once(word):
    words, _, _ = TEXT["nomenclature.md"].partition("\n## Python names")
    assert words.count(f"\n| `{word}`") == 1


def test_the_changelog_is_for_the_version_in_hand():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased" in changes


def keys(shape: object) -> set[str]:
    """The keys of a result type, of the types in its lists included, shared shapes left out."""
    found: set[str] = set()
    for name, kind in get_type_hints(shape).items():
        found.add(name)
        for part in (kind, *get_args(kind), *(p for k in get_args(kind) for p in get_args(k))):
            if isinstance(part, type) and hasattr(part, "__required_keys__") and part not in APART:
                found |= keys(part)
    return found


def names(text: str) -> set[str]:
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))


APART = (AcceptanceShape, CostShape, OptimumResult)  # own sections
SHARED = {"labels", "acceptance", "costs", "optimum"}


@pytest.mark.parametrize("name", ["acceptance", "costs"])
def test_every_key_of_evidence_is_explained(name):
    shape = {"acceptance": AcceptanceShape, "costs": CostShape}[name]
    section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", TEXT["json.md"], re.M | re.S)
    assert section
    assert not keys(shape) - names(section[1])
