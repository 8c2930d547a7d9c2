"""Panels, help, progress and pictures where people read them: in Colab's frames, in VS Code, on pages that nobody runs.

What can be measured of a page is measured, in light and dark, on a phone and on a desk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from nbproof.authoring.simulate import hand_in
from tests import ROOT, some_by_day, the_lesson
from tests.browser.portraits import EXERCISE, LESSON, TIMELINE, WRONG

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def worked_at(environment: dict[str, str]) -> NotebookNode:
    """A lesson with what it puts out: an exercise solved, one failed, the others untouched, all help, progress, a picture."""
    solved = the_lesson(LESSON).exercises[0]
    right = "\n".join(line for line in solved.candidates[0].source.split("\n") if "### " not in line)
    released = ROOT / "release" / LESSON / f"{LESSON}.ipynb"
    notebook = hand_in(released, {solved.id: right, EXERCISE: WRONG})
    notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    sources = [f'hint("{EXERCISE}")'] * 3 + ["progress()", TIMELINE]
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in sources]
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(ROOT)}})

    async def somebody_is_there(**_: Any) -> None:
        client.kc.allow_stdin = True

    client.on_notebook_start = somebody_is_there
    client.execute(env={**os.environ, **environment})
    return notebook


def _shown(output: NotebookNode) -> str:
    """What a front end makes of one output: HTML if there is some, else a picture, else words."""
    if output.output_type == "stream":
        return f"<pre>{escape(output.text)}</pre>"
    if output.output_type == "error":
        return f"<pre>{escape(strip_ansi(chr(10).join(output.traceback)))}</pre>"
    if "text/html" in output.data:
        return str(output.data["text/html"])
    return f"<pre>{escape(output.data['text/plain'])}</pre>"


def _page(notebook: NotebookNode, dark: bool, framed: bool) -> str:
    """Colab puts each output in a sandboxed frame of its own; VS Code puts all in one page, whose body has its name."""
    theme, paper, ink = ("dark", "#1f1f1f", "#cccccc") if dark else ("light", "#ffffff", "#3b3b3b")
    style = (
        f"<style>html{{color-scheme:{theme}}}body{{margin:0;background:{paper};color:{ink};font:13px sans-serif}}"
        "pre{white-space:pre-wrap}.code{overflow-x:auto;white-space:pre}iframe{border:0;width:100%;display:block}</style>"
    )
    parts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            inner = _shown(output)
            if framed:
                inner = escape(f'<!doctype html><html theme="{theme}">{style}{inner}')
                parts.append(f'<iframe sandbox="allow-scripts" srcdoc="{inner}"></iframe>')
            else:
                parts.append(f'<div class="shown">{inner}</div>')
    return f'<!doctype html>{style}<body class="{"" if framed else f"vscode-{theme}"}">{"".join(parts)}'


def _nbconvert(template: str, theme: str = "light") -> Callable[[NotebookNode], str]:
    """Saved outputs on a page that nobody runs."""
    return lambda notebook: str(HTMLExporter(template_name=template, theme=theme).from_notebook_node(notebook)[0])


LOOKS: dict[str, Callable[[NotebookNode], str]] = {
    "Colab, dark": lambda notebook: _page(notebook, dark=True, framed=True),
    "Colab, light": lambda notebook: _page(notebook, dark=False, framed=True),
    "VS Code, dark": lambda notebook: _page(notebook, dark=True, framed=False),
    "VS Code, light": lambda notebook: _page(notebook, dark=False, framed=False),
    "classic Notebook, nbviewer": _nbconvert("classic"),
    "JupyterLab's page, dark": _nbconvert("lab", "dark"),
}
"""From a notebook with outputs to a page, by the place that shows it so."""
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
def test_what_a_lesson_shows_can_be_read_there(window: Any, notebook: Any, place: str) -> None:
    html = LOOKS[place](notebook)
    for width in WIDTHS:
        window.set_viewport_size({"width": width, "height": 900})
        window.set_content(html)
        seen, words, pictures = [], "", []
        for frame, outputs in _frames(window):
            sideways = frame.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert sideways <= 0, f"wider than {width} pixels"
            assert frame.eval_on_selector_all(outputs, EMPTY) == []
            seen += frame.eval_on_selector_all(outputs, INK)
            words += " ".join(frame.locator(outputs).all_inner_texts())
            pictures += frame.locator("img.two-looks").all()
        # A mark beside a sentence that says the same is a picture: 3 is enough for it.
        faint = {(one["text"], round(one["ratio"], 2)) for one in seen if one["ratio"] < (4.5 if one["word"] else 3)}
        assert faint == set()
        for said in ("passed", "not yet", "still as you got it", "3 of 3", "exercises solved"):
            assert said in words
        assert pictures
        for picture in pictures:
            shown = picture.evaluate("one => getComputedStyle(one).content")
            assert (shown != "normal") == place.endswith("dark")


def test_no_colour_hangs_on_jupyterlab_alone(notebook: Any) -> None:
    written = [path for room in ("nbproof", "course") for path in (ROOT / room).rglob("*.py")]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in written}
    texts["what a lesson puts out"] = str(notebook.cells)
    assert sum(text.count("var(--jp-") for text in texts.values()) > 10
    assert [name for name, text in texts.items() if re.search(r"var\(--jp-[\w-]+\)", text)] == []
