"""The page in a real browser: what it shows, what its sliders give, and what it must not do."""

import base64
import itertools
import json
import math
import os
import re
from pathlib import Path

import pytest

import gammaplan as gp
from gammaplan.model.decision import decide

from .contrast import CONTRAST

CLOSE = {"rel_tol": 1e-9}
RUN = "plan --gamma 5 --baseline-tps 41.6 --spec-tps 60.3 --pooled-rate 0.55 --engine vllm"
ONE_ALPHA = "optimum --alpha 0.8 --c 0.1 --overhead 0.05 --verify-slope 0.01"
ATTACK = "<script>alert(1)</script>\u2028</style><img src=x onerror=alert(2)>"
WIDE, NARROW = 1280, 390


@pytest.fixture
def simple(opened):
    return opened(ONE_ALPHA)


@pytest.fixture
def measured(opened):
    return opened(RUN)


def assert_shows(page, law, cost):
    """The figures and the table of the page are those of Python for this law and cost."""
    wanted = decide(law, cost)
    figures = {
        "gamma": wanted.gamma,
        "speedup": wanted.speedup,
        "tokens": wanted.expected_tokens,
        "cost": wanted.round_cost,
        "ceiling": wanted.ceiling,
    }
    for name, value in figures.items():
        assert math.isclose(page.figure(name), value, **CLOSE), name
    high = "Infinity" if math.isinf(wanted.band.high) else wanted.band.high
    assert page.band() == f"{wanted.band.low}..{high}"
    for gamma, speed in page.explored().items():
        theirs = float(law.expected_tokens(gamma) / cost.round_cost(gamma))
        assert math.isclose(speed, theirs, **CLOSE), gamma


def document_law(page, factor=1.0):
    shape = page.result["acceptance"]
    hazards = tuple(min(1.0, factor * h) for h in shape["parameters"]["hazards"])
    return gp.PerPosition(hazards, min(1.0, factor * shape["beyond"]))


def document_cost(page, factor=1.0):
    table = page.result["costs"][0]["table"]
    costs = [1 + factor * (row["round_cost"] - 1) for row in table]
    return gp.TableCost([row["gamma"] for row in table], costs)


def model(page):
    cost = gp.LinearCost(page.value("c"), page.value("overhead"), page.value("verify_slope"))
    return gp.Geometric(page.value("alpha")), cost


def test_the_answer_comes_first(measured):
    assert measured.text("h1").replace("\u00a0", " ") == (
        "Use γ = 3: 1.52× (80 %: 1.38 to 1.67); γ 2..4 within 3 %."
    )


def test_at_rest_the_curve_is_that_of_the_document(measured):
    explored = measured.explored()
    for row in measured.result["rows"]:
        assert math.isclose(explored[row["gamma"]], row["speedup"], **CLOSE)
    assert measured.figure("gamma") == measured.result["gamma"]
    assert math.isclose(measured.figure("speedup"), measured.result["speedup"], **CLOSE)


@pytest.mark.parametrize(
    "answer",
    [
        "plan --alpha 0.8 --c 0.1 --gamma 4 --max-gamma 5",
        "plan --mix name=code,share=0.6,alpha=0.85 --mix name=chat,share=0.4,alpha=0.6 --c 0.08",
        "optimum --alpha 0.9 --c 0",
        "table --alpha 0.95 --c 0.02",
    ],
)
def test_every_answer_opens_with_its_own_figures(opened, answer):
    page = opened(answer)
    result = page.result.get("optimum", page.result)
    best = math.inf if result["gamma"] is None else result["gamma"]
    assert page.figure("gamma") == best
    assert math.isclose(page.figure("speedup"), result["speedup"], **CLOSE)
    assert page.console() == []


@pytest.mark.parametrize(
    ("slider", "value"),
    [("alpha", 0.999), ("alpha", 0.3), ("c", 0.02), ("overhead", 0.4), ("verify_slope", 0.05)],
)
def test_a_slider_of_one_alpha_redraws_by_the_formulas_of_python(simple, slider, value):
    simple.drag(slider, value)
    assert simple.value(slider) == value
    assert_shows(simple, *model(simple))


@pytest.mark.parametrize("slider", ["alpha", "c", "overhead", "verify_slope"])
def test_a_slider_of_one_alpha_moves_by_its_keys(simple, slider):
    before = simple.value(slider)
    simple.press(slider, "ARROW_RIGHT", "ARROW_RIGHT", "ARROW_UP")
    step = float(simple.find(f"#{slider}").get_attribute("step"))
    assert simple.value(slider) == pytest.approx(before + 3 * step, abs=step / 2)
    assert_shows(simple, *model(simple))


def test_certain_acceptance_and_free_drafts_are_their_limits(simple):
    for slider, key in (("alpha", "END"), ("c", "HOME"), ("verify_slope", "HOME")):
        simple.press(slider, key)
    assert simple.figure("gamma") == simple.figure("speedup") == math.inf
    assert "longer drafts are always faster, without limit" in simple.text("#caption")


