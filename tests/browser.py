"""A real headless Chromium for tests: open a page, hear its complaints, click, ask, take its picture.

    with Browser() as page:
        page.open(tmp_path / "page.html")
        page.wait_until("document.querySelectorAll('svg').length > 0")
        assert page.complaints() == []

The page gets no network: names other than the local machine's do not resolve, so that whatever it would fetch
from elsewhere shows up among the complaints.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Literal, Self

import pytest

PROGRAMS = ("chromium", "chromedriver")
REMEDY = "install Debian's packages: apt-get install chromium chromium-driver"


class Browser:
    """Chromium and its driver as Debian packages them; nothing is downloaded at run time.

    Without them the test is skipped, or fails if ``SODM_REQUIRE_CHROMIUM=1``, which is what CI sets.
    """

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        chromium, driver = _find_programs()
        webdriver = pytest.importorskip(
            "selenium.webdriver", reason="selenium is missing: pip install '.[test-browser]'"
        )
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in (
            "--headless=new",
            f"--window-size={width},{height}",
            "--force-device-scale-factor=1",
            "--no-sandbox",  # CI is root, which Chromium's sandbox refuses; the pages are our own
            "--disable-dev-shm-usage",  # containers have little of it
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        # With the driver named, selenium does not look for one, let alone fetch it.
        self._driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self._driver.set_page_load_timeout(120)
        self._driver.set_script_timeout(120)
        self._complaints: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._driver.quit()

    def open(self, page: Path | str) -> None:
        """Load a local file, or an address on this machine, and wait until it has loaded."""
        self._driver.get(page.resolve().as_uri() if isinstance(page, Path) else page)

    def complaints(self) -> list[str]:
        """Console errors and warnings, uncaught exceptions and failed requests, of all pages so far."""
        for entry in self._driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self._complaints.append(f"{entry['level']}: {entry['message']}")
        return list(self._complaints)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a JavaScript expression gives; `arguments[0]` and so on are at hand in it."""
        return self._driver.execute_script(f"return ({script});", *arguments)

    def count(self, selector: str) -> int:
        """Number of elements that match a CSS selector."""
        return self.run("document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector: str = "body") -> str:
        """The text people see in the first element that matches."""
        return self._driver.find_element("css selector", selector).text

    def click(self, selector: str) -> None:
        """Click on the first element that matches, as with a mouse: it must be visible."""
        element = self._driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def wait_until(self, script: str, seconds: float = 60) -> Any:
        """Wait until an expression is true, and give its value; TimeoutException if it never is."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self._driver, seconds, poll_frequency=0.1).until(
            lambda _: self.run(script), f"never true within {seconds:g} s: {script}"
        )

    def prefer(self, scheme: Literal["light", "dark"]) -> None:
        """Set the colour scheme that pages see as the reader's."""
        self._devtools(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window's content in CSS pixels, e.g. that of a telephone."""
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def screenshot(self, path: Path, *, whole_page: bool = False) -> Path:
        """Write what is seen, or the page from top to bottom, as PNG."""
        import base64

        picture = self._devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole_page)
        path.write_bytes(base64.b64decode(picture["data"]))
        return path

    def _devtools(self, command: str, **parameters: Any) -> Any:
        return self._driver.execute_cdp_cmd(command, parameters)


def _find_programs() -> list[str]:
    found = {name: shutil.which(name) for name in PROGRAMS}
    if missing := [name for name, path in found.items() if path is None]:
        message = f"{' and '.join(missing)} not found; {REMEDY}"
        (pytest.fail if os.environ.get("SODM_REQUIRE_CHROMIUM") == "1" else pytest.skip)(message)
    return [path for path in found.values() if path is not None]
