"""Cells from what a notebook was exported to, under the name of a notebook: web page, script, markdown.

Pages that are no notebook (a login, an LMS's error) and texts that are none (a link) are named.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any, NamedTuple

from nbproof.cells import name_of
from nbproof.recover.unpacking import HAND_IN, Damaged

__all__ = ["ExportedCell", "cells_of_page", "cells_of_text"]


class ExportedCell(NamedTuple):
    """A cell of a submission."""

    name: str | None
    """Its grade_id; None if it has none."""
    source: str
    kind: str = "code"
    """code, markdown or raw"""
    id: str = ""
    """The notebook format's own id of the cell."""
    whole: bool = True
    """False if the file breaks off in the middle of it."""


def cells_of_page(text: str) -> tuple[list[ExportedCell], str]:
    """The cells of a web page that a notebook was exported to, or the notebook's text that a browser has wrapped."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    found: list[ExportedCell] = []
    for box in _boxes(soup):
        classes = set(box.get("class") or [])
        number = str(box.get("id") or "").removeprefix("cell-id=")
        if classes & {"jp-CodeCell", "code_cell"}:
            pre = box.select_one(".jp-InputArea pre, .input_area pre, .input pre")
            if pre is not None:
                found.append(ExportedCell(None, pre.get_text().strip("\n"), "code", number))
        elif classes & {"jp-MarkdownCell", "text_cell", "jp-RawCell"}:
            shown = box.select_one(".jp-RenderedMarkdown, .text_cell_render, pre") or box
            # A pilcrow is the link that nbconvert puts behind each heading.
            found.append(ExportedCell(None, shown.get_text().replace("¶", "").strip("\n"), "markdown", number))
    if found:
        return found, ""
    for pre in soup.find_all("pre", limit=3):
        inside = pre.get_text().strip()
        if inside.startswith("{") and '"cell_type"' in inside:
            return [], inside
    raise Damaged(_what_page(soup, text))


def _boxes(soup: Any) -> list[Any]:
    """The boxes of cells, in order; none inside of another."""
    found, waiting = [], [soup]
    while waiting:
        tag = waiting.pop()
        if {"jp-Cell", "cell"} & set(tag.get("class") or []):
            found.append(tag)
        else:
            waiting.extend(reversed([child for child in tag.children if getattr(child, "name", None)]))
    return found


def _what_page(soup: Any, text: str) -> str:
    title = " ".join(soup.title.get_text().split())[:80] if soup.title else ""
    called = f" ({title!r})" if title else ""
    low = text[:200_000].lower()
    if soup.find("input", attrs={"type": "password"}) or re.search(
        r"\b(log ?in|sign ?in|single sign-on)\b", title.lower()
    ):
        return f"it is not a notebook but a login page{called}: download the notebook again, logged in, and {HAND_IN}"
    if re.search(r"\b(40[134]|50[0234]|error|not found|forbidden|denied)\b", title.lower()):
        return (
            f"it is not a notebook but an error page of a web site{called}: download the notebook again, and {HAND_IN}"
        )
    if "github" in low and "blob" in low:
        return f"it is not a notebook but GitHub's page about one{called}: use its button 'Download raw file', and {HAND_IN}"
    return f"it is not a notebook but a web page{called}: {HAND_IN}"


_LINK = re.compile(r"(?:\[InternetShortcut\]\s+URL=)?\s*<?(?:https?|ftp|file)://\S{4,2000}>?\s*")
_IN = re.compile(r"^# In ?\[[ \d*]*\]:[ \t]*$", re.MULTILINE)
_PERCENT = re.compile(r"^# ?%%(?P<rest>.*)$", re.MULTILINE)
_BRICKS = re.compile(r"^# COMMAND -+[ \t]*$", re.MULTILINE)
_GRADED = re.compile(r"nbgrader=(\{[^{}]{0,1000}\})")
_FENCE = re.compile(r"(```+|~~~+) *\{?(?:python3?|ipython3?|py|code-cell)\b.*")
_PYTHON = re.compile(r"^(?:>>> |In \[\d+\]: |\s*\d+: )?(?:def |class |import |from \w|@\w|\w+ = )", re.MULTILINE)
_JUPYTEXT = re.compile(r"extension: (?P<extension>\.\w+)\s*(?:# +)?format_name: (?P<format>\w+)")


def cells_of_text(text: str) -> list[ExportedCell]:
    """The cells of a script or a markdown file. Raises Damaged for other text."""
    if _LINK.fullmatch(text):
        raise Damaged(f"it holds only a link ({_short(text)}), and nothing that can be graded: {HAND_IN}")
    header = _JUPYTEXT.search(text[:3000])
    if header is not None:
        cells = _by_jupytext(text, header["extension"], header["format"])
    elif _IN.search(text):
        cells = _nbconvert_script(text)
    elif _PERCENT.search(text):
        cells = _percent_script(text)
    elif _BRICKS.search(text):
        cells = [ExportedCell(None, part.strip("\n")) for part in _BRICKS.split(text)]
    elif sum(bool(_FENCE.fullmatch(line)) for line in text.splitlines()) >= 2:
        cells = _markdown(text)
    elif _PYTHON.search(text):
        cells = [ExportedCell(None, text.strip("\n"))]
    else:
        raise Damaged(f"it is plain text and not a notebook (it begins {_short(text)!r}): {HAND_IN}")
    return [cell for cell in cells if cell.source.strip()]


def _short(text: str) -> str:
    line = text.strip().splitlines()[0].strip() if text.strip() else ""
    return line[:60] + ("..." if len(line) > 60 else "")


def _by_jupytext(text: str, extension: str, kind: str) -> list[ExportedCell]:
    import jupytext

    try:
        if kind == "nomarker":
            return [ExportedCell(None, text)]
        notebook = jupytext.reads(text, fmt={"extension": extension, "format_name": kind})
    except Exception as error:  # whatever jupytext and the YAML in the header raise
        raise Damaged(f"it is a jupytext file that cannot be read ({type(error).__name__}): {HAND_IN}") from None
    return [ExportedCell(name_of(cell) or None, cell.source, cell.cell_type) for cell in notebook.cells]


def _nbconvert_script(text: str) -> list[ExportedCell]:
    """``# In[3]:``, two blank lines, the cell, two blank lines, and what was markdown as comments."""
    head, *parts = _IN.split(text)
    found = [ExportedCell(None, _uncommented(head), "markdown")]
    for part in parts:
        lines = part.strip("\n").splitlines()
        end = len(lines)
        while end and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
        # Comments directly below code are the learner's; prose stands after two blank lines.
        while end < len(lines) and lines[end].strip():
            end += 1
        found.append(ExportedCell(None, "\n".join(lines[:end])))
        found.append(ExportedCell(None, _uncommented("\n".join(lines[end:])), "markdown"))
    return found