def test_an_endless_best_shows_where_its_band_begins(opened):
    page = opened("optimum --alpha 0.8 --c 0")
    assert page.band() == "15..Infinity"
    assert max(page.explored()) == 24
    assert page.find("#chart .near")


def test_what_the_chart_lacks_is_not_in_its_legend(opened):
    page = opened("optimum --alpha 0.999 --c 0")
    assert page.band() == "3504..Infinity"
    marks = "return document.querySelectorAll('#chart .near, #legend .near').length"
    assert page.run(marks) == 0


@pytest.mark.parametrize("factor", [0.7, 1.1, 1.25])
def test_a_factor_on_acceptance_scales_every_hazard(measured, factor):
    measured.drag("acceptance_factor", factor)
    assert_shows(measured, document_law(measured, factor), document_cost(measured))


@pytest.mark.parametrize("factor", [0, 0.4, 2.5])
def test_a_factor_on_cost_scales_what_a_round_costs_beyond_a_plain_pass(measured, factor):
    measured.drag("cost_factor", factor)
    assert_shows(measured, document_law(measured), document_cost(measured, factor))


@pytest.mark.parametrize("slider", ["acceptance_factor", "cost_factor"])
def test_a_factor_moves_by_its_keys(measured, slider):
    measured.press(slider, "ARROW_LEFT", "ARROW_LEFT")
    assert measured.value(slider) == 0.98


def test_the_switch_shows_one_alpha_beside_the_document(measured):
    measured.choose("model")
    law, cost = model(measured)
    assert law.alpha == measured.result["acceptance"]["alpha"]
    best = measured.result["gamma"]
    assert math.isclose(cost.round_cost(best), document_cost(measured).round_cost(best), **CLOSE)
    assert_shows(measured, law, cost)
    assert measured.run("return document.querySelector('#chart .before').getAttribute('d')")
    measured.choose("document")
    assert measured.figure("gamma") == measured.result["gamma"]


def test_the_button_leads_back_to_the_document(simple):
    simple.drag("alpha", 0.5)
    simple.find("#reset").click()
    assert simple.value("alpha") == 0.8
    assert simple.figure("speedup") == pytest.approx(simple.result["speedup"], rel=1e-12)


def test_a_value_between_the_steps_of_a_slider_is_kept_until_it_moves(opened):
    page = opened("optimum --alpha 0.79177538 --c 0.0123456")
    assert (page.value("alpha"), page.value("c")) == (0.79177538, 0.0123456)


def test_a_slider_reaches_beyond_a_large_value_of_the_document(opened):
    page = opened("optimum --alpha 0.8 --c 3 --quiet")
    assert page.value("c") == float(page.find("#c").get_attribute("value")) == 3
    page.press("c", "END")
    assert page.value("c") == 6
    assert_shows(page, *model(page))


def test_rows_in_any_order_are_drawn_from_left_to_right(opened):
    page = opened("table --alpha 0.8 --c 0.1 --gamma 8,2,4")
    assert list(page.explored()) == [2, 4, 8]
    assert page.console() == []


def test_each_slider_has_a_name_a_value_and_a_role(measured):
    for curve, names in (
        ("document", {"Acceptance ×": "1 times the document's"}),
        ("model", {"α": "0.7918", "overhead": "0 target passes"}),
    ):
        measured.choose(curve)
        for slider in measured.driver.find_elements("css selector", "input[type=range]"):
            assert slider.aria_role == "slider"
            assert slider.get_attribute("aria-valuetext")
            if slider.accessible_name in names:
                wanted = names.pop(slider.accessible_name)
                assert slider.get_attribute("aria-valuetext") == wanted
        assert not names


def test_a_screen_reader_is_told_the_answer_once_the_slider_rests(simple):
    at_once, later = simple.wait(
        """
        const input = document.getElementById('alpha'), said = document.getElementById('status');
        input.value = 0.5;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        const first = said.textContent;
        until(() => said.textContent, (text) => done([first, text]))"""
    )
    assert at_once == ""
    assert later == simple.text("#caption")


def test_tab_reaches_every_control_in_order(measured):
    measured.drag("cost_factor", 2)
    reached = [measured.tab() for _ in range(14)]
    wanted = ["mode-document", "acceptance_factor", "cost_factor", "reset", "Copy", "Copy"]
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted


def test_the_copy_button_copies_the_settings(measured):
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    measured.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    measured.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    copied = """
        const button = document.querySelector('.setting button');
        button.click();
        until(() => button.textContent !== 'Copy', () => navigator.clipboard.readText()
          .then((text) => done([button.textContent, text]), (e) => done(['', String(e)])))"""
    assert measured.wait(copied) == ["Copied", measured.result["settings"]["vllm"]]


def test_where_copying_is_refused_the_settings_are_selected(measured):
    selected = """
        const button = document.querySelector('.setting button');
        navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
        button.click();
        until(() => button.textContent !== 'Copy',
          () => done([button.textContent, String(getSelection())]))"""
    said, text = measured.wait(selected)
    assert said == "Selected: press Ctrl+C or ⌘C"
    assert text == measured.result["settings"]["vllm"]


