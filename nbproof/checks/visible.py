"""Finds the checks that learners have. A check cell is two lines, which stand for them::

    from nbproof import check

    check("every_other")

Their texts are no part of the notebook (:mod:`nbproof.handed_out`), so that it reads as a lesson everywhere, also in editors
that fold nothing. A notebook that holds its checks in its own check cells runs as well.
"""

from __future__ import annotations

import linecache
import re
from typing import Any

from nbproof.cells import BEGIN_HIDDEN, visible_and_hidden
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import CourseError
from nbproof.handed_out import HIDDEN, checks_files, key_of, visible_texts

__all__ = [
    "grade_id_of",
    "hidden_text",
    "import_lines",
    "run_apart",
    "the_call",
    "visible_text",
    "whole",
]

_CALL = r'check\("(?P<id>[a-z0-9_]+)"(?:, part="(?P<part>[a-z0-9_]+)")?\)'


def grade_id_of(key: str) -> str:
    """The grade_id of the cell that calls the checks of this key."""
    return "test_" + key.replace("/", "_")


def import_lines() -> tuple[str, ...]:
    """The lines that may begin a check cell of two lines: it imports from nbproof, or from the course's own package."""
    return tuple(
        f"from {package} import check" for package in dict.fromkeys(("nbproof", the_course().package)) if package
    )


def visible_text(exercise: str, part: str = "") -> str:
    """The text of the checks that a check cell of two lines stands for. Raises CourseError if the course has none."""
    key = key_of(exercise, part)
    texts = visible_texts(exercise)
    if key not in texts:
        raise CourseError(
            f"there are no checks for {key!r} in the course that is installed here",
            str(the_course().texts),
            "the notebook is of another version of the course: install the one that it came with; "
            f"if you work in a copy of the repository: {course_command('build')}",
        )
    return texts[key]


def hidden_text(exercise: str, part: str = "") -> str:
    """The text of the hidden checks of an exercise, or of a part; empty if no instructor's notebooks lie beside the course.

    A sealed process does not see them, and what learners are handed holds none.
    """
    file = checks_files(the_course().texts).get(exercise)
    lesson = file.parent.parent.name if file is not None else ""
    source = the_course().source_cell(lesson, grade_id_of(key_of(exercise, part)))
    return visible_and_hidden(source)[1]


def _two_lines() -> re.Pattern[str]:
    imports = "|".join(map(re.escape, import_lines()))
    return re.compile(rf"^(?:{imports})\n(?:[ \t]*\n)*{_CALL}$", re.MULTILINE)


def whole(source: str) -> str:
    """The text of a check cell with the visible checks themselves in place of its two lines."""
    found = _two_lines().search(source)
    if found is None:
        return source
    text = source[: found.start()] + visible_text(found["id"], found["part"] or "") + source[found.end() :]
    before, begin, hidden = text.partition(f"{BEGIN_HIDDEN}\n")
    # What fetches the names of the visible text is not needed here: a second class of the same name is another class.
    return before + begin + (hidden.partition(f"{HIDDEN}\n")[2] or hidden)


def the_call(source: str) -> re.Match[str] | None:
    """The match of ``id`` and ``part`` in a text that is just the two lines of a check cell; None for any other text."""
    return _two_lines().fullmatch(source)


def run_apart(text: str, name: str) -> dict[str, Any]:
    """Run the text of checks in a namespace of its own, and return that namespace. ``name`` stands in messages of errors."""
    file = f"<{name}>"
    # For an error in a check itself, which shows its line.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)  # noqa: S102 (a text of the course's own)
    return names
