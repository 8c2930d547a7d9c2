"""Panels, help, progress and pictures where people read them: in Colab's frames, in VS Code, on pages that nobody runs.

What can be measured of a page is measured; each is kept as a picture, to be looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbconvert import HTMLExporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from tests import ROOT, some_by_day, the_lesson
from tests.browser.portraits import EXERCISE, LESSON, REPLAY, TIMELINE, WRONG


def worked_at(environment: Mapping[str, str]) -> NotebookNode:
    """A part of a lesson with what it puts out: an exercise solved, one failed, one untouched, all help, progress, a picture."""
    lesson = the_lesson(LESSON)
    released = nbformat.read(ROOT / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    named = {cell.metadata.get("nbgrader", {}).get("grade_id", ""): at for at, cell in enumerate(released.cells)}
    at = lesson.exercises.index(lesson.exercise(EXERCISE))
    solved, failed, untouched = lesson.exercises[0], lesson.exercise(EXERCISE), lesson.exercises[at + 1]
    cells = [released.cells[named["setup_imports"]]]
    for exercise, answer in ((solved, solved.candidates[0].source), (failed, WRONG), (untouched, "")):
        place = named[exercise.id]
        text, todo = released.cells[place - 1], released.cells[place]
        check = released.cells[named[exercise.tests[0].grade_id]]
        todo["source"] = "\n".join(line for line in answer.split("\n") if "### " not in line) or todo["source"]
        cells += [text, todo, check]
        if exercise is failed:
            cells += [nbformat.v4.new_code_cell("hint()") for _ in range(3)]
    cells += [nbformat.v4.new_code_cell(source) for source in ("progress()", TIMELINE, REPLAY)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=released.metadata)
    _run(notebook, environment)
    return notebook


def _run(notebook: NotebookNode, environment: Mapping[str, str]) -> None:
    """Run the cells as a front end does: it could ask its user something, and says which cell it is."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(ROOT), env={**os.environ, **environment})
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                asked = {"code": cell.source, "silent": False, "store_history": True, "user_expressions": {}}
                content = {**asked, "allow_stdin": True, "stop_on_error": True}
                request = client.session.msg("execute_request", content, metadata={"cellId": str(number)})
                client.shell_channel.send(request)
                cell["outputs"] = list(_outputs(client, request["header"]["msg_id"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _outputs(client: Any, asked: str) -> Iterator[NotebookNode]:
    while True:
        message = client.get_iopub_msg(timeout=300)
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            return
        if kind in ("stream", "display_data", "execute_result", "error"):
            yield nbformat.v4.output_from_msg(message)


def _shown(output: NotebookNode) -> str:
    """What a front end makes of one output: HTML if there is some, else a picture, else words."""
    if output.output_type == "stream":
        return f"<pre>{escape(output.text)}</pre>"
    if output.output_type == "error":
        return f"<pre>{escape(strip_ansi(chr(10).join(output.traceback)))}</pre>"
    data = output.data
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{data["image/png"]}">'
    return f"<pre>{escape(data['text/plain'])}</pre>"


def _colab(notebook: NotebookNode, dark: bool) -> str:
    """Each output in a sandboxed frame of its own, which knows no variable of Jupyter's."""
    paper, ink, scheme = ("#383838", "#d5d5d5", "dark") if dark else ("#ffffff", "#212121", "light")
    theme = "dark" if dark else "light"
    frame = (
        f"<style>html{{color-scheme:{scheme}}}body{{margin:0;background:{paper};color:{ink};font:14px Roboto,sans-serif}}"
        "pre{white-space:pre-wrap;font-family:monospace}</style>"
    )
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts.append(f'<pre class="code">{escape(cell.source)}</pre>')
            for output in cell.outputs:
                page = escape(f'<!doctype html><html theme="{theme}">{frame}{_shown(output)}')
                parts.append(f'<iframe class="shown" sandbox="allow-scripts" srcdoc="{page}"></iframe>')
    style = (
        f":root{{color-scheme:{scheme}}}body{{margin:8px;background:{paper};color:{ink};font:14px Roboto,sans-serif}}"
        ".code{overflow-x:auto;padding:8px;background:rgba(128,128,128,.12)}iframe{border:0;width:100%;display:block}"
    )
    return f"<!doctype html><style>{style}</style>{''.join(parts)}"


_VS_CODE = {
    True: {
        "editor-background": "#1f1f1f", "foreground": "#cccccc", "textLink-foreground": "#4daafc",
        "textPreformat-foreground": "#d0d0d0", "textPreformat-background": "#3c3c3c",
    },
    False: {
        "editor-background": "#ffffff", "foreground": "#3b3b3b", "textLink-foreground": "#005fb8",
        "textPreformat-foreground": "#3b3b3b", "textPreformat-background": "#0000001f",
    },
}  # fmt: skip
"""Dark Modern and Light Modern, the themes that VS Code starts with."""


def _vs_code(notebook: NotebookNode, dark: bool) -> str:
    """All outputs in one page, whose body has the theme's name and variables; nothing is folded."""
    variables = "".join(f"--vscode-{name}:{value};" for name, value in _VS_CODE[dark].items())
    style = (
        f"html{{{variables}--vscode-font-family:system-ui,'Ubuntu','Droid Sans',sans-serif}}"
        "body{margin:0;padding:0 20px;background:var(--vscode-editor-background);color:var(--vscode-foreground);"
        "font:13px var(--vscode-font-family)}img{max-width:100%;max-height:100%}a{color:var(--vscode-textLink-foreground)}"
        "code{color:var(--vscode-textPreformat-foreground);background-color:var(--vscode-textPreformat-background);"
        "padding:1px 3px;border-radius:4px}table,th,tr{vertical-align:middle;text-align:right}"
        "table,tr,th,td{border-collapse:collapse;border:none}th,td{padding:4px 6px}"
        "pre{white-space:pre-wrap}.code{overflow-x:auto;white-space:pre}"
    )
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts.append(f'<pre class="code">{escape(cell.source)}</pre>')
            parts += [f'<div class="shown">{_shown(output)}</div>' for output in cell.outputs]
    name = "dark" if dark else "light"
    body = f'<body class="vscode-{name}" data-vscode-theme-kind="vscode-{name}">{"".join(parts)}</body>'
    return f"<!doctype html><html><style>{style}</style>{body}</html>"


def _nbconvert(template: str, theme: str = "light") -> Callable[[NotebookNode], str]:
    """Saved outputs on a page that nobody runs."""
    return lambda notebook: str(HTMLExporter(template_name=template, theme=theme).from_notebook_node(notebook)[0])


LOOKS: dict[str, Callable[[NotebookNode], str]] = {
    "Colab, dark": lambda notebook: _colab(notebook, True),
    "Colab, light": lambda notebook: _colab(notebook, False),
    "VS Code, dark": lambda notebook: _vs_code(notebook, True),
    "VS Code, light": lambda notebook: _vs_code(notebook, False),
    "classic Notebook, nbviewer": _nbconvert("classic"),
    "JupyterLab's page, light": _nbconvert("lab"),
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


@pytest.mark.browser
@pytest.mark.slow
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


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("place", some_by_day(LOOKS, len(LOOKS)))
def test_a_replay_steps_on_and_dark_pages_show_dark_pictures_there(window: Any, notebook: Any, place: str) -> None:
    window.set_content(LOOKS[place](notebook))
    frames = [frame for frame, _ in _frames(window)]
    frame = next(one for one in frames if one.locator(".stage").count())
    for step in (1, 2, 3):
        assert frame.locator(".s:visible").inner_text().startswith(f"◀ back next ▶ step {step} of 20")
        assert frame.locator("circle.on:visible").count() == step + 1
        frame.locator("label:visible", has_text="next").click()
    pictures = [picture for one in frames for picture in one.locator("img.two-looks").all()]
    assert pictures
    for picture in pictures:
        assert (picture.evaluate("one => getComputedStyle(one).content") != "normal") == place.endswith("dark")


@pytest.mark.browser
@pytest.mark.slow
def test_no_colour_hangs_on_jupyterlab_alone(notebook: Any) -> None:
    written = [path for room in ("nbproof", "course") for path in (ROOT / room).rglob("*.py")]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in written}
    texts["what a lesson puts out"] = str(notebook.cells)
    assert sum(text.count("var(--jp-") for text in texts.values()) > 10
    assert [name for name, text in texts.items() if re.search(r"var\(--jp-[\w-]+\)", text)] == []
