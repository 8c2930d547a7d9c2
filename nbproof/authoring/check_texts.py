"""Derive ``checks.json``, the checks that learners have, and the check cells of the notebooks, which stand for them.

A check cell of the lesson has the whole text of its checks. In the notebook it has two lines, and below them, between
nbgrader's marks, what is hidden, with what that needs of the visible part: nbgrader takes it out for the release.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path

from nbproof.authoring.derived import beside_the_course, write_where_it_differs
from nbproof.authoring.lesson import Cell, Lesson
from nbproof.cells import CellKind
from nbproof.checks.test_cell_names import CHECK_LINE
from nbproof.checks.test_cells import needed_by
from nbproof.checks.visible import HIDDEN, NAME
from nbproof.regions import BEGIN_HIDDEN, END_HIDDEN, visible_of

__all__ = ["checks_are_stale", "in_the_notebook", "write_checks"]


def in_the_notebook(cell: Cell) -> str:
    """The text of a check cell in the instructor's notebook."""
    if not cell.call:
        return cell.source
    visible, _, hidden = cell.source.partition(BEGIN_HIDDEN)
    lines = [CHECK_LINE, *cell.call.split("\n")]
    if hidden:
        hidden = hidden.partition(END_HIDDEN)[0].strip("\n")
        brought = needed_by(ast.parse(hidden), visible)
        lines += ["", BEGIN_HIDDEN, *([*brought, ""] if brought else []), HIDDEN, *hidden.split("\n"), END_HIDDEN]
    return "\n".join(lines)


def _derived(root: Path, lessons: Sequence[Lesson], slugs: Sequence[str]) -> str:
    """The text of checks.json; of lessons that are not among these, what stands there already."""
    path = beside_the_course(root, NAME)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    texts = {slug: known[slug] for slug in slugs if slug in known}
    for lesson in lessons:
        cells = [cell for cell in lesson.cells if cell.kind is CellKind.TEST and cell.call]
        texts[lesson.slug] = {cell.checks: _text(cell) for cell in cells}
    return json.dumps(texts, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _text(cell: Cell) -> str:
    return visible_of(cell.source).removeprefix(CHECK_LINE).strip("\n")


def checks_are_stale(root: Path, lessons: Sequence[Lesson], slugs: Sequence[str]) -> bool:
    """Whether the package beside the lessons has other checks than they have."""
    path = beside_the_course(root, NAME)
    return not path.exists() or path.read_text(encoding="utf-8") != _derived(root, lessons, slugs)


def write_checks(root: Path, lessons: Sequence[Lesson], slugs: Sequence[str]) -> Path | None:
    """Bring checks.json up to date for ``lessons``; ``slugs`` are all there are. The path if it changed."""
    path = beside_the_course(root, NAME)
    return path if write_where_it_differs(_derived(root, lessons, slugs), path) else None
