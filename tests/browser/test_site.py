"""The web site in a browser: every link leads somewhere, nothing is said in the console, nothing scrolls sideways.

By day one lesson whose cells were not run, at night all of them with what they show.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
from bs4 import BeautifulSoup, Tag

from nbproof.authoring.site import make_site
from tests import COURSE, ROOT, SLUGS

pytestmark = pytest.mark.browser

SCREENS = ((390, "dark"), (1280, "light"))
"""A phone and a desk: pixels, colours."""
WIDER = "() => document.documentElement.scrollWidth > window.innerWidth"


@dataclass(frozen=True)
class Made:
    """A site that is served."""

    folder: Path
    url: str
    slugs: tuple[str, ...]
    run: bool

    @property
    def pages(self) -> list[str]:
        """All of them, by their paths."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.html"))

    def read(self, page: str) -> BeautifulSoup:
        """One page as it is written."""
        return BeautifulSoup((self.folder / page).read_text(encoding="utf-8"), "html.parser")


Quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *said: None})


@pytest.fixture(scope="module", params=["one lesson", pytest.param("all of it", marks=pytest.mark.nightly)])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """The site, as a web server hands it out."""
    run = request.param == "all of it"
    slugs = tuple(SLUGS) if run else ("05_feature_extraction",)
    folder = make_site(COURSE, ROOT, slugs, tmp_path_factory.mktemp("site") / "site", run=run).home.parent
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Made(folder, f"http://127.0.0.1:{server.server_port}", slugs, run)
    server.shutdown()
    server.server_close()


def _names(page: Tag) -> set[str]:
    return {str(one["id"]) for one in page.select("[id]")}


def test_every_link_and_picture_leads_somewhere(made: Made) -> None:
    broken, seen = [], 0
    ids = {page: _names(made.read(page)) for page in made.pages}
    for page in made.pages:
        for one in made.read(page).select("[href], [src]"):
            target = str(one.get("href") or one.get("src"))
            if urlparse(target).scheme:
                continue
            seen += 1
            name, anchor = urldefrag(urljoin(page, target) if target[:1] != "#" else page + target)
            there = made.folder / unquote(name.partition("?")[0] or "index.html")
            known = ids.get(there.relative_to(made.folder).as_posix(), set())
            if not there.exists() or (anchor and unquote(anchor) not in known):
                broken.append(f"{page}: {target}")
    assert broken == []
    assert seen > 500


def test_each_page_has_a_title_and_every_picture_has_words(made: Made) -> None:
    assert "Begin here" in made.read("index.html").get_text(), "the first page is for a reader, and no README"
    for page in made.pages:
        read = made.read(page)
        levels = [int(one.name[1]) for one in read.select("article h1, article h2, article h3, article h4, article h5")]
        assert page in ("search.html", "genindex.html") or levels[0] == 1, page
        assert [str(one) for one in read.select("img") if not str(one.get("alt", "")).strip()] == [], page


def test_nothing_scrolls_sideways_and_the_console_stays_empty(browser: Any, made: Made) -> None:
    said: list[str] = []
    asked: list[str] = []
    for width, scheme in SCREENS:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page = context.new_page()
        page.on("console", lambda one: said.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("request", lambda one: asked.append(one.url))
        page.on("response", lambda one: said.append(f"{one.status}: {one.url}") if one.status >= 400 else None)
        for name in made.pages:
            page.goto(f"{made.url}/{name}")
            assert not page.evaluate(WIDER), f"{name} is wider than {width} pixels"
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith((made.url, "data:"))] == []


def test_shown_cells_show_pictures_and_words_and_no_error(made: Made) -> None:
    for slug in made.slugs:
        read = made.read(f"lessons/{slug}.html")
        outputs, pictures = read.select(".cell_output"), read.select(".cell_output img")
        assert bool(outputs) == bool(pictures) == made.run, slug
        assert not read.select(".output.traceback, .output.stderr"), slug
        assert "Traceback (most recent call last)" not in read.get_text(), slug
        assert str(ROOT) not in str(read), slug
