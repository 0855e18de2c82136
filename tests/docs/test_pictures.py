"""The committed pictures are what the commands draw now."""

import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from .pictures import FOLDER, PICTURES, drawn, prepared
from .test_completeness import TEXT

SVG = "{http://www.w3.org/2000/svg}"
SHARE = 0.005  # of a panel, by which the roundings of versions may move a point


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("inputs")
    prepared(where)
    return where


def words(root: ElementTree.Element) -> str:
    """All text; where a line of it is broken depends on the font."""
    return " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))


def curves(root: ElementTree.Element) -> dict[str, list[tuple[float, float]]]:
    """The points of every line and set of points by its name, in shares of its panel."""
    boxes = {
        f"url(#{clip.get('id')})": [
            float(clip[0].get(k, "")) for k in ("x", "y", "width", "height")
        ]
        for clip in root.iter(f"{SVG}clipPath")
    }
    found = {}
    for group in root.iter(f"{SVG}g"):
        inside = [part for part in group.iter() if part.get("clip-path")]
        if "-mark-" not in group.get("id", "") or not inside:
            continue
        x, y, width, height = boxes[inside[0].get("clip-path", "")]
        points = [(float(u.get("x", "")), float(u.get("y", ""))) for u in group.iter(f"{SVG}use")]
        path = next(group.iter(f"{SVG}path"), None)  # none where points share an earlier shape
        if not points and path is not None and "fill: none" in path.get("style", ""):
            pairs = re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path.get("d", ""))
            points = [(float(a), float(b)) for a, b in pairs]
        found[group.get("id", "")] = [((a - x) / width, (b - y) / height) for a, b in points]
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_a_committed_picture_is_what_its_command_draws(folder, name):
    committed = FOLDER / f"{name}.svg"
    now = drawn(folder, name, PICTURES[name], "svg")
    committed, now = (ElementTree.parse(file).getroot() for file in (committed, now))
    assert words(committed) == words(now)
    before, after = curves(committed), curves(now)
    assert before.keys() == after.keys()
    assert any(before.values())
    for mark, points in before.items():
        assert len(points) == len(after[mark]), mark
        for one, other in zip(points, after[mark], strict=True):
            assert one == pytest.approx(other, abs=SHARE), mark


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_shown_on_a_page(name):
    assert any(f"pictures/{name}.svg" in text for text in TEXT.values())


def test_no_picture_is_left_over():
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(PICTURES)
