"""The site works without a network: the build fails if a page would fetch anything from elsewhere.

Pages that are opened as files have their search too: its index is written as a script, see `docs/search.js`.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

# What a browser fetches by itself, unlike the links in <a>.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
NOT_FETCHED = {"canonical", "alternate", "prev", "next"}  # of <link>
STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


def on_post_build(config: Any) -> None:
    """Look through all pages and styles of the finished site, and give it the index that files can read."""
    write_index(Path(config.site_dir))
    found = fetches(Path(config.site_dir))
    if found:
        from mkdocs.exceptions import PluginError

        raise PluginError(
            "the site must work without a network, but these would be fetched:\n" + "\n".join(found)
        )


def write_index(site: Path) -> None:
    """The index of the search as a script, by the name under which the theme asks for it on `file:` pages."""
    index = site / "search" / "search_index.json"
    index.with_suffix(".js").write_text(
        f"var __index = {index.read_text(encoding='utf-8')}", encoding="utf-8"
    )


def fetches(site: Path) -> list[str]:
    """Page and address of everything that a browser would fetch from another place."""
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            reader = _Reader()
            reader.feed(path.read_text())
            addresses = reader.addresses
        elif path.suffix == ".css":
            addresses = STYLES.findall(path.read_text())
        else:
            continue
        found += [f"{path.relative_to(site)}: {address}" for address in addresses]
    return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.style = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        address = values.get(FETCHED.get(tag, ""), "")
        if tag == "link" and NOT_FETCHED & set(values.get("rel", "").split()):
            address = ""
        if address.startswith(("http://", "https://", "//")):
            self.addresses.append(address)
        self.addresses += STYLES.findall(values.get("style", ""))
        self.style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.style = False

    def handle_data(self, data: str) -> None:
        if self.style:
            self.addresses += STYLES.findall(data)
