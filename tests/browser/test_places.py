"""Panels, help, progress and pictures where people read them: in Colab's frames, in VS Code, on pages that nobody runs.

What can be measured of a page is measured; each is kept as a picture, to be looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT, some_by_day
from tests.browser.places import LOOKS, worked_at

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (390, 1000)
"""A phone and a desk."""
OUTPUTS = ".shown, .output_subarea, .jp-OutputArea-output"

INK = """
outputs => {
  const parse = text => {
    const parts = text.replace("color(srgb", "").match(/[\\d.]+/g).map(Number);
    return [...parts.slice(0, 3).map(one => text.startsWith("color(") ? one * 255 : one), parts[3] ?? 1];
  };
  const over = (top, under, share) => under.map((one, at) => top[at] * top[3] * share + one * (1 - top[3] * share));
  const light = ([...rgb]) => {
    const [r, g, b] = rgb.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const root of outputs) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, text = node.data.trim(), holder = node.parentElement;
      if (!text || !holder.checkVisibility() || /^(STYLE|SCRIPT)$/.test(holder.tagName)) continue;
      const above = [];
      for (let one = holder; one; one = one.parentElement) above.unshift(getComputedStyle(one));
      let paper = [255, 255, 255], share = 1;
      for (const style of above) { share *= +style.opacity; paper = over(parse(style.backgroundColor), paper, share) }
      const ink = over(parse(getComputedStyle(holder).color), paper, share);
      const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
      found.push({text: text.slice(0, 40), ratio: (high + 0.05) / (low + 0.05), word: /[\\p{L}\\p{N}]/u.test(text)});
    }
  }
  return found;
}
"""
"""WCAG's contrast of every text, with what shines through its own colour and those below it."""

EMPTY = """outputs => outputs.filter(one => !one.innerText.trim()
  && ![...one.querySelectorAll('img')].some(img => img.naturalWidth && img.clientWidth))
  .map(one => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return worked_at({"COURSE_PROGRESS": str(tmp_path_factory.mktemp("progress") / "progress.db")})


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """A page on which no script runs, and which asks nobody."""
    context = browser.new_context(java_script_enabled=False)
    context.route("**/*", lambda route: route.abort())
    yield context.new_page()
    context.close()


def _frames(page: Any) -> list[tuple[Any, str]]:
    """Where the outputs are, and how to find them there: in frames of their own, all of each, or in the page."""
    # The page's own list of frames may still hold those of what it showed before.
    frames = [holder.content_frame() for holder in page.query_selector_all("iframe")]
    return [(frame, "body") for frame in frames] or [(page, OUTPUTS)]


@pytest.mark.parametrize("place", some_by_day(LOOKS, len(LOOKS)))
def test_what_a_lesson_shows_can_be_read_there(window: Any, notebook: Any, place: str, tmp_path: Path) -> None:
    html = LOOKS[place](notebook)
    for width in WIDTHS:
        window.set_viewport_size({"width": width, "height": 900})
        window.set_content(html)
        seen, words = [], ""
        for frame, outputs in _frames(window):
            if frame is not window:
                holder = frame.frame_element()
                holder.evaluate("node => { node.style.height = 0 }")
                tall = frame.evaluate("document.documentElement.scrollHeight")
                holder.evaluate("(node, tall) => { node.style.height = `${tall}px` }", tall)
            assert frame.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (
                f"wider than {width} pixels"
            )
            assert frame.eval_on_selector_all(outputs, EMPTY) == []
            seen += frame.eval_on_selector_all(outputs, INK)
            words += " ".join(frame.locator(outputs).all_inner_texts())
        assert window.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"wider than {width} pixels"
        name = re.sub(r"\W+", "_", f"{place} {width}")
        # A frame out of sight is not drawn.
        window.set_viewport_size({"width": width, "height": window.evaluate("document.documentElement.scrollHeight")})
        window.screenshot(path=tmp_path / f"{name}.png")
        # A mark beside a sentence that says the same is a picture: 3 is enough for it.
        faint = {(one["text"], round(one["ratio"], 2)) for one in seen if one["ratio"] < (4.5 if one["word"] else 3)}
        assert faint == set()
        for said in ("passed", "not yet", "still as you got it", "3 of 3", "exercises solved"):
            assert said in words


def test_no_colour_hangs_on_jupyterlab_alone(notebook: Any) -> None:
    written = [path for room in ("nbproof", "course") for path in (ROOT / room).rglob("*.py")]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in written}
    texts["what a lesson puts out"] = str(notebook.cells)
    assert sum(text.count("var(--jp-") for text in texts.values()) > 10
    assert [name for name, text in texts.items() if re.search(r"var\(--jp-[\w-]+\)", text)] == []
