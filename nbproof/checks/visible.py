"""Finds the checks that learners have. A check cell is two lines, which stand for them::

    from nbproof import check

    check("every_other")

Their texts are no part of the notebook (:mod:`nbproof.handed_out`), so that it reads as a lesson everywhere, also in editors
that fold nothing. A notebook that holds its checks in its own check cells runs as well.
"""

from __future__ import annotations

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.handed_out import checks_files, key_of, visible_texts
from nbproof.lesson.check_cell import grade_id_of
from nbproof.lesson.from_notebook import cell_called
from nbproof.lesson.lesson import TestCell

__all__ = [
    "hidden_text",
    "visible_text",
]


def visible_text(course: Course, exercise: str, part: str = "") -> str:
    """The text of the checks that a check cell of two lines stands for. Raises CourseError if the course has none."""
    key = key_of(exercise, part)
    texts = visible_texts(course.texts, exercise)
    if key not in texts:
        raise CourseError(
            f"there are no checks for {key!r} in the course that is installed here",
            str(course.texts),
            "the notebook is of another version of the course: install the one that it came with; "
            f"if you work in a copy of the repository: {course_command('build')}",
        )
    return texts[key]


def hidden_text(course: Course, exercise: str, part: str = "") -> str:
    """The text of the hidden checks of an exercise, or of a part; empty if no instructor's notebooks lie beside the course.

    A sealed process does not see them, and what learners are handed holds none.
    """
    file = checks_files(course.texts).get(exercise)
    lesson = file.parent.parent.name if file is not None else ""
    cell = cell_called(course.source_of(lesson), grade_id_of(key_of(exercise, part)))
    return cell.hidden if isinstance(cell, TestCell) else ""
