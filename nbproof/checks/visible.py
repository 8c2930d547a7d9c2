"""The checks that learners have: a check cell is two lines, which stand for them.

    from nbproof import check

    check("every_other")

Their texts are written in ``lessons/``; a build gathers them in ``checks.json``, beside the modules of the course, so that
a notebook reads as a lesson everywhere, also in editors that fold nothing. A notebook whose check cells hold
their checks themselves, as all did before November 2026, runs as it always did.
"""

from __future__ import annotations

import json
import linecache
import re
from functools import lru_cache
from pathlib import Path

from nbproof.cells import BEGIN_HIDDEN, visible_and_hidden
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import CourseError
from nbproof.files import digest_of

__all__ = [
    "HIDDEN",
    "NAME",
    "digest_of_visible",
    "grade_id_of",
    "hidden_text",
    "import_lines",
    "key_of",
    "run_apart",
    "the_call",
    "visible_text",
    "visible_texts",
    "whole",
]

NAME = "checks.json"

HIDDEN = "# --- Hidden checks: graders run them, learners do not get them. ---"
"""The line between what learners get and what they do not. In the hidden region of a notebook what stands above it is taken
from the visible text, for those who run the notebook as it is."""

_CALL = re.compile(r'check\("(?P<id>[a-z0-9_]+)"(?:, part="(?P<part>[a-z0-9_]+)")?\)')


def key_of(exercise: str, part: str = "") -> str:
    """Of an exercise's checks, or of one part's, in ``checks.json``."""
    return f"{exercise}/{part}" if part else exercise


def grade_id_of(key: str) -> str:
    """The grade_id of the cell that calls the checks of this key."""
    return "test_" + key.replace("/", "_")


def import_lines() -> tuple[str, ...]:
    """How a check cell of two lines may begin: it imports from nbproof, or from the course's own package."""
    return tuple(
        f"from {package} import check" for package in dict.fromkeys(("nbproof", the_course().package)) if package
    )


def visible_texts() -> dict[str, dict[str, str]]:
    """Lesson -> key -> text; nothing if the course has no such file."""
    path = the_course().folder / NAME
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CourseError(
            f"the checks cannot be read: {error}",
            str(path),
            f"if lessons/ is there: {course_command('build')}; else install the course again",
        ) from None


@lru_cache(maxsize=1)
def _read(path: Path, changed: int) -> dict[str, dict[str, str]]:
    # Each check cell of a lesson asks for it.
    return dict(json.loads(path.read_text(encoding="utf-8")))


def visible_text(exercise: str, part: str = "") -> str:
    """The text of the checks that a check cell of two lines stands for. Raises CourseError if the course has none."""
    key = key_of(exercise, part)
    for texts in visible_texts().values():
        if key in texts:
            return texts[key]
    raise CourseError(
        f"there are no checks for {key!r} in the course that is installed here",
        str(the_course().folder / NAME),
        "the notebook is of another version of the course: install the one that it came with; if lessons/ is there: "
        + course_command("build"),
    )


def hidden_text(exercise: str, part: str = "") -> str:
    """The text of the hidden checks of an exercise, or of a part, if the instructor's notebooks lie beside the course; else ''.

    A sealed process does not see them, and what learners are handed holds none.
    """
    key = key_of(exercise, part)
    lesson = next((lesson for lesson, texts in visible_texts().items() if key in texts), "")
    source = the_course().source_cell(lesson, grade_id_of(key))
    return visible_and_hidden(source)[1]


def digest_of_visible(lesson: str) -> str:
    """Changes with the visible checks of a lesson."""
    return digest_of(json.dumps(visible_texts().get(lesson, {}), sort_keys=True).encode())


def whole(source: str) -> str:
    """The text of a check cell with the visible checks themselves in the place of its two lines."""
    found = _found(source)
    if found is None:
        return source
    start, call = found
    lines = source.split("\n")
    number = lines.index(call[0], start)
    text = "\n".join([*lines[:start], visible_text(call["id"], call["part"] or ""), *lines[number + 1 :]])
    before, begin, hidden = text.partition(f"{BEGIN_HIDDEN}\n")
    # What was taken from the visible text is there already: a second class of the same name is another class.
    return before + begin + (hidden.partition(f"{HIDDEN}\n")[2] or hidden)


def the_call(source: str) -> re.Match[str] | None:
    """The call of a text that is just the two lines of a check cell: its id, and its part."""
    found = _found(source)
    if found is None:
        return None
    start, call = found
    return call if start == 0 and source.endswith(call[0]) and source.count(call[0]) == 1 else None


def _found(source: str) -> tuple[int, re.Match[str]] | None:
    lines = source.split("\n")
    imported = [line for line in import_lines() if line in lines]
    if not imported:
        return None
    start = lines.index(imported[0])
    after = (line for line in lines[start + 1 :] if line.strip())
    call = _CALL.fullmatch(next(after, ""))
    return None if call is None else (start, call)


def run_apart(text: str, name: str) -> None:
    """Run the text of checks in a namespace of its own: none of its names is the notebook's."""
    place = f"<{name}>"
    # For an error in a check itself, which shows its line.
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec"), {"__name__": "__main__"})  # noqa: S102 (a text of the course's own)