def test_nothing_leaves_the_page_and_nothing_is_complained_about(measured):
    for slider in ("acceptance_factor", "cost_factor"):
        measured.press(slider, "ARROW_LEFT")
    measured.find(".setting button").click()
    assert measured.requests() == [measured.path.as_uri()]
    assert measured.console() == []


def test_text_of_users_is_text(opened, cli):
    document = json.loads(cli(f"{RUN} --json").stdout)
    document["generator"] = ATTACK
    document["result"]["settings"] = {ATTACK: ATTACK}
    document["result"]["costs"][0]["source"] = ATTACK
    document["result"]["assumptions"][0]["source"] = ATTACK
    document["inputs"]["candidate"] = [ATTACK]
    document["sources"]["candidate"] = ATTACK
    document["warnings"] = [{"code": "x", "level": "warning", "message": ATTACK}]
    document["result"] = {"groups": [document["result"] | {"labels": {"model": ATTACK}}] * 2}
    page = opened(document)
    assert not page.has_dialog()
    assert page.run("return document.querySelectorAll('main script, img').length") == 0
    shown = page.run("return document.body.innerText")
    assert shown.count("<script>alert(1)</script>") >= 6
    assert "<script>alert(1)</script>" in page.text("#part")
    assert page.console() == []


def test_the_page_itself_can_make_no_html_of_text(simple):
    made = "try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch (e) { return e.name }"
    assert simple.run(made) == "TypeError"


def test_one_of_several_answers_is_chosen(opened, cli):
    one, other = (json.loads(cli(f"optimum --alpha {a} --c 0.1 --json").stdout) for a in (0.8, 0.5))
    groups = [
        document["result"] | {"labels": {"batch": i}} for i, document in enumerate((one, other))
    ]
    page = opened(one | {"result": {"groups": groups}})
    assert page.figure("speedup") == pytest.approx(one["result"]["speedup"])
    page.find("#part").send_keys("batch=1")
    assert page.figure("speedup") == pytest.approx(other["result"]["speedup"])


@pytest.fixture(params=itertools.product((NARROW, WIDE), ("light", "dark")), ids=str)
def look(request, browser):
    """A width and a theme."""
    width, theme = request.param
    features = [{"name": "prefers-color-scheme", "value": theme}]
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == NARROW}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield width, theme
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_text_and_controls_stand_out_and_nothing_is_cut_off(look, opened, cli):
    width, theme = look
    document = json.loads(cli(f"{RUN} --json").stdout)
    document["warnings"] = [
        {"code": "x", "level": level, "message": "said"} for level in ("note", "warning")
    ]
    page = opened(document)
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run("return document.documentElement.scrollHeight") < 6000
    cut = "const e = document.querySelector('.wide'); return e.scrollWidth > e.clientWidth"
    assert page.run(cut) == (width == NARROW)  # there it scrolls by itself
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(251, 251, 249)") == (theme == "light")
    found = page.run(CONTRAST)
    assert len(found) > 100
    assert [one for one in found if one["ratio"] < one["least"]] == []


def test_a_screenshot_shows_the_whole_page_in_its_theme(look, opened, tmp_path):
    """Look at them after a change of the page: GAMMAPLAN_SCREENSHOTS names a folder for them."""
    from PIL import Image

    width, theme = look
    page = opened(RUN)
    height = page.run("return document.documentElement.scrollHeight")
    folder = Path(os.environ.get("GAMMAPLAN_SCREENSHOTS") or tmp_path)
    file = folder / f"report-{width}-{theme}.png"
    taken = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    file.write_bytes(base64.b64decode(taken["data"]))
    with Image.open(file) as image:
        assert image.width == width
        assert image.height >= min(height, 900)
        pixels = image.convert("L").histogram()
    ground = pixels.index(max(pixels))
    assert ground > 200 if theme == "light" else ground < 60
    assert sum(count > 0 for count in pixels) > 50


def test_a_note_in_a_table_is_not_broken_word_by_word(look, opened):
    draft = "gamma=3,speedup=1.7,pooled_rate=0.6"
    page = opened(f"plan --candidate name=eagle3,{draft} --candidate name=mtp,{draft}")
    lines = """const cell = [...document.querySelectorAll('#tables td')]
        .find((td) => td.textContent.startsWith('cannot be told apart'));
        return cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight)"""
    assert page.run(lines) < 4


def test_paper_has_the_answer_the_curve_and_no_controls(measured):
    printed = measured.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    measured.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = """return ['#mode-model', '#acceptance_factor', '#reset', '.setting button']
        .map((s) => document.querySelector(s).offsetParent === null)"""
    try:
        assert measured.run(hidden) == [True] * 4
        assert measured.find("#chart").is_displayed()
        assert [one for one in measured.run(CONTRAST) if one["ratio"] < one["least"]] == []
    finally:
        measured.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
