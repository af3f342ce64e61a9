"""The browser that other tests look through sees what goes wrong on a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser

PAGE = """<!doctype html><meta charset="utf-8"><title>t</title>
<style>body { background: white; height: 3000px }
@media (prefers-color-scheme: dark) { body { background: black } }</style>
<button onclick="this.textContent = 'clicked'; console.warn('a warning')">press</button>
<script>console.log("all is well")</script>"""


def test_a_page_is_opened_clicked_asked_and_pictured(tmp_path: Path) -> None:
    (tmp_path / "a page.html").write_text(PAGE)
    with Browser(width=800, height=600) as page:
        page.open(tmp_path / "a page.html")
        assert page.complaints() == []  # console.log is no complaint
        page.click("button")
        assert page.text("button") == "clicked" and page.count("button") == 1
        assert [c for c in page.complaints() if "a warning" in c] == page.complaints() != []
        assert page.run("1 + arguments[0]", 2) == 3
        background = "getComputedStyle(document.body).backgroundColor"
        page.prefer("dark")
        assert page.run(background) == "rgb(0, 0, 0)"
        page.prefer("light")
        assert page.run(background) == "rgb(255, 255, 255)"
        page.resize(400, 700)
        assert page.run("innerWidth") == 400
        view = page.screenshot(tmp_path / "view.png").read_bytes()
        whole = page.screenshot(tmp_path / "whole.png", whole_page=True).read_bytes()
    assert png_size(view) == (400, 700)
    assert png_size(whole)[1] > 2900


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("throw new Error('thrown')", "thrown"),
        ("Promise.reject(new Error('rejected'))", "rejected"),
        ("console.error('logged')", "logged"),
        ("fetch('https://example.com/x.js').catch(() => 0)", "example.com"),
        ("document.write('<script src=missing.js><\\/script>')", "missing.js"),
    ],
)
def test_what_goes_wrong_on_a_page_is_reported(script: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><script>setTimeout(() => window.done = true, 500); {script}</script>")
    with Browser() as page:
        page.open(path)
        page.wait_until("window.done")
        assert any(complaint in line for line in page.complaints()), page.complaints()


def test_waiting_in_vain_names_the_condition(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    with Browser() as page:
        page.open(tmp_path / "page.html")
        with pytest.raises(Exception, match=r"never true within 0\.3 s: 1 === 2"):
            page.wait_until("1 === 2", seconds=0.3)


def test_without_chromium_tests_are_skipped_unless_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SODM_REQUIRE_CHROMIUM", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium chromium-driver"):
        Browser()
    monkeypatch.setenv("SODM_REQUIRE_CHROMIUM", "1")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium chromium-driver"):
        Browser()


def png_size(png: bytes) -> tuple[int, int]:
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
