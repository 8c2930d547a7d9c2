"""A lesson as a chapter to be read: the cells that learners get, with what the shown ones put out.

Every text comes from ``release/``, in which no solution and no hidden check stands. What an answer or a check puts out is
left out: that is the reader's to find.

What the shown cells put out, :mod:`shown` says. Where one cannot be run, text and code stand whole, outputs up to there.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import nbformat
from markdown_it import MarkdownIt

from nbproof.authoring.derived_files import how_to_install
from nbproof.authoring.lesson import python_in
from nbproof.cells import CellKind, kind_of

__all__ = ["PICTURES", "chapter_of", "headings_in", "plain"]


PICTURES = "drawn"
"""The folder of the site in which the pictures of its chapters lie."""

_BOXED = re.compile(r"^#+ (?:Exercise|In your own words): ", re.MULTILINE)
_EFFORT = re.compile(r"\A((?:easy|medium|hard) · )?\d+ min · [\d.]+ points?.*$", re.MULTILINE)
_OF_ONES_OWN = re.compile(r"(?:progress|hint|solution)\([^()]*\)")
"""Cells that tell a learner about their own work."""
_DRAWN = re.compile(r'src="data:image/(?P<kind>png|jpeg|gif);base64,(?P<data>[^"]+)"')
_LONG, _LONG_IF_DRAWN = 45, 12
"""Lines from which on a cell is folded: one whose point is the picture below it, earlier."""


def chapter_of(
    title: str,
    opening: str,
    released: nbformat.NotebookNode,
    outputs: Mapping[str, Sequence[Mapping[str, Any]]],
    pictures: dict[str, bytes],
) -> nbformat.NotebookNode:
    """The chapter as a notebook that was run. ``opening``: what its reader is told first, in Markdown.

    The pictures that its cells show are added to ``pictures``, by their names in :data:`PICTURES`.
    """
    cells = list(_cells_of(released, outputs, pictures))
    first = next((cell for cell in cells if cell.cell_type == "markdown"), None)
    if first is not None:
        first.source = _below_title(first.source, title, opening)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # not by chance: what has not changed is not made again
    return nbformat.v4.new_notebook(cells=cells, metadata=released.metadata)


def _cells_of(
    released: nbformat.NotebookNode,
    outputs: Mapping[str, Sequence[Mapping[str, Any]]],
    pictures: dict[str, bytes],
) -> Iterator[nbformat.NotebookNode]:
    levels, boxed = Levels(), ""
    kinds = [kind_of(cell) for cell in released.cells]
    for number, (kind, cell) in enumerate(zip(kinds, released.cells, strict=True)):
        if kind is CellKind.PROSE:
            for text, begins in _parts(levels.of(cell.source)):
                boxed = "exercise" if begins else boxed
                yield from _boxed(text, begins) if boxed else [_prose(text)]
        elif kind in (CellKind.SHOW, CellKind.SETUP) and not _is_for_doing(cell.source):
            found = [_with_files(one, pictures) for one in _joined(outputs.get(cell.id, ()))]
            tags = [*cell.metadata.get("tags", ()), *_folded(cell.source, found), boxed]
            yield _code(cell.source, tags, found)
        elif kind is CellKind.ANSWER:
            yield _code(cell.source, ["exercise"], [])
        elif _ends_a_box(kinds[number:]):
            yield _prose(_end_of_box(kind, cell.source))
            boxed = ""


def _ends_a_box(kinds: Sequence[CellKind]) -> bool:
    """Whether a cell, the first of these, ends an exercise: a question's answer, or the last of its test cells."""
    kind, *following = kinds
    if kind is CellKind.TEST:
        upto = following.index(CellKind.ANSWER) if CellKind.ANSWER in following else len(following)
        return CellKind.TEST not in following[:upto]
    return kind is CellKind.WRITTEN


class Levels:
    """Brings the headings of a lesson, which are those of a notebook, into a page's order: one title, no level left out."""

    def __init__(self) -> None:
        self.last, self.deeper = 0, 0

    def of(self, text: str) -> str:
        """The text with its headings at the levels that they have on the page."""
        lines = text.splitlines()
        for number, level in headings_in(text):
            if level == 1 and self.last:
                self.deeper = 1  # 'Part 1', 'Further': what follows stands below it
            self.last = min(level + self.deeper, self.last + 1)
            lines[number] = "#" * self.last + " " + lines[number].lstrip("# ")
        return "\n".join(lines)


