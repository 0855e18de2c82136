"""The committed pictures are what the commands draw now."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from .pictures import FOLDER, PICTURES, drawn, prepared
from .test_completeness import TEXT

SVG = "{http://www.w3.org/2000/svg}"
POINT = 1.0  # how far fonts and versions of matplotlib may move a curve


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("inputs")
    prepared(where)
    return where


def words(file: Path) -> list[str]:
    root = ElementTree.parse(file).getroot()
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def curves(file: Path) -> dict[str, list[float]]:
    """The numbers of the first path of every mark, by the mark's name."""
    found = {}
    for group in ElementTree.parse(file).getroot().iter(f"{SVG}g"):
        name = group.get("id", "")
        if "-mark-" in name and (path := next(group.iter(f"{SVG}path"), None)) is not None:
            found[name] = [float(n) for n in re.findall(r"-?\d+\.?\d*", path.get("d", ""))]
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_a_committed_picture_is_what_its_command_draws(folder, name):
    committed = FOLDER / f"{name}.svg"
    now = drawn(folder, name, PICTURES[name], "svg")
    assert words(committed) == words(now)
    before, after = curves(committed), curves(now)
    assert before.keys() == after.keys()
    for mark, numbers in before.items():
        assert numbers == pytest.approx(after[mark], abs=POINT), mark


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_shown_on_a_page(name):
    assert any(f"pictures/{name}.svg" in text for text in TEXT.values())


def test_no_picture_is_left_over():
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(PICTURES)
