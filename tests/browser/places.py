"""What a lesson puts out while somebody works at it, and pages that show it as other front ends than JupyterLab do.

Colab and VS Code themselves do not run here: their pages are made as those two make them, as far as colours, fonts and frames go.
The classic Notebook's and nbviewer's pages are nbconvert's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbconvert import HTMLExporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from tests import ROOT, the_lesson
from tests.browser.portraits import EXERCISE, LESSON, WRONG

__all__ = ["LOOKS", "worked_at"]

_PICTURE = (
    "from course.pictures.timeline import draw_hook_timeline\n"
    "draw_hook_timeline(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(3, 4, requires_grad=True))"
)


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
        text, todo, check = (
            released.cells[place - 1],
            released.cells[place],
            released.cells[named[exercise.tests[0].grade_id]],
        )
        todo["source"] = "\n".join(line for line in answer.split("\n") if "### " not in line) or todo["source"]
        cells += [text, todo, check]
        if exercise is failed:
            cells += [nbformat.v4.new_code_cell("hint()") for _ in range(3)]
    cells += [nbformat.v4.new_code_cell(source) for source in ("progress()", _PICTURE)]
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
    frame = (
        f"<style>html{{color-scheme:{scheme}}}body{{margin:0;background:{paper};color:{ink};font:14px Roboto,sans-serif}}"
        "pre{white-space:pre-wrap;font-family:monospace}</style>"
    )
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts.append(f'<pre class="code">{escape(cell.source)}</pre>')
            for output in cell.outputs:
                page = escape(f"<!doctype html>{frame}{_shown(output)}")
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