def _uncommented(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(("#!", "# coding", "# -*-"))]
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines).strip("\n")


def _percent_script(text: str) -> list[ExportedCell]:
    marks = list(_PERCENT.finditer(text))
    found = [ExportedCell(None, text[: marks[0].start()].strip("\n"))]
    for mark, end in zip(marks, [*(following.start() for following in marks[1:]), len(text)], strict=True):
        source = text[mark.end() : end].strip("\n")
        prose = "[markdown]" in mark["rest"] or "[md]" in mark["rest"]
        found.append(
            ExportedCell(
                _name_in(mark["rest"]), _uncommented(source) if prose else source, "markdown" if prose else "code"
            )
        )
    return found


def _name_in(options: str) -> str | None:
    match = _GRADED.search(options)
    try:
        name = json.loads(match[1]).get("grade_id") if match else None
    except ValueError:
        return None
    return name if isinstance(name, str) else None


def _markdown(text: str) -> list[ExportedCell]:
    """What stands between fences is code, the rest is text."""
    found: list[ExportedCell] = []
    lines: list[str] = []
    fence, name = "", None
    for line in [*text.splitlines(), ""]:
        opened = _FENCE.fullmatch(line) if not fence else None
        if opened:
            found.append(ExportedCell(None, "\n".join(lines).strip("\n"), "markdown"))
            fence, name, lines = opened[1], _name_in(html.unescape(line)), []
        elif fence and line.rstrip() == fence:
            found.append(ExportedCell(name, "\n".join(lines).strip("\n")))
            fence, lines = "", []
        else:
            lines.append(line)
    return [*found, ExportedCell(None, "\n".join(lines).strip("\n"), "code" if fence else "markdown")]
