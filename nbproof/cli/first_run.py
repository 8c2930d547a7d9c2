"""What the first run over somebody's nbgrader course says: what was found, what is taken for granted, what could be told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nbproof.course_file import the_course
from nbproof.key import assignment_of
from nbproof.places import places
from nbproof.text import counted

__all__ = ["first_lines"]


def first_lines(root: Path, lessons: Sequence[str]) -> list[str]:
    """Three lines; none if the course has a ``course.toml``, or was graded before."""
    if (root / ".course" / "run.json").exists() or list(the_course().folder.glob("course.toml")):
        return []
    here = places(root)
    released = [one for one in lessons if here.is_released_only(one)]
    home = here.base("source" if len(released) < len(lessons) else "release")
    assignments = {assignment_of(one) for one in lessons}
    learners = counted(len(here.learners()), "learner")
    taken = ["cells run as Python", "the limits of docs/engine.md, and those of nbgrader_config.py"]
    if released:
        named = "all of it" if len(released) == len(lessons) else ", ".join(released)
        taken.insert(0, f"no instructor's version of {named}: graded by what was released, which has no hidden tests")
    return [
        f"found:     {counted(len(assignments), 'assignment')} with {counted(len(lessons), 'notebook')} in {home}, {learners} "
        f"in {here.base('submitted')}",
        f"taken for granted: {'; '.join(taken)}",
        "a course.toml beside them is not needed; it could say what the course is called (says) and which modules to import "
        "beforehand (warm): docs/instructors.md",
    ]
