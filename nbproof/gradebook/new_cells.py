"""Cells that a lesson has gained since submissions of it came into the gradebook.

nbgrader refuses a lesson whose cells have changed once there are submissions, and its way out is to forget them, with
all marks that people gave. Cells that are new can be added; those that are gone stay nbgrader's to refuse.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
from nbgrader.utils import is_grade, is_locked, is_solution

__all__ = ["add_new_cells"]


def add_new_cells(db_url: str, course_id: str, lesson: str, source: Path) -> list[str]:
    """Put the cells of ``source`` that the gradebook does not know into it, for every submission; their grade_ids.

    What they hold is not looked at here: nbgrader notes it, once it takes the lesson again.
    """
    cells = [cell for cell in nbformat.read(source, as_version=4).cells if cell.metadata.get("nbgrader")]
    added = []
    with Gradebook(db_url, course_id) as book:
        try:
            notebook = book.find_notebook(lesson, lesson)
        except MissingEntry:
            return []
        known = {cell.name for cell in notebook.source_cells}
        for cell in cells:
            name = cell.metadata.nbgrader["grade_id"]
            if name in known:
                continue
            added.append(name)
            if is_grade(cell):
                points = float(cell.metadata.nbgrader["points"])
                grade_cell = book.add_grade_cell(name, lesson, lesson, max_score=points, cell_type=cell.cell_type)
                book.db.add_all([Grade(cell=grade_cell, notebook=one) for one in notebook.submissions])
            if is_solution(cell):
                solution_cell = book.add_solution_cell(name, lesson, lesson)
                book.db.add_all([Comment(cell=solution_cell, notebook=one) for one in notebook.submissions])
            locked = is_locked(cell)
            book.add_source_cell(name, lesson, lesson, cell_type=cell.cell_type, locked=locked, source="", checksum="")
        book.db.commit()
    return added