def headings_in(text: str) -> list[tuple[int, int]]:
    """(line, level) of each heading in this Markdown."""
    seen = MarkdownIt("commonmark").parse(text)
    return [(one.map[0], int(one.tag[1:])) for one in seen if one.type == "heading_open" and one.map and one.level == 0]


def plain(title: str) -> str:
    """A heading's text without marks."""
    return title.replace("`", "")


def _is_for_doing(source: str) -> bool:
    """Whether a cell is for whoever runs it: what to install, how far they are."""
    return source.strip() == how_to_install().strip() or _OF_ONES_OWN.fullmatch(source.strip()) is not None


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """A text cut before each heading of an exercise; whether a part begins with one."""
    starts = [found.start() for found in _BOXED.finditer(text)]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        if text[start:end].strip():
            yield text[start:end], start in starts


def _boxed(text: str, begins: bool) -> list[nbformat.NotebookNode]:
    """A part of an exercise's statement; below its heading, which stands alone for the table of contents, in the box."""
    if not begins:
        return [_prose(_div("exercise", text))]
    heading, _, rest = text.strip().partition("\n")
    rest = _EFFORT.sub(lambda found: "{.effort}\n" + found[0], rest.strip(), count=1)
    return [_prose(heading + "\n\n" + _div("exercise exercise-top", rest))]


def _div(classes: str, text: str) -> str:
    # Statements hold fences of their own, with fewer marks.
    return f"::::::{{div}} {classes}\n{text.strip()}\n::::::"


def _end_of_box(kind: CellKind, source: str) -> str:
    if kind is CellKind.WRITTEN:
        said = "In the notebook you write your answer here. In a class a person reads it."
    else:
        name = re.search(r'check\("(\w+)"', source)
        said = "In the notebook a check comes next. It says whether your answer is right, and if not, where it is wrong and why."
        if name is not None:
            said += f' `hint("{name[1]}")` helps you to begin.'
    return _div("exercise exercise-end", said)


def _below_title(text: str, title: str, opening: str) -> str:
    """The lesson's first text, with what the reader is told right below its title."""
    found = headings_in(text)
    lines = text.splitlines()
    if not found or found[0][1] != 1:
        return f"# {title}\n\n{opening}\n\n{text}"
    return "\n".join([*lines[: found[0][0] + 1], "", opening, "", *lines[found[0][0] + 1 :]])


def _folded(source: str, outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tag that folds a cell's code: nobody reads imports first, nor how a picture is drawn."""
    drawn = any("<img" in str(one.get("data", {}).get("text/html", "")) for one in outputs)
    return ["hide-input"] if len(source.splitlines()) > (_LONG_IF_DRAWN if drawn else _LONG) or _imports(source) else []


def _imports(source: str) -> bool:
    body = python_in(source).body
    return bool(body) and all(isinstance(one, ast.Import | ast.ImportFrom | ast.Try) for one in body)


def _with_files(output: Mapping[str, Any], pictures: dict[str, bytes]) -> dict[str, Any]:
    """The output as a page shows it: its HTML, which has the pictures' words, with the pictures in files of their own."""
    made = dict(output)
    page = output.get("data", {}).get("text/html")
    if not page:
        return made

    def filed(found: re.Match[str]) -> str:
        data = base64.b64decode(found["data"])
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.{found['kind']}"
        pictures[name] = data
        return f'loading="lazy" src="../{PICTURES}/{name}"'

    return made | {"data": {"text/html": _DRAWN.sub(filed, "".join(page))}, "metadata": {}}


def _joined(outputs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What was printed in one go stands together, in however many messages the kernel happened to send it."""
    made: list[Mapping[str, Any]] = []
    for one in outputs:
        last = made[-1] if made else {}
        if one["output_type"] == "stream" and last.get("name") == one["name"]:
            made[-1] = {**last, "text": last["text"] + one["text"]}
        else:
            made.append(one)
    return made


def _prose(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def _code(source: str, tags: Sequence[str], outputs: Sequence[Mapping[str, Any]]) -> nbformat.NotebookNode:
    shown = [nbformat.from_dict(dict(one)) for one in outputs]
    metadata = {"tags": [tag for tag in dict.fromkeys(tags) if tag]}
    return nbformat.v4.new_code_cell(source, outputs=shown, metadata=metadata)
