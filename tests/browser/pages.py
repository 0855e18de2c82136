"""A page of a report in a browser: its figures, its sliders, and what went over the wire."""

import json
from pathlib import Path

UNTIL = """
    const done = arguments[arguments.length - 1];
    const until = (holds, then) => holds() ? then(holds()) : setTimeout(until, 20, holds, then);"""


class Page:
    """The page in `path`, opened afresh; `document` is what it was made of."""

    def __init__(self, driver, path: Path, document: dict) -> None:
        self.driver, self.path, self.document = driver, path, document
        driver.get_log("browser"), driver.get_log("performance")  # of the page before
        driver.get(path.as_uri())

    @property
    def result(self) -> dict:
        return self.document["result"]

    def run(self, script: str, *values: object) -> object:
        """What a script returns; infinite numbers come as text."""
        return self.driver.execute_script(script, *values)

    def wait(self, script: str) -> object:
        """What a script hands to `done`, now or later; `until(holds, then)` waits in it."""
        return self.driver.execute_async_script(f"{UNTIL}{script}")

    def find(self, selector: str):
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def figure(self, name: str) -> float:
        """A figure beside the sliders, in full precision."""
        script = f"return document.getElementById('figure-{name}').dataset.value"
        return float(self.run(script).replace("Infinity", "inf"))

    def band(self) -> str:
        return self.run("return document.getElementById('figure-band').dataset.value")

    def value(self, slider: str) -> float:
        """What a slider stands at, in full precision."""
        script = "return document.getElementById(arguments[0] + '-value').dataset.value"
        return float(self.run(script, slider))

    def explored(self) -> dict[int, float]:
        """The speedup with the sliders at every length of the table."""
        script = """
            return [...document.querySelectorAll('[data-explored]')]
              .map((cell) => [cell.dataset.explored, cell.dataset.value])"""
        return {int(gamma): float(value) for gamma, value in self.run(script)}

    def press(self, slider: str, *keys: str) -> None:
        """Move a slider by its keys, such as "ARROW_LEFT"."""
        self.find(f"#{slider}").send_keys(*(key_named(key) for key in keys))

    def tab(self) -> str:
        """What has the focus after one more TAB: its id, else how its text begins."""
        self.driver.switch_to.active_element.send_keys(key_named("TAB"))
        return self.run(
            "const e = document.activeElement; return e.id || e.textContent.slice(0, 4)"
        )

    def has_dialog(self) -> bool:
        """Whether the page has opened an alert."""
        from selenium.common.exceptions import NoAlertPresentException

        try:
            return self.driver.switch_to.alert is not None
        except NoAlertPresentException:
            return False

    def drag(self, slider: str, value: float) -> None:
        """Move a slider to a value, as a pointer would."""
        script = """
            const input = document.getElementById(arguments[0]);
            input.value = arguments[1];
            input.dispatchEvent(new Event('input', { bubbles: true }))"""
        self.run(script, slider, value)

    def choose(self, curve: str) -> None:
        """Switch to the curve of the "document" or of the "model"."""
        self.find(f"#mode-{curve}").click()

    def console(self) -> list[str]:
        """What the browser complained about."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        entries = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [e for e in entries if e["method"] == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]


def key_named(name: str) -> str:
    """A key as selenium sends it; selenium is there only where a browser is."""
    from selenium.webdriver.common.keys import Keys

    return str(getattr(Keys, name))
