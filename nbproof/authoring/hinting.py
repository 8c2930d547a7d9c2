"""The part of the author contract that is about help: it is there, it leads somewhere, and it gives nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from nbproof.cells import CellKind, private_lines
from nbproof.checks import diagnosis
from nbproof.course_file import Course
from nbproof.display.help import WAY_IN, Hint, all_hints, exercise_hints, read_hints
from nbproof.errors import LessonError
from nbproof.handed_out import HINTS, hint_files
from nbproof.lesson.heading import sections
from nbproof.lesson.lesson import Exercise, Lesson

__all__ = ["check_hints", "given_away", "place_of", "refuse_bad_hints", "unused_hints"]

_SHORTEST = 12
"""Characters without spaces: `return None` is nobody's solution, `max(floor,min(value,cap))` is."""


def check_hints(lesson: Lesson) -> Iterator[LessonError]:
    """What is wrong with the help for this lesson."""
    number, titles = lesson.slug[:2], _titles(lesson)
    hints = [*all_hints(lesson.course).values(), *exercise_hints(lesson.course).values()]
    for hint in hints:
        for names in re.findall(rf"Lesson {number}, ([^;]+)", hint.read):
            for name in re.findall(r"'((?:[^']|'(?=\w))+)'", names):
                if name not in titles:
                    yield LessonError(
                        f"the hint {hint.id!r} points to a section that is not there: {hint.read}",
                        place_of(lesson.path.parent.parent, hint.id),
                        f"the sections of lesson {number} are: {', '.join(sorted(titles))}",
                    )
    yield from given_away(lesson, hints)


def _titles(lesson: Lesson) -> set[str]:
    """The headings below the lesson's title, as they are written and without their code marks."""
    prose = "\n".join(cell.source for cell in lesson.cells if cell.kind is CellKind.PROSE)
    written = set(sections(prose, least=2))
    return written | {title.replace("`", "") for title in written}


def given_away(lesson: Lesson, hints: Sequence[Hint]) -> Iterator[LessonError]:
    """Hints that hold a line of a solution of this lesson, be it the reference or an accepted answer."""
    public = set(map(_bare, chain.from_iterable(private_lines(cell.source)[0] for cell in lesson.cells)))
    told = [(hint, _bare(f"{hint.name} {hint.question} {hint.idea} {hint.read}")) for hint in hints]
    for exercise in lesson.exercises:
        for line in sorted(_solving_lines(exercise)):
            bare = _bare(line)
            if len(bare) < _SHORTEST or bare in public:
                continue
            for hint in [hint for hint, text in told if bare in text]:
                yield LessonError(
                    f"the hint {hint.id!r} holds a line of a solution of {exercise.id}: {line}",
                    place_of(lesson.path.parent.parent, hint.id),
                    "lead to the idea, in words",
                )


def _solving_lines(exercise: Exercise) -> set[str]:
    """The lines of its solutions that do something."""
    accepted = (map(str.strip, one.source.splitlines()) for one in exercise.accepted)
    lines = set(private_lines(exercise.answer.source)[1]).union(*accepted)
    return {line for line in lines if not line.startswith("#") and re.search(r"[(=\[]", line)}


def place_of(texts: Path, key: str) -> str:
    """Where the misconception ``key`` stands in ``lessons/``, or the way into the exercise ``key``: ``<file>:<line>``."""
    wanted = (f"[{key}]", f"[{WAY_IN}.{key}]")
    for path in hint_files(texts):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() in wanted:
                return f"{path}:{number}"
    return str(texts)


def refuse_bad_hints(course: Course, texts: Path) -> None:
    """Raise LessonError if hints in ``lessons/`` cannot be read, a way in leads into no exercise, or ``course.toml`` names a
    hint that is not there."""
    known, ways_in = read_hints(texts)
    named = [*(one["hint"] for one in course.errors), *filter(None, [course.nothing_came])]
    unknown = [hint for hint in named if hint not in known]
    if unknown and course.lies_in(texts.parent):
        raise LessonError(
            f"no hint is called {unknown[0]!r}",
            str(course.folder / "course.toml"),
            f"write [{unknown[0]}] in {texts / HINTS}, or name another one: {', '.join(sorted(known))}",
        )
    for exercise in ways_in:
        if not any(texts.glob(f"*/{exercise}")):
            raise LessonError(
                "a way in, and no exercise that it leads into",
                place_of(texts, exercise),
                f"delete it, if the exercise is gone; or write [{WAY_IN}.<exercise>] in the {HINTS} of its lesson",
            )


def unused_hints(course: Course, texts: Path) -> Iterator[LessonError]:
    """Misconceptions in a lesson's own file that no check can find: nothing names them, perhaps since an exercise was removed.

    Those of ``lessons/hints.toml`` are for exercises that are still to be written, too.
    """
    # In the course's folder itself there may be an environment, with thousands of files.
    own = course.folder
    folders = (texts, Path(diagnosis.__file__).parent, *[own] * bool(course.package))
    files = [
        *chain.from_iterable(folder.rglob("*.py") for folder in folders),
        *own.glob("course.toml"),
        *own.glob("*.py"),
    ]
    named = re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files))
    for key in sorted(read_hints(texts)[0].keys() - {*named}):
        place = place_of(texts, key)
        if not place.startswith(f"{texts / HINTS}:"):
            yield LessonError(
                f"nothing names the hint {key!r}, so nobody sees it",
                place,
                "delete it; or name it in `mistakes`, `blame` or `errors` of a check",
            )


def _bare(text: str) -> str:
    return re.sub(r"[\s`]+", "", text)
