"""A headless Chromium for the tests of pages; skipped where there is none, unless required."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .pages import Page

FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1280,900",
)


def _absent(what: str) -> None:
    """Skip with the reason; fail where a browser is required."""
    if os.environ.get("GAMMAPLAN_REQUIRE_BROWSER"):
        pytest.fail(f"{what} is not installed, and GAMMAPLAN_REQUIRE_BROWSER is set")
    pytest.skip(f"{what} is not installed")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """One Chromium for all tests, with a profile of its own and its log of requests on."""
    try:
        from selenium import webdriver
    except ImportError:
        _absent("selenium")
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or chromium is None:
        _absent("chromium" if chromium is None else "chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(chromium)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=str(driver))
    found = webdriver.Chrome(options=options, service=service)
    found.set_page_load_timeout(60)
    found.set_script_timeout(60)
    yield found
    found.quit()


@pytest.fixture
def opened(browser, cli, tmp_path: Path) -> Callable[[str | dict[str, object]], Page]:
    """`opened("plan --alpha 0.8 --c 0.1")`: the page of a command's answer, or of a document."""

    def page(answer: str | dict[str, object]) -> Page:
        if isinstance(answer, str):
            done = cli(f"{answer} --json")
            assert done.exit_code == 0, done.stderr
            answer = json.loads(done.stdout)
        source, target = tmp_path / "answer.json", tmp_path / "page.html"
        source.write_text(json.dumps(answer), encoding="utf-8")
        done = cli(["report", str(source), "-o", str(target)])
        assert done.exit_code == 0, done.stderr
        return Page(browser, target, answer)

    return page
